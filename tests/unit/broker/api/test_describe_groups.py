"""DescribeGroups over the wire, in every version."""

import pytest

from headrace.broker.api import describe_groups
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import DescribeGroupsRequest
from tests.unit.broker.api.group_broker import group_broker, versions
from tests.unit.broker.coordinator.virtual_time import run

ALL_VERSIONS = pytest.mark.parametrize("version", versions(ApiKey.DESCRIBE_GROUPS))


@ALL_VERSIONS
def test_a_stable_group(version: int) -> None:
    async def test() -> None:
        async with group_broker() as broker:
            member_id = await broker.stable_member()
            answer = await broker.ask(DescribeGroupsRequest(groups=["g"]), version)
            (group,) = answer.groups
            assert (group.error_code, group.group_id, group.group_state) == (0, "g", "Stable")
            assert (group.protocol_type, group.protocol_data) == ("consumer", "range")
            (member,) = group.members
            assert (member.member_id, member.client_id) == (member_id, "my-client")
            assert member.client_host == "/10.0.0.1"
            assert (member.member_metadata, member.member_assignment) == (b"meta", b"assigned")
            assert member.group_instance_id is None
            assert group.authorized_operations == describe_groups.NO_OPERATIONS

    run(test)


@ALL_VERSIONS
def test_a_group_that_is_not_there(version: int) -> None:
    """Dead, until version 6 says so in so many words (KIP-1043)."""

    async def test() -> None:
        async with group_broker() as broker:
            answer = await broker.ask(DescribeGroupsRequest(groups=["nope"]), version)
            (group,) = answer.groups
            assert (group.group_id, group.group_state, group.members) == ("nope", "Dead", [])
            if version >= 6:
                assert group.error_code == ErrorCode.GROUP_ID_NOT_FOUND
                assert group.error_message == "Group nope not found."
            else:
                assert group.error_code == 0

    run(test)


@pytest.mark.parametrize("version", range(3, 7))
def test_authorised_operations_when_asked_for(version: int) -> None:
    async def test() -> None:
        async with group_broker() as broker:
            await broker.commit("t", 0, 1)
            request = DescribeGroupsRequest(groups=["g"], include_authorized_operations=True)
            answer = await broker.ask(request, version)
            assert answer.groups[0].authorized_operations == 0b1101_0100_1000
            assert answer.groups[0].group_state == "Empty"

    run(test)


@ALL_VERSIONS
def test_several_groups_in_the_order_asked(version: int) -> None:
    async def test() -> None:
        async with group_broker() as broker:
            await broker.commit("t", 0, 1)
            answer = await broker.ask(DescribeGroupsRequest(groups=["x", "g"]), version)
            assert [group.group_state for group in answer.groups] == ["Dead", "Empty"]
            broker.coordinator.runtime.on_resignation(0)
            answer = await broker.ask(DescribeGroupsRequest(groups=["g"]), version)
            assert answer.groups[0].error_code == ErrorCode.NOT_COORDINATOR
            assert answer.groups[0].group_id == "g"

    run(test)


def test_a_group_that_is_named_often_is_answered_once() -> None:
    """16 kB that name a group of 600 kB 4,000 times would be answered with 2.4 GB."""

    async def test() -> None:
        async with group_broker() as broker:
            await broker.stable_member()
            request = DescribeGroupsRequest(groups=["g", "nope", *["g"] * 4_000])
            answer = await broker.ask(request, 5)
            assert [group.group_id for group in answer.groups] == ["g", "nope"]

    run(test)


def test_groups_that_the_answer_has_no_room_for_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def test() -> None:
        async with group_broker() as broker:
            await broker.stable_member()
            room = len(b"meta") + len(b"assigned")
            for max_bytes, error in ((room, 0), (room - 1, ErrorCode.INVALID_REQUEST)):
                monkeypatch.setattr(describe_groups, "MAX_ANSWER_BYTES", max_bytes)
                answer = await broker.ask(DescribeGroupsRequest(groups=["g", "nope"]), 5)
                assert [group.error_code for group in answer.groups] == [error, 0]

    run(test)
