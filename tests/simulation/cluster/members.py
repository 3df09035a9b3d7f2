"""Members of a consumer group: they join, share the partitions, read on where the group was, and commit."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from headrace.broker.coordinator.runtime.partitioning import partition_for_key
from headrace.broker.partition.internal_topics import OFFSETS_TOPIC
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import (
    FindCoordinatorRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    SyncGroupRequest,
)
from tests.simulation.cluster import wire
from tests.simulation.cluster.clients import PAUSE_AFTER_ERROR_S, Client, Leader
from tests.simulation.cluster.offsets import OffsetHistory
from tests.simulation.cluster.records import Place, RecordHistory, Seen, record_of
from tests.simulation.cluster.settings import OFFSETS_PARTITIONS
from tests.simulation.cluster.wire import LOST, Connection

ASK_S = 4.0
JOIN_S = 8.0
SESSION_MS = 2_000
REBALANCE_MS = 1_500
POLL_S = 0.15
# What a member is told that has to join again.
_REJOIN = frozenset(
    {
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.REBALANCE_IN_PROGRESS,
    }
)
_COMMITTED = OffsetCommitRequest.OffsetCommitRequestTopic
_ASKED = OffsetFetchRequest.OffsetFetchRequestTopic


class _LeftError(Exception):
    """This member has to find its group again."""


class Member(Client):
    """Of one group, over all partitions of one topic."""

    def __init__(
        self,
        *arguments: Any,
        group: str,
        places: list[Place],
        offsets: OffsetHistory,
        history: RecordHistory,
        known_epoch: Callable[[int, Place], int],
    ) -> None:
        """Begin.

        Args:
            arguments: see `Client`.
            group: its id.
            places: that the group shares.
            offsets: of all groups.
            history: of all producers.
            known_epoch: which leader epoch of a partition a broker knows: FindCoordinator does not tell.
        """
        super().__init__(*arguments)
        self._group = group
        self._log = (OFFSETS_TOPIC, partition_for_key(group, OFFSETS_PARTITIONS))
        self._known_epoch = known_epoch
        self._places = places
        self._offsets = offsets
        self._history = history
        self._member_id = ""
        self._generation = -1
        self._coordinator = Leader(-1, -1)

    async def run(self, until_s: float) -> None:
        """Take part until a moment."""
        loop = asyncio.get_running_loop()
        while loop.time() < until_s:
            try:
                connection = await self._find()
                places = await self._join(connection)
                positions = await self._fetch_offsets(connection, places)
                while loop.time() < until_s:
                    await self._poll(connection, positions)
                    await asyncio.sleep(POLL_S)
            except (*LOST, _LeftError):
                self.drop(self._coordinator.node_id)
                await asyncio.sleep(PAUSE_AFTER_ERROR_S)

    async def look(self) -> None:
        """Judge the group's offsets once more, when all is over."""
        while True:
            try:
                await self._fetch_offsets(await self._find(), self._places)
            except (*LOST, _LeftError):
                self.drop(self._coordinator.node_id)
                await asyncio.sleep(PAUSE_AFTER_ERROR_S)
            else:
                return

    async def _find(self) -> Connection:
        node_id, connection = await self.any_broker()
        epoch = self._known_epoch(node_id, self._log)
        request = FindCoordinatorRequest(key=self._group, key_type=0)
        try:
            answer = await connection.ask(ApiKey.FIND_COORDINATOR, 2, request, within_s=ASK_S)
        except LOST:
            self.drop(node_id)
            raise
        if answer.error_code:
            self.seen.note("find coordinator", answer.error_code)
            raise _LeftError
        self._coordinator = Leader(answer.node_id, epoch)
        return await self.broker(answer.node_id)

    async def _join(self, connection: Connection) -> list[Place]:
        protocol = JoinGroupRequest.JoinGroupRequestProtocol(name="range", metadata=b"")
        request = JoinGroupRequest(
            group_id=self._group,
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=REBALANCE_MS,
            member_id=self._member_id,
            protocol_type="consumer",
            protocols=[protocol],
        )
        joined = await connection.ask(ApiKey.JOIN_GROUP, 3, request, within_s=JOIN_S)
        if joined.error_code == ErrorCode.UNKNOWN_MEMBER_ID:
            self._member_id = ""
        self._require("join", joined.error_code)
        self._member_id, self._generation = joined.member_id, joined.generation_id
        shares = {}
        if joined.leader == joined.member_id:
            members = sorted(it.member_id for it in joined.members)
            shares = {it: self._places[number :: len(members)] for number, it in enumerate(members)}
        assignment = SyncGroupRequest.SyncGroupRequestAssignment
        sync = SyncGroupRequest(
            group_id=self._group,
            generation_id=self._generation,
            member_id=self._member_id,
            assignments=[
                assignment(member_id=it, assignment=json.dumps(share).encode())
                for it, share in shares.items()
            ],
        )
        synced = await connection.ask(ApiKey.SYNC_GROUP, 2, sync, within_s=JOIN_S)
        self._require("sync", synced.error_code)
        return [(topic, partition) for topic, partition in json.loads(synced.assignment or b"[]")]

    async def _fetch_offsets(self, connection: Connection, places: list[Place]) -> dict[Place, int]:
        at_least = {it: self._offsets.acknowledged((self._group, *it)) for it in places}
        topics = [_ASKED(name=topic, partition_indexes=[it]) for topic, it in places]
        request = OffsetFetchRequest(group_id=self._group, topics=topics)
        answer = await connection.ask(ApiKey.OFFSET_FETCH, 4, request, within_s=ASK_S)
        self._require("offset fetch", answer.error_code)
        positions = {}
        for topic in answer.topics:
            for found in topic.partitions:
                place = (topic.name, found.partition_index)
                self._require("offset fetch", found.error_code)
                known = (self._group, *place)
                self._offsets.find(known, found.committed_offset, at_least[place])
                positions[place] = max(0, found.committed_offset)
        return positions

    async def _poll(self, connection: Connection, positions: dict[Place, int]) -> None:
        request = HeartbeatRequest(
            group_id=self._group, generation_id=self._generation, member_id=self._member_id
        )
        answer = await connection.ask(ApiKey.HEARTBEAT, 2, request, within_s=ASK_S)
        self._require("heartbeat", answer.error_code)
        if not positions:
            return
        place = self.rng.choice(sorted(positions))
        if await self._read(place, positions):
            await self._commit(connection, place, positions[place])

    async def _read(self, place: Place, positions: dict[Place, int]) -> bool:
        node_id = -1
        try:
            node_id, leader = await self.leader(place)
            found = await wire.fetch(leader, *place, positions[place], within_s=ASK_S)
        except LOST:
            self.drop(node_id)
            self.forget(place)
            return False
        if found.code == ErrorCode.OFFSET_OUT_OF_RANGE and self._offsets.may_misplace(place):
            positions[place] = (await wire.earliest(leader, *place))[1]
            return False
        if found.code:
            self.refused("fetch", found.code, place)
            return False
        for offset, value in found.records:
            now_s = asyncio.get_running_loop().time()
            self._history.see(place, offset, Seen(record_of(value), node_id, now_s))
            positions[place] = offset + 1
        return bool(found.records)

    async def _commit(self, connection: Connection, place: Place, offset: int) -> None:
        key = (self._group, *place)
        partition = _COMMITTED.OffsetCommitRequestPartition(
            partition_index=place[1],
            committed_offset=offset,
            committed_leader_epoch=-1,
            committed_metadata="",
        )
        request = OffsetCommitRequest(
            group_id=self._group,
            generation_id_or_member_epoch=self._generation,
            member_id=self._member_id,
            topics=[_COMMITTED(name=place[0], partitions=[partition])],
        )
        self._offsets.attempt(key, offset)
        answer = await connection.ask(ApiKey.OFFSET_COMMIT, 6, request, within_s=ASK_S)
        code = answer.topics[0].partitions[0].error_code
        if code == 0:
            self._offsets.acknowledge(key, offset)
        elif code in _REJOIN or code == ErrorCode.NOT_COORDINATOR:
            self._offsets.refused(key, offset)
        self._require("commit", code)

    def _require(self, what: str, code: int) -> None:
        if code:
            if ErrorCode(code).is_retriable:
                self.refused_by(what, code, self._log, self._coordinator)
            else:
                self.seen.note(what, code, _REJOIN)
            raise _LeftError
