"""Metrics of background jobs: opening, retention, compaction, deletion, sweep. Plain counters, read at each scrape."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from headrace.broker.partition.leadership import OpeningStatistics
from headrace.broker.partition.retention import RetentionStatistics
from headrace.broker.telemetry.families import counter, counters, gauges
from headrace.storage.compaction.statistics import CompactionStatistics
from headrace.storage.deletion import DeletionStatistics
from headrace.storage.sweep.sweeper import SweepStatistics


@dataclass(eq=False)
class BackgroundCollector(Collector):
    """Shows the statistics of the background jobs."""

    openings: OpeningStatistics
    retention: RetentionStatistics
    compaction: CompactionStatistics
    deletion: DeletionStatistics
    sweep: SweepStatistics
    awaiting_snapshot: Callable[[], int]

    def collect(self) -> Iterator[Metric]:
        """Read everything."""
        yield counter(
            "partitions_opened_past_damage",
            "Openings of partitions that passed over checkpoints or records which are missing or damaged",
            self.openings.opened_past_damage_total,
        )
        yield from self._retention_metrics()
        yield from self._compaction_metrics()
        deletion, sweep = self.deletion, self.sweep
        yield from gauges(
            ("deletion_awaiting_snapshot_objects",
             "Objects that stay until a snapshot of the metadata without them is in the bucket",
             self.awaiting_snapshot()),
            ("sweep_beyond_metadata_objects",
             "Objects with ids that the metadata never assigned, in the last listing",
             sweep.beyond_metadata),
        )  # fmt: skip
        yield from counters(
            ("deletion_objects", "Objects deleted", deletion.deleted_objects),
            ("deletion_failures", "Rounds of deletion that failed", deletion.failures),
            ("sweep_rounds", "Listings of the whole bucket", sweep.laps),
            ("sweep_listed_objects", "Objects listed", sweep.listed_objects),
            ("sweep_removed_objects", "Objects removed that the metadata did not know", sweep.removed_objects),
            ("sweep_aborted_uploads", "Abandoned multipart uploads that were aborted", sweep.aborted_uploads),
            ("sweep_failures", "Sweeps that failed", sweep.failures),
        )  # fmt: skip

    def _retention_metrics(self) -> Iterator[Metric]:
        found = self.retention
        yield from counters(
            ("deletions", "Times that a partition's oldest records were deleted", found.deletions_total),
            ("deleted_records", "Offsets deleted by retention", found.deleted_records_total),
            ("deleted_bytes", "Bytes of records deleted by retention", found.deleted_bytes_total),
            ("failures", "Deletions that failed and are retried at the next check", found.failures_total),
            prefix="retention_",
        )  # fmt: skip

    def _compaction_metrics(self) -> Iterator[Metric]:
        found = self.compaction
        yield from gauges(
            ("compaction_running", "Whether a round is running", found.is_running),
            ("compaction_group_bytes", "Size of the group being merged", found.group_bytes),
            ("compaction_group_done_bytes", "Bytes of that group that are merged", found.group_done_bytes),
        )  # fmt: skip
        yield from counters(
            ("rounds", "Rounds of compaction", found.rounds_finished),
            ("groups", "Groups of objects merged and committed", found.groups),
            ("objects_in", "Objects that were merged", found.objects_in),
            ("objects_out", "Objects written by merging", found.objects_out),
            ("bytes_in", "Bytes that were merged", found.bytes_in),
            ("bytes_out", "Bytes written by merging", found.bytes_out),
            ("copied_bytes", "Of the bytes written, those copied within the bucket", found.copied_bytes),
            ("failures", "Groups that failed and are retried in the next round", found.failures),
            ("damaged_objects", "Damaged objects, excluded from compaction for good", found.damaged_objects),
            ("throttled_seconds", "Time waited because of the rate limit", found.throttled_seconds),
            prefix="compaction_",
        )  # fmt: skip
