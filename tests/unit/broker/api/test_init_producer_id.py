"""InitProducerId for idempotent producers (KIP-360)."""

import pytest

from headrace.broker.api.init_producer_id import InitProducerIdHandler
from headrace.broker.cluster.producer_ids import ProducerIds
from headrace.metadata.errors import ControllerUnavailableError
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import InitProducerIdRequest
from tests.unit.broker.cluster_scene import FakeClient, ask

VERSIONS = range(6)
Answer = tuple[int, int, int]  # error code, producer id, epoch


class Broker:
    def __init__(self, *blocks: range | Exception) -> None:
        client = FakeClient()
        client.producer_id_blocks = list(blocks)
        self.handler = InitProducerIdHandler(ProducerIds(client))  # type: ignore[arg-type]

    def ask(
        self,
        version: int,
        *,
        transactional_id: str | None = None,
        given: tuple[int, int] = (-1, -1),
    ) -> Answer:
        request = InitProducerIdRequest(
            transactional_id=transactional_id,
            transaction_timeout_ms=60_000,
            producer_id=given[0],
            producer_epoch=given[1],
        )
        told = ask(self.handler, version, request)
        return told.error_code, told.producer_id, told.producer_epoch


@pytest.mark.parametrize("version", VERSIONS)
def test_every_producer_gets_an_id_of_its_own_at_epoch_0(version: int) -> None:
    broker = Broker(range(1_000, 2_000))
    assert [broker.ask(version) for _ in range(3)] == [
        (0, 1_000, 0),
        (0, 1_001, 0),
        (0, 1_002, 0),
    ]


@pytest.mark.parametrize("version", [3, 4, 5])
def test_two_producers_that_give_the_same_id_do_not_share_an_identity(version: int) -> None:
    """KIP-360, v3+: without a transactional id nobody knows whose an id is."""
    broker = Broker(range(5, 9))
    assert broker.ask(version, given=(7, 0)) == (0, 5, 0)
    assert broker.ask(version, given=(7, 0)) == (0, 6, 0)


@pytest.mark.parametrize("given", [(7, -1), (-1, 0)])
def test_id_and_epoch_are_given_together(given: tuple[int, int]) -> None:
    assert Broker().ask(5, given=given) == (ErrorCode.INVALID_REQUEST, -1, -1)


@pytest.mark.parametrize("version", VERSIONS)
def test_transactions_are_refused_at_once(version: int) -> None:
    broker = Broker(range(9))
    assert broker.ask(version, transactional_id="tx") == (ErrorCode.INVALID_REQUEST, -1, -1)


def test_without_a_controller_the_client_is_to_try_again() -> None:
    broker = Broker(ControllerUnavailableError("none"), range(4, 5))
    assert broker.ask(5) == (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, -1, -1)
    assert broker.ask(5) == (0, 4, 0)
