"""Every integer of every request at its extremes, against a whole node: an answer, and nothing unexpected.

The requests are made from the schemas. All but one number of each is sensible, so that it gets far.
"""

import asyncio
import logging
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import pytest

from headrace.config.node import GroupConfig, NodeConfig
from headrace.protocol import messages
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.generator.descriptions import Field
from headrace.protocol.generator.structs import snake
from headrace.protocol.messages import (
    ApiVersionsRequest,
    FindCoordinatorRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    MetadataRequest,
    SyncGroupRequest,
)
from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from tests.fuzz.random_messages import built, described
from tests.integration.test_node import TOPIC, Client, config, serving

BITS = {"int8": 8, "int16": 16, "uint16": 16, "int32": 32, "int64": 64}
UNKNOWN_SERVER_ERROR = re.compile(r"error_code=-1\b")
ANSWERED_WITHIN_S = 30  # only a request that is never answered takes so long
FACTS: dict[str, Any] = {
    "acks": -1,
    "committed_leader_epoch": -1,
    "current_leader_epoch": -1,
    "endpoint_type": 1,
    "generation_id": 1,
    "generation_id_or_member_epoch": 1,
    "group_id": "g",
    "group_instance_id": "instance",
    "isolation_level": 0,
    "key_type": 0,
    "max_bytes": 1 << 20,
    "member_id": "",
    "min_bytes": 1,
    "num_partitions": 1,
    "partition_max_bytes": 1 << 20,
    "producer_epoch": -1,
    "producer_id": -1,
    "replica_id": -1,
    "protocol_name": "range",
    "protocol_type": "consumer",
    "rebalance_timeout_ms": 1_000,
    "replication_factor": 1,
    "resource_name": TOPIC,
    "resource_type": 2,
    "session_epoch": -1,
    "session_timeout_ms": 10_000,
    "timeout_ms": 5_000,
    "timestamp": -1,
    "topic": TOPIC,
    "topic_name": TOPIC,
    "transaction_timeout_ms": 1_000,
    "transactional_id": None,
}
NAMES = {  # where "name" is no topic that exists; tests of partitions would lose theirs
    ApiKey.DELETE_TOPICS: "absent",
    ApiKey.DELETE_RECORDS: "emptied",
    ApiKey.JOIN_GROUP: "range",
    ApiKey.INCREMENTAL_ALTER_CONFIGS: "retention.ms",
}
EMPTY = {"assignments", "configs", "forgotten_topics_data"}
OF_A_MEMBER = {ApiKey.SYNC_GROUP, ApiKey.HEARTBEAT, ApiKey.OFFSET_COMMIT, ApiKey.OFFSET_DELETE}
FIRST_PRODUCE = 3  # earlier versions are listed, and refused
LEFT_OUT = {ApiKey.ADD_RAFT_VOTER}  # it waits for a controller that follows


class Place(NamedTuple):
    """One integer of a version of a request: the names that lead to it."""

    path: tuple[str, ...]
    bits: int
    unsigned: bool

    def extremes(self) -> Iterator[int]:
        """The numbers to send."""
        if self.unsigned:
            yield from (0, (1 << self.bits) - 1)
            return
        limit = 1 << (self.bits - 1)
        yield from (-limit, -1, 0, limit - 1)


class Scene(NamedTuple):
    """What sensible requests name."""

    spoken: dict[ApiKey, range]
    topic_id: UUID
    member_id: str  # of the group "stable", at generation 1


class RequestMaker:
    """Makes requests of one API, sensible but for one number."""

    _made = 0

    def __init__(self, key: ApiKey, version: int, scene: Scene) -> None:
        self._key = key
        self._version = version
        self._scene = scene
        words = "".join(word.capitalize() for word in key.name.split("_"))
        self._message: Any = getattr(messages, f"{words}Request")
        self._structs = described()[f"{words}Request"]
        self.places: list[Place] = []

    def make(self, place: Place | None = None, number: int = 0) -> Any:
        """One request; the first also finds the places."""
        self.places = []
        RequestMaker._made += 1
        values = self._struct(self._structs.outer.fields, (), place, number)
        return built(self._structs, self._message, values)

    def _struct(
        self, fields: Iterable[Field], path: tuple[str, ...], place: Place | None, number: int
    ) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for field in fields:
            name = snake(field.name)
            if self._version not in field.versions or name in EMPTY:
                continue
            value = self._value(field, (*path, name), place, number)
            values[field.name] = [value] if field.is_array else value
        return values

    def _value(self, field: Field, path: tuple[str, ...], place: Place | None, number: int) -> Any:
        if field.is_struct:
            return self._struct(self._structs.struct_of(field).fields, path, place, number)
        name, kind = path[-1], field.element
        if kind in BITS:
            self.places.append(Place(path, BITS[kind], kind.startswith("u")))
            return number if place is not None and place.path == path else FACTS.get(name, 0)
        if kind == "string":
            return self._string(name)
        return {
            "uuid": self._scene.topic_id,
            "records": bytes(encode_batch([Record(0, 1_000, None, b"v")], BatchOptions())),
            "bytes": b"",
            "bool": False,
            "float64": 0.0,
        }[kind]

    def _string(self, name: str) -> str | None:
        key = self._key
        if key in OF_A_MEMBER and name in ("group_id", "member_id", "group_instance_id"):
            return {"group_id": "stable", "member_id": self._scene.member_id}.get(name)
        if key == ApiKey.JOIN_GROUP and name == "group_id":
            return f"joined-{self._made}"  # nobody waits for the members of other requests
        if key == ApiKey.CREATE_TOPICS and name == "name":
            return f"new-{self._made}"
        in_topic = name in ("name", "topics", "topic_names")
        return FACTS.get(name, NAMES.get(key, TOPIC if in_topic else "g"))


def quick_groups(directory: Path) -> NodeConfig:
    groups = GroupConfig(offsets_topic_partitions=1, initial_rebalance_delay_ms=0)
    return replace(config(directory), groups=groups)


async def warmed_up(client: Client) -> Scene:
    """Topics with records, and a group with a member."""
    for topic in (TOPIC, "emptied"):
        assert (await client.produce(b"v", topic=topic))[0] == 0
    wanted = MetadataRequest.MetadataRequestTopic(name=TOPIC, topic_id=None)
    listed: Any = await client.ask(ApiKey.METADATA, 12, MetadataRequest(topics=[wanted]))
    told: Any = await client.ask(ApiKey.API_VERSIONS, 0, ApiVersionsRequest())
    spoken = {ApiKey(it.api_key): range(it.min_version, it.max_version + 1) for it in told.api_keys}
    find = FindCoordinatorRequest(key="stable", key_type=0)
    while True:
        found: Any = await client.ask(ApiKey.FIND_COORDINATOR, 1, find)
        joined: Any = await client.ask(ApiKey.JOIN_GROUP, 3, join_request())
        if found.error_code == joined.error_code == 0:
            break
        await asyncio.sleep(0.01)
    share = SyncGroupRequest.SyncGroupRequestAssignment(member_id=joined.member_id, assignment=b"")
    sync = SyncGroupRequest(
        group_id="stable", generation_id=1, member_id=joined.member_id, assignments=[share]
    )
    synced: Any = await client.ask(ApiKey.SYNC_GROUP, 2, sync)
    assert synced.error_code == 0
    return Scene(spoken, listed.topics[0].topic_id, joined.member_id)


def join_request() -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id="stable",
        session_timeout_ms=1_000_000,
        rebalance_timeout_ms=1_000,
        member_id="",
        protocol_type="consumer",
        protocols=[JoinGroupRequest.JoinGroupRequestProtocol(name="range", metadata=b"")],
    )


def cases(scene: Scene) -> Iterator[tuple[ApiKey, int, Place, int, Any]]:
    """Each place of each version."""
    for key, versions in scene.spoken.items():
        if key in LEFT_OUT:
            continue
        for version in versions:
            if key == ApiKey.PRODUCE and version < FIRST_PRODUCE:
                continue
            maker = RequestMaker(key, version, scene)
            maker.make()
            for place in maker.places:
                for number in place.extremes():
                    if (key, place.path, number) == (ApiKey.PRODUCE, ("acks",), 0):
                        continue  # is not answered
                    request = RequestMaker(key, version, scene).make(place, number)
                    yield key, version, place, number, request


def test_each_is_answered_and_none_reloads_a_group_or_is_unexpected(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "headrace")
    unexpected: list[dict[str, Any]] = []

    def loads() -> int:
        return sum(it.message == "coordinator partition loaded" for it in caplog.records)

    async def run() -> int:
        asyncio.get_running_loop().set_exception_handler(lambda _, told: unexpected.append(told))
        async with serving(quick_groups(tmp_path)) as (client, _):
            scene = await warmed_up(client)
            count, loads_before = 0, loads()
            for key, version, place, number, request in cases(scene):
                case = f"{key.name} {version}, {'.'.join(place.path)} = {number}"
                try:
                    async with asyncio.timeout(ANSWERED_WITHIN_S):
                        told = repr(await client.ask(key, version, request))
                except (OSError, EOFError, TimeoutError) as error:
                    pytest.fail(f"{case}: {error!r} {unexpected}")
                assert not unexpected, case
                assert not UNKNOWN_SERVER_ERROR.search(told), case
                assert loads() == loads_before == 1, case
                count += 1
            beat = HeartbeatRequest(group_id="stable", generation_id=1, member_id=scene.member_id)
            answer: Any = await client.ask(ApiKey.HEARTBEAT, 2, beat)
            assert answer.error_code == 0, "the member is still there"
            return count

    assert asyncio.run(run()) > 1_000
    assert not [it for it in caplog.records if it.exc_info]
