"""FindCoordinator over the wire, in every version."""

import pytest

from headrace.broker.api.find_coordinator import FindCoordinatorHandler
from headrace.broker.network.client import Client
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode, KafkaError, ProtocolError
from headrace.protocol.messages import FindCoordinatorRequest
from tests.unit.broker.api.group_broker import ask, versions
from tests.unit.broker.coordinator.virtual_time import run

ALL_VERSIONS = pytest.mark.parametrize("version", versions(ApiKey.FIND_COORDINATOR))


class FakeNodes:
    """Knows the coordinators once the topic has been created."""

    def __init__(self, *, exists: bool = True, creates: bool = True) -> None:
        self.exists = exists
        self.creates = creates
        self.created = 0
        self.known = {"g": 3, "h": 4}

    def coordinator_node(self, client: Client, group_id: str) -> tuple[int, str, int] | None:
        node_id = self.known.get(group_id) if self.exists else None
        return None if node_id is None else (node_id, client.local_host, client.local_port)

    async def ensure_topic(self) -> None:
        self.created += 1
        if not self.creates:
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, "no controller")
        self.exists = True


def request(*keys: str, key_type: int = 0) -> FindCoordinatorRequest:
    return FindCoordinatorRequest(key=keys[0], key_type=key_type, coordinator_keys=list(keys))


async def find(nodes: FakeNodes, version: int, *keys: str, key_type: int = 0) -> list[tuple]:
    asked = request(*keys, key_type=key_type if version >= 1 else 0)
    answer = await ask(FindCoordinatorHandler(nodes), asked, version)
    if version < 4:
        return [(answer.error_code, answer.node_id, answer.host, answer.port)]
    assert [one.key for one in answer.coordinators] == list(dict.fromkeys(keys))
    return [(one.error_code, one.node_id, one.host, one.port) for one in answer.coordinators]


@ALL_VERSIONS
def test_the_coordinator_of_a_group(version: int) -> None:
    async def test() -> None:
        nodes = FakeNodes()
        assert await find(nodes, version, "g") == [(0, 3, "10.0.0.2", 9092)]
        assert nodes.created == 0

    run(test)


@ALL_VERSIONS
def test_the_first_look_up_creates_the_topic(version: int) -> None:
    async def test() -> None:
        nodes = FakeNodes(exists=False)
        assert await find(nodes, version, "g") == [(0, 3, "10.0.0.2", 9092)]
        assert nodes.created == 1

    run(test)


@ALL_VERSIONS
@pytest.mark.parametrize("creates", [True, False])
def test_no_coordinator_yet(version: int, creates: bool) -> None:
    async def test() -> None:
        nodes = FakeNodes(exists=False, creates=creates)
        nodes.known.clear()
        unavailable = (ErrorCode.COORDINATOR_NOT_AVAILABLE, -1, "", -1)
        assert await find(nodes, version, "g") == [unavailable]

    run(test)


@pytest.mark.parametrize("version", [4, 5, 6])
def test_several_keys(version: int) -> None:
    """KIP-699."""

    async def test() -> None:
        found = await find(FakeNodes(), version, "h", "nobody", "g")
        assert [(error, node_id) for error, node_id, _, _ in found] == [
            (0, 4),
            (ErrorCode.COORDINATOR_NOT_AVAILABLE, -1),
            (0, 3),
        ]

    run(test)


@pytest.mark.parametrize("version", range(1, 7))
@pytest.mark.parametrize("key_type", [1, 2, 7])
def test_other_coordinators_fail_at_once_with_the_reason(version: int, key_type: int) -> None:
    async def test() -> None:
        nodes = FakeNodes()
        asked = request("my-transaction", key_type=key_type)
        answer = await ask(FindCoordinatorHandler(nodes), asked, version)
        answer = answer if version < 4 else answer.coordinators[0]
        assert (answer.error_code, answer.node_id) == (ErrorCode.INVALID_REQUEST, -1)
        if key_type == 1:
            assert "transactions are not supported" in answer.error_message

    run(test)


def test_a_key_that_is_named_often_is_answered_once() -> None:
    async def test() -> None:
        told = await find(FakeNodes(), 6, "g", "h", *["g"] * 100)
        assert [node_id for _, node_id, _, _ in told] == [3, 4]

    run(test)


@pytest.mark.parametrize("version", [3, 4])
def test_a_group_id_that_no_group_can_have_is_refused_before_it_is_hashed(version: int) -> None:
    async def test() -> None:
        nodes = FakeNodes()
        long = "g" * 32_768
        nodes.known[long] = 5
        with pytest.raises(ProtocolError, match="string has 32768 bytes"):
            await find(nodes, version, long)
        nodes.known[long[1:]] = 5
        assert await find(nodes, version, long[1:]) == [(0, 5, "10.0.0.2", 9092)]

    run(test)
