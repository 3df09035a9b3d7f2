"""A partition: batches in, offsets out; repeats, waiting readers, checkpoints and what a crash leaves."""

import asyncio

import pytest

from headrace.broker.partition.append_rules import AppendOrigin, Rejection
from headrace.broker.partition.checkpoint_log import CHECKPOINTS_RETAINED
from headrace.broker.partition.opening import restore_state
from headrace.broker.partition.write_side import Accepted
from headrace.protocol.errors import ErrorCode
from headrace.protocol.records.batch import parse_header
from headrace.protocol.records.record import BatchOptions, Record, decode_records, encode_batch
from headrace.storage.errors import CorruptObjectError
from tests.unit.broker.partition.fakes import DamagedStream, FakeStream, OpenPartition

NOW_MS = 1_700_000_000_000


def batch(
    count: int = 1, *, sequence: int = -1, producer_id: int = -1, at: int = NOW_MS
) -> memoryview:
    records = [Record(offset, at, b"k", b"v") for offset in range(count)]
    epoch = -1 if producer_id < 0 else 0
    options = BatchOptions(producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence)
    return memoryview(encode_batch(records, options))


class Outcome:
    """Collects what an append reports later."""

    def __init__(self) -> None:
        self.calls: list[Exception | None] = []

    def __call__(self, error: Exception | None) -> None:
        self.calls.append(error)


def append(
    opened: OpenPartition, data: memoryview, outcome: Outcome | None = None
) -> Accepted | Rejection:
    return opened.partition.writes.append(
        data, origin=AppendOrigin.CLIENT, now_ms=NOW_MS, on_done=outcome or Outcome()
    )


def test_offset_and_leader_epoch_are_patched_and_everything_else_is_kept() -> None:
    opened = OpenPartition(leader_epoch=7)
    append(opened, batch(3))
    before = batch(2)
    records = list(decode_records(before, 1_000))
    assert append(opened, before) == Accepted(3, -1)
    stored = opened.data.batches[1].payload
    header = parse_header(stored)
    assert (header.base_offset, header.partition_leader_epoch) == (3, 7)
    assert [r.value for r in decode_records(stored, 1_000)] == [r.value for r in records]
    assert stored[17:] == batch(2)[17:]


def test_nothing_is_readable_or_reported_before_it_is_confirmed() -> None:
    opened, outcome = OpenPartition(), Outcome()
    append(opened, batch(2), outcome)
    assert (opened.partition.reads.high_watermark, opened.partition.reads.log_end_offset) == (0, 2)
    assert outcome.calls == []
    opened.data.confirm()
    assert opened.partition.reads.high_watermark == 2
    assert outcome.calls == [None]


def test_an_unknown_outcome_is_reported_as_such() -> None:
    opened, outcome = OpenPartition(), Outcome()
    append(opened, batch(), outcome)
    failure = OSError("device gone")
    opened.data.fail(failure)
    assert outcome.calls == [failure]


def test_a_repeat_is_answered_with_the_original_offset_and_not_appended() -> None:
    async def run() -> None:
        opened, again = OpenPartition(), Outcome()
        append(opened, batch(2, producer_id=9, sequence=0))
        append(opened, batch(2, producer_id=9, sequence=2))
        opened.data.confirm()
        assert append(opened, batch(2, producer_id=9, sequence=0), again) == Accepted(0, -1)
        assert len(opened.data.batches) == 2
        assert again.calls == [], "not before the caller has counted it"
        await asyncio.sleep(0)
        assert again.calls == [None]

    asyncio.run(run())


def test_a_repeat_of_what_is_still_being_written_waits_for_it() -> None:
    opened, first, again = OpenPartition(), Outcome(), Outcome()
    append(opened, batch(producer_id=9, sequence=0), first)
    append(opened, batch(producer_id=9, sequence=0), again)
    assert again.calls == []
    opened.data.confirm()
    assert (first.calls, again.calls) == ([None], [None])


def test_a_repeat_of_what_failed_is_not_acknowledged_either() -> None:
    opened, first, again = OpenPartition(), Outcome(), Outcome()
    append(opened, batch(producer_id=9, sequence=0), first)
    append(opened, batch(producer_id=9, sequence=0), again)
    failure = OSError("device gone")
    opened.data.fail(failure)
    assert (first.calls, again.calls) == ([failure], [failure])


def test_a_gap_in_sequences_is_refused() -> None:
    opened = OpenPartition()
    append(opened, batch(producer_id=9, sequence=0))
    refused = append(opened, batch(producer_id=9, sequence=2))
    assert isinstance(refused, Rejection)
    assert refused.code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_append_time_topics_stamp_the_batch() -> None:
    opened = OpenPartition(overrides={"message.timestamp.type": "LogAppendTime"})
    assert append(opened, batch(2, at=5)) == Accepted(0, NOW_MS)
    stored = opened.data.batches[0].payload
    assert [record.timestamp_ms for record in decode_records(stored, 1_000)] == [NOW_MS] * 2


def test_waiting_readers_are_woken_once_when_the_high_watermark_moves() -> None:
    opened = OpenPartition()
    woken: list[str] = []

    def stays() -> None:
        woken.append("stays")

    def leaves() -> None:
        woken.append("leaves")

    opened.partition.reads.add_reader(stays)
    opened.partition.reads.add_reader(leaves)
    opened.partition.reads.remove_reader(leaves)
    append(opened, batch())
    assert woken == []
    opened.data.confirm()
    append(opened, batch())
    opened.data.confirm()
    assert woken == ["stays"]


def test_a_closing_partition_takes_nothing_and_sends_clients_on() -> None:
    opened = OpenPartition()
    opened.partition.discard()
    refused = append(opened, batch())
    assert isinstance(refused, Rejection)
    assert refused.code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert opened.data.abandoned
    assert opened.meta.abandoned


def restored(data: FakeStream, meta: FakeStream) -> tuple[object, bool]:
    found = asyncio.run(
        restore_state(
            data,  # type: ignore[arg-type]
            meta,  # type: ignore[arg-type]
            producer_id_expiration_ms=86_400_000,
            now_ms=NOW_MS,
        )
    )
    state = found.state
    return (
        list(state.producers),
        state.epochs.starts,
        state.times.max_timestamp_ms,
        tuple(state.times.segments()),
        state.size_bytes,
    ), found.must_checkpoint


def live(opened: OpenPartition) -> object:
    state = opened.partition.state
    return (
        list(state.producers),
        state.epochs.starts,
        state.times.max_timestamp_ms,
        tuple(state.times.segments()),
        state.size_bytes,
    )


@pytest.mark.parametrize("interval_bytes", [1, 300, 1 << 30])
def test_what_is_rebuilt_equals_what_was(interval_bytes: int) -> None:
    """With a checkpoint after each batch, after some, and with none."""
    opened = OpenPartition(leader_epoch=2, checkpoint_interval_bytes=interval_bytes)
    for number in range(12):
        append(
            opened,
            batch(2, producer_id=9 + number % 3, sequence=number // 3 * 2, at=NOW_MS - number % 5),
        )
        opened.data.confirm()
        opened.meta.confirm()
    assert restored(opened.data, opened.meta) == (live(opened), False)


def test_a_checkpoint_that_outlives_its_batches_is_not_used_and_must_be_superseded() -> None:
    opened = OpenPartition(checkpoint_interval_bytes=1)
    append(opened, batch(producer_id=9, sequence=0))
    opened.data.confirm()
    opened.meta.confirm()
    append(opened, batch(producer_id=9, sequence=1))
    opened.meta.confirm()
    opened.data.lose_unconfirmed()
    (producers, *_), must_checkpoint = restored(opened.data, opened.meta)  # type: ignore[misc]
    assert must_checkpoint
    assert [entry.batches[-1].last_sequence for entry in producers] == [0]


def test_a_damaged_checkpoint_costs_a_replay_only() -> None:
    opened = OpenPartition(checkpoint_interval_bytes=1)
    for number in range(3):
        append(opened, batch(producer_id=9, sequence=number))
    opened.data.confirm()
    opened.meta.confirm()
    last = opened.meta.batches[-1]
    opened.meta.batches[-1] = last._replace(payload=memoryview(bytes(len(last.payload))))
    assert restored(opened.data, opened.meta) == (live(opened), True)


def test_a_checkpoint_waits_when_there_is_no_room() -> None:
    opened = OpenPartition(checkpoint_interval_bytes=1)
    opened.engine.has_room = False
    append(opened, batch())
    assert opened.meta.batches == []
    opened.engine.has_room = True
    append(opened, batch())
    assert len(opened.meta.batches) == 1


def test_superseded_checkpoints_are_trimmed_and_the_last_one_stays() -> None:
    opened = OpenPartition(checkpoint_interval_bytes=1)
    for _ in range(CHECKPOINTS_RETAINED + 2):
        append(opened, batch())
    opened.meta.confirm()
    asyncio.run(opened.partition.checkpoints.trim())
    assert opened.meta.start_offset == opened.meta.confirm_offset - 1


def test_closing_leaves_a_checkpoint_of_the_end() -> None:
    async def run() -> None:
        opened = OpenPartition()
        append(opened, batch(4))
        opened.data.confirm()
        closing = asyncio.get_running_loop().create_task(opened.partition.close())
        await asyncio.sleep(0)
        opened.meta.confirm()
        await closing
        assert opened.data.closed
        assert opened.meta.closed
        assert len(opened.meta.batches) == 1

    asyncio.run(run())


def test_leader_epochs_are_compared() -> None:
    opened = OpenPartition(leader_epoch=5)
    assert opened.partition.reads.check_leader_epoch(-1) == ErrorCode.NONE
    assert opened.partition.reads.check_leader_epoch(5) == ErrorCode.NONE
    assert opened.partition.reads.check_leader_epoch(4) == ErrorCode.FENCED_LEADER_EPOCH
    assert opened.partition.reads.check_leader_epoch(6) == ErrorCode.UNKNOWN_LEADER_EPOCH


def test_a_read_that_meets_damage_makes_it_known_until_it_is_read_or_deleted() -> None:
    async def main() -> None:
        source = OpenPartition()
        for _ in range(4):
            append(source, batch(2))
        source.data.confirm()
        error = CorruptObjectError("block at 0")
        damaged = DamagedStream(source.data, {(2, 4): error, (6, 8): error})
        opened = OpenPartition(data=damaged).partition.reads
        assert opened.unreadable == []
        for offset in (2, 6):
            with pytest.raises(CorruptObjectError):
                await opened.read(offset, 100)
        assert [it.start_offset for it in opened.unreadable] == [2, 6]
        assert "block at 0" in opened.unreadable[0].reason
        del damaged.damage[2, 4]  # restored from a copy
        assert (await opened.read(1, 1_000))[-1].end_offset == 6
        assert [it.start_offset for it in opened.unreadable] == [6]
        damaged.start_offset = 8
        assert opened.unreadable == []

    asyncio.run(main())


def test_damaged_checkpoints_are_trimmed_once_a_newer_one_is_in_the_bucket() -> None:
    async def main() -> None:
        opened = OpenPartition()
        checkpoints = opened.partition.checkpoints
        for _ in range(3):
            assert checkpoints.write()
        opened.meta.confirm()
        checkpoints.found_damaged()
        opened.meta.uploaded_offset = 3
        assert checkpoints.write()
        opened.meta.confirm()
        await checkpoints.trim()
        assert opened.meta.start_offset == 0, "that would force an upload"
        opened.meta.uploaded_offset = 4
        await checkpoints.trim()
        assert opened.meta.start_offset == 3
        assert checkpoints.write()
        opened.meta.confirm()
        opened.meta.uploaded_offset = 5
        await checkpoints.trim()
        assert opened.meta.start_offset == 3, "what is sound stays until there is much of it"

    asyncio.run(main())
