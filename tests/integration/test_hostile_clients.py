"""Clients that break every rule, against a whole node: it goes on serving, its memory is bounded, nothing is lost."""

import asyncio
import itertools
import random
import resource
import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headrace.broker.node.environment import NodeEnvironment
from headrace.broker.node.node import Node, NodeAddress
from headrace.config.node import MIB, NodeConfig
from headrace.protocol import messages
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.headers import RequestHeader
from headrace.protocol.messages import (
    ApiVersionsRequest,
    FetchRequest,
    MetadataRequest,
    ProduceRequest,
)
from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from tests.integration.test_node import TOPIC, Client, config

MAX_CONNECTIONS = 20
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Ledger = dict[bytes, int]  # values that were acknowledged, with their offsets


def frame(correlation_id: int, key: ApiKey, version: int, request: Any) -> bytes:
    header = RequestHeader(int(key), version, correlation_id, "hostile")
    payload = messages.encode_request(request, header)
    return struct.pack(">i", len(payload)) + payload


def api_versions(correlation_id: int) -> bytes:
    return frame(correlation_id, ApiKey.API_VERSIONS, 0, ApiVersionsRequest())


def metadata(correlation_id: int) -> bytes:
    return frame(correlation_id, ApiKey.METADATA, 9, MetadataRequest(topics=None))


def produce(correlation_id: int, value: bytes, *, acks: int = -1) -> bytes:
    topic = ProduceRequest.TopicProduceData
    records = bytes(encode_batch([Record(0, 1_000, None, value)], BatchOptions()))
    return frame(
        correlation_id,
        ApiKey.PRODUCE,
        7,
        ProduceRequest(
            transactional_id=None,
            acks=acks,
            timeout_ms=1_000,
            topic_data=[
                topic(
                    name=TOPIC,
                    partition_data=[topic.PartitionProduceData(index=0, records=records)],
                )
            ],
        ),
    )


def fetch(correlation_id: int, offset: int) -> bytes:
    topic = FetchRequest.FetchTopic
    return frame(
        correlation_id,
        ApiKey.FETCH,
        11,
        FetchRequest(
            max_wait_ms=0,
            min_bytes=1,
            topics=[
                topic(
                    topic=TOPIC,
                    partitions=[
                        topic.FetchPartition(
                            partition=0, fetch_offset=offset, partition_max_bytes=MIB
                        )
                    ],
                )
            ],
            forgotten_topics_data=[],
        ),
    )


class Victim:
    """A node that serves, and what an honest client expects of it."""

    def __init__(self, port: int, settings: NodeConfig) -> None:
        self.port = port
        self.settings = settings
        self.streams: list[Streams] = []
        self.acknowledged: Ledger = {}

    async def connect(self) -> Streams:
        streams = await asyncio.open_connection("127.0.0.1", self.port)
        self.streams.append(streams)
        return streams

    async def honest(self) -> Client:
        return Client(*await self.connect())

    async def serves(self) -> None:
        """An honest client can write and read all that was acknowledged."""
        async with asyncio.timeout(10):
            client = await self.honest()
            value = b"honest %d" % len(self.acknowledged)
            error, offset = await client.produce(value)
            assert error == 0
            self.acknowledged[value] = offset
            await self.lost_nothing(client)
        _, writer = self.streams.pop()
        writer.close()
        await writer.wait_closed()

    async def lost_nothing(self, client: Client) -> None:
        end = max(self.acknowledged.values()) + 1
        values: list[bytes | None] = []
        while len(values) < end:
            more = await client.values(len(values))
            assert more
            values += more
        for value, offset in self.acknowledged.items():
            assert values[offset] == value


@asynccontextmanager
async def victim(directory: Path, **network: Any) -> AsyncIterator[Victim]:
    """A node whose hostile clients are hung up on at the end; clean start and stop are part of the test."""
    settings = config(directory)
    settings = replace(
        settings,
        network=replace(settings.network, max_connections=MAX_CONNECTIONS, **network),
    )
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    address: asyncio.Future[NodeAddress] = loop.create_future()
    node = loop.create_task(Node(settings, NodeEnvironment()).run(address.set_result, stop))
    await asyncio.wait([node, address], return_when=asyncio.FIRST_COMPLETED)
    if node.done():
        node.result()
    found = Victim(address.result().broker.kafka_port, settings)
    try:
        await found.serves()
        yield found
        await found.serves()
        assert not node.done()
    finally:
        for _, writer in found.streams:
            writer.transport.abort()
        stop.set()
        async with asyncio.timeout(20):
            await node


async def everything(reader: asyncio.StreamReader) -> bytes:
    """What comes until the other side closes."""
    found = b""
    async with asyncio.timeout(10):
        try:
            while chunk := await reader.read(1 << 16):
                found += chunk
        except ConnectionError:
            return found
    return found


async def answers(reader: asyncio.StreamReader, count: int) -> list[bytes]:
    """Frames, without their sizes."""
    found = []
    async with asyncio.timeout(10):
        for _ in range(count):
            (size,) = struct.unpack(">i", await reader.readexactly(4))
            found.append(await reader.readexactly(size))
    return found


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


GARBAGE = [
    b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),  # TLS
    b"\xff" * 64,
    struct.pack(">i", -1),
    struct.pack(">i", 2**31 - 1),
    struct.pack(">i", 100 * MIB + 1),
    struct.pack(">i", 0),
    struct.pack(">i", 3) + b"abc",  # ends inside of the header
    struct.pack(">ihhih", 10, 18, 0, 1, 30_000),  # the client id leaves its frame
    struct.pack(">ihhih", 10, 999, 0, 1, -1),
    struct.pack(">ihhih", 10, 3, 99, 1, -1),
    struct.pack(">ihhih", 10, 0, 2, 1, -1),  # Produce 2 is advertised and not spoken
    struct.pack(">ihhihi", 14, 3, 1, 1, -1, 2**31 - 1),  # an array of 2^31 topics
    struct.pack(">ihhihhhii", 22, 0, 7, 1, -1, -1, -1, 1_000, 2**31 - 1),
    struct.pack(">ihhih", 10, 1, 11, 1, -1),  # a Fetch without a body
]


@pytest.mark.parametrize("uvloop", [False, True])
def test_garbage_costs_its_own_connection_and_gets_no_answer(tmp_path: Path, uvloop: bool) -> None:
    async def run() -> None:
        async with victim(tmp_path) as node:
            for garbage in GARBAGE:
                reader, writer = await node.connect()
                writer.write(garbage)
                assert await everything(reader) == b"", garbage
                writer.close()
            rng = random.Random(1)
            for _ in range(100):
                reader, writer = await node.connect()
                writer.write(rng.randbytes(rng.randrange(4, 300)))
                writer.write_eof()  # some of it may be the beginning of a frame
                assert await everything(reader) == b""
                writer.close()

    run_on(uvloop, run())


def run_on(uvloop: bool, main: Any) -> None:
    if uvloop:
        import uvloop as fast

        with asyncio.Runner(loop_factory=fast.new_event_loop) as runner:
            runner.run(main)
    else:
        asyncio.run(main)


def test_what_stands_before_garbage_is_answered(tmp_path: Path) -> None:
    async def run() -> None:
        async with victim(tmp_path) as node:
            for garbage in GARBAGE:
                reader, writer = await node.connect()
                writer.write(api_versions(1) + metadata(2) + garbage)
                found = await everything(reader)
                correlation_ids = []
                while found:
                    (size, correlation_id) = struct.unpack_from(">ii", found)
                    correlation_ids.append(correlation_id)
                    found = found[4 + size :]
                assert correlation_ids == [1, 2], garbage
                writer.close()

    asyncio.run(run())


def test_half_a_frame_is_waited_for_and_holds_up_nobody(tmp_path: Path) -> None:
    async def run() -> None:
        async with victim(tmp_path) as node:
            request = metadata(9)
            reader, writer = await node.connect()
            writer.write(request[:-1])
            await node.serves()
            writer.write(request[-1:])
            (answer,) = await answers(reader, 1)
            assert answer[:4] == struct.pack(">i", 9)

    asyncio.run(run())


def test_a_frame_that_comes_byte_by_byte_is_a_frame(tmp_path: Path) -> None:
    async def run() -> None:
        async with victim(tmp_path) as node:
            reader, writer = await node.connect()
            for byte in produce(3, b"slow") + metadata(4):
                writer.write(bytes((byte,)))
                await writer.drain()
                await asyncio.sleep(0)
            found = await answers(reader, 2)
            assert [it[:4] for it in found] == [struct.pack(">i", it) for it in (3, 4)]

    asyncio.run(run())


def test_slow_connections_take_what_there_is_of_connections_and_no_more(tmp_path: Path) -> None:
    """Those beyond `max_connections` are closed at once, those within go on, and what ends makes room."""

    async def run() -> None:
        async with victim(tmp_path) as node:
            client = await node.honest()
            slow = [await node.connect() for _ in range(MAX_CONNECTIONS - 1)]
            for _, writer in slow:
                writer.write(metadata(1)[:7])
            for _ in range(5):
                reader, writer = await node.connect()
                assert await everything(reader) == b""
                writer.close()
            error, offset = await client.produce(b"meanwhile")
            assert error == 0
            node.acknowledged[b"meanwhile"] = offset
            for reader, writer in slow[:3]:
                writer.write(metadata(1)[7:])
                assert len(await answers(reader, 1)) == 1
                writer.write(struct.pack(">i", -1))
                assert await everything(reader) == b""

    asyncio.run(run())


def test_silent_connections_make_room_after_their_time(tmp_path: Path) -> None:
    async def run() -> None:
        async with victim(tmp_path, connection_idle_max_ms=200) as node:
            silent = [await node.connect() for _ in range(MAX_CONNECTIONS)]
            for reader, _ in silent:
                assert await everything(reader) == b""

    asyncio.run(run())


def test_frames_that_claim_100_mib_cost_what_they_send(tmp_path: Path) -> None:
    """A connection holds 2 MiB ahead of what has come, not what is claimed."""

    async def run() -> None:
        async with victim(tmp_path) as node:
            before = resident_bytes()
            header = struct.pack(">ihhih", 100 * MIB, 0, 7, 1, -1)
            for _ in range(MAX_CONNECTIONS - 2):
                _, writer = await node.connect()
                writer.write(header + bytes(300 * 1024))
                await writer.drain()
            await node.serves()
            grown = resident_bytes() - before
            assert grown < 4 * MIB * MAX_CONNECTIONS, f"{grown} bytes for claims of {100 * MIB}"

    asyncio.run(run())


def test_a_client_that_never_reads_is_not_answered_into_memory(tmp_path: Path) -> None:
    """Its answers stop at the write buffer's limit, since its requests are not taken any more."""

    async def run() -> None:
        async with victim(tmp_path) as node:
            client = await node.honest()
            for number in range(4):
                value = bytes((number,)) * 256 * 1024
                error, offset = await client.produce(value)
                assert error == 0
                node.acknowledged[value] = offset
            before = resident_bytes()
            for _ in range(5):
                reader, writer = await node.connect()
                reader._limit = 1  # type: ignore[attr-defined]  # so that it stops reading at once
                writer.write(b"".join(fetch(number, 0) for number in range(500)))
            await node.serves()
            grown = resident_bytes() - before
            assert grown < 64 * MIB, f"{grown} bytes, where 2.5 GiB were asked for"

    asyncio.run(run())


def test_pipelined_requests_of_all_kinds_are_answered_in_order(tmp_path: Path) -> None:
    """In request order, on each connection, acks=0 leaving no trace."""

    async def run() -> None:
        async with victim(tmp_path) as node:
            rng = random.Random(2)
            runs = (pipeline(node, random.Random(rng.random()), str(it)) for it in range(8))
            await asyncio.gather(*runs)

    asyncio.run(run())


async def pipeline(node: Victim, rng: random.Random, name: str) -> None:
    reader, writer = await node.connect()
    expected: list[tuple[int, bytes | None]] = []
    stream = b""
    for number in range(200):
        kind = rng.choice(["produce", "produce", "produce", "quiet", "metadata", "api", "fetch"])
        value = f"{name} {number}".encode()
        if kind == "quiet":
            stream += produce(number, value, acks=0)
            continue
        expected.append((number, value if kind == "produce" else None))
        if kind == "produce":
            stream += produce(number, value)
        elif kind == "fetch":
            stream += fetch(number, 0)
        else:
            stream += metadata(number) if kind == "metadata" else api_versions(number)
    reading = asyncio.create_task(answers(reader, len(expected)))
    for piece in pieces(stream, rng):
        writer.write(piece)
        await writer.drain()
    for (number, value), answer in zip(expected, await reading, strict=True):
        assert answer[:4] == struct.pack(">i", number)
        if value is not None:
            node.acknowledged[value] = offset_of(answer)


def pieces(stream: bytes, rng: random.Random) -> Sequence[bytes]:
    """The stream, cut anywhere."""
    cuts = sorted({0, len(stream), *(rng.randrange(len(stream)) for _ in range(40))})
    return [stream[begin:end] for begin, end in itertools.pairwise(cuts)]


def offset_of(answer: bytes) -> int:
    _, told = messages.decode_response(ApiKey.PRODUCE, 7, memoryview(answer))
    (partition,) = told.responses[0].partition_responses
    assert partition.error_code == 0
    return int(partition.base_offset)


@pytest.mark.parametrize("seed", range(4))
def test_whatever_was_acknowledged_before_a_connection_broke_is_there(
    tmp_path: Path, seed: int
) -> None:
    """Cut at random bytes of valid streams: by half a close, or by a reset with answers under way."""

    async def run() -> None:
        rng = random.Random(seed)
        async with victim(tmp_path / "node") as node:
            for number in range(40):
                await broken_off(node, rng, f"{seed} {number}")
            await node.serves()
            acknowledged = node.acknowledged
        async with victim(tmp_path / "node") as node:
            node.acknowledged |= acknowledged
            await node.serves()

    asyncio.run(run())


async def broken_off(node: Victim, rng: random.Random, name: str) -> None:
    """Send a part of a stream of Produce requests, read some answers, and vanish."""
    values = [f"{name} {number}".encode() for number in range(rng.randrange(1, 12))]
    stream = b"".join(produce(number, value) for number, value in enumerate(values))
    reader, writer = await node.connect()
    writer.write(stream[: rng.randrange(len(stream) + 1)])
    if rng.random() < 0.5:
        writer.write_eof()
        found = await everything(reader)
    else:
        found = b""
        for _ in range(rng.randrange(3)):
            with suppress(TimeoutError):
                async with asyncio.timeout(0.02):
                    found += await reader.read(rng.randrange(1, 200))
    position = 0
    while len(found) >= position + 4:
        (size,) = struct.unpack_from(">i", found, position)
        answer = found[position + 4 : position + 4 + size]
        position += 4 + size
        if len(answer) == size:
            (number,) = struct.unpack_from(">i", answer)
            node.acknowledged[values[number]] = offset_of(answer)
    writer.transport.abort()
    node.streams.remove((reader, writer))
