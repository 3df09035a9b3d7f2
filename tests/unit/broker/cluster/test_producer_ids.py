"""Producer ids: each once, in blocks from the controller."""

import asyncio

import pytest

from headrace.broker.cluster.producer_ids import ProducerIds
from headrace.metadata.errors import ControllerUnavailableError
from tests.unit.broker.cluster_scene import FakeClient, run


def producer_ids(*blocks: range | Exception) -> ProducerIds:
    client = FakeClient()
    client.producer_id_blocks = list(blocks)
    return ProducerIds(client)  # type: ignore[arg-type]


def test_ids_of_a_block_are_given_out_in_order_and_then_those_of_the_next() -> None:
    async def take() -> list[int]:
        ids = producer_ids(range(2), range(1_000, 1_002))
        return [await ids.next_id() for _ in range(4)]

    assert run(take()) == [0, 1, 1_000, 1_001]


def test_many_at_once_never_get_the_same() -> None:
    async def take() -> list[int]:
        ids = producer_ids(range(3), range(5, 9))
        return await asyncio.gather(*(ids.next_id() for _ in range(7)))

    assert sorted(run(take())) == [0, 1, 2, 5, 6, 7, 8]


def test_a_block_that_cannot_be_had_is_asked_for_again() -> None:
    async def take() -> int:
        ids = producer_ids(ControllerUnavailableError("none"), range(3, 4))
        with pytest.raises(ControllerUnavailableError):
            await ids.next_id()
        return await ids.next_id()

    assert run(take()) == 3
