"""Progress on standard error, when that is a terminal and the work is long."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(label: str, *, total: int) -> Iterator[Callable[[int], None]]:
    """Lend a function that says how many bytes more were done.

    Args:
        label: what is being done.
        total: bytes in all; 0 when nobody knows, then there is no bar.
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
    """Lend a function that says how many things more were seen, when nobody knows how many there are."""
    if not _is_shown():
        yield lambda _: None
        return
    from rich.console import Console  # only for a terminal
    from rich.progress import Progress, SpinnerColumn

    columns = (SpinnerColumn(), "{task.description}", "{task.completed:,.0f}")
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda seen: bar.advance(task, seen)


def _is_shown() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
