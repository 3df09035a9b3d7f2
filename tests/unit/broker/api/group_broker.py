"""The group handlers on a coordinator with a log in memory, asked over the wire format."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

from headrace.broker.api.delete_groups import DeleteGroupsHandler
from headrace.broker.api.describe_groups import DescribeGroupsHandler
from headrace.broker.api.heartbeat import HeartbeatHandler
from headrace.broker.api.join_group import JoinGroupHandler
from headrace.broker.api.leave_group import LeaveGroupHandler
from headrace.broker.api.list_groups import ListGroupsHandler
from headrace.broker.api.offset_commit import OffsetCommitHandler
from headrace.broker.api.offset_delete import OffsetDeleteHandler
from headrace.broker.api.offset_fetch import OffsetFetchHandler
from headrace.broker.api.sync_group import SyncGroupHandler
from headrace.broker.coordinator.group.coordinator import GroupCoordinator
from headrace.broker.network.client import Client
from headrace.broker.network.request_context import Handler, RequestContext
from headrace.config.node import GroupConfig
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import VERSIONS
from headrace.protocol.headers import RequestHeader, parse_request_header
from headrace.protocol.messages import (
    JoinGroupRequest,
    OffsetCommitRequest,
    SyncGroupRequest,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
)
from headrace.turns import Turns
from tests.unit.broker.coordinator.fake_log import WALL_MS, FakeLogs
from tests.unit.broker.coordinator.virtual_time import settle
from tests.unit.broker.handler_calls import response_of

CONFIG = GroupConfig(initial_rebalance_delay_ms=0)
TOPIC_IDS = {"t": UUID(int=0x71), "u": UUID(int=0x75)}
PARTITIONS = 3


class FakeTopics:
    """Two topics, "t" and "u", of three partitions."""

    def partition_exists(self, name: str, partition: int) -> bool:
        return name in TOPIC_IDS and 0 <= partition < PARTITIONS

    def name_of(self, topic_id: UUID) -> str | None:
        return next((name for name, known in TOPIC_IDS.items() if known == topic_id), None)

    def id_of(self, name: str) -> UUID | None:
        return TOPIC_IDS.get(name)


class GroupBroker:
    """All group handlers."""

    def __init__(self, coordinator: GroupCoordinator, logs: FakeLogs) -> None:
        self.coordinator = coordinator
        self.logs = logs
        topics = FakeTopics()
        self._handlers: dict[ApiKey, Handler] = {
            handler.api_key: handler
            for handler in (
                JoinGroupHandler(coordinator, CONFIG),
                SyncGroupHandler(coordinator),
                HeartbeatHandler(coordinator),
                LeaveGroupHandler(coordinator),
                OffsetCommitHandler(coordinator, topics),
                OffsetFetchHandler(coordinator, topics),
                OffsetDeleteHandler(coordinator, topics),
                DescribeGroupsHandler(coordinator),
                ListGroupsHandler(coordinator),
                DeleteGroupsHandler(coordinator),
            )
        }

    async def ask(self, request: Any, version: int) -> Any:
        """Send a request of a version through both codecs."""
        return await ask(self._handlers[ApiKey(request.API_KEY)], request, version)

    async def join(self, member_id: str = "", *, version: int = 9, **fields: Any) -> Any:
        """JoinGroup of a consumer."""
        protocol = JoinGroupRequest.JoinGroupRequestProtocol(name="range", metadata=b"meta")
        request = {
            "group_id": "g",
            "session_timeout_ms": 10_000,
            "rebalance_timeout_ms": 60_000,
            "member_id": member_id,
            "group_instance_id": None,
            "protocol_type": "consumer",
            "protocols": [protocol],
        }
        return await self.ask(JoinGroupRequest(**(request | fields)), version)

    async def stable_member(self) -> str:
        """Bring group "g" to Stable with one member; returns its id."""
        joined = await self.join(version=3)
        assignment = SyncGroupRequest.SyncGroupRequestAssignment(
            member_id=joined.member_id, assignment=b"assigned"
        )
        request = SyncGroupRequest(
            group_id="g",
            generation_id=1,
            member_id=joined.member_id,
            assignments=[assignment],
        )
        assert (await self.ask(request, 2)).error_code == 0
        return str(joined.member_id)

    async def commit(self, topic: str, partition: int, offset: int, group_id: str = "g") -> None:
        """Commit one offset without a member."""
        committed = OffsetCommitRequest.OffsetCommitRequestTopic(
            name=topic,
            partitions=[
                OffsetCommitRequest.OffsetCommitRequestTopic.OffsetCommitRequestPartition(
                    partition_index=partition,
                    committed_offset=offset,
                    committed_leader_epoch=4,
                    committed_metadata="note",
                )
            ],
        )
        request = OffsetCommitRequest(
            group_id=group_id,
            generation_id_or_member_epoch=-1,
            member_id="",
            topics=[committed],
        )
        response = await self.ask(request, 8)
        assert response.topics[0].partitions[0].error_code == 0


def versions(key: ApiKey) -> range:
    """Every version of a key that is spoken."""
    row = VERSIONS[key]
    return range(row.min_version, row.max_version + 1)


async def ask(handler: Handler, request: Any, version: int) -> Any:
    """Send a request to a handler through both codecs."""
    key = ApiKey(request.API_KEY)
    frame = memoryview(encode_request(request, RequestHeader(key, version, 7, "my-client")))
    header, position = parse_request_header(frame)
    decoded = decode_request(key, version, frame[position:])
    context = RequestContext(
        header,
        Client("PLAINTEXT", client_host="10.0.0.1", local_host="10.0.0.2", local_port=9092),
        Turns(lambda: 0.0, 1.0),
    )
    response = await response_of(handler, context, decoded)
    answer = encode_response(response, version, header.correlation_id)
    correlation_id, message = decode_response(key, version, memoryview(answer))
    assert correlation_id == 7
    return message


@asynccontextmanager
async def group_broker(*, loaded: bool = True) -> AsyncIterator[GroupBroker]:
    """A broker that leads the one partition of `__consumer_offsets`."""
    logs = FakeLogs(1)
    coordinator = GroupCoordinator(
        CONFIG,
        logs,
        wall_clock_ms=lambda: WALL_MS,
        rng=random.Random(1),
    )
    if not loaded:
        logs.logs[0].hold_reads()
    coordinator.runtime.on_election(0)
    task = asyncio.create_task(coordinator.runtime.run())
    await settle()
    try:
        yield GroupBroker(coordinator, logs)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
