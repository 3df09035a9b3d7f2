"""Process-wide settings without which an asyncio broker stalls; measured, see docs/performance.md.

* The interpreter's switch interval: while the event loop never blocks, a thread that waits for the
  GIL starves for seconds at the default of 5 ms, and for about a millisecond at 0.1 ms.
* The garbage collector: with 700,000 cached records, or 50,000 partitions, looking at all objects stops
  the loop for 0.3 s. So each object is looked at a few times while it is young, and then no more.
* The soft limit of open files, often 1,024: raised to the hard one, since each connection needs one.
* glibc's malloc thresholds: without them buffers of 0.1 to 2 MiB are mapped and unmapped each time.
* Where memory for small objects comes from: see `small_objects`.
"""

import asyncio
import ctypes
import gc
import resource
import sys
from collections.abc import Callable
from contextlib import suppress

from headrace.broker.telemetry.small_objects import SmallObjects
from headrace.daemon_threads import in_own_thread

# Young objects are collected often and in small numbers: twice each, at most some 20,000 at a time, which takes
# about 4 ms. What is left then is frozen, and looked at no more: it is freed when its last reference goes, as
# nearly all objects are. Cycles of references that only become garbage later wait for `watch_memory`.
GC_THRESHOLDS = (2_000, 5, 1_000_000)
# Nearly all that a start makes stays: 300,000 objects with 10,000 partitions, 100,000 of them before the first is open.
# To look at 200,000 takes some 15 ms.
GC_THRESHOLDS_OF_A_START = (200_000, 5, 1_000_000)
IDLE_CHECK_INTERVAL_S = 30.0
# A node with fewer requests than that between two checks is idle as well: clients that wait ask now and then.
IDLE_REQUESTS = 3_000
# An hour: then all objects are looked at, so that cycles of references do not pile up.
MAX_LOOKS = 120
SWITCH_INTERVAL_S = 0.000_1
M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD = -1, -2, -3
TRIM_THRESHOLD_BYTES = 256 * 1024 * 1024
TOP_PAD_BYTES = 16 * 1024 * 1024
MMAP_THRESHOLD_BYTES = 32 * 1024 * 1024

small_objects = SmallObjects()


def tune() -> None:
    """Apply all settings, as a start needs them; the last one only where the C library is glibc."""
    raise_descriptor_limit()
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    gc.set_threshold(*GC_THRESHOLDS_OF_A_START)
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return
    mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD_BYTES)
    mallopt(M_TRIM_THRESHOLD, TRIM_THRESHOLD_BYTES)
    mallopt(M_TOP_PAD, TOP_PAD_BYTES)


def started() -> None:
    """Have the garbage collector look at new objects often from now on, and never at those that exist."""
    gc.collect(0)  # the others were looked at, and all of them take long
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    small_objects.started()
    if freeze_what_is_left not in gc.callbacks:
        gc.callbacks.append(freeze_what_is_left)


def role_ended() -> None:
    """Free all that a role has left behind: much of it is frozen, and refers to itself."""
    gc.unfreeze()
    gc.collect()
    give_back_memory()
    gc.set_threshold(*GC_THRESHOLDS_OF_A_START)


def freeze_what_is_left(phase: str, info: dict[str, int]) -> None:
    """Have objects that are no longer young looked at no more; called by the collector."""
    if phase == "stop" and info["generation"] > 0:
        gc.freeze()
        small_objects.check()


def raise_descriptor_limit() -> None:
    """Allow this process as many descriptors as the system lets it have."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def give_back_memory() -> None:
    """Give free memory of the heap back to the system, where the C library is glibc."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


async def watch_memory(
    requests_total: Callable[[], int], cached_records: Callable[[], int] = lambda: 0
) -> None:
    """Collect what is young when few requests have arrived since the last check; after an hour, everything.

    What the heap has free is given back to the system then: buffers of many clients may have filled it. That is done in
    a thread: after a flood of hundreds of megabytes it takes tens of milliseconds.

    Runs until it is cancelled.
    """
    seen, looks = requests_total(), 0
    with small_objects.beside(cached_records):
        while True:
            await asyncio.sleep(IDLE_CHECK_INTERVAL_S)
            now = requests_total()
            idle, seen = now - seen < IDLE_REQUESTS, now
            looks += 1
            if looks >= MAX_LOOKS:
                gc.unfreeze()
                looks = 0
            elif not idle:
                continue
            gc.collect()
            await in_own_thread("memory", give_back_memory)
