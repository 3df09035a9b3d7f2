"""LeaveGroup over the wire, in every version."""

import pytest

from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import LeaveGroupRequest
from tests.unit.broker.api.group_broker import group_broker, versions
from tests.unit.broker.coordinator.virtual_time import run


def member(member_id: str, instance: str | None = None) -> LeaveGroupRequest.MemberIdentity:
    return LeaveGroupRequest.MemberIdentity(
        member_id=member_id, group_instance_id=instance, reason="done"
    )


@pytest.mark.parametrize("version", versions(ApiKey.LEAVE_GROUP))
def test_a_member_leaves_once(version: int) -> None:
    async def test() -> None:
        async with group_broker() as broker:
            member_id = await broker.stable_member()
            request = LeaveGroupRequest(
                group_id="g", member_id=member_id, members=[member(member_id)]
            )
            answer = await broker.ask(request, version)
            assert answer.error_code == 0
            if version >= 3:
                assert [(one.member_id, one.error_code) for one in answer.members] == [
                    (member_id, 0)
                ]
            again = await broker.ask(request, version)
            if version >= 3:
                assert again.error_code == 0
                assert again.members[0].error_code == ErrorCode.UNKNOWN_MEMBER_ID
            else:
                assert again.error_code == ErrorCode.UNKNOWN_MEMBER_ID

    run(test)


@pytest.mark.parametrize("version", range(3, 6))
def test_an_administrator_removes_a_static_member(version: int) -> None:
    async def test() -> None:
        async with group_broker() as broker:
            await broker.join(group_instance_id="one")
            request = LeaveGroupRequest(
                group_id="g", members=[member("", "one"), member("", "unknown")]
            )
            answer = await broker.ask(request, version)
            assert [
                (one.member_id, one.group_instance_id, one.error_code) for one in answer.members
            ] == [("", "one", 0), ("", "unknown", ErrorCode.UNKNOWN_MEMBER_ID)]

    run(test)


@pytest.mark.parametrize("version", versions(ApiKey.LEAVE_GROUP))
def test_errors_of_the_whole_request(version: int) -> None:
    async def test() -> None:
        async with group_broker(loaded=False) as broker:
            request = LeaveGroupRequest(group_id="g", member_id="a", members=[member("a")])
            answer = await broker.ask(request, version)
            assert answer.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
            request = LeaveGroupRequest(group_id="", member_id="a", members=[member("a")])
            answer = await broker.ask(request, version)
            assert answer.error_code == ErrorCode.INVALID_GROUP_ID

    run(test)
