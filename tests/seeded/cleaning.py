"""Mistakes in the cleaning of compacted topics."""

from tests.seeded.bug import SeededBug

_PURE = "tests/unit/broker/partition/test_cleaning.py"
_CLEANABLE = "tests/unit/broker/partition/test_cleanable.py"
_STORAGE = "tests/unit/storage/compaction/test_cleaning.py"
_OPENING = "tests/unit/broker/partition/test_opening.py"

BUGS = (
    SeededBug(
        "cleaning-01",
        "the last record of a key goes with the others",
        "broker/partition/cleaning.py",
        "BatchFilter._kept",
        "base_offset + delta < newest(key)",
        "base_offset + delta <= newest(key)",
        f"{_PURE}::test_only_the_last_record_of_a_key_stays",
    ),
    SeededBug(
        "cleaning-02",
        "tombstones go at once, and a slow consumer never sees them",
        "broker/partition/cleaning.py",
        "BatchFilter._kept",
        "header.has_delete_horizon and self._rules.now_ms >= base_ms",
        "True",
        f"{_PURE}::test_a_tombstone_stays_until_its_horizon",
    ),
    SeededBug(
        "cleaning-03",
        "a tombstone that was never cleaned gets a horizon, and then what it hides is seen again",
        "broker/partition/cleaning.py",
        "BatchFilter.clean",
        "header.base_offset < self._rules.cleaned_offset",
        "header.base_offset < 0",
        f"{_PURE}::test_a_tombstone_that_was_never_cleaned_is_not_below_the_cleaned_offset",
    ),
    SeededBug(
        "cleaning-04",
        "the last sequence of a producer is lost",
        "broker/partition/cleaning.py",
        "BatchFilter._is_last_of_producer",
        "last_offset is not None and header.last_offset >= last_offset",
        "last_offset is not None and header.last_offset > last_offset",
        f"{_PURE}::test_the_last_batch_of_a_producer_stays_without_records",
    ),
    SeededBug(
        "cleaning-05",
        "the last batch of a producer is one that may be lost",
        "broker/partition/cleaning.py",
        "producers_to_keep",
        "it.last_offset < confirm_offset",
        "it.last_offset >= 0",
        f"{_PURE}::test_of_a_producer_the_newest_acknowledged_batch_is_its_last_one",
    ),
    SeededBug(
        "cleaning-06",
        "records of aborted transactions hide those before",
        "broker/partition/cleaning.py",
        "BatchFilter.index",
        "header.is_control or not header.records_count or self._is_aborted(header)",
        "header.is_control or not header.records_count",
        f"{_PURE}::test_records_of_aborted_transactions_go_and_hide_nothing",
    ),
    SeededBug(
        "cleaning-07",
        "a batch that cannot be read hides others as far as it can be read",
        "broker/partition/cleaning.py",
        "BatchFilter.index",
        "found.append((key, base_offset + delta))",
        "put(key, base_offset + delta)",
        f"{_PURE}::test_a_batch_that_cannot_be_read_stays_and_hides_nothing",
    ),
    SeededBug(
        "cleaning-08",
        "the last batch of an object goes, and with it its offsets",
        "storage/compaction/cleaning.py",
        "_Output.chunks",
        "if dropped is not None:\n    await self._keep(dropped)",
        "pass",
        f"{_STORAGE}::test_the_last_batch_of_an_object_stays",
    ),
    SeededBug(
        "cleaning-09",
        "a batch that is not for every reader yet covers offsets below",
        "storage/compaction/cleaning.py",
        "_Output.chunks",
        "batch.end_offset > self._cleaning.end_offset",
        "False",
        f"{_STORAGE}::test_what_lies_behind_the_end_is_not_cleaned",
    ),
    SeededBug(
        "cleaning-10",
        "a small stream never leaves Stream Set Objects, and is never cleaned",
        "storage/compaction/plan.py",
        "plan_runs",
        "any(size >= split_bytes for _, size in runs) or leaves(stream_id)",
        "any(size >= split_bytes for _, size in runs)",
        f"{_STORAGE}::test_a_stream_that_is_cleaned_leaves_stream_set_objects_however_small",
    ),
    SeededBug(
        "cleaning-11",
        "a cleaned batch counts from where the gap before it begins",
        "broker/partition/opening.py",
        "_Replay._apply",
        "self._state.apply(header, decode_end(batch.payload) if header.is_control else None, "
        "header.base_offset, header.partition_leader_epoch, self._now_ms, self._segment_ms, "
        "self._latest_ms)",
        "self._state.apply(header, decode_end(batch.payload) if header.is_control else None, "
        "batch.base_offset, header.partition_leader_epoch, self._now_ms, self._segment_ms, "
        "self._latest_ms)",
        f"{_OPENING}::test_a_cleaned_batch_covers_the_gap_before_it_and_counts_from_its_own_offset",
    ),
    SeededBug(
        "cleaning-12",
        "what is young is cleaned as well",
        "broker/partition/cleanable.py",
        "cleanable",
        "config.min_compaction_lag_ms and entry.max_ms > young_ms",
        "False",
        f"{_CLEANABLE}::test_what_is_young_stays",
    ),
    SeededBug(
        "cleaning-13",
        "sizes do not shrink",
        "broker/partition/time_index.py",
        "TimeIndex.replace_below",
        "shrunk_bytes = bytes_before - cleaned.end_bytes",
        "shrunk_bytes = 0",
        f"{_CLEANABLE}::test_sizes_and_times_follow",
    ),
)
