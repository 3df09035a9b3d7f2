"""Fetch of partitions with transactions: how far, what is named as aborted, when a wait ends, and sessions."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.records.batch import split_batches
from tests.simulation import virtual_time
from tests.unit.broker.api.test_fetch import VERSIONS, Broker, asked, only, request
from tests.unit.broker.cluster_scene import topic_id
from tests.unit.broker.partition.transactional import ABORT, COMMIT, end, write

UNCOMMITTED, COMMITTED = 0, 1


def scene() -> Broker:
    """1 aborts [0, 2), 2 commits [1, 4), 1 is ongoing from 4 on, 3 begins at 5."""
    broker = Broker()
    partition = broker.log.partition
    write(partition, 1)
    write(partition, 2)
    end(partition, 1, ABORT)
    end(partition, 2, COMMIT)
    write(partition, 1)
    write(partition, 3)
    broker.log.data.confirm()
    return broker


def told(found: Any) -> tuple[list[int], list[tuple[int, int]] | None]:
    """Base offsets of the batches, and what is named as aborted."""
    batches = [header.base_offset for header, _ in split_batches(found.records or b"")]
    aborted = found.aborted_transactions
    return batches, aborted and [(it.producer_id, it.first_offset) for it in aborted]


@pytest.mark.parametrize("version", VERSIONS)
def test_those_who_read_committed_get_what_is_decided_and_what_of_it_was_aborted(
    version: int,
) -> None:
    broker = scene()
    topics = [("t" if version < 13 else topic_id(1), (asked(),))]
    found = only(broker.now(version, request(topics, isolation=COMMITTED)))
    assert told(found) == ([0, 1, 2, 3], [(1, 0)])
    assert (found.high_watermark, found.last_stable_offset) == (6, 4)
    found = only(broker.now(version, request(topics, isolation=UNCOMMITTED)))
    assert told(found) == ([0, 1, 2, 3, 4, 5], None)
    assert (found.high_watermark, found.last_stable_offset) == (6, 4)


@pytest.mark.parametrize(
    ("offset", "max_bytes", "expected"),
    [
        (0, 1, ([0], [(1, 0)])),
        (1, 1, ([1], [(1, 0)])),
        (2, 1, ([2], [(1, 0)])),
        (3, 1, ([3], [])),
        (4, 1, ([], [])),
        (5, 1, ([], [])),
        (6, 1, ([], [])),
    ],
)
@pytest.mark.parametrize("is_cold", [False, True])
def test_only_what_has_records_among_those_that_are_answered_is_named(
    offset: int,
    max_bytes: int,
    expected: tuple[list[int], list[tuple[int, int]]],
    *,
    is_cold: bool,
) -> None:
    async def main() -> None:
        broker = scene()
        if is_cold:
            broker.log.data.cold_below = 6
        wanted = request([("t", (asked(offset, max_bytes=max_bytes),))], isolation=COMMITTED)
        reply, rest = broker.start(11, wanted)
        if rest is not None:
            await rest
        found = only(reply.response(ApiKey.FETCH, 11))
        assert found.error_code == 0
        assert told(found) == (expected[0], expected[1])

    virtual_time.run(main())


@pytest.mark.parametrize("isolation", [UNCOMMITTED, COMMITTED])
def test_an_offset_behind_the_last_stable_one_is_no_error(isolation: int) -> None:
    for offset, code in ((6, ErrorCode.NONE), (7, ErrorCode.OFFSET_OUT_OF_RANGE)):
        found = scene().now(11, request([("t", (asked(offset),))], isolation=isolation))
        assert only(found).error_code == code


def test_a_wait_ends_with_the_marker_and_not_with_records_that_are_undecided() -> None:
    async def main() -> None:
        broker = scene()
        wanted = request([("t", (asked(4),))], wait_ms=60_000, isolation=COMMITTED)
        waiting = asyncio.create_task(broker.later(11, wanted))
        everything = request([("t", (asked(6),))], wait_ms=60_000, isolation=UNCOMMITTED)
        other = asyncio.create_task(broker.later(11, everything))
        await asyncio.sleep(1)
        write(broker.log.partition, 3)
        broker.log.data.confirm()
        await asyncio.sleep(1)
        assert (waiting.done(), other.done()) == (False, True)
        end(broker.log.partition, 1, ABORT)
        await asyncio.sleep(1)
        assert not waiting.done(), "the marker is not acknowledged"
        broker.log.data.confirm()
        found = only(await waiting)
        assert told(found) == ([4], [(1, 4)])
        assert (found.high_watermark, found.last_stable_offset) == (8, 5)
        assert asyncio.get_running_loop().time() < 4

    virtual_time.run(main())


def test_a_wait_that_is_over_tells_how_far_it_could_have_read() -> None:
    async def main() -> None:
        broker = scene()
        wanted = request([("t", (asked(4),))], wait_ms=500, isolation=COMMITTED)
        found = only(await broker.later(11, wanted))
        assert told(found) == ([], [])
        assert (found.high_watermark, found.last_stable_offset) == (6, 4)

    virtual_time.run(main())


def test_what_is_deleted_while_it_is_read_is_out_of_range() -> None:
    """Which transactions of it were aborted is forgotten with it."""

    async def main() -> None:
        broker = scene()
        data = broker.log.data
        data.cold_below, data.bucket = 6, asyncio.Event()
        wanted = request([("t", (asked(),))], wait_ms=60_000, isolation=COMMITTED)
        waiting = asyncio.create_task(broker.later(11, wanted))
        await asyncio.sleep(0.1)
        data.start_offset = 4
        broker.log.partition.state.trim(4, 6)
        data.bucket.set()
        assert only(await waiting).error_code == ErrorCode.OFFSET_OUT_OF_RANGE

    virtual_time.run(main())


def test_what_comes_while_the_bucket_is_read_is_not_shown_before_it_is_decided() -> None:
    """The first transaction of a partition may begin while a Fetch reads it."""

    async def main() -> None:
        broker = Broker()
        broker.publish()
        data = broker.log.data
        data.cold_below, data.bucket = 6, asyncio.Event()
        wanted = request([("t", (asked(),))], wait_ms=60_000, isolation=COMMITTED)
        waiting = asyncio.create_task(broker.later(11, wanted))
        await asyncio.sleep(0.1)
        write(broker.log.partition, 1)
        data.confirm()
        data.bucket.set()
        assert told(only(await waiting)) == ([0], [])

    virtual_time.run(main())


def _session(broker: Broker, isolation: int, offset: int) -> Callable[..., Any]:
    """A session that has read up to an offset; gives what its next Fetch is answered."""
    begun = broker.now(11, request([("t", (asked(offset),))], isolation=isolation, session=(0, 0)))
    epoch = 0

    def fetch(isolation: int = isolation) -> list[tuple[list[int], Any, int]]:
        nonlocal epoch
        epoch += 1
        wanted = request([], isolation=isolation, session=(begun.session_id, epoch))
        answer = broker.now(11, wanted)
        found = [one for topic in answer.responses for one in topic.partitions]
        return [(*told(one), one.last_stable_offset) for one in found]

    return fetch


def test_a_session_tells_of_what_was_decided_and_rests_meanwhile() -> None:
    broker = scene()
    fetch = _session(broker, COMMITTED, 4)
    assert fetch() == []
    assert broker.log.partition.reads.readers, "it is not read again before it moves"
    write(broker.log.partition, 3)
    broker.log.data.confirm()
    assert fetch() == [([], [], 4)], "the high watermark has moved"
    assert fetch() == []
    end(broker.log.partition, 1, COMMIT)
    broker.log.data.confirm()
    assert fetch() == [([4], [], 5)]


def test_a_session_may_change_its_isolation() -> None:
    """A consumer keeps its own, but nothing says that it must."""
    broker = scene()
    fetch = _session(broker, COMMITTED, 4)
    assert fetch() == []
    assert fetch(UNCOMMITTED) == [([4, 5], None, 4)]
