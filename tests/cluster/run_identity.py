"""A name for what a run makes outside its directory, from which a later run sees whether its maker still lives.

`hr-<process id>-<its start, in ticks since boot>`: an id is used again, but not with the same start.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path

_LABEL = re.compile(r"hr-(\d+)-(\d+)")


def own_label() -> str:
    """Return the label of this process."""
    process_id = os.getpid()
    return f"hr-{process_id}-{_started(process_id)}"


def stale_labels(names: Iterable[str]) -> set[str]:
    """Return the labels within `names` whose processes have ended."""
    found = {match[0]: match for name in names if (match := _LABEL.search(name))}
    return {label for label, match in found.items() if _started(int(match[1])) != int(match[2])}


def _started(process_id: int) -> int | None:
    try:
        stat = Path(f"/proc/{process_id}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return int(stat.rpartition(")")[2].split()[19])
