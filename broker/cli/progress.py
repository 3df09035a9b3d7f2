"""Progress on standard error, when that is a terminal and the work is long."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from headrace.broker.cli.output import talk
from headrace.readable import size_text

LINE_EVERY_S = 5.0


@contextmanager
def progress(label: str, *, total: int) -> Iterator[Callable[[int], None]]:
    """Lend a function that says how many bytes more were done.

    Args:
        label: what is being done.
        total: bytes in all; 0 when it is not known, then there is no bar.
    """
    if total <= 0 or not _is_shown():
        yield lambda _: None
        return
    from rich.console import Console  # only for a terminal
    from rich.progress import BarColumn, DownloadColumn, Progress, TransferSpeedColumn

    columns = ("{task.description}", BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done: bar.advance(task, done)


@contextmanager
def tally(label: str) -> Iterator[Callable[[int], None]]:
    """Lend a function that counts things as they are seen, when their total is unknown."""
    if not _is_shown():
        yield lambda _: None
        return
    from rich.console import Console  # only for a terminal
    from rich.progress import Progress, SpinnerColumn

    columns = (SpinnerColumn(), "{task.description}", "{task.completed:,.0f}")
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda seen: bar.advance(task, seen)


# (what is being done, bytes so far, bytes in all)
Advance = Callable[[str, int, int], None]


@contextmanager
def bars() -> Iterator[Advance]:
    """Lend a function that says how far several things are, one after the other; without a terminal, by lines."""
    if not _is_shown():
        yield _Lines().advance
        return
    from rich.console import Console  # only for a terminal
    from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TransferSpeedColumn

    columns = ("{task.description}", BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        tasks: dict[str, TaskID] = {}

        def advance(label: str, done: int, total: int) -> None:
            if label not in tasks:
                tasks[label] = shown.add_task(label, total=total)
            shown.update(tasks[label], completed=done, total=total)

        yield advance


class _Lines:
    """A line now and then, for a log."""

    def __init__(self) -> None:
        self._told_s = time.monotonic()

    def advance(self, label: str, done: int, total: int) -> None:
        now_s = time.monotonic()
        if now_s - self._told_s >= LINE_EVERY_S:
            self._told_s = now_s
            talk(f"{label}: {size_text(done)} of {size_text(total)}")


def _is_shown() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
