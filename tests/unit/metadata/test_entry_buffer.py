import asyncio

import pytest

from headrace.metadata.follower import entry_buffer
from headrace.metadata.follower.entry_buffer import EntryBuffer
from headrace.metadata.records.entry import LogEntry
from tests.unit.metadata.running_cluster import scenario


def entries(first, last, size=10):
    return [LogEntry(index, 1, bytes(size)) for index in range(first, last + 1)]


def indexes(found):
    return None if found is None else [it.index for it in found]


@scenario
async def test_reading():
    buffer = EntryBuffer(0)
    buffer.extend(entries(1, 5))

    assert buffer.end_index == 5
    assert indexes(buffer.read(1, 1_000)) == [1, 2, 3, 4, 5]
    assert indexes(buffer.read(3, 20)) == [3, 4]
    assert indexes(buffer.read(3, 0)) == [3], "at least one, however large"
    assert indexes(buffer.read(6, 1_000)) == []
    assert indexes(buffer.read(0, 1_000)) is None


@scenario
async def test_what_a_snapshot_includes_is_dropped_but_for_a_little(monkeypatch):
    monkeypatch.setattr(entry_buffer, "SLACK_BYTES", 25)
    buffer = EntryBuffer(0)
    buffer.extend(entries(1, 10))

    buffer.snapshot_taken(8)

    assert buffer.snapshot_index == 8
    assert indexes(buffer.read(6, 1_000)) is None
    assert indexes(buffer.read(7, 1_000)) == [7, 8, 9, 10]
    buffer.snapshot_taken(10)
    assert indexes(buffer.read(8, 1_000)) is None
    assert indexes(buffer.read(9, 1_000)) == [9, 10]
    buffer.extend(entries(11, 11))
    assert buffer.end_index == 11


@scenario
async def test_small_logs_are_kept_whole():
    buffer = EntryBuffer(0)
    buffer.extend(entries(1, 10))
    buffer.snapshot_taken(10)

    assert indexes(buffer.read(1, 1_000)) == list(range(1, 11))


@scenario
async def test_starting_behind_a_snapshot():
    buffer = EntryBuffer(7)

    assert buffer.end_index == 7
    assert buffer.read(7, 100) is None
    assert buffer.read(8, 100) == ()
    with pytest.raises(AssertionError):
        buffer.extend(entries(9, 9))


@scenario
async def test_waiting():
    buffer = EntryBuffer(0)
    waiting = asyncio.ensure_future(buffer.wait_past(0))
    await asyncio.sleep(0)
    assert not waiting.done()

    buffer.extend(entries(1, 3))
    await waiting
    await buffer.wait_past(2)


@scenario
async def test_who_waits_can_be_let_go_and_wait_again():
    buffer = EntryBuffer(0)
    waiting = asyncio.ensure_future(buffer.wait_past(0))
    await asyncio.sleep(0)
    buffer.wake()
    await waiting

    again = asyncio.ensure_future(buffer.wait_past(0))
    await asyncio.sleep(0)
    assert not again.done()
    buffer.extend(entries(1, 1))
    await again


@scenario
async def test_a_snapshot_in_place_of_the_log():
    buffer = EntryBuffer(0)
    buffer.extend(entries(1, 3))
    buffer.restart(20)

    assert (buffer.end_index, buffer.snapshot_index) == (20, 20)
    assert buffer.read(4, 100) is None
    buffer.extend(entries(21, 22))
    assert indexes(buffer.read(21, 1_000)) == [21, 22]
