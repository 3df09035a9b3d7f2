"""Who asks for a partition that is on its way waits, but not for long."""

import asyncio

from headrace.broker.partition.transit import MAX_WAIT_MS, PartitionsInTransit
from tests.simulation.virtual_time import run
from tests.unit.broker.cluster_scene import topic_id

A, B, OTHER = (topic_id(1), 0), (topic_id(1), 1), (topic_id(2), 0)


async def settled_after_s(transit: PartitionsInTransit, *keys: tuple[object, int]) -> float:
    loop = asyncio.get_running_loop()
    begun_s = loop.time()
    await transit.settled(keys)  # type: ignore[arg-type]
    return loop.time() - begun_s


def test_nobody_waits_for_what_is_not_on_its_way() -> None:
    async def main() -> None:
        transit = PartitionsInTransit()
        assert not transit
        transit.hold(A)
        assert transit
        assert A in transit
        assert None not in transit
        assert await settled_after_s(transit, B, OTHER) == 0

    run(main())


def test_all_are_waited_for() -> None:
    async def main() -> None:
        transit = PartitionsInTransit()
        for key in (A, B, A):
            transit.hold(key)
        waits = asyncio.create_task(settled_after_s(transit, A, B, A))
        await asyncio.sleep(0.5)
        transit.release(A)
        await asyncio.sleep(0.5)
        assert not waits.done()
        transit.release(B)
        transit.release(B)
        assert await waits == 1.0
        assert not transit

    run(main())


def test_what_comes_and_leaves_again_at_once_is_waited_for_as_well() -> None:
    async def main() -> None:
        transit = PartitionsInTransit()
        transit.hold(A)
        waits = asyncio.create_task(settled_after_s(transit, A))
        await asyncio.sleep(0.5)
        transit.release(A)
        transit.hold(A)
        await asyncio.sleep(0.5)
        assert not waits.done()
        transit.release(A)
        assert await waits == 1.0

    run(main())


def test_who_waits_goes_on_though_it_was_held_once_more_meanwhile() -> None:
    """Several entries may tell of one move."""

    async def main() -> None:
        transit = PartitionsInTransit()
        transit.hold(A)
        waits = asyncio.create_task(settled_after_s(transit, A))
        await asyncio.sleep(0.5)
        transit.hold(A)
        transit.release(A)
        assert await waits == 0.5

    run(main())


def test_the_wait_has_an_end() -> None:
    async def main() -> None:
        transit = PartitionsInTransit()
        transit.hold(A)
        assert await settled_after_s(transit, A) == MAX_WAIT_MS / 1000
        assert A in transit

    run(main())


def test_a_topic_that_is_gone_is_waited_for_no_longer() -> None:
    async def main() -> None:
        transit = PartitionsInTransit()
        for key in (A, B, OTHER):
            transit.hold(key)
        transit.release_topic(topic_id(1))
        assert await settled_after_s(transit, A, B) == 0
        assert OTHER in transit

    run(main())
