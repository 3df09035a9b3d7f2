"""Resource usage of a process, from the kernel's accounting."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

# Of a server whose start is measured: it keeps byte code, as an installed one has it.
WITH_BYTE_CODE: Final = {"PYTHONDONTWRITEBYTECODE": ""}

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Usage:
    """Processor seconds since the process started, and current and peak memory, in bytes."""

    cpu_s: float
    rss_bytes: int
    rss_peak_bytes: int


def usage(process_id: int | str) -> Usage:
    """Read the accounting of one process ("self": this one), threads included."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(") ")[2].split()
    status = {}
    for line in Path(f"/proc/{process_id}/status").read_text().splitlines():
        name, _, value = line.partition(":")
        status[name] = value.split()
    return Usage(
        (int(fields[11]) + int(fields[12])) / _TICKS_PER_S,
        int(status["VmRSS"][0]) * 1024,
        int(status["VmHWM"][0]) * 1024,
    )
