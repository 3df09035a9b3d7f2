"""JoinGroup over the wire, in every version."""

import asyncio
from typing import Any
from uuid import UUID

import pytest

from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode, ProtocolError
from headrace.protocol.messages import JoinGroupRequest
from tests.unit.broker.api.group_broker import group_broker, versions
from tests.unit.broker.coordinator.virtual_time import run, settle


@pytest.mark.parametrize("version", versions(ApiKey.JOIN_GROUP))
def test_a_first_member_joins(version: int) -> None:
    async def test() -> None:
        async with group_broker() as broker:
            joined = await broker.join(version=version)
            prefix, _, suffix = joined.member_id.partition("my-client-")
            assert prefix == ""
            assert UUID(suffix).version == 4
            if version >= 4:
                assert joined.error_code == ErrorCode.MEMBER_ID_REQUIRED
                assert joined.generation_id == -1
                joined = await broker.join(joined.member_id, version=version)
            assert joined.error_code == 0
            assert (joined.generation_id, joined.protocol_name) == (1, "range")
            assert joined.leader == joined.member_id
            assert [(member.member_id, member.metadata) for member in joined.members] == [
                (joined.member_id, b"meta")
            ]
            assert joined.protocol_type == ("consumer" if version >= 7 else None)
            assert joined.skip_assignment is False

    run(test)


@pytest.mark.parametrize("version", versions(ApiKey.JOIN_GROUP))
@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"group_id": ""}, ErrorCode.INVALID_GROUP_ID),
        ({"session_timeout_ms": 5_999}, ErrorCode.INVALID_SESSION_TIMEOUT),
        ({"session_timeout_ms": 1_800_001}, ErrorCode.INVALID_SESSION_TIMEOUT),
        ({"member_id": "unknown"}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"protocols": []}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
    ],
)
def test_refusals(version: int, fields: dict[str, Any], error: ErrorCode) -> None:
    async def test() -> None:
        async with group_broker() as broker:
            refused = await broker.join(version=version, **fields)
            assert refused.error_code == error
            assert refused.member_id == fields.get("member_id", "")
            assert refused.generation_id == -1
            assert refused.protocol_name == (None if version >= 7 else "")
            assert (refused.leader, refused.members) == ("", [])

    run(test)


@pytest.mark.parametrize(
    "fields",
    [
        {"group_id": "x" * 32_768},
        {"group_instance_id": "x" * 32_768},
        {"protocol_type": "x" * 32_768},
        {"protocols": [JoinGroupRequest.JoinGroupRequestProtocol(name="x" * 32_768, metadata=b"")]},
    ],
)
def test_what_cannot_be_stored_is_refused(fields: dict[str, Any]) -> None:
    async def test() -> None:
        async with group_broker() as broker:
            with pytest.raises(ProtocolError):
                await broker.join(**fields)

    run(test)


def test_in_version_0_the_rebalance_timeout_is_the_session_timeout() -> None:
    async def test() -> None:
        async with group_broker() as broker:
            first = await broker.join(version=0, session_timeout_ms=10_000)
            parked = asyncio.create_task(broker.join(version=0, session_timeout_ms=20_000))
            await settle()
            begin_s = asyncio.get_running_loop().time()
            joined = await parked
            # The first, parked nowhere, is given its own session of 10 s.
            assert asyncio.get_running_loop().time() - begin_s == pytest.approx(10, abs=0.1)
            assert joined.leader == joined.member_id != first.member_id

    run(test)


@pytest.mark.parametrize("version", range(5, 10))
def test_a_static_leader_comes_back(version: int) -> None:
    """KIP-345, KIP-814."""

    async def test() -> None:
        async with group_broker() as broker:
            first = await broker.join(version=version, group_instance_id="one")
            assert first.member_id.startswith("one-")
            assert first.members[0].group_instance_id == "one"
            await broker.ask(_sync(first.member_id), 3)
            second = await broker.join(version=version, group_instance_id="one")
            assert (second.error_code, second.generation_id) == (0, 1)
            assert second.skip_assignment is (version >= 9)
            assert second.leader == (second.member_id if version >= 9 else first.member_id)
            assert len(second.members) == (1 if version >= 9 else 0)

    run(test)


def _sync(member_id: str) -> Any:
    from headrace.protocol.messages import SyncGroupRequest

    return SyncGroupRequest(
        group_id="g",
        generation_id=1,
        member_id=member_id,
        group_instance_id="one",
        assignments=[],
    )


def test_while_loading() -> None:
    async def test() -> None:
        async with group_broker(loaded=False) as broker:
            refused = await broker.join("me")
            assert refused.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
            assert refused.member_id == "me"

    run(test)
