"""ListOffsets: special timestamps by version, look-ups by time, and who may ask."""

from typing import Any

import pytest

from headrace.broker.api.list_offsets import (
    EARLIEST,
    EARLIEST_LOCAL,
    EARLIEST_PENDING_UPLOAD,
    LATEST,
    LATEST_TIERED,
    MAX_TIMESTAMP,
    SINCE_VERSION,
    ListOffsetsHandler,
)
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import ListOffsetsRequest
from headrace.protocol.records.compression import Compression
from headrace.protocol.records.record import Record
from headrace.storage.errors import ObjectStoreError
from tests.unit.broker.cluster_scene import NOW_MS, FakeClient, FakeRegistry, ask, topic_records

NEWEST = 11
Found = tuple[int, int, int]  # error code, offset, timestamp


def asked(timestamp: int, *, index: int = 0, epoch: int = -1) -> Any:
    return ListOffsetsRequest.ListOffsetsTopic.ListOffsetsPartition(
        partition_index=index, current_leader_epoch=epoch, timestamp=timestamp
    )


def look_up(
    registry: FakeRegistry, version: int, *partitions: Any, isolation: int = 0, topic: str = "t"
) -> list[Any]:
    request = ListOffsetsRequest(
        replica_id=-1,
        isolation_level=isolation,
        topics=[ListOffsetsRequest.ListOffsetsTopic(name=topic, partitions=list(partitions))],
    )
    handler = ListOffsetsHandler(registry)  # type: ignore[arg-type]
    return list(ask(handler, version, request).topics[0].partitions)


def found(registry: FakeRegistry, version: int, timestamp: int, **options: Any) -> Found:
    (partition,) = look_up(registry, version, asked(timestamp), **options)
    return partition.error_code, partition.offset, partition.timestamp


def at(*timestamps: int) -> list[Record]:
    return [Record(0, NOW_MS + timestamp, b"k", b"v") for timestamp in timestamps]


@pytest.fixture
def log() -> FakeRegistry:
    """Offsets 0 to 6 at NOW_MS + 10, 20 | 50, 30, 50 | 40 | 45 (not confirmed); the log starts at 1."""
    registry = FakeRegistry()
    served = registry.serve("t", leader_epoch=6)
    served.append(*at(10, 20))
    served.append(*at(50, 30, 50), compression=Compression.GZIP)
    served.append(*at(40))
    served.data.confirm()
    served.append(*at(45))
    served.data.start_offset = 1
    return registry


@pytest.mark.parametrize("version", range(1, NEWEST + 1))
@pytest.mark.parametrize("isolation", [0, 1])
def test_latest_is_the_high_watermark_and_earliest_the_log_start(
    log: FakeRegistry, version: int, isolation: int
) -> None:
    """2.9: timestamps of special values are -1; nothing unconfirmed is shown."""
    assert found(log, version, LATEST, isolation=isolation) == (0, 6, -1)
    assert found(log, version, EARLIEST, isolation=isolation) == (0, 1, -1)


SPECIAL = [
    (MAX_TIMESTAMP, (0, 2, NOW_MS + 50)),
    (EARLIEST_LOCAL, (0, 1, -1)),
    (LATEST_TIERED, (0, -1, -1)),
    (EARLIEST_PENDING_UPLOAD, (0, -1, -1)),
]


@pytest.mark.parametrize("version", range(1, NEWEST + 1))
@pytest.mark.parametrize(("timestamp", "answer"), SPECIAL)
def test_special_values_are_known_from_their_version_on(
    log: FakeRegistry, version: int, timestamp: int, answer: Found
) -> None:
    """2.9: -3 since v7, -4 since v8, -5 since v9, -6 since v11; UNSUPPORTED_VERSION before."""
    if version < SINCE_VERSION[timestamp]:
        answer = (ErrorCode.UNSUPPORTED_VERSION, -1, -1)
    assert found(log, version, timestamp) == answer


def test_the_versions_of_special_values_are_kafkas() -> None:
    assert SINCE_VERSION == {-3: 7, -4: 8, -5: 9, -6: 11}


def test_an_unheard_of_special_value_is_refused(log: FakeRegistry) -> None:
    assert found(log, NEWEST, -7) == (ErrorCode.UNSUPPORTED_VERSION, -1, -1)


@pytest.mark.parametrize(
    ("after", "answer"),
    [
        (0, (0, 1, NOW_MS + 20)),  # offset 0 lies below the log start: fetching it would fail
        (20, (0, 1, NOW_MS + 20)),
        (21, (0, 2, NOW_MS + 50)),  # inside of a compressed batch, its first record
        (50, (0, 2, NOW_MS + 50)),
        (51, (0, -1, -1)),
    ],
)
def test_by_time_the_first_record_by_offset_that_is_not_older_is_found(
    log: FakeRegistry, after: int, answer: Found
) -> None:
    """2.9: the exact record inside of its batch, with its own timestamp; none is -1, -1 and no error."""
    assert found(log, 1, NOW_MS + after) == answer


def test_records_after_an_older_one_in_the_same_batch_are_found() -> None:
    registry = FakeRegistry()
    registry.serve("t").append(*at(10, 30, 20, 40), compression=Compression.ZSTD)
    registry.served["t", 0].data.confirm()
    assert found(registry, 7, NOW_MS + 31) == (0, 3, NOW_MS + 40)
    assert found(registry, 7, NOW_MS + 11) == (0, 1, NOW_MS + 30)


def test_what_is_not_confirmed_is_not_found_by_time() -> None:
    """2.9: a hit at or beyond the fetchable end is -1."""
    registry = FakeRegistry()
    served = registry.serve("t")
    served.append(*at(10))
    served.data.confirm()
    served.append(*at(99))
    assert found(registry, 7, NOW_MS + 50) == (0, -1, -1)


@pytest.mark.parametrize("timestamp", [MAX_TIMESTAMP, NOW_MS])
def test_an_empty_log_holds_no_record_of_any_time(timestamp: int) -> None:
    registry = FakeRegistry()
    registry.serve("t")
    assert found(registry, NEWEST, timestamp) == (0, -1, -1)


@pytest.mark.parametrize("version", range(4, NEWEST + 1))
def test_the_leader_epoch_of_the_offset_is_told(log: FakeRegistry, version: int) -> None:
    (partition,) = look_up(log, version, asked(EARLIEST))
    assert partition.leader_epoch == 6
    (nothing,) = look_up(log, version, asked(NOW_MS + 51))
    assert nothing.leader_epoch == -1


@pytest.mark.parametrize(
    ("epoch", "error"),
    [
        (-1, 0),
        (6, 0),
        (5, ErrorCode.FENCED_LEADER_EPOCH),
        (7, ErrorCode.UNKNOWN_LEADER_EPOCH),
    ],
)
def test_the_leader_epoch_of_the_client_is_checked(
    log: FakeRegistry, epoch: int, error: int
) -> None:
    """2.10."""
    (partition,) = look_up(log, 5, asked(LATEST, epoch=epoch))
    assert partition.error_code == error
    assert partition.offset == (6 if error == 0 else -1)


def test_a_partition_that_is_asked_about_twice_is_refused_once_and_others_are_answered() -> None:
    """2.9: duplicate partitions are INVALID_REQUEST for them."""
    registry = FakeRegistry()
    registry.serve("t", index=0)
    registry.serve("t", index=1)
    answers = look_up(registry, 7, asked(LATEST), asked(LATEST, index=1), asked(EARLIEST))
    assert [(it.partition_index, it.error_code) for it in answers] == [
        (0, ErrorCode.INVALID_REQUEST),
        (1, 0),
    ]


def test_partitions_that_are_not_here_say_why() -> None:
    registry = FakeRegistry(FakeClient(*topic_records("elsewhere", 2, leader=2)))
    assert found(registry, 7, LATEST, topic="elsewhere")[0] == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert found(registry, 7, LATEST, topic="no")[0] == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_bucket_that_does_not_answer_is_an_error_of_the_partition(log: FakeRegistry) -> None:
    log.served["t", 0].data.bucket_error = ObjectStoreError("503")
    assert found(log, 7, NOW_MS + 30) == (ErrorCode.KAFKA_STORAGE_ERROR, -1, -1)
    assert found(log, 7, LATEST) == (0, 6, -1)


def test_records_that_cannot_be_decoded_are_an_error_of_the_partition() -> None:
    """A producer may compress garbage under a right checksum: that must not cost others their connection."""
    registry = FakeRegistry()
    served = registry.serve("t")
    served.append(*at(10), compression=Compression.GZIP)
    served.data.confirm()
    stored = served.data.batches[0]
    broken = bytearray(stored.payload)
    broken[61:] = bytes(len(broken) - 61)
    served.data.batches[0] = stored._replace(payload=memoryview(broken))
    assert found(registry, 7, NOW_MS) == (ErrorCode.CORRUPT_MESSAGE, -1, -1)
    assert found(registry, 7, MAX_TIMESTAMP) == (ErrorCode.CORRUPT_MESSAGE, -1, -1)


@pytest.mark.parametrize("timestamp", [LATEST, EARLIEST, NOW_MS])
def test_without_a_certain_lease_nothing_is_told(log: FakeRegistry, timestamp: int) -> None:
    log.client.has_lease = False
    assert found(log, 7, timestamp) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1, -1)
