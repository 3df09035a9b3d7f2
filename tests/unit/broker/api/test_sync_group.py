"""SyncGroup over the wire, in every version."""

from typing import Any

import pytest

from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import SyncGroupRequest
from tests.unit.broker.api.group_broker import group_broker, versions
from tests.unit.broker.coordinator.virtual_time import run


def request(member_id: str, /, **fields: Any) -> SyncGroupRequest:
    assigned = SyncGroupRequest.SyncGroupRequestAssignment(
        member_id=member_id, assignment=b"partitions"
    )
    values = {
        "group_id": "g",
        "generation_id": 1,
        "member_id": member_id,
        "group_instance_id": None,
        "protocol_type": "consumer",
        "protocol_name": "range",
        "assignments": [assigned],
    }
    return SyncGroupRequest(**(values | fields))


@pytest.mark.parametrize("version", versions(ApiKey.SYNC_GROUP))
def test_the_leader_syncs(version: int) -> None:
    async def test() -> None:
        async with group_broker() as broker:
            joined = await broker.join(version=3)
            synced = await broker.ask(request(joined.member_id), version)
            assert (synced.error_code, synced.assignment) == (0, b"partitions")
            expected = ("consumer", "range") if version >= 5 else (None, None)
            assert (synced.protocol_type, synced.protocol_name) == expected
            again = await broker.ask(request(joined.member_id, assignments=[]), version)
            assert again.assignment == b"partitions"

    run(test)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"group_id": ""}, ErrorCode.INVALID_GROUP_ID),
        ({"group_id": "other"}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"generation_id": 2}, ErrorCode.ILLEGAL_GENERATION),
        ({"group_instance_id": "one"}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"protocol_type": None}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_name": None}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_name": "sticky"}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
    ],
)
def test_refusals(fields: dict[str, Any], error: ErrorCode) -> None:
    async def test() -> None:
        async with group_broker() as broker:
            joined = await broker.join(version=3)
            synced = await broker.ask(request(joined.member_id, **fields), 5)
            assert (synced.error_code, synced.assignment) == (error, b"")

    run(test)


def test_while_loading() -> None:
    async def test() -> None:
        async with group_broker(loaded=False) as broker:
            synced = await broker.ask(request("me"), 5)
            assert synced.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS

    run(test)
