"""Chooses which seeded bugs a run of the tests tries: a part that rotates, and those of what changed last."""

import shutil
import subprocess
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from tests.seeded.bug import SeededBug


def chosen(
    bugs: Sequence[SeededBug], *, part: int, parts: int, changed: Sequence[str]
) -> list[SeededBug]:
    """Return one of `parts` of the bugs, and at most as many others whose file or test is among the changed ones.

    Args:
        bugs: all of them.
        part: which of the parts, from 0.
        parts: how many parts there are.
        changed: files, the one that changed last first.
    """
    of_today = bugs[part::parts]
    others = [it for it in bugs if it not in of_today]
    place = {file: number for number, file in reversed([*enumerate(changed)])}
    newest = {it.id: min(place.get(file, len(changed)) for file in _files(it)) for it in others}
    of_changes = sorted(
        (it for it in others if newest[it.id] < len(changed)), key=lambda it: newest[it.id]
    )
    return of_today + of_changes[: len(bugs) // parts]


def changed_files(root: Path, max_files: int = 1_000) -> list[str]:
    """Return the files of the newest commits, the one that changed last first; none where there is no history."""
    if shutil.which("git") is None:
        return []
    command = ["git", "log", "--no-merges", "--max-count=200", "--name-only", "--format="]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    files = dict.fromkeys(it for it in done.stdout.splitlines() if it)
    return [*islice(files, max_files)]


def _files(bug: SeededBug) -> tuple[str, ...]:
    return (bug.file,) if bug.test is None else (bug.file, bug.test.partition("::")[0])
