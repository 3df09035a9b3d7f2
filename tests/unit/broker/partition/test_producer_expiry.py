"""Producers are forgotten for their silence, whatever timestamps their records carry."""

import asyncio

import pytest

from headrace.broker.partition.append_rules import AppendOrigin, Rejection
from headrace.broker.partition.opening import restore_state
from headrace.broker.partition.write_side import Accepted
from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from tests.unit.broker.partition.fakes import OpenPartition

NOW_MS = 1_700_000_000_000
EXPIRATION_MS = 86_400_000


def append(opened: OpenPartition, sequence: int, timestamp_ms: int) -> Accepted | Rejection:
    options = BatchOptions(producer_id=9, producer_epoch=0, base_sequence=sequence)
    data = memoryview(encode_batch([Record(0, timestamp_ms, b"k", b"v")], options))
    return opened.partition.writes.append(
        data, origin=AppendOrigin.CLIENT, now_ms=NOW_MS, on_done=lambda _error: None
    )


@pytest.mark.parametrize("timestamp_ms", [-1, 5, NOW_MS - 2 * EXPIRATION_MS])
def test_a_producer_of_old_records_is_remembered_while_it_is_writing(timestamp_ms: int) -> None:
    async def run() -> None:
        opened = OpenPartition()
        append(opened, 0, timestamp_ms)
        opened.data.confirm()
        assert opened.partition.state.producers.expire(NOW_MS + EXPIRATION_MS) == 0
        assert append(opened, 0, timestamp_ms) == Accepted(0, -1), "a repeat"
        assert opened.partition.state.producers.expire(NOW_MS + EXPIRATION_MS + 1) == 1

    asyncio.run(run())


@pytest.mark.parametrize("interval_bytes", [1, 1 << 30])
def test_nor_is_it_forgotten_by_a_restart(interval_bytes: int) -> None:
    """From a checkpoint as well as from the log."""
    opened = OpenPartition(checkpoint_interval_bytes=interval_bytes)
    append(opened, 0, 5)
    opened.data.confirm()
    opened.meta.confirm()
    restored = asyncio.run(
        restore_state(
            opened.data,  # type: ignore[arg-type]
            opened.meta,  # type: ignore[arg-type]
            producer_id_expiration_ms=EXPIRATION_MS,
            now_ms=NOW_MS + 1_000,
        )
    )
    assert [it.producer_id for it in restored.state.producers] == [9]
