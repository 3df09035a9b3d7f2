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


def tree_cpu_s(process_id: int) -> dict[int, float]:
    """Processor seconds of a process and of those of its descendants that live, by process id."""
    children: dict[int, list[int]] = {}
    spent_s: dict[int, float] = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            fields = (path / "stat").read_text().rpartition(") ")[2].split()
        except OSError:
            continue  # it has ended
        children.setdefault(int(fields[1]), []).append(int(path.name))
        spent_s[int(path.name)] = (int(fields[11]) + int(fields[12])) / _TICKS_PER_S
    found, tree_s = [process_id], {}
    while found:
        it = found.pop()
        tree_s[it] = spent_s.get(it, 0.0)
        found += children.get(it, ())
    return tree_s


def spent_since_s(before_s: dict[int, float], now_s: dict[int, float]) -> float:
    """Processor seconds between two looks at a tree; of a process that ended meanwhile, nothing."""
    return sum(it - before_s.get(process_id, 0.0) for process_id, it in now_s.items())
