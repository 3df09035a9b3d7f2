"""One broker's environment in memory: metadata replayed from records, partitions over fake streams, a client."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any, TypeVar
from uuid import UUID

from headrace.broker.network.client import Client
from headrace.broker.network.request_context import Handler, RequestContext
from headrace.broker.partition.append_rules import AppendOrigin
from headrace.broker.partition.arrivals import Arrivals
from headrace.broker.partition.opening_queue import PartitionKey
from headrace.broker.partition.partition import Partition
from headrace.broker.partition.state import PartitionState
from headrace.broker.partition.transit import PartitionsInTransit
from headrace.broker.partition.wakeups import Reader, Wakeups
from headrace.config.topic import EffectiveTopicConfig
from headrace.metadata.follower.client import ConfigOperation, DeletionResult, NewTopic, TopicResult
from headrace.metadata.follower.follower import Preparation
from headrace.metadata.image import MetadataImage
from headrace.metadata.records.brokers import (
    BrokerEndpoint,
    FenceBrokerRecord,
    FenceReason,
    RegisterBrokerRecord,
    UnfenceBrokerRecord,
)
from headrace.metadata.records.record import MetadataRecord
from headrace.metadata.records.topics import PartitionRecord, TopicRecord
from headrace.metadata.replay import replay
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.headers import RequestHeader, parse_request_header
from headrace.protocol.messages import (
    decode_request,
    decode_response,
    encode_request,
    encode_response,
)
from headrace.protocol.records.compression import Compression
from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from headrace.storage.record_batch import StreamRecordBatch
from headrace.turns import Turns
from tests.unit.broker.handler_calls import response_of
from tests.unit.broker.partition.fakes import FakeEngine, FakeStream, call_at_once

NOW_MS = 1_700_000_000_000
NODE_ID = 1
CLUSTER_ID = "cluster"
NO_ID = UUID(int=0)

T = TypeVar("T")
Listener = Callable[[MetadataImage, MetadataImage], None]


def topic_id(number: int) -> UUID:
    """The id that tests give to their topic of this number."""
    return UUID(int=(number << 64) + 1)


def applied(image: MetadataImage, *records: MetadataRecord) -> MetadataImage:
    """The image after one more batch of records."""
    return replay(image, records, index=image.index + 1, term=1)


def broker_records(
    node_id: int = NODE_ID,
    *endpoints: tuple[str, str, int],
    rack: str = "",
    active: bool = True,
) -> list[MetadataRecord]:
    """A broker at epoch `node_id`; active, or expired."""
    told = tuple(BrokerEndpoint(*endpoint) for endpoint in endpoints)
    records: list[MetadataRecord] = [
        RegisterBrokerRecord(node_id, node_id, UUID(int=node_id), told, rack, 0, None)
    ]
    if active:
        records.append(UnfenceBrokerRecord(node_id, node_id))
    else:
        records.append(FenceBrokerRecord(node_id, node_id, FenceReason.SESSION_EXPIRED))
    return records


def topic_records(
    name: str, number: int, partitions: int = 1, *, leader: int = NODE_ID, leader_epoch: int = 0
) -> list[MetadataRecord]:
    """A topic whose streams are numbered from 1000 times `number` on."""
    return [
        TopicRecord(topic_id(number), name),
        *(
            PartitionRecord(
                topic_id(number),
                index,
                leader,
                leader_epoch,
                1_000 * number + 2 * index,
                1_000 * number + 2 * index + 1,
            )
            for index in range(partitions)
        ),
    ]


class FakeClient:
    """The metadata client: its image is what the test applies, and its answers what the test says."""

    def __init__(self, *records: MetadataRecord) -> None:
        self.node_id = NODE_ID
        self.image = MetadataImage(cluster_id=CLUSTER_ID)
        self.listeners: list[Listener] = []
        self.preparing: list[Preparation] = []
        self.calls: list[tuple[Any, ...]] = []
        self.answers: dict[str, tuple[ErrorCode, str | None]] = {}  # by topic
        self.producer_id_blocks: list[range | Exception] = []
        self.has_lease = True
        if records:
            self.apply(*records)

    def is_lease_valid(self) -> bool:
        return self.has_lease

    def subscribe(self, listener: Listener, prepare: Preparation | None = None) -> None:
        self.listeners.append(listener)
        if prepare is not None:
            self.preparing.append(prepare)

    def prepare(self, *records: MetadataRecord) -> Iterator[None]:
        """Prepare for the change that `apply` makes, step by step."""
        new = applied(self.image, *records)
        for prepare in self.preparing:
            yield from prepare(self.image, new)

    def apply(self, *records: MetadataRecord) -> None:
        old, self.image = self.image, applied(self.image, *records)
        for listener in self.listeners:
            listener(old, self.image)

    async def create_topics(
        self, topics: Sequence[NewTopic], *, validate_only: bool = False
    ) -> list[TopicResult]:
        self.calls.append(("create_topics", list(topics), validate_only))
        await asyncio.sleep(0)  # others go on meanwhile
        results = []
        for topic in topics:
            code, message = self.answers.get(topic.name, (ErrorCode.NONE, None))
            if code == ErrorCode.NONE and not validate_only:
                number = 100 + len(self.image.topics)
                self.apply(*topic_records(topic.name, number, max(topic.partitions, 1)))
            results.append(TopicResult(topic.name, code, message, self.image.topic(topic.name)))
        return results

    async def delete_topics(self, topics: Sequence[str | UUID]) -> list[DeletionResult]:
        self.calls.append(("delete_topics", list(topics)))
        results = []
        for asked in topics:
            by_name = isinstance(asked, str)
            topic = self.image.topic(asked) if by_name else self.image.topic_by_id(asked)
            if topic is not None:
                answer = self.answers.get(topic.name, (ErrorCode.NONE, None))
                results.append(DeletionResult(topic.name, topic.topic_id, *answer))
            elif by_name:
                code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                results.append(DeletionResult(asked, None, code, None))
            else:
                results.append(DeletionResult(None, asked, ErrorCode.UNKNOWN_TOPIC_ID, None))
        return results

    async def create_partitions(
        self,
        name: str,
        count: int,
        *,
        assignments: Sequence[Sequence[int]] | None = None,
        validate_only: bool = False,
    ) -> tuple[ErrorCode, str | None]:
        self.calls.append(("create_partitions", name, count, assignments, validate_only))
        return self.answers.get(name, (ErrorCode.NONE, None))

    async def alter_configs(
        self,
        resource_type: int,
        name: str,
        operations: Sequence[ConfigOperation],
        *,
        validate_only: bool = False,
    ) -> tuple[ErrorCode, str | None]:
        self.calls.append(("alter_configs", resource_type, name, list(operations), validate_only))
        return self.answers.get(name, (ErrorCode.NONE, None))

    async def allocate_producer_ids(self) -> range:
        block = self.producer_id_blocks.pop(0)
        if isinstance(block, Exception):
            raise block
        return block


class BoundedStream(FakeStream):
    """Reads with LogCache's limits; cold offsets come from the bucket, which the test holds back."""

    def __init__(self, stream_id: int = 1, epoch: int = 0) -> None:
        super().__init__(stream_id, epoch)
        self.cold_below = 0
        self.bucket: asyncio.Event | None = None  # a read from it waits for this
        self.bucket_error: Exception | None = None
        self.bucket_reads = 0

    def fetch_cached(self, start: int, max_bytes: int) -> list[StreamRecordBatch] | None:
        if start < max(self.cold_below, self.start_offset):
            return None
        return self._bounded(start, max_bytes)

    async def fetch(self, start: int, max_bytes: int) -> list[StreamRecordBatch]:
        self.bucket_reads += 1
        if self.bucket is not None:
            await self.bucket.wait()
        if self.bucket_error is not None:
            raise self.bucket_error
        return self._bounded(start, max_bytes)

    def _bounded(self, start: int, max_bytes: int) -> list[StreamRecordBatch]:
        found: list[StreamRecordBatch] = []
        size = 0
        for batch in self.batches:
            if batch.end_offset <= start or batch.base_offset >= self.confirm_offset:
                continue
            size += len(batch.payload)
            if found and size > max_bytes:
                break
            found.append(batch)
        return found


class ServedPartition:
    """A partition of a registry, with the streams that are under it."""

    def __init__(
        self,
        topic: str,
        number: int,
        index: int,
        *,
        leader_epoch: int = 0,
        overrides: dict[str, str] | None = None,
        wake: Callable[[set[Reader]], None] = call_at_once,
    ) -> None:
        self.data = BoundedStream(1, leader_epoch)
        self.meta = FakeStream(2, leader_epoch)
        self.partition = Partition(
            topic=topic,
            topic_id=topic_id(number),
            index=index,
            leader_epoch=leader_epoch,
            engine=FakeEngine(),  # type: ignore[arg-type]
            data=self.data,  # type: ignore[arg-type]
            meta=self.meta,  # type: ignore[arg-type]
            state=PartitionState(producer_id_expiration_ms=86_400_000),
            config=EffectiveTopicConfig.resolve(overrides or {}),
            checkpoint_interval_bytes=1 << 30,
            wake=wake,
        )

    def append(self, *records: Record, compression: Compression = Compression.NONE) -> int:
        """Append one batch, not confirmed; its size."""
        options = BatchOptions(compression=compression)
        numbered = [record._replace(offset=number) for number, record in enumerate(records)]
        batch = encode_batch(numbered, options)
        result = self.partition.writes.append(
            memoryview(batch),
            origin=AppendOrigin.CLIENT,
            now_ms=NOW_MS,
            on_done=lambda _error: None,
        )
        assert not hasattr(result, "code"), result
        return len(batch)

    def fill(self, batches: int, value_bytes: int = 100) -> int:
        """Append and confirm batches of one record each; the size of one."""
        size = 0
        for _ in range(batches):
            size = self.append(Record(0, NOW_MS, None, bytes(value_bytes)))
        self.data.confirm()
        return size


class FakeRegistry:
    """Finds the partitions that the test has put there; what it has not is led elsewhere, or unknown."""

    def __init__(self, client: FakeClient | None = None) -> None:
        self.client = client or FakeClient()
        self.is_lease_valid = self.client.is_lease_valid
        self.wakeups = Wakeups()
        self.transit = PartitionsInTransit()
        self.arrivals = Arrivals(self.client, NODE_ID, lambda key: self.get(key) is not None)  # type: ignore[arg-type]
        self.served: dict[tuple[str, int], ServedPartition] = {}
        self.waited_for: list[tuple[set[str], int]] = []

    def serve(self, topic: str, number: int = 1, index: int = 0, **options: Any) -> ServedPartition:
        partition = ServedPartition(topic, number, index, **options)
        self.served[topic, index] = partition
        return partition

    def all(self) -> list[Partition]:
        return [served.partition for served in self.served.values()]

    def __len__(self) -> int:
        return len(self.served)

    def get(self, key: PartitionKey) -> Partition | None:
        found = self.find_by_id(*key)
        return found if isinstance(found, Partition) else None

    def find(self, topic: str, index: int) -> Partition | ErrorCode:
        found = self.served.get((topic, index))
        if found is not None:
            return found.partition
        if self.client.image.topic(topic) is None:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return ErrorCode.NOT_LEADER_OR_FOLLOWER

    def find_by_id(self, wanted: UUID | None, index: int) -> Partition | ErrorCode:
        for served in self.served.values():
            if (served.partition.topic_id, served.partition.index) == (wanted, index):
                return served.partition
        if wanted is None or self.client.image.topic_by_id(wanted) is None:
            return ErrorCode.UNKNOWN_TOPIC_ID
        return ErrorCode.NOT_LEADER_OR_FOLLOWER

    def known(self, topic: str, wanted: UUID | None, index: int) -> PartitionKey | None:
        found = self.find(topic, index) if wanted is None else self.find_by_id(wanted, index)
        if isinstance(found, Partition):
            return found.topic_id, index
        images = self.client.image
        image = images.topic(topic) if wanted is None else images.topic_by_id(wanted)
        return None if image is None else (image.topic_id, index)

    async def wait_open(self, names: Sequence[str], timeout_ms: int) -> bool:
        self.waited_for.append((set(names), timeout_ms))
        return True


def client_of(listener: str = "PLAINTEXT") -> Client:
    """One that is connected to 10.0.0.1:9092."""
    return Client(listener, client_host="10.0.0.9", local_host="10.0.0.1", local_port=9092)


def context_of(
    api_key: ApiKey, version: int, *, listener: str = "PLAINTEXT", client_id: str = "test"
) -> RequestContext:
    """A request that came in at 10.0.0.1:9092."""
    header = RequestHeader(int(api_key), version, 7, client_id)
    return RequestContext(header, client_of(listener), Turns(lambda: 0.0, 1.0))


async def ask_async(
    handler: Handler, version: int, request: Any, *, listener: str = "PLAINTEXT"
) -> Any:
    """What a client of this version gets, through its bytes both ways."""
    context = context_of(handler.api_key, version, listener=listener)
    frame = memoryview(encode_request(request, context.header))
    _, body_offset = parse_request_header(frame)
    decoded = decode_request(handler.api_key, version, frame[body_offset:])
    response = await response_of(handler, context, decoded)
    answer = memoryview(encode_response(response, version, context.header.correlation_id))
    correlation_id, told = decode_response(handler.api_key, version, answer)
    assert correlation_id == context.header.correlation_id
    return told


def ask(handler: Handler, version: int, request: Any, *, listener: str = "PLAINTEXT") -> Any:
    """`ask_async`, in a loop of its own."""
    return asyncio.run(ask_async(handler, version, request, listener=listener))


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run one test's coroutine."""
    return asyncio.run(main)
