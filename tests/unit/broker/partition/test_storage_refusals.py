"""What storage refuses although it was admitted: a definite answer for that batch, and for no other."""

import pytest

from headrace.broker.partition.append_rules import AppendOrigin, Rejection
from headrace.broker.partition.storage_errors import code_of
from headrace.broker.partition.write_side import Accepted
from headrace.protocol.errors import ErrorCode
from headrace.protocol.records.compression import Compression
from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from headrace.storage import errors
from tests.unit.broker.partition.fakes import FakeStream, OnAck, OpenPartition

NOW_MS = 1_700_000_000_000


class RefusingStream(FakeStream):
    """Refuses appends while `refusal` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.refusal: errors.StorageError | None = None

    def append(self, payload: memoryview | bytes, count: int, on_ack: OnAck) -> int:
        if self.refusal is not None:
            raise self.refusal
        return super().append(payload, count, on_ack)


def append(
    opened: OpenPartition,
    *,
    sequence: int = 0,
    value: bytes = b"v",
    codec: Compression | None = None,
) -> Accepted | Rejection:
    options = BatchOptions(
        producer_id=9,
        producer_epoch=0,
        base_sequence=sequence,
        compression=codec or Compression.NONE,
    )
    data = memoryview(encode_batch([Record(0, NOW_MS, b"k", value)], options))
    return opened.partition.writes.append(
        data, origin=AppendOrigin.CLIENT, now_ms=NOW_MS, on_done=lambda _error: None
    )


@pytest.mark.parametrize(
    ("refusal", "code"),
    [
        (errors.BackPressureError("full"), ErrorCode.NOT_ENOUGH_REPLICAS),
        (errors.RecordTooLargeError("never"), ErrorCode.MESSAGE_TOO_LARGE),
        (errors.StreamClosedError("reopened"), ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (errors.EngineFailedError("over"), ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (errors.FencedError("over"), ErrorCode.NOT_LEADER_OR_FOLLOWER),
    ],
)
def test_a_refused_batch_leaves_no_trace(refusal: errors.StorageError, code: ErrorCode) -> None:
    data = RefusingStream()
    opened = OpenPartition(data=data)
    data.refusal = refusal
    refused = append(opened)
    assert isinstance(refused, Rejection)
    assert refused.code == code
    data.refusal = None
    assert append(opened) == Accepted(0, -1), "its sequence was not taken for written"


def test_a_refused_checkpoint_does_not_touch_the_batch() -> None:
    meta = RefusingStream()
    opened = OpenPartition(meta=meta, checkpoint_interval_bytes=1)
    meta.refusal = errors.BackPressureError("full")
    assert append(opened) == Accepted(0, -1)
    meta.refusal = None
    assert append(opened, sequence=1) == Accepted(1, -1)
    assert len(meta.batches) == 1


def test_a_batch_may_not_grow_beyond_the_limit_when_it_is_compressed_anew() -> None:
    opened = OpenPartition(
        overrides={"compression.type": "uncompressed", "max.message.bytes": "5000"}
    )
    refused = append(opened, value=bytes(50_000), codec=Compression.GZIP)
    assert isinstance(refused, Rejection)
    assert refused.code == ErrorCode.MESSAGE_TOO_LARGE
    assert opened.data.batches == []
    assert append(opened, value=bytes(4_000), codec=Compression.GZIP) == Accepted(0, -1)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.OffsetOutOfRangeError(), ErrorCode.OFFSET_OUT_OF_RANGE),
        (errors.CorruptObjectError(), ErrorCode.CORRUPT_MESSAGE),
        (errors.ObjectStoreError("no answer"), ErrorCode.KAFKA_STORAGE_ERROR),
        (errors.ObjectNotFoundError(), ErrorCode.KAFKA_STORAGE_ERROR),
    ],
)
def test_reads_that_fail(error: errors.StorageError, code: ErrorCode) -> None:
    assert code_of(error) == code
