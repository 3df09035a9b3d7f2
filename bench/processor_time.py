"""Processor time of each row of `make bench`, kept by commit: `bench/processor_time.csv`.

A commit that is to make the path of records cheaper adds its rows (`python -m bench --before CHECKOUT --keep`). The
processor time of one version and of the one before it are from the same run, since machines differ; it is steadier
than the time on a clock.
"""

import csv
import statistics
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

KEPT: Final = Path(__file__).with_name("processor_time.csv")
FIELDS: Final = ("commit", "before", "row", "cpu_ms_per_mb", "cpu_us_per_record", "ratio")
WORSE: Final = 1.05  # less is taken for noise


@dataclass(frozen=True)
class Compared:
    """One row of the table, in this version and in the one before."""

    row: str
    ms_per_mb: float
    us_per_record: float
    ratio: float  # to the version before

    @property
    def is_worse(self) -> bool:
        """Whether it takes more processor time than before, by more than is taken for noise."""
        return self.ratio > WORSE

    def __str__(self) -> str:
        """As the benchmark says it."""
        return f"{self.row} takes {self.ratio:.2f} times the processor time, {self.us_per_record:.2f} us a record"


def compare(
    figures: Mapping[tuple[str, str, str], Sequence[float]], rows: Sequence[str]
) -> list[Compared]:
    """Compare the medians of "headrace" and "before"; `figures` are by row, server and figure."""

    def median(row: str, server: str, figure: str) -> float:
        return statistics.median(figures[row, server, figure])

    return [
        Compared(
            row,
            median(row, "headrace", "CPU ms/MB"),
            median(row, "headrace", "CPU us/record"),
            median(row, "headrace", "CPU ms/MB") / median(row, "before", "CPU ms/MB"),
        )
        for row in rows
    ]


def keep(compared: Sequence[Compared], commits: tuple[str, str], *, kept: Path = KEPT) -> None:
    """Add a line for each row, with the commits of this code and of the one before."""
    is_new = not kept.exists()
    with kept.open("a", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        if is_new:
            lines.writerow(FIELDS)
        for it in compared:
            figures = (f"{it.ms_per_mb:.3f}", f"{it.us_per_record:.2f}", f"{it.ratio:.3f}")
            lines.writerow((*commits, it.row, *figures))


def commit_of(checkout: Path) -> str:
    """Return the abbreviated commit of a checkout.

    Raises:
        ValueError: it has changes, so nobody could measure the same code again.
    """

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", "-C", str(checkout), *arguments], capture_output=True, text=True, check=True
        ).stdout.strip()

    if git("status", "--porcelain", "--untracked-files=no"):
        raise ValueError(f"{checkout} has changes: commit them before their figures are kept")
    return git("rev-parse", "--short=9", "HEAD")
