"""Clients that change metadata, each at a broker of its own, and what they were answered: to be linearizable."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import RETRIABLE, ErrorCode
from headrace.protocol.messages import (
    CreateTopicsRequest,
    DeleteRecordsRequest,
    DeleteTopicsRequest,
    DescribeConfigsRequest,
    IncrementalAlterConfigsRequest,
    MetadataRequest,
)
from tests.cluster.history import History
from tests.cluster.linearizability import TOPIC, VALUE, Operation
from tests.simulation.cluster.clients import PAUSE_AFTER_ERROR_S, Client
from tests.simulation.cluster.records import Place
from tests.simulation.cluster.wire import LOST, Connection

ASK_S = 5.0
_NAMES_AT_ONCE = 2
_CALLS_PER_NAME = 100
_SETTING = "retention.bytes"
_FIRST_VALUE = 700_000_000  # larger than any default, and every value is written once
_TOPIC_RESOURCE = 2
_SET = 0


class AdminHistory:
    """What all admin clients did."""

    def __init__(self, settings_topic: str) -> None:
        self.topics = History(TOPIC)
        self.settings = History(VALUE)
        self.settings_topic = settings_topic
        self.calls = 0
        self.wrong: list[str] = []
        self._value = _FIRST_VALUE
        self._ids: dict[UUID, str] = {}

    def topic_name(self, rng: random.Random) -> str:
        """Return one of the names in use now: they are left after a while, so that histories stay short."""
        self.calls += 1
        return f"topic-{self.calls // _CALLS_PER_NAME}-{rng.randrange(_NAMES_AT_ONCE)}"

    def next_value(self) -> str:
        self._value += 1
        return str(self._value)

    def created(self, name: str, topic_id: UUID) -> None:
        """Note a topic's id: no two have the same."""
        if topic_id in self._ids:
            self.wrong.append(f"{name} has the id {topic_id} of {self._ids[topic_id]}")
        self._ids[topic_id] = name

    def judge(self) -> list[str]:
        """Return what has no explanation."""
        wrong = list(self.wrong)
        for history in (self.topics, self.settings):
            try:
                history.check()
            except AssertionError as refusal:
                wrong.append(f"not linearizable: {refusal}")
        return wrong


class Admin(Client):
    """Asks one broker, one thing at a time."""

    def __init__(self, *arguments: Any, node_id: int, history: AdminHistory) -> None:
        super().__init__(*arguments)
        self._node_id = node_id
        self._history = history

    async def run(self, until_s: float, pause_s: float) -> None:
        """Ask until a moment."""
        loop = asyncio.get_running_loop()
        calls = (
            self._create,
            self._delete,
            self._describe,
            self._describe,
            self._write,
            self._read,
        )
        while loop.time() < until_s:
            try:
                await self.rng.choice(calls)(await self.broker(self._node_id))
            except LOST:
                self.drop(self._node_id)
                await asyncio.sleep(PAUSE_AFTER_ERROR_S)
            await asyncio.sleep(pause_s * self.rng.random())

    async def _create(self, connection: Connection) -> None:
        name = self._history.topic_name(self.rng)
        topic = CreateTopicsRequest.CreatableTopic(
            name=name, num_partitions=2, replication_factor=-1, assignments=[], configs=[]
        )
        request = CreateTopicsRequest(topics=[topic], timeout_ms=5_000)

        async def ask() -> tuple[int, str | None]:
            answer = await connection.ask(ApiKey.CREATE_TOPICS, 7, request, within_s=ASK_S)
            code, topic_id = answer.topics[0].error_code, answer.topics[0].topic_id
            if code == ErrorCode.TOPIC_ALREADY_EXISTS:
                return 0, "exists"
            if code == 0:
                self._history.created(name, topic_id)
            return code, str(topic_id)

        await self._change(self._history.topics, name, "create", ask)

    async def _delete(self, connection: Connection) -> None:
        name = self._history.topic_name(self.rng)
        request = DeleteTopicsRequest(topic_names=[name], timeout_ms=5_000)

        async def ask() -> tuple[int, str | None]:
            answer = await connection.ask(ApiKey.DELETE_TOPICS, 5, request, within_s=ASK_S)
            code = answer.responses[0].error_code
            if code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                return 0, "absent"
            return code, "deleted"

        await self._change(self._history.topics, name, "delete", ask)

    async def _write(self, connection: Connection) -> None:
        value, topic = self._history.next_value(), self._history.settings_topic
        resource = IncrementalAlterConfigsRequest.AlterConfigsResource
        config = resource.AlterableConfig(name=_SETTING, config_operation=_SET, value=value)
        changed = resource(resource_type=_TOPIC_RESOURCE, resource_name=topic, configs=[config])
        request = IncrementalAlterConfigsRequest(resources=[changed], validate_only=False)

        async def ask() -> tuple[int, str | None]:
            key = ApiKey.INCREMENTAL_ALTER_CONFIGS
            answer = await connection.ask(key, 1, request, within_s=ASK_S)
            return answer.responses[0].error_code, None

        await self._change(self._history.settings, topic, "write", ask, value)

    async def _describe(self, connection: Connection) -> None:
        name = self._history.topic_name(self.rng)
        wanted = MetadataRequest.MetadataRequestTopic(topic_id=None, name=name)
        request = MetadataRequest(topics=[wanted], allow_auto_topic_creation=False)

        async def ask() -> tuple[int, str | None]:
            answer = await connection.ask(ApiKey.METADATA, 12, request, within_s=ASK_S)
            code, topic_id = answer.topics[0].error_code, answer.topics[0].topic_id
            if code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                return 0, None
            return 0 if topic_id and topic_id.int else code, str(topic_id)

        await self._look(self._history.topics, name, "describe", ask)

    async def _read(self, connection: Connection) -> None:
        topic = self._history.settings_topic
        resource = DescribeConfigsRequest.DescribeConfigsResource(
            resource_type=_TOPIC_RESOURCE, resource_name=topic, configuration_keys=[_SETTING]
        )
        request = DescribeConfigsRequest(resources=[resource])

        async def ask() -> tuple[int, str | None]:
            answer = await connection.ask(ApiKey.DESCRIBE_CONFIGS, 4, request, within_s=ASK_S)
            found = answer.results[0]
            value = found.configs[0].value if found.configs else None
            is_ours = value is not None and value.isdigit() and int(value) > _FIRST_VALUE
            return found.error_code, value if is_ours else None

        await self._look(self._history.settings, topic, "read", ask)

    async def _change(
        self,
        history: History,
        register: str,
        call: str,
        ask: Callable[[], Awaitable[tuple[int, str | None]]],
        argument: str | None = None,
    ) -> None:
        begun_ns, name = _now_ns(), f"broker {self._node_id}"
        try:
            code, answer = await ask()
        except LOST:
            history.add(register, Operation(begun_ns, None, call, argument, None, name))
            raise
        if code == 0:
            history.add(register, Operation(begun_ns, _now_ns(), call, argument, answer, name))
            return
        self.seen.note(call, code)
        # NOT_CONTROLLER says that nothing was changed: it must hold to that.
        if code != ErrorCode.NOT_CONTROLLER and ErrorCode(code).is_retriable:
            history.add(register, Operation(begun_ns, None, call, argument, None, name))

    async def _look(
        self,
        history: History,
        register: str,
        call: str,
        ask: Callable[[], Awaitable[tuple[int, str | None]]],
    ) -> None:
        """Ask the broker's own copy, which may lag, but never goes back."""
        begun_ns, name = _now_ns(), f"broker {self._node_id}"
        code, answer = await ask()
        if code:
            self.seen.note(call, code)
        else:
            looked = Operation(begun_ns, _now_ns(), call, None, answer, name, lags=True)
            history.add(register, looked)


class Deleter(Client):
    """Deletes records of a topic from the start of its partitions, up to what was acknowledged."""

    def __init__(
        self, *arguments: Any, ends: Callable[[Place], int], has_lost: Callable[[Place], bool]
    ) -> None:
        super().__init__(*arguments)
        self._ends = ends
        self._has_lost = has_lost
        self.attempted: dict[Place, int] = {}
        self.acknowledged: dict[Place, int] = {}

    async def run(self, places: list[Place], until_s: float) -> None:
        """Delete until a moment."""
        loop = asyncio.get_running_loop()
        while loop.time() < until_s:
            await asyncio.sleep(self.rng.uniform(0.2, 2.0))
            place = self.rng.choice(places)
            end = self._ends(place)
            if end > 0:
                try:
                    await self._delete(place, self.rng.randint(end // 2, end))
                except LOST:
                    self.forget(place)

    async def _delete(self, place: Place, offset: int) -> None:
        topic_class = DeleteRecordsRequest.DeleteRecordsTopic
        partition = topic_class.DeleteRecordsPartition(partition_index=place[1], offset=offset)
        topic = topic_class(name=place[0], partitions=[partition])
        request = DeleteRecordsRequest(topics=[topic], timeout_ms=3_000)
        node_id, connection = await self.leader(place)
        self.attempted[place] = max(offset, self.attempted.get(place, 0))
        try:
            answer = await connection.ask(ApiKey.DELETE_RECORDS, 1, request, within_s=ASK_S)
        except LOST:
            self.drop(node_id)
            raise
        code = answer.topics[0].partitions[0].error_code
        if code == 0:
            self.acknowledged[place] = max(offset, self.acknowledged.get(place, 0))
        else:
            lost = {ErrorCode.OFFSET_OUT_OF_RANGE} if self._has_lost(place) else set()
            # It does not wait for a partition that moves, nor does the move wait for it.
            self.seen.note("delete records", code, RETRIABLE | lost)
            self.forget(place)


def _now_ns() -> int:
    return round(asyncio.get_running_loop().time() * 1e9)
