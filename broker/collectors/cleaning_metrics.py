"""Metrics of the cleaning of compacted topics. Plain counters, read at each scrape."""

from collections.abc import Callable, Iterable, Iterator

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from headrace.broker.partition.topic_cleaner import NEVER_MS, CleaningStatistics
from headrace.broker.telemetry.families import counter, gauge


class CleaningCollector(Collector):
    """Shows what was cleaned, and how much there is to clean."""

    def __init__(self, statistics: CleaningStatistics, dirty_ratio: Callable[[], float]) -> None:
        self._statistics = statistics
        self._dirty_ratio = dirty_ratio

    def describe(self) -> Iterable[Metric]:
        """Name nothing in advance."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Read everything."""
        found = self._statistics
        yield gauge(
            "cleaning_dirty_ratio",
            "Largest share, of the partitions of compacted topics led here, that is new since its last cleaning",
            self._dirty_ratio(),
        )
        yield gauge(
            "cleaning_last_finished_timestamp_seconds",
            "When a partition was cleaned last; 0 if none was since the start",
            0 if found.last_finished_ms == NEVER_MS else found.last_finished_ms / 1000,
        )
        for name, text, value in (
            ("passes", "Times that a partition was cleaned", found.passes_total),
            ("records_in", "Records that were read to clean them", found.records_in_total),
            ("records_kept", "Of those, the ones that stayed", found.records_kept_total),
            (
                "keyless_records",
                "Records without a key that cleaning has dropped",
                found.keyless_records_total,
            ),
            (
                "unreadable_batches",
                "Batches whose records cannot be read, which cleaning has left as they are",
                found.unreadable_batches_total,
            ),
            (
                "restarts",
                "Times that a partition had to be cleaned from its start again",
                found.restarts_total,
            ),
        ):
            yield counter(f"cleaning_{name}", text, value)
