"""Process-wide settings without which an asyncio broker stalls; measured, see docs/performance.md.

* The interpreter's switch interval: beside a loop that never blocks, a thread that waits for the
  GIL starves for seconds at the default of 5 ms, and for about a millisecond at 0.1 ms.
* glibc's malloc thresholds: without them buffers of 0.1 to 2 MiB are mapped and trimmed anew each time.
"""

import ctypes
import sys

SWITCH_INTERVAL_S = 0.000_1
M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD = -1, -2, -3
TRIM_THRESHOLD_BYTES = 256 * 1024 * 1024
TOP_PAD_BYTES = 16 * 1024 * 1024
MMAP_THRESHOLD_BYTES = 32 * 1024 * 1024


def tune() -> None:
    """Apply both; where the C library is not glibc the second is left out."""
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return
    mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD_BYTES)
    mallopt(M_TRIM_THRESHOLD, TRIM_THRESHOLD_BYTES)
    mallopt(M_TOP_PAD, TOP_PAD_BYTES)
