"""The order of confirmation, and what becomes of appends when it ends."""

import asyncio

import pytest

from headrace.storage.append_path import AppendPath
from headrace.storage.cache.log_cache import LogCache
from headrace.storage.errors import (
    BackPressureError,
    EngineFailedError,
    FencedError,
    RecordTooLargeError,
)
from headrace.storage.open_appends import OpenAppends
from headrace.wal.errors import WalRecordTooLargeError
from tests.simulation.virtual_time import run
from tests.unit.storage.fakes import Node, settle


def manual(**options) -> Node:
    return Node(auto_confirm=False, **options)


def test_offsets_are_given_at_once_and_acknowledged_when_confirmed():
    async def scenario():
        node = await manual().start()
        stream = await node.open(1)
        assert stream.append(b"a" * 10, 3, node.acks.callback("first")) == 0
        assert stream.append(b"b" * 10, 2, node.acks.callback("second")) == 3
        assert stream.next_offset == 5
        assert stream.confirm_offset == 0
        assert node.acks.results == []
        node.wal.confirm_records(1)
        assert node.acks.acked == ["first"]
        assert stream.confirm_offset == 3
        node.wal.confirm()
        assert node.acks.acked == ["first", "second"]
        assert stream.confirm_offset == 5

    run(scenario())


def test_payload_may_be_reused_when_append_returns():
    async def scenario():
        node = await manual().start()
        stream = await node.open(1)
        payload = bytearray(b"original")
        stream.append(memoryview(payload), 1, node.acks.callback(0))
        payload[:] = b"changed!"
        node.wal.confirm()
        (batch,) = stream.fetch_cached(0, 100)
        assert bytes(batch.payload) == b"original"

    run(scenario())


def test_the_lease_is_asked_once_for_each_confirmation():
    async def scenario():
        node = await manual().start()
        stream = await node.open(1)
        for _ in range(5):
            node.append(stream)
        node.wal.confirm_records(3)
        assert node.lease.asked == 1
        node.wal.confirm()
        assert node.lease.asked == 2
        node.wal.confirm()
        assert node.lease.asked == 2, "nothing to acknowledge"

    run(scenario())


def test_without_the_lease_nothing_is_acknowledged_until_it_holds_again():
    async def scenario():
        node = await manual().start()
        stream, other = await node.open(1), await node.open(2)
        node.append(stream)
        node.append(other)
        node.append(stream)
        node.lease.is_held = False
        node.wal.confirm_records(2)
        node.engine.lease_renewed()  # too late: it has run out again
        node.wal.confirm()
        assert node.acks.acked == []
        assert node.acks.failed == {}
        assert stream.confirm_offset == other.confirm_offset == 0
        assert stream.fetch_cached(0, 1) == [], "not to be seen by consumers either"

        node.lease.is_held = True
        assert node.acks.acked == []
        node.engine.lease_renewed()
        assert node.acks.acked == [(1, 0), (2, 0), (1, 1)], "in the order of appends"
        assert stream.confirm_offset == 2
        node.engine.lease_renewed()
        node.append(stream)
        node.wal.confirm()
        assert node.acks.acked[3:] == [(1, 2)]

    run(scenario())


def test_what_is_confirmed_later_takes_along_what_was_withheld():
    async def scenario():
        node = await manual().start()
        stream = await node.open(1)
        node.append(stream)
        node.append(stream)
        node.lease.is_held = False
        node.wal.confirm_records(1)
        node.lease.is_held = True
        node.wal.confirm()
        assert node.acks.acked == [(1, 0), (1, 1)]

    run(scenario())


def test_a_fenced_node_acknowledges_nothing_ever_again():
    async def scenario():
        node = await manual().start()
        stream, other = await node.open(1), await node.open(2)
        node.append(stream)
        node.append(other)
        node.append(stream)
        node.lease.is_held = False
        node.wal.confirm_records(2)
        node.engine.fence("replaced")
        assert list(node.acks.failed) == [(1, 0), (2, 0), (1, 1)], "in the order of appends"
        assert {type(error) for error in node.acks.failed.values()} == {FencedError}

        node.lease.is_held = True
        node.engine.lease_renewed()
        node.wal.confirm()
        assert node.acks.acked == []
        assert stream.confirm_offset == other.confirm_offset == 0
        with pytest.raises(FencedError):
            stream.append(b"late", 1, node.acks.callback("late"))
        with pytest.raises(FencedError):
            await node.engine.admission(10)
        with pytest.raises(FencedError):
            await stream.fetch(0, 1)
        assert stream.fetch_cached(0, 1) is None
        assert not node.engine.admits(10)

    run(scenario())


def test_wal_failure_fails_every_open_append_and_nothing_is_acknowledged_later():
    async def scenario():
        node = await manual().start()
        stream = await node.open(1)
        for _ in range(3):
            node.append(stream)
        node.wal.confirm_records(1)
        node.wal.fail(OSError("EIO"))
        assert node.acks.acked == [(1, 0)]
        assert set(node.acks.failed) == {(1, 1), (1, 2)}
        assert {type(error) for error in node.acks.failed.values()} == {EngineFailedError}
        node.wal.failed = None
        node.wal.confirm()
        assert node.acks.acked == [(1, 0)]
        assert len(node.acks.results) == 3
        with pytest.raises(EngineFailedError):
            stream.append(b"late", 1, node.acks.callback("late"))

    run(scenario())


def test_a_record_that_the_wal_takes_while_failing_is_not_forgotten():
    async def scenario():
        node = await manual().start()
        stream = await node.open(1)
        node.append(stream)
        take = node.wal.append

        def take_and_fail(header, payload):
            appended = take(header, payload)
            node.wal.fail(OSError("EIO"))
            return appended

        node.wal.append = take_and_fail
        node.append(stream)
        assert set(node.acks.failed) == {(1, 0)}, "never from within append"
        await settle()
        assert set(node.acks.failed) == {(1, 0), (1, 1)}

    run(scenario())


def test_refusals_of_the_wal_change_nothing():
    async def scenario():
        node = await manual(wal_capacity_bytes=1000).start()
        stream = await node.open(1)
        with pytest.raises(BackPressureError):
            stream.append(bytes(2000), 1, node.acks.callback("full"))

        def too_large(header, payload):
            raise WalRecordTooLargeError("too large")

        node.wal.append = too_large
        with pytest.raises(RecordTooLargeError):
            stream.append(bytes(10), 1, node.acks.callback("large"))
        assert stream.next_offset == 0
        assert node.engine.stats().open_appends == 0
        assert node.acks.results == []

    run(scenario())


@pytest.mark.parametrize("count", [0, -1, 2**31])
def test_impossible_counts_change_nothing(count):
    async def scenario():
        node = await manual().start()
        stream = await node.open(1)
        with pytest.raises(ValueError, match="out of range"):
            stream.append(b"x", count, node.acks.callback("never"))
        assert stream.next_offset == 0
        assert node.wal.records == []

    run(scenario())


def test_no_append_before_the_engine_has_started():
    async def scenario():
        node = manual()
        stream = await node.open(1)
        with pytest.raises(EngineFailedError, match="not started"):
            stream.append(b"x", 1, node.acks.callback("never"))
        await node.start()
        node.append(stream)

    run(scenario())


def test_an_appender_that_raises_stops_the_engine_but_no_other_append_is_forgotten():
    async def scenario():
        node = await manual().start()
        stream = await node.open(1)
        node.append(stream)

        def broken(error):
            node.acks.results.append(("broken", error))
            raise KeyError("a bug")

        stream.append(b"x", 1, broken)
        node.append(stream)
        node.append(stream)
        node.wal.confirm_records(3)
        assert node.acks.acked == [(1, 0), "broken"]
        assert set(node.acks.failed) == {(1, 2), (1, 3)}
        assert isinstance(node.engine._failure, EngineFailedError)

    run(scenario())


@pytest.mark.unexpected_errors
def test_an_appender_that_raises_at_a_failure_keeps_it_from_nobody():
    async def scenario():
        node = await manual().start()
        stream = await node.open(1)

        def broken(error):
            raise KeyError("a bug")

        stream.append(b"x", 1, broken)
        node.append(stream)
        node.wal.fail(OSError("EIO"))
        assert set(node.acks.failed) == {(1, 1)}

    run(scenario())


def test_an_acknowledgement_may_append():
    async def scenario():
        node = await manual().start()
        stream = await node.open(1)

        def again(error):
            node.acks.results.append(("again", error))
            node.append(stream)

        stream.append(b"x", 1, again)
        node.wal.confirm()
        assert stream.next_offset == 2
        node.wal.confirm()
        assert node.acks.acked == ["again", (1, 1)]

    run(scenario())


def test_waiting_for_confirmation_covers_what_is_open_now():
    async def scenario():
        node = await manual().start()
        stream = await node.open(1)
        path = node.engine._path
        await path.confirmed()
        node.append(stream)
        node.append(stream)
        import asyncio

        waiting = asyncio.create_task(path.confirmed())
        await settle()
        node.append(stream)
        node.wal.confirm_records(1)
        await settle()
        assert not waiting.done()
        node.wal.confirm_records(1)
        await settle()
        assert waiting.done()
        failing = asyncio.create_task(path.confirmed())
        await settle()
        node.wal.fail(OSError("EIO"))
        with pytest.raises(EngineFailedError):
            await failing
        with pytest.raises(EngineFailedError):
            await path.confirmed()

    run(scenario())


def fail_in(node: Node, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    """Have one thing behind the confirmation raise, once."""

    def broken(*_arguments: object) -> None:
        monkeypatch.undo()
        raise MemoryError

    match where:
        case "lease":
            monkeypatch.setattr(node.lease, "is_lease_valid", broken)
        case "queue":
            monkeypatch.setattr(OpenAppends, "confirm", broken)
        case "clock":
            monkeypatch.setattr(AppendPath, "_acknowledge", lambda *_: broken())
        case "groups":
            monkeypatch.setattr("headrace.storage.append_path.group_by_buffer", broken)
        case "cache":
            monkeypatch.setattr(LogCache, "put", broken)
        case "waiters":
            monkeypatch.setattr(AppendPath, "_wake", broken)
        case "progress":
            monkeypatch.setattr(AppendPath, "on_progress", broken)


@pytest.mark.parametrize(
    "where", ["lease", "queue", "clock", "groups", "cache", "waiters", "progress"]
)
def test_an_exception_behind_the_confirmation_fails_the_engine(where, monkeypatch):
    """Every append is acknowledged or failed, and nothing that comes later is acknowledged behind a hole."""

    async def scenario():
        node = await manual().start()
        stream, other = await node.open(1), await node.open(2)
        for target in (stream, other, stream):
            node.append(target)
        waiting = asyncio.ensure_future(node.engine._path.confirmed())
        await settle()
        fail_in(node, monkeypatch, where)
        node.wal.confirm_records(2)
        told = [*node.acks.acked, *node.acks.failed]
        assert sorted(told) == [(1, 0), (1, 1), (2, 0)]
        assert isinstance(node.engine._failure, EngineFailedError)
        with pytest.raises(EngineFailedError):
            node.append(stream)
        with pytest.raises(EngineFailedError):
            await waiting
        node.wal.confirm()
        assert len(node.acks.results) == 3

    run(scenario())


def test_an_append_that_breaks_off_behind_the_wal_fails_the_engine(monkeypatch):
    """The WAL has the record: its outcome is unknown, so it is not refused as not appended."""

    async def scenario():
        node = await manual().start()
        stream = await node.open(1)
        node.append(stream)

        def broken(*_: object) -> None:
            raise MemoryError

        monkeypatch.setattr("headrace.storage.append_path.OpenAppend", broken)
        assert stream.append(b"x", 1, node.acks.callback("second")) == 1
        await settle()
        assert node.acks.acked == []
        assert sorted(map(str, node.acks.failed)) == ["(1, 0)", "second"]
        assert isinstance(node.engine._failure, EngineFailedError)

    run(scenario())


def test_an_append_that_breaks_off_within_the_wal_fails_the_engine(monkeypatch):
    """Whether the WAL has the record cannot be known, and the next one would have the same offset."""

    async def scenario():
        node = await manual().start()
        stream = await node.open(1)
        node.append(stream)

        def broken(*_: object) -> None:
            raise MemoryError

        monkeypatch.setattr(node.wal, "append", broken)
        with pytest.raises(EngineFailedError, match="MemoryError"):
            stream.append(b"x", 1, node.acks.callback("second"))
        await settle()
        assert node.acks.acked == []
        assert list(map(str, node.acks.failed)) == ["(1, 0)"]
        assert isinstance(node.engine._failure, EngineFailedError)

    run(scenario())


def test_a_confirm_offset_never_jumps():
    async def scenario():
        node = await manual().start()
        stream = await node.open(1)
        node.append(stream)
        node.append(stream)
        node.engine._path._open._open.popleft()  # as if its confirmation had been swallowed
        node.wal.confirm()
        assert node.acks.acked == []
        assert stream.confirm_offset == 0
        assert "is confirmed up to 0, and the next record begins at 1" in str(node.engine._failure)

    run(scenario())


def test_nothing_is_acknowledged_after_an_appender_has_ended_the_engine():
    async def scenario():
        node = await manual().start()
        stream = await node.open(1)

        def ends_it(error):
            node.acks.results.append(("first", error))
            if error is None:
                node.engine._path.fail(FencedError("replaced"))

        stream.append(b"x", 1, ends_it)
        node.append(stream)
        node.append(stream)
        node.wal.confirm()
        assert node.acks.acked == ["first"]
        assert sorted(node.acks.failed) == [(1, 1), (1, 2)]
        assert isinstance(node.engine._failure, FencedError), "the first reason counts"
        assert node.engine._path.counters.confirmed_total == 1

    run(scenario())
