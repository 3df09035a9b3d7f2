"""Whole nodes inside the test's process: several at once, restarted, and with a device that fails."""

import asyncio
import fcntl
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from headrace.broker.node import registration
from headrace.broker.node.environment import NodeEnvironment
from headrace.broker.node.node import Node, NodeAddress
from headrace.config.node import (
    MIB,
    Endpoint,
    GroupConfig,
    MetadataConfig,
    NetworkConfig,
    NodeConfig,
    StorageConfig,
    TelemetryConfig,
    WalConfig,
)
from headrace.metadata.follower import follower
from headrace.protocol import messages
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.headers import RequestHeader
from headrace.protocol.messages import (
    FetchRequest,
    MetadataRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    ProduceRequest,
)
from headrace.protocol.records.record import BatchOptions, Record, decode_records, encode_batch
from headrace.wal.errors import WalError, WalLockedError

TOPIC = "events"


def config(directory: Path, node_id: int = 1) -> NodeConfig:
    directory.mkdir(parents=True, exist_ok=True)
    return NodeConfig(
        node_id=node_id,
        network=NetworkConfig(listeners=(Endpoint("PLAINTEXT", "127.0.0.1", 0),)),
        wal=WalConfig(path=str(directory / "wal"), capacity_bytes=16 * MIB),
        storage=StorageConfig(
            bucket_uri=f"file://{directory / 'bucket'}",
            log_cache_bytes=16 * MIB,
            block_cache_bytes=16 * MIB,
            upload_threshold_bytes=4 * MIB,
        ),
        metadata=MetadataConfig(log_dir=str(directory / "metadata")),
        groups=GroupConfig(offsets_topic_partitions=2),
        telemetry=TelemetryConfig(admin_port=-1),
    )


class Client:
    """One connection that speaks the protocol by hand."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._correlation_id = 0

    async def ask(self, key: ApiKey, version: int, request: object) -> object:
        self._correlation_id += 1
        header = RequestHeader(int(key), version, self._correlation_id, "test")
        frame = messages.encode_request(request, header)
        self._writer.write(struct.pack(">i", len(frame)) + frame)
        size = struct.unpack(">i", await self._reader.readexactly(4))[0]
        answer = await self._reader.readexactly(size)
        correlation_id, response = messages.decode_response(key, version, memoryview(answer))
        assert correlation_id == self._correlation_id
        return response

    async def produce(self, *values: bytes, topic: str = TOPIC) -> tuple[int, int]:
        """(error code, base offset)."""
        await self.ask(
            ApiKey.METADATA,
            9,
            MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name=topic)]),
        )
        records = [Record(offset, 1_000, None, value) for offset, value in enumerate(values)]
        partition_class = ProduceRequest.TopicProduceData.PartitionProduceData
        response = await self.ask(
            ApiKey.PRODUCE,
            7,
            ProduceRequest(
                transactional_id=None,
                acks=-1,
                timeout_ms=1_000,
                topic_data=[
                    ProduceRequest.TopicProduceData(
                        name=topic,
                        partition_data=[
                            partition_class(
                                index=0, records=bytes(encode_batch(records, BatchOptions()))
                            )
                        ],
                    )
                ],
            ),
        )
        found = response.responses[0].partition_responses[0]  # type: ignore[attr-defined]
        return found.error_code, found.base_offset

    async def values(self, offset: int = 0, *, topic: str = TOPIC) -> list[bytes | None]:
        """Values of everything from `offset` on, one fetch."""
        partition_class = FetchRequest.FetchTopic.FetchPartition
        response = await self.ask(
            ApiKey.FETCH,
            11,
            FetchRequest(
                max_wait_ms=0,
                min_bytes=1,
                topics=[
                    FetchRequest.FetchTopic(
                        topic=topic,
                        partitions=[
                            partition_class(
                                partition=0, fetch_offset=offset, partition_max_bytes=1 << 24
                            )
                        ],
                    )
                ],
                forgotten_topics_data=[],
            ),
        )
        partition = response.responses[0].partitions[0]  # type: ignore[attr-defined]
        assert partition.error_code == 0
        found: list[bytes | None] = []
        data = memoryview(bytes(partition.records or b""))
        while data:
            size = struct.unpack_from(">i", data, 8)[0] + 12
            found += [record.value for record in decode_records(data[:size], 1 << 24)]
            data = data[size:]
        return found


@asynccontextmanager
async def serving(settings: NodeConfig) -> AsyncIterator[tuple[Client, asyncio.Task[None]]]:
    """A node that is ready, and a connection to it; shut down cleanly at the end."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    address: asyncio.Future[NodeAddress] = loop.create_future()
    node = loop.create_task(Node(settings, NodeEnvironment()).run(address.set_result, stop))
    done, _ = await asyncio.wait([node, address], return_when=asyncio.FIRST_COMPLETED)
    if node in done:
        node.result()
    reader, writer = await asyncio.open_connection("127.0.0.1", address.result().broker.kafka_port)
    try:
        yield Client(reader, writer), node
    finally:
        writer.close()
        stop.set()
        if not node.done():
            await node


def test_nodes_in_one_process_do_not_see_each_other(tmp_path: Path) -> None:
    async def run() -> None:
        async with (
            serving(config(tmp_path / "a")) as (one, _),
            serving(config(tmp_path / "b", 2)) as (two, _),
        ):
            assert await one.produce(b"of one") == (0, 0)
            assert await two.produce(b"of", b"two") == (0, 0)
            assert await one.values() == [b"of one"]
            assert await two.values() == [b"of", b"two"]

    asyncio.run(run())


def test_everything_is_there_after_a_clean_restart(tmp_path: Path) -> None:
    async def run() -> None:
        async with serving(config(tmp_path)) as (client, _):
            for number in range(5):
                assert await client.produce(b"%d" % number) == (0, number)
        async with serving(config(tmp_path)) as (client, _):
            assert await client.values() == [b"%d" % number for number in range(5)]
            assert await client.produce(b"5") == (0, 5)

    asyncio.run(run())


def test_a_node_with_both_roles_replays_its_metadata_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        async with serving(config(tmp_path)) as (client, _):
            assert await client.produce(b"one") == (0, 0)
        monkeypatch.setattr(
            follower, "replay_steps", None
        )  # the broker's; the controller has its own
        async with serving(config(tmp_path)) as (client, _):
            assert await client.values() == [b"one"]
            assert await client.produce(b"two") == (0, 1)

    asyncio.run(run())


def test_what_was_acknowledged_survives_a_process_that_just_ends(tmp_path: Path) -> None:
    def settings(directory: Path) -> NodeConfig:
        """With a short session: nothing proves that the process whose files were copied has ended."""
        short = MetadataConfig(broker_session_timeout_ms=2_500, broker_heartbeat_interval_ms=400)
        found = config(directory)
        return replace(found, metadata=replace(short, log_dir=found.metadata.log_dir))

    async def run() -> None:
        async with serving(settings(tmp_path)) as (client, _node):
            assert await client.produce(b"acknowledged") == (0, 0)
            copy_of_a_crash(tmp_path, tmp_path / "after")
        async with serving(settings(tmp_path / "after")) as (client, _):
            assert await client.values() == [b"acknowledged"]

    asyncio.run(run())


def copy_of_a_crash(source: Path, target: Path) -> None:
    """What the disk holds now, without any shutting down."""
    target.mkdir()
    for path in sorted(source.rglob("*")):
        if target in path.parents or path == target or not path.is_file():
            continue
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())


def test_a_second_process_on_the_same_directory_is_refused(tmp_path: Path) -> None:
    async def run() -> None:
        async with serving(config(tmp_path)) as (client, _):
            with pytest.raises(BaseException) as refusal:
                async with serving(config(tmp_path)):
                    pass
            assert "another process" in str(leaf(refusal.value)) or "in use" in str(
                leaf(refusal.value)
            )
            assert await client.produce(b"the first goes on") == (0, 0)

    asyncio.run(run())


def leaf(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def test_a_wal_is_waited_for_until_its_last_user_has_ended(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> None:
        (tmp_path / "wal").touch()
        with (tmp_path / "wal").open("rb") as used:
            fcntl.flock(used, fcntl.LOCK_EX)

            async def end() -> None:
                while "waiting for the WAL" not in caplog.text:
                    await asyncio.sleep(0.01)
                fcntl.flock(used, fcntl.LOCK_UN)

            ending = asyncio.create_task(end())
            async with serving(config(tmp_path)) as (client, _):
                assert await client.produce(b"after") == (0, 0)
            await ending

    asyncio.run(run())


def test_a_wal_is_not_waited_for_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registration, "LOG_LOCK_WAIT_MS", 0)

    async def run() -> None:
        (tmp_path / "wal").touch()
        with (tmp_path / "wal").open("rb") as used:
            fcntl.flock(used, fcntl.LOCK_EX)
            with pytest.raises(BaseException) as refusal:
                async with serving(config(tmp_path)):
                    pass
        assert isinstance(leaf(refusal.value), WalLockedError)

    asyncio.run(run())


def test_a_wal_of_another_node_is_refused(tmp_path: Path) -> None:
    async def run() -> None:
        async with serving(config(tmp_path / "a", 1)):
            pass
        (tmp_path / "b").mkdir()
        (tmp_path / "a" / "wal").rename(tmp_path / "b" / "wal")
        with pytest.raises(BaseException) as refusal:
            async with serving(config(tmp_path / "b", 2)):
                pass
        assert isinstance(leaf(refusal.value), WalError)

    asyncio.run(run())


def test_committed_offsets_survive_a_restart(tmp_path: Path) -> None:
    async def run() -> None:
        async with serving(config(tmp_path)) as (client, _):
            await client.produce(b"a", b"b")
            await client.ask(
                ApiKey.FIND_COORDINATOR, 2, messages.FindCoordinatorRequest(key="g", key_type=0)
            )
            topic_class = OffsetCommitRequest.OffsetCommitRequestTopic
            committed = await client.ask(
                ApiKey.OFFSET_COMMIT,
                6,
                OffsetCommitRequest(
                    group_id="g",
                    generation_id_or_member_epoch=-1,
                    member_id="",
                    topics=[
                        topic_class(
                            name=TOPIC,
                            partitions=[
                                topic_class.OffsetCommitRequestPartition(
                                    partition_index=0, committed_offset=2, committed_metadata="m"
                                )
                            ],
                        )
                    ],
                ),
            )
            assert committed.topics[0].partitions[0].error_code == 0  # type: ignore[attr-defined]
        async with serving(config(tmp_path)) as (client, _):
            for _ in range(100):
                found = await client.ask(
                    ApiKey.OFFSET_FETCH, 5, OffsetFetchRequest(group_id="g", topics=None)
                )
                if found.error_code != 14:  # type: ignore[attr-defined]  # being loaded
                    break
            partition = found.topics[0].partitions[0]  # type: ignore[attr-defined]
            assert (partition.committed_offset, partition.metadata) == (2, "m")

    asyncio.run(run())


@pytest.mark.parametrize("in_the_way", ["bucket", "bucket/.tmp"])
def test_a_bucket_directory_that_cannot_be_written_is_waited_for(
    tmp_path: Path, in_the_way: str, caplog: pytest.LogCaptureFixture
) -> None:
    """With a file in the way: who runs the tests may be root, whom no permissions keep out."""

    async def run() -> None:
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        address: asyncio.Future[NodeAddress] = loop.create_future()
        node = loop.create_task(
            Node(config(tmp_path), NodeEnvironment()).run(address.set_result, stop)
        )
        async with asyncio.timeout(60):
            while not any("bucket directory" in getattr(it, "reason", "") for it in caplog.records):
                assert not node.done(), node
                await asyncio.sleep(0.02)
            wrong.unlink()
            await asyncio.wait([node, address], return_when=asyncio.FIRST_COMPLETED)
            assert address.done(), node
            stop.set()
            await node

    wrong = tmp_path / in_the_way
    wrong.parent.mkdir(exist_ok=True)
    wrong.write_text("a file")
    asyncio.run(run())
