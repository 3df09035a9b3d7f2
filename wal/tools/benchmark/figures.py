"""The figures of a benchmark run: summaries, medians and ratios. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from statistics import fmean, median
from typing import NamedTuple, TypeVar

from headrace.wal.layout import PAGE_BYTES

_NS_PER_SECOND = 1e9
_NS_PER_MS = 1e6
_WINDOW_NS = 1_000_000_000


class Load(NamedTuple):
    """The load on the log."""

    record_bytes: int
    bytes_per_second: int  # of the records; 0 is flat out
    max_open: int = (
        0  # records appended and not confirmed, flat out; 0 is twice what the device takes
    )


@dataclass(frozen=True, slots=True)
class Figures:
    """One run of the log, or the medians of several."""

    average_ms: float  # from the time a record was due to its confirmation
    p99_ms: float
    max_ms: float
    bytes_per_second: float  # of records, without headers and padding
    iops: float  # device writes
    request_bytes: float  # mean of a device write
    depth: float  # mean of inflight device writes
    cpu_share: float  # of one core, for the log and the load together


@dataclass(frozen=True, slots=True)
class PeerFigures:
    """One run of fio, or the medians of several."""

    bytes_per_second: float
    average_ms: float  # of a write


@dataclass(frozen=True, slots=True)
class Row:
    """One load: the medians of our runs and of fio's, which had our request size and depth."""

    load: Load
    ours: Figures
    fio: PeerFigures | None

    @property
    def throughput_ratio(self) -> float | None:
        """Ours to fio's: of records, to all that fio wrote."""
        return None if self.fio is None else self.ours.bytes_per_second / self.fio.bytes_per_second

    @property
    def latency_ratio(self) -> float | None:
        """Average of an append to that of a write of fio."""
        return None if self.fio is None else self.ours.average_ms / self.fio.average_ms


class DeviceWork(NamedTuple):
    """What the device did during a run, as the log saw it."""

    writes: int
    written_bytes: int
    busy_ns: int  # sum of the time of all writes


def summarise(
    latencies_ns: Sequence[int],
    *,
    record_bytes: int,
    work: DeviceWork,
    elapsed_ns: int,
    cpu_ns: int,
) -> Figures:
    """Return the figures of one run.

    Raises:
        ValueError: nothing was confirmed or written in that time.
    """
    if not latencies_ns or not work.writes:
        msg = (
            f"nothing was confirmed within {elapsed_ns / _NS_PER_SECOND:g} s: the run is too short"
        )
        raise ValueError(msg)
    ordered = sorted(latencies_ns)
    return Figures(
        average_ms=fmean(ordered) / _NS_PER_MS,
        p99_ms=percentile(ordered, 99) / _NS_PER_MS,
        max_ms=ordered[-1] / _NS_PER_MS,
        bytes_per_second=len(ordered) * record_bytes / elapsed_ns * _NS_PER_SECOND,
        iops=work.writes / elapsed_ns * _NS_PER_SECOND,
        request_bytes=work.written_bytes / work.writes,
        depth=work.busy_ns / elapsed_ns,  # Little's law
        cpu_share=cpu_ns / elapsed_ns,
    )


def percentile(ordered: Sequence[int], percent: int) -> int:
    """Return the smallest of the ordered values that `percent` of them do not exceed."""
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


_Summary = TypeVar("_Summary", Figures, PeerFigures)


def medians(runs: Sequence[_Summary]) -> _Summary:
    """Return the median of each figure."""
    kind = type(runs[0])
    return kind(*(median(getattr(run, field.name) for run in runs) for field in fields(kind)))


def peer_request_bytes(figures: Figures) -> int:
    """Size of the writes that fio is to make: ours, in whole pages."""
    return max(1, round(figures.request_bytes / PAGE_BYTES)) * PAGE_BYTES


def peer_depth(figures: Figures) -> int:
    """How many writes fio is to keep inflight."""
    return max(1, round(figures.depth))


class Sample(NamedTuple):
    """The device's own counters at a time."""

    at_ns: int
    writes: int
    written_bytes: int


@dataclass(frozen=True, slots=True)
class Counted:
    """A run by the device's own counters."""

    max_writes_per_second: int  # within any second
    max_bytes_per_second: int
    bytes_per_second: float  # mean


def count(samples: Sequence[Sample]) -> Counted:
    """Slide a second over the samples, which must be dense: a peak between two samples is not seen."""
    max_writes = max_bytes = 0
    end = 0
    for begin in samples:
        while end + 1 < len(samples) and samples[end + 1].at_ns - begin.at_ns <= _WINDOW_NS:
            end += 1
        max_writes = max(max_writes, samples[end].writes - begin.writes)
        max_bytes = max(max_bytes, samples[end].written_bytes - begin.written_bytes)
    first, last = samples[0], samples[-1]
    elapsed_ns = last.at_ns - first.at_ns
    mean = (last.written_bytes - first.written_bytes) / elapsed_ns * _NS_PER_SECOND
    return Counted(max_writes, max_bytes, mean)
