"""Mistakes with produced batches: what Kafka refuses is stored, or changed into something else."""

from tests.seeded.bug import SeededBug

_RULES = "tests/unit/broker/partition/test_append_rules.py"
_APPEND_RULES = "broker/partition/append_rules.py"
_WALK = "protocol/records/walk.py"

BUGS = (
    SeededBug(
        "records-01",
        "the offset of a record in its batch is not compared with its place",
        _WALK,
        "StructureWalk._quick",
        "length & 1 or end > size or offset != index + index",
        "length & 1 or end > size",
        f"{_RULES}::test_records_that_cannot_be_read_as_the_header_says_are_invalid",
    ),
    SeededBug(
        "records-02",
        "of records of equal size only the first has its offset checked",
        "protocol/records/runs.py",
        "count_equal",
        """
            if data[offset + size : offset + last : size] != _OFFSET_FIRST[index:after] or not (
                is_one_byte
                or data[offset + 1 + size : offset + 1 + last : size] == _OFFSET_SECOND[index:after]
            ):
                return NO_RUN
        """,
        "",
        f"{_RULES}::test_one_bad_record_among_many_equal_ones_is_found",
    ),
    SeededBug(
        "records-03",
        "what follows the last record is stored with it",
        _WALK,
        "StructureWalk.steps",
        """
            if not self.is_at_end():
                raise CorruptBatchError("extra bytes after the last record")
        """,
        "",
        f"{_RULES}::test_records_that_cannot_be_read_as_the_header_says_are_invalid",
    ),
    SeededBug(
        "records-04",
        "the maximum timestamp of the header is believed",
        _APPEND_RULES,
        "_check_by_structure",
        "return max(newest, NO_TIMESTAMP)",
        "return header.max_timestamp",
        f"{_RULES}::test_the_maximum_timestamp_is_that_of_the_records",
    ),
    SeededBug(
        "records-05",
        "only the newest record is held against the time limits of the topic",
        _APPEND_RULES,
        "_check_by_structure",
        "oldest < now_ms - config.timestamp_before_max_ms "
        "or newest > now_ms + config.timestamp_after_max_ms or (walk.lacks_key and config.compacts)",
        "newest > now_ms + config.timestamp_after_max_ms or (walk.lacks_key and config.compacts)",
        f"{_RULES}::test_a_timestamp_that_the_header_hides_is_refused_and_its_record_is_named",
    ),
    SeededBug(
        "records-06",
        "headers do not count as work, however many a record has",
        _WALK,
        "StructureWalk._unusual",
        "self._count(_UNUSUAL_WORK + headers)",
        "self._count(_UNUSUAL_WORK)",
        f"{_RULES}::test_headers_count_as_much_as_records",
    ),
    SeededBug(
        "records-07",
        "a timestamp of the far future that is already stored is the newest of its partition for good",
        "broker/partition/state.py",
        "PartitionState.apply",
        "min(newest_timestamp(header), latest_ms)",
        "newest_timestamp(header)",
        "tests/unit/broker/partition/test_retention.py"
        "::test_a_batch_of_the_far_future_that_is_already_stored_does_not_stop_deletion_by_age",
    ),
    SeededBug(
        "records-08",
        "what follows the decompression of a large block stays in its thread",
        "protocol/records/window.py",
        "in_thread",
        "try:\n    return call()\nfinally:\n    yield Slice.LOOP",
        "return call()",
        "tests/unit/broker/api/test_produce.py::test_only_what_takes_long_is_done_in_a_thread",
    ),
    SeededBug(
        "records-09",
        "the offsets of a small batch of equal records are not compared with their places",
        "protocol/records/runs.py",
        "facts_of_equal",
        "times.lstrip(_ONLY_BYTE) or data[time + 1 :: size] != _OFFSET_FIRST[:count]",
        "times.lstrip(_ONLY_BYTE)",
        "tests/unit/protocol/records/test_runs.py::test_any_offset_is_compared_and_any_time_counts",
    ),
    SeededBug(
        "records-10",
        "records of several gzip members are stored as they were sent, and librdkafka loses those behind the first",
        "broker/partition/append_rules.py",
        "_in_steps",
        "codec is None and not walk.is_plain",
        "False",
        f"{_RULES}::test_records_in_an_unusual_form_are_stored_in_one_that_every_client_reads",
    ),
    SeededBug(
        "records-11",
        "gzip members without content are not bounded",
        "protocol/records/compression.py",
        "_decompress_gzip",
        "members > _MAX_STREAMS",
        "False",
        "tests/unit/protocol/records/test_compression.py::test_streams_without_content_are_bounded",
    ),
)
