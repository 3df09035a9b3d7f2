"""How much of a compacted topic's log is to be cleaned, and whether it is worth while now. Pure.

Never cleaned is what lies in the active segment of the time index, what is not in Stream Objects in the bucket, what
lies at or above the last stable offset, and what is younger than `min.compaction.lag.ms`. The rest is worth a pass once
its dirty part is more than `min.cleanable.dirty.ratio` of it, or has a record that is older than
`max.compaction.lag.ms`.

Source: LogCleanerManager.scala of Apache Kafka 4.4; KIP-354.
"""

from typing import NamedTuple

from headrace.broker.partition.time_index import MAX_SEGMENT_MS, TimeIndex
from headrace.config.topic import EffectiveTopicConfig


class Cleanable(NamedTuple):
    """Offsets [first_dirty, end) are dirty and may be cleaned; below is what was cleaned before."""

    first_dirty: int
    end: int
    dirty_bytes: int
    total_bytes: int  # below `end`
    is_late: bool  # a record is older than max.compaction.lag.ms

    @property
    def dirty_ratio(self) -> float:
        """Share of the dirty part; 0 if there is nothing."""
        return self.dirty_bytes / self.total_bytes if self.total_bytes > 0 else 0.0

    def is_due(self, config: EffectiveTopicConfig) -> bool:
        """Whether a pass is worth while."""
        if self.end <= self.first_dirty:
            return False
        return self.is_late or self.dirty_ratio > config.min_cleanable_dirty_ratio


def cleanable(
    times: TimeIndex,
    config: EffectiveTopicConfig,
    *,
    cleaned_offset: int,
    log_start_offset: int,
    limit: int,
    now_ms: int,
) -> Cleanable:
    """Say what may be cleaned of a log below `limit`."""
    first_dirty = max(cleaned_offset, log_start_offset)
    young_ms = now_ms - config.min_compaction_lag_ms
    late_ms = now_ms - config.max_compaction_lag_ms
    span_ms = min(config.segment_span_ms, MAX_SEGMENT_MS)
    end, is_late = first_dirty, False
    for entry in times.entries_above(first_dirty):
        if entry.offset > limit or (config.min_compaction_lag_ms and entry.max_ms > young_ms):
            break
        end = entry.offset
        # A segment is no longer than that, so its oldest record is at most so much older than its newest one.
        is_late |= 0 <= entry.max_ms < late_ms + span_ms
    below_end = times.bytes_below(end)
    dirty_bytes = below_end - times.bytes_below(first_dirty)
    return Cleanable(first_dirty, end, dirty_bytes, below_end - times.start_bytes, is_late)
