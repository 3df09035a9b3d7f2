"""Who writes to a partition that is not served here yet waits while it may come, and no longer."""

import asyncio
from typing import Any

import pytest

from headrace.broker.partition import arrivals
from headrace.broker.partition.arrivals import (
    IN_VAIN_S,
    MAX_IN_VAIN,
    MAX_OPENING_MS,
    MAX_REQUESTS,
    MAX_REQUESTS_BYTES,
    MAX_UNKNOWN_MS,
    MAX_WANTED,
    Arrivals,
    ExpectedPartition,
)
from tests.simulation.virtual_time import run
from tests.unit.broker.cluster_scene import FakeClient, broker_records, topic_id, topic_records

OTHER_BROKER = broker_records(2, ("PLAINTEXT", "two", 9092))
BROKERS = (*broker_records(1, ("PLAINTEXT", "one", 9092)), *OTHER_BROKER)
NAMED, BY_ID = ExpectedPartition("new", None, 0), ExpectedPartition("", topic_id(1), 0)


class Scene:
    """Broker 1 of two."""

    def __init__(self, *records: Any) -> None:
        self.client = FakeClient(*BROKERS, *records)
        self.opened: set[Any] = set()
        self.arrivals = Arrivals(self.client, 1, lambda key: key in self.opened)  # type: ignore[arg-type]

    def create(self, **fields: Any) -> None:
        self.client.apply(*topic_records("new", 1, **fields))
        self.arrivals.news()

    def open(self) -> None:
        self.opened.add((topic_id(1), 0))
        self.arrivals.news()

    async def waited_s(self, *asked: ExpectedPartition, size_bytes: int = 1) -> float:
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        await self.arrivals.settled(asked, size_bytes)
        return loop.time() - began_s


@pytest.mark.parametrize("asked", [NAMED, BY_ID])
def test_a_topic_that_is_about_to_be_known_is_waited_for_until_it_is_open(
    asked: ExpectedPartition,
) -> None:
    async def main() -> None:
        scene = Scene()
        assert scene.arrivals.may_come(asked)
        waits = asyncio.create_task(scene.waited_s(asked))
        await asyncio.sleep(0.1)
        scene.create()
        await asyncio.sleep(1)
        scene.open()
        assert await waits == pytest.approx(1.1)
        assert not scene.arrivals.may_come(asked)

    run(main())


@pytest.mark.parametrize("asked", [NAMED, BY_ID])
def test_nothing_is_waited_for_for_ever(asked: ExpectedPartition) -> None:
    async def main() -> None:
        assert await Scene().waited_s(asked) == pytest.approx(MAX_UNKNOWN_MS / 1000)
        scene = Scene(*topic_records("new", 1))
        assert await scene.waited_s(asked) == pytest.approx(MAX_OPENING_MS / 1000)

    run(main())


@pytest.mark.parametrize(
    "asked",
    [
        ExpectedPartition("not a name", None, 0),
        ExpectedPartition("", None, 0),
        ExpectedPartition("new", None, -1),
        ExpectedPartition("led", None, 0),  # by another broker
        ExpectedPartition("old", None, 0),  # it was led before: who takes it over may take long
        ExpectedPartition("open", None, 0),
    ],
)
def test_what_will_not_come_is_not_waited_for(asked: ExpectedPartition) -> None:
    async def main() -> None:
        scene = Scene(
            *topic_records("led", 2, leader=2),
            *topic_records("old", 3, leader_epoch=1),
            *topic_records("open", 4),
        )
        scene.opened.add((topic_id(4), 0))
        assert not scene.arrivals.may_come(asked)
        assert await scene.waited_s(asked) == 0

    run(main())


def test_a_topic_that_another_broker_leads_ends_the_wait() -> None:
    async def main() -> None:
        scene = Scene()
        waits = asyncio.create_task(scene.waited_s(NAMED))
        await asyncio.sleep(0.1)
        scene.create(leader=2)
        assert await waits == pytest.approx(0.1)

    run(main())


def test_a_partition_that_a_topic_is_about_to_get_is_waited_for() -> None:
    async def main() -> None:
        scene = Scene(*topic_records("new", 1))
        scene.open()
        assert await scene.waited_s(ExpectedPartition("new", None, 1)) == pytest.approx(
            MAX_UNKNOWN_MS / 1000
        )

    run(main())


def test_without_another_broker_nobody_can_have_told_of_it() -> None:
    scene = Scene()
    scene.client = FakeClient(*broker_records(1, ("PLAINTEXT", "one", 9092)))
    alone = Arrivals(scene.client, 1, lambda _: False)  # type: ignore[arg-type]
    assert not alone.may_come(NAMED)
    assert not alone.may_come(BY_ID)


def test_what_waits_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (MAX_REQUESTS, MAX_REQUESTS_BYTES, MAX_WANTED) == (256, 64 << 20, 4_096)
    monkeypatch.setattr(arrivals, "MAX_REQUESTS", 2)
    monkeypatch.setattr(arrivals, "MAX_REQUESTS_BYTES", 10)

    async def main() -> None:
        scene = Scene()
        first = asyncio.create_task(scene.waited_s(NAMED, size_bytes=6))
        await asyncio.sleep(0.1)
        assert await scene.waited_s(NAMED, size_bytes=5) == 0
        second = asyncio.create_task(scene.waited_s(NAMED, size_bytes=4))
        await asyncio.sleep(0.1)
        assert await scene.waited_s(NAMED, size_bytes=0) == 0
        second.cancel()
        await asyncio.gather(first, second, return_exceptions=True)
        other = ExpectedPartition("other", None, 0)
        assert await scene.waited_s(other, size_bytes=10) == pytest.approx(MAX_UNKNOWN_MS / 1000)

    run(main())


def test_partitions_that_are_waited_for_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "MAX_WANTED", 3)

    async def main() -> None:
        scene = Scene()
        first = asyncio.create_task(scene.waited_s(NAMED, BY_ID))
        await asyncio.sleep(0.1)
        assert await scene.waited_s(NAMED, BY_ID) == 0
        assert await scene.waited_s(ExpectedPartition("other", None, 0)) > 0
        await first

    run(main())


def test_what_was_waited_for_in_vain_is_not_waited_for_again_for_some_seconds() -> None:
    """Its producer tries again and again, and each time sends batches of other partitions with it."""

    async def main() -> None:
        scene = Scene()
        unknown_s, opening_s = MAX_UNKNOWN_MS / 1000, MAX_OPENING_MS / 1000
        later = asyncio.create_task(scene.waited_s(BY_ID))
        assert await scene.waited_s(NAMED) == pytest.approx(unknown_s)
        await later
        assert not scene.arrivals.may_come(NAMED)
        assert await scene.waited_s(NAMED) == 0
        assert scene.arrivals.may_come(ExpectedPartition("new", None, 1))  # another one
        await asyncio.sleep(IN_VAIN_S)
        assert await scene.waited_s(NAMED) == pytest.approx(unknown_s)
        scene.create()  # it is known, and is being opened: that was not waited for yet
        assert await scene.waited_s(NAMED) == pytest.approx(opening_s)
        assert await scene.waited_s(NAMED) == 0
        await asyncio.sleep(IN_VAIN_S)
        assert scene.arrivals.may_come(NAMED)

    run(main())


def test_what_is_known_to_be_in_vain_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_IN_VAIN == 4_096
    monkeypatch.setattr(arrivals, "MAX_IN_VAIN", 1)

    async def main() -> None:
        scene = Scene()
        assert await scene.waited_s(NAMED, BY_ID) > 0
        assert [scene.arrivals.may_come(it) for it in (NAMED, BY_ID)] == [False, True]

    run(main())
