"""ListGroups over the wire, in every version."""

import pytest

from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import ListGroupsRequest
from tests.unit.broker.api.group_broker import group_broker, versions
from tests.unit.broker.coordinator.virtual_time import run


@pytest.mark.parametrize("version", versions(ApiKey.LIST_GROUPS))
def test_all_groups(version: int) -> None:
    async def test() -> None:
        async with group_broker() as broker:
            await broker.stable_member()
            await broker.commit("t", 0, 1, "simple")
            answer = await broker.ask(ListGroupsRequest(), version)
            assert answer.error_code == 0
            assert [(group.group_id, group.protocol_type) for group in answer.groups] == [
                ("g", "consumer"),
                ("simple", ""),
            ]
            states = [group.group_state for group in answer.groups]
            assert states == (["Stable", "Empty"] if version >= 4 else ["", ""])
            types = [group.group_type for group in answer.groups]
            assert types == ["classic" if version >= 5 else ""] * 2

    run(test)


@pytest.mark.parametrize(
    ("states", "types", "expected"),
    [
        ([], [], ["g", "simple"]),
        (["Stable"], [], ["g"]),
        (["stable ", "EMPTY"], [], ["g", "simple"]),
        (["Assigning"], [], []),
        ([], ["classic"], ["g", "simple"]),
        ([], ["consumer"], []),
        ([], ["consumer", "Classic"], ["g", "simple"]),
        (["Empty"], ["Classic"], ["simple"]),
    ],
)
def test_filters(states: list[str], types: list[str], expected: list[str]) -> None:
    """KIP-518, KIP-848."""

    async def test() -> None:
        async with group_broker() as broker:
            await broker.stable_member()
            await broker.commit("t", 0, 1, "simple")
            request = ListGroupsRequest(states_filter=states, types_filter=types)
            answer = await broker.ask(request, 5)
            assert [group.group_id for group in answer.groups] == expected

    run(test)


@pytest.mark.parametrize("version", versions(ApiKey.LIST_GROUPS))
def test_while_loading(version: int) -> None:
    async def test() -> None:
        async with group_broker(loaded=False) as broker:
            answer = await broker.ask(ListGroupsRequest(), version)
            assert answer.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
            assert answer.groups == []

    run(test)


@pytest.mark.parametrize("version", versions(ApiKey.LIST_GROUPS))
def test_without_a_certain_lease(version: int) -> None:
    async def test() -> None:
        async with group_broker() as broker:
            await broker.commit("t", 0, 1, "simple")
            broker.logs.certain = False
            answer = await broker.ask(ListGroupsRequest(), version)
            assert answer.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
            assert answer.groups == []

    run(test)
