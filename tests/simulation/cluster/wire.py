"""One client's connections to the simulated brokers: Kafka's protocol by the project's own package."""

import asyncio
import struct
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from headrace.protocol import messages
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.headers import RequestHeader
from headrace.protocol.messages import (
    CreateTopicsRequest,
    FetchRequest,
    ListOffsetsRequest,
    MetadataRequest,
    ProduceRequest,
)
from headrace.protocol.records.batch import split_batches
from headrace.protocol.records.record import BatchOptions, Record, decode_records, encode_batch
from tests.simulation.cluster.leaseless import LeaselessAnswers
from tests.simulation.cluster.loop import ClusterLoop
from tests.simulation.cluster.settings import KAFKA_PORT, host_of

CONNECT_S = 2.0
MAX_FETCH_BYTES = 1 << 20
FETCH_WAIT_MS = 300
MAX_BATCH_BYTES = 1 << 24
# What a client takes for "never answered".
LOST = (OSError, TimeoutError, asyncio.IncompleteReadError)

_PRODUCED = ProduceRequest.TopicProduceData
_FETCHED = FetchRequest.FetchTopic
_LISTED = ListOffsetsRequest.ListOffsetsTopic
_EARLIEST = -2
_CREATED = CreateTopicsRequest.CreatableTopic


class Fetched(NamedTuple):
    """The answer to a fetch of one partition."""

    code: int
    high_watermark: int
    records: list[tuple[int, bytes]]  # with their offsets


class FetchedBatches(NamedTuple):
    """The answer to a fetch of one partition, of which batches may have lost their records."""

    code: int
    high_watermark: int
    records: list[Record]
    end_offset: int  # behind the last batch; -1 without one


class Connection:
    """To one broker; one request at a time."""

    def __init__(
        self,
        node_id: int,
        judge: LeaselessAnswers,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._node_id = node_id
        self._judge = judge
        self._reader = reader
        self._writer = writer
        self._correlation_id = 0
        self.took_s = 0.0  # from the last request to its answer

    @classmethod
    async def open(cls, node_id: int) -> "Connection":
        """Connect to a broker.

        Raises:
            OSError, TimeoutError: it does not answer.
        """
        loop = asyncio.get_running_loop()
        assert isinstance(loop, ClusterLoop)
        async with asyncio.timeout(CONNECT_S):
            streams = await asyncio.open_connection(host_of(node_id), KAFKA_PORT)
        return cls(node_id, loop.leaseless, *streams)

    async def ask(self, key: ApiKey, version: int, request: object, *, within_s: float) -> Any:
        """Send a request and return its answer.

        Raises:
            OSError, TimeoutError, IncompleteReadError: there was none; what was asked may be in effect.
        """
        return (await self.ask_all(key, version, [request], within_s=within_s))[0]

    async def ask_all(
        self,
        key: ApiKey,
        version: int,
        requests: Sequence[object],
        *,
        within_s: float,
        pause_s: float = 0.0,
    ) -> list[Any]:
        """Send requests one behind the other, with pauses between them, and return their answers.

        Raises:
            OSError, TimeoutError, IncompleteReadError: some have none.
        """
        loop = asyncio.get_running_loop()
        first, begun_s = self._correlation_id + 1, loop.time()
        seen = self._judge.before(self._node_id)
        for number, request in enumerate(requests):
            if number and pause_s:
                await asyncio.sleep(pause_s)
            self._correlation_id += 1
            header = RequestHeader(int(key), version, self._correlation_id, "simulated")
            frame = messages.encode_request(request, header)
            self._writer.write(struct.pack(">i", len(frame)) + frame)
        answers = []
        async with asyncio.timeout(within_s):
            for expected in range(first, first + len(requests)):
                size = struct.unpack(">i", await self._reader.readexactly(4))[0]
                answer = memoryview(await self._reader.readexactly(size))
                correlation_id, response = messages.decode_response(key, version, answer)
                assert correlation_id == expected, "an answer to another request"
                answers.append(response)
        self.took_s = loop.time() - begun_s
        self._judge.answered(self._node_id, key, answers, seen)
        return answers

    def close(self) -> None:
        self._writer.close()


async def produce(
    connection: Connection, topic: str, partition: int, batch: bytes, *, within_s: float
) -> tuple[int, int]:
    """Produce one batch and return (error, base offset)."""
    return (await produce_all(connection, topic, partition, [batch], within_s=within_s))[0]


async def produce_all(
    connection: Connection,
    topic: str,
    partition: int,
    batches: list[bytes],
    *,
    within_s: float,
    pause_s: float = 0.0,
) -> list[tuple[int, int]]:
    """Produce batches one behind the other, without waiting for answers, and return (error, base offset) of each."""
    requests = []
    for batch in batches:
        data = _PRODUCED.PartitionProduceData(index=partition, records=batch)
        request = ProduceRequest(
            transactional_id=None,
            acks=-1,
            timeout_ms=1_000,
            topic_data=[_PRODUCED(name=topic, partition_data=[data])],
        )
        requests.append(request)
    answers = await connection.ask_all(
        ApiKey.PRODUCE, 7, requests, within_s=within_s, pause_s=pause_s
    )
    found = [it.responses[0].partition_responses[0] for it in answers]
    return [(it.error_code, it.base_offset) for it in found]


async def fetch(
    connection: Connection, topic: str, partition: int, offset: int, *, within_s: float
) -> Fetched:
    """Fetch once, from an offset on."""
    found = await _fetch(connection, topic, partition, offset, within_s)
    records = list(_records(memoryview(bytes(found.records or b""))))
    kept = [it for it in records if it[0] >= offset]
    return Fetched(found.error_code, found.high_watermark, kept)


async def fetch_batches(
    connection: Connection, topic: str, partition: int, offset: int, *, within_s: float
) -> FetchedBatches:
    """Fetch once, from an offset on."""
    found = await _fetch(connection, topic, partition, offset, within_s)
    data = memoryview(bytes(found.records or b""))
    records: list[Record] = []
    end_offset = -1
    for header, batch in split_batches(data):
        records += decode_records(batch, MAX_BATCH_BYTES)
        end_offset = header.next_offset
    return FetchedBatches(found.error_code, found.high_watermark, records, end_offset)


async def _fetch(
    connection: Connection, topic: str, partition: int, offset: int, within_s: float
) -> Any:
    wanted = _FETCHED.FetchPartition(
        partition=partition, fetch_offset=offset, partition_max_bytes=MAX_FETCH_BYTES
    )
    request = FetchRequest(
        max_wait_ms=FETCH_WAIT_MS,
        min_bytes=1,
        topics=[_FETCHED(topic=topic, partitions=[wanted])],
        forgotten_topics_data=[],
    )
    answer = await connection.ask(ApiKey.FETCH, 11, request, within_s=within_s)
    return answer.responses[0].partitions[0]


class Wanted(NamedTuple):
    """What a fetch waits for, and its limits."""

    max_bytes: int
    partition_bytes: int
    wait_ms: int = 0
    min_bytes: int = 1


class ToldPartition(NamedTuple):
    """One partition of the answer to a fetch in a session."""

    code: int
    start: int  # of the log
    high_watermark: int
    size_bytes: int
    end: int  # behind the last record; without one, the high watermark
    records: list[tuple[int, bytes]]


class SessionAnswer(NamedTuple):
    """The answer to a fetch in a session: only partitions with news."""

    code: int
    session_id: int
    told: dict[tuple[str, int], ToldPartition]


async def fetch_session(
    connection: Connection,
    session: tuple[int, int],
    named: dict[tuple[str, int], int],
    forgotten: list[tuple[str, int]],
    wanted: Wanted,
    *,
    within_s: float,
) -> SessionAnswer:
    """Fetch in a session (id, epoch), of which partitions are named from an offset on, and some forgotten."""
    topics = [
        _FETCHED(
            topic=topic,
            partitions=[
                _FETCHED.FetchPartition(
                    partition=index, fetch_offset=at, partition_max_bytes=wanted.partition_bytes
                )
            ],
        )
        for (topic, index), at in named.items()
    ]
    request = FetchRequest(
        max_wait_ms=wanted.wait_ms,
        min_bytes=wanted.min_bytes,
        max_bytes=wanted.max_bytes,
        session_id=session[0],
        session_epoch=session[1],
        topics=topics,
        forgotten_topics_data=[
            FetchRequest.ForgottenTopic(topic=topic, partitions=[it]) for topic, it in forgotten
        ],
    )
    answer = await connection.ask(ApiKey.FETCH, 11, request, within_s=within_s)
    told = {}
    for topic in answer.responses:
        for it in topic.partitions:
            place = (topic.topic, it.partition_index)
            data = memoryview(bytes(it.records or b""))
            records = list(_records(data))
            end = records[-1][0] + 1 if records else it.high_watermark
            told[place] = ToldPartition(
                it.error_code, it.log_start_offset, it.high_watermark, len(data), end, records
            )
    return SessionAnswer(answer.error_code, answer.session_id, told)


async def earliest(connection: Connection, topic: str, partition: int) -> tuple[int, int]:
    """Return (error, offset) of where a partition starts."""
    wanted = _LISTED.ListOffsetsPartition(partition_index=partition, timestamp=_EARLIEST)
    request = ListOffsetsRequest(replica_id=-1, topics=[_LISTED(name=topic, partitions=[wanted])])
    answer = await connection.ask(ApiKey.LIST_OFFSETS, 1, request, within_s=5)
    found = answer.topics[0].partitions[0]
    return found.error_code, found.offset


def batch_of(values: list[bytes], timestamp_ms: int, options: BatchOptions | None = None) -> bytes:
    """Return one batch."""
    records = [Record(number, timestamp_ms, None, value) for number, value in enumerate(values)]
    return bytes(encode_batch(records, options or BatchOptions()))


async def leaders(connection: Connection, topic: str) -> dict[int, tuple[int, int]]:
    """Return who leads which partition of a topic, in which leader epoch, as one broker knows it."""
    request = MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name=topic)])
    answer = await connection.ask(ApiKey.METADATA, 9, request, within_s=5)
    return {
        it.partition_index: (it.leader_id, it.leader_epoch) for it in answer.topics[0].partitions
    }


async def create_topic(
    connection: Connection, name: str, partitions: int, configs: dict[str, str] | None = None
) -> int:
    """Create a topic and return the error."""
    settings = [
        _CREATED.CreatableTopicConfig(name=key, value=value)
        for key, value in (configs or {}).items()
    ]
    topic = _CREATED(
        name=name,
        num_partitions=partitions,
        replication_factor=-1,
        assignments=[],
        configs=settings,
    )
    request = CreateTopicsRequest(topics=[topic], timeout_ms=5_000)
    answer = await connection.ask(ApiKey.CREATE_TOPICS, 5, request, within_s=10)
    return int(answer.topics[0].error_code)


def _records(data: memoryview) -> Iterator[tuple[int, bytes]]:
    while data:
        size = struct.unpack_from(">i", data, 8)[0] + 12
        for record in decode_records(data[:size], MAX_BATCH_BYTES):
            yield record.offset, bytes(record.value or b"")
        data = data[size:]
