"""Heartbeat over the wire, in every version."""

from typing import Any

import pytest

from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import HeartbeatRequest
from tests.unit.broker.api.group_broker import group_broker, versions
from tests.unit.broker.coordinator.virtual_time import run


def request(member_id: str, /, **fields: Any) -> HeartbeatRequest:
    values = {"group_id": "g", "generation_id": 1, "member_id": member_id}
    return HeartbeatRequest(**(values | fields))


@pytest.mark.parametrize("version", versions(ApiKey.HEARTBEAT))
@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({}, ErrorCode.NONE),
        ({"group_id": ""}, ErrorCode.INVALID_GROUP_ID),
        ({"group_id": "other"}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"member_id": "other"}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"generation_id": 0}, ErrorCode.ILLEGAL_GENERATION),
    ],
)
def test_answers(version: int, fields: dict[str, Any], error: ErrorCode) -> None:
    async def test() -> None:
        async with group_broker() as broker:
            member_id = await broker.stable_member()
            answer = await broker.ask(request(member_id, **fields), version)
            assert answer.error_code == error

    run(test)


def test_an_instance_id_that_another_holds() -> None:
    async def test() -> None:
        async with group_broker() as broker:
            await broker.join(group_instance_id="one")
            answer = await broker.ask(request("other", group_instance_id="one"), 3)
            assert answer.error_code == ErrorCode.FENCED_INSTANCE_ID

    run(test)


@pytest.mark.parametrize("version", versions(ApiKey.HEARTBEAT))
def test_while_loading_a_member_is_told_that_all_is_well(version: int) -> None:
    """COORDINATOR_LOAD_IN_PROGRESS is fatal to Java's heartbeat thread."""

    async def test() -> None:
        async with group_broker(loaded=False) as broker:
            assert (await broker.ask(request("me"), version)).error_code == 0
            broker.coordinator.runtime.on_resignation(0)
            answer = await broker.ask(request("me"), version)
            assert answer.error_code == ErrorCode.NOT_COORDINATOR

    run(test)
