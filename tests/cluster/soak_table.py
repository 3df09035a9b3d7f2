"""Samples of a process that runs for long: whether something grows, and the table that says so. Pure.

A run is cut in three. The first third fills caches, rings and everything else that has a bound. Between the second and
the third nothing may grow: the medians of both are compared, and what the last has more must be within a tolerance.
"""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Final, NamedTuple

Sample = Mapping[str, float]


class Measure(NamedTuple):
    """What is sampled, and by how much its median may grow from the second third to the last."""

    name: str
    tolerance_percent: float
    tolerance: float  # in its own unit, besides


MEASURES: Final = (
    Measure("memory_mib", 3, 5),
    Measure("descriptors", 5, 6),
    Measure("threads", 0, 2),
    Measure("bucket_objects", 15, 15),
    Measure("bucket_mib", 15, 8),
    Measure("metadata_log_kib", 10, 512),
    Measure("metadata_files", 0, 2),
    Measure("published_snapshots", 0, 2),
    Measure("wal_mib", 5, 8),
    Measure("offsets_log_kib", 15, 512),
    Measure("offsets_live_records", 10, 100),
    Measure("partitions", 10, 16),
    Measure("connections", 10, 6),
    Measure("metric_series", 2, 30),
)
MIN_SAMPLES: Final = 9


class Verdict(NamedTuple):
    """One measure over a run."""

    measure: Measure
    first: float  # medians of the thirds
    middle: float
    last: float
    largest: float

    @property
    def allowed(self) -> float:
        """The largest median of the last third that is no slope."""
        return self.middle * (1 + self.measure.tolerance_percent / 100) + self.measure.tolerance

    @property
    def has_slope(self) -> bool:
        """Whether it grows."""
        return self.last > self.allowed


def judge(samples: Sequence[Sample], measures: Sequence[Measure] = MEASURES) -> list[Verdict]:
    """Judge every measure.

    Raises:
        ValueError: too few samples to tell.
    """
    if len(samples) < MIN_SAMPLES:
        raise ValueError(
            f"{len(samples)} samples are too few to see a slope: {MIN_SAMPLES} at least"
        )
    third = len(samples) // 3
    parts = samples[:third], samples[third:-third], samples[-third:]
    verdicts = []
    for measure in measures:
        first, middle, last = (median(it[measure.name] for it in part) for part in parts)
        largest = max(it[measure.name] for it in samples)
        verdicts.append(Verdict(measure, first, middle, last, largest))
    return verdicts


def table(verdicts: Sequence[Verdict]) -> str:
    """Give the table of a run, as Markdown."""
    rows = ["| measure | first third | second | last | allowed | largest | |", "|---" * 7 + "|"]
    for found in verdicts:
        numbers = (found.first, found.middle, found.last, found.allowed, found.largest)
        cells = " | ".join(f"{number:,.1f}" for number in numbers)
        rows.append(f"| {found.measure.name} | {cells} | {'GROWS' if found.has_slope else ''} |")
    return "\n".join(rows)
