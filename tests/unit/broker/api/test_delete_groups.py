"""DeleteGroups over the wire, in every version (KIP-229)."""

import pytest

from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import DeleteGroupsRequest, ListGroupsRequest
from tests.unit.broker.api.group_broker import group_broker, versions
from tests.unit.broker.coordinator.virtual_time import run


@pytest.mark.parametrize("version", versions(ApiKey.DELETE_GROUPS))
def test_each_group_has_its_result(version: int) -> None:
    async def test() -> None:
        async with group_broker() as broker:
            await broker.stable_member()
            await broker.commit("t", 0, 1, "simple")
            request = DeleteGroupsRequest(groups_names=["simple", "g", "nope", "simple"])
            answer = await broker.ask(request, version)
            assert [(result.group_id, result.error_code) for result in answer.results] == [
                ("simple", 0),
                ("g", ErrorCode.NON_EMPTY_GROUP),
                ("nope", ErrorCode.GROUP_ID_NOT_FOUND),
            ]
            left = await broker.ask(ListGroupsRequest(), 5)
            assert [group.group_id for group in left.groups] == ["g"]

    run(test)


def test_while_loading() -> None:
    async def test() -> None:
        async with group_broker(loaded=False) as broker:
            answer = await broker.ask(DeleteGroupsRequest(groups_names=["g"]), 2)
            assert answer.results[0].error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS

    run(test)
