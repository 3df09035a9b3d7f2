"""A log that gives up its beginning: across crashes, without the bucket, and what becomes of the objects."""

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import boto3
import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from kafka.protocol.admin import DeleteRecordsRequest, DeleteRecordsResponse

from headrace.broker.cli.root import run
from headrace.protocol.errors import ErrorCode
from tests.e2e.admin_calls import end_offsets, start_offsets
from tests.e2e.broker_process import HeadraceProcess
from tests.e2e.client_programs import CONFLUENT
from tests.e2e.records import Record
from tests.e2e.wire import WireConnection, batch
from tests.environment.minio import ACCESS_KEY, SECRET_KEY, MinioServer, minio_program
from tests.integration.s3_fault_server import FaultServer

MIB = 1 << 20
TOPIC = "given-up"
HIGH_WATERMARK = -1
VALUES = [str(number).encode() for number in range(10)]
Outcome = tuple[int, int]  # error code, low watermark


def make_topic(node: HeadraceProcess, partitions: int = 1) -> None:
    admin = AdminClient({"bootstrap.servers": node.bootstrap})
    admin.create_topics([NewTopic(TOPIC, partitions)])[TOPIC].result(30)


def delete(wire: WireConnection, offset: int, *, timeout_ms: int = 20_000) -> Outcome:
    """Delete from partition 0 of the topic."""
    topic = DeleteRecordsRequest.DeleteRecordsTopic
    partition = topic.DeleteRecordsPartition(partition_index=0, offset=offset)
    request = DeleteRecordsRequest(
        topics=[topic(name=TOPIC, partitions=[partition])], timeout_ms=timeout_ms
    )
    (told,) = wire.ask(request, DeleteRecordsResponse, 2).topics[0].partitions
    return told.error_code, told.low_watermark


def first_offset(node: HeadraceProcess) -> int:
    return start_offsets(node.bootstrap, TOPIC, 1)[0]


def restarted(node: HeadraceProcess, *, killed: bool) -> None:
    if killed:
        node.kill()
    else:
        node.stop()
    node.start()
    end_offsets(node.bootstrap, TOPIC, 1)  # it leads


@pytest.fixture
def node(tmp_path: Path) -> Iterator[HeadraceProcess]:
    """A node with its bucket in a directory."""
    with HeadraceProcess(tmp_path / "node") as running:
        make_topic(running)
        yield running


@pytest.mark.parametrize("killed", [True, False], ids=["killed", "stopped"])
@pytest.mark.parametrize("offset", [4, 10], ids=["inside of a batch", "at the end"])
def test_the_start_survives(node: HeadraceProcess, offset: int, killed: bool) -> None:
    with WireConnection(node.bootstrap) as wire:
        assert wire.produce(TOPIC, batch(VALUES)).base_offset == 0
        assert delete(wire, offset) == (0, offset)
    for _ in range(2):  # what is recovered from is not what a crash left the first time
        restarted(node, killed=killed)
        assert first_offset(node) == offset
    with WireConnection(node.bootstrap) as wire:
        assert wire.fetch(TOPIC, offset - 1).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
        assert wire.produce(TOPIC, batch([b"next"])).base_offset == 10
    stored = CONFLUENT.consume(node.bootstrap, TOPIC, 11 - offset)
    assert [item.offset for item in stored] == list(range(offset, 11))
    assert [item.value for item in stored] == [*VALUES[offset:], b"next"]


@pytest.mark.parametrize("killed", [True, False], ids=["killed", "stopped"])
def test_the_producers_of_deleted_records_are_known(node: HeadraceProcess, killed: bool) -> None:
    """Their batches cannot be read any more: what is known of them was written down before."""
    with WireConnection(node.bootstrap) as wire:
        producer = wire.new_producer_id()
        first = batch([b"a", b"b"], producer=producer, sequence=0)
        last = batch([b"c"], producer=producer, sequence=2)
        assert wire.produce(TOPIC, first).base_offset == 0
        assert wire.produce(TOPIC, last).base_offset == 2
        assert delete(wire, HIGH_WATERMARK) == (0, 3)
        assert duplicate(wire, last) == (0, 2)
    for _ in range(2):
        restarted(node, killed=killed)
        with WireConnection(node.bootstrap) as wire:
            assert duplicate(wire, first) == (0, 0)
            assert duplicate(wire, last) == (0, 2)
            unheard_of = wire.produce(TOPIC, batch([b"x"], producer=producer, sequence=4))
            assert unheard_of.error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    with WireConnection(node.bootstrap) as wire:
        following = wire.produce(TOPIC, batch([b"d"], producer=producer, sequence=3))
        assert (following.error_code, following.base_offset) == (0, 3)


def duplicate(wire: WireConnection, records: bytes) -> Outcome:
    """Error code and offset of a batch that is sent again."""
    answer = wire.produce(TOPIC, records)
    return answer.error_code, answer.base_offset


def test_readers_of_what_is_being_deleted_are_told_so(tmp_path: Path) -> None:
    """Nothing is said to be lost while the objects go from under them."""
    settings = {
        "s3.wal.upload.threshold": str(MIB),
        "s3.block.cache.size": str(8 * MIB),
        "s3.object.delete.retention.minutes": "0",
        "headrace.metadata.snapshot.publish.interval.ms": "1000",
    }
    with HeadraceProcess(tmp_path / "node", overrides=settings) as node:
        make_topic(node)
        CONFLUENT.produce(node.bootstrap, TOPIC, [Record(bytes(100_000)) for _ in range(300)])
        restarted(node, killed=False)  # everything is in the bucket alone
        told: set[int] = set()
        over = threading.Event()

        def read() -> None:
            with WireConnection(node.bootstrap) as wire:
                while not over.is_set():
                    for offset in range(0, 300, 7):
                        told.add(wire.fetch(TOPIC, offset, partition_max_bytes=1).error_code)

        with ThreadPoolExecutor() as pool, WireConnection(node.bootstrap) as wire:
            reading = pool.submit(read)
            try:
                for offset in range(1, 301):
                    assert delete(wire, offset) == (0, offset)
            finally:
                over.set()
            reading.result()
        assert told == {0, ErrorCode.OFFSET_OUT_OF_RANGE}
        assert not [event for event in node.log_events() if event["level"] == "ERROR"]


@pytest.fixture
def server() -> Iterator[FaultServer]:
    """A bucket that can go away."""
    with FaultServer() as server:
        yield server


@pytest.fixture
def remote(server: FaultServer, tmp_path: Path) -> Iterator[HeadraceProcess]:
    """A node that uploads only when it must."""
    node = HeadraceProcess(
        tmp_path / "node",
        overrides={"s3.data.buckets": f"0@s3://bucket?endpoint={server.endpoint}"},
        environment={"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"},
    )
    node.start()
    make_topic(node)
    yield node
    node.kill()


def test_without_the_bucket_a_deletion_waits_and_is_done_later(
    remote: HeadraceProcess, server: FaultServer
) -> None:
    with WireConnection(remote.bootstrap) as wire:
        wire.produce(TOPIC, batch(VALUES))
        server.stop()
        for _ in range(3):
            assert delete(wire, 6, timeout_ms=300) == (ErrorCode.REQUEST_TIMED_OUT, -1)
        assert first_offset(remote) == 0  # everything is there until it is done
        assert wire.fetch(TOPIC, 0).error_code == 0
        assert wire.produce(TOPIC, batch([b"next"])).base_offset == 10
        server.start()
        remote.process.wait_until(lambda: first_offset(remote) == 6, "deletion", timeout_s=30)
        assert delete(wire, 6) == (0, 6)


def test_a_crash_in_the_middle_of_a_deletion_loses_nothing_else(
    remote: HeadraceProcess, server: FaultServer
) -> None:
    with WireConnection(remote.bootstrap) as wire:
        producer = wire.new_producer_id()
        sent = batch(VALUES, producer=producer, sequence=0)
        wire.produce(TOPIC, sent)
        server.stop()
        assert delete(wire, 6, timeout_ms=300) == (ErrorCode.REQUEST_TIMED_OUT, -1)
    remote.kill()
    server.start()
    remote.start()
    assert first_offset(remote) == 0
    with WireConnection(remote.bootstrap) as wire:
        assert duplicate(wire, sent) == (0, 0)
        assert delete(wire, 6) == (0, 6)
    assert [item.value for item in CONFLUENT.consume(remote.bootstrap, TOPIC, 4)] == VALUES[6:]


@pytest.fixture
def minio(
    component: Callable[[Callable[[], object]], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[tuple[HeadraceProcess, str]]:
    """A node that deletes objects as soon as it may, and the URL of its bucket on a real server."""
    component(minio_program)
    credentials = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
    for name, value in credentials.items():
        monkeypatch.setenv(name, value)
    with MinioServer(tmp_path / "minio") as server:
        client = boto3.client("s3", endpoint_url=server.endpoint, region_name="us-east-1")
        client.create_bucket(Bucket="headrace")
        url = f"s3://headrace?region=us-east-1&endpoint={server.endpoint}&pathStyle=true"
        settings = {
            "s3.data.buckets": f"0@{url}",
            "s3.wal.upload.threshold": str(2 * MIB),
            "s3.object.delete.retention.minutes": "0",
            "headrace.metadata.snapshot.publish.interval.ms": "1000",
        }
        with HeadraceProcess(tmp_path / "node", overrides=settings) as node:
            make_topic(node)
            yield node, url


@pytest.mark.s3
def test_objects_of_deleted_records_go_and_the_bucket_is_what_the_metadata_know(
    minio: tuple[HeadraceProcess, str], capsys: pytest.CaptureFixture[str]
) -> None:
    node, url = minio
    values = [(b"%d;" % number * 50_000)[:100_000] for number in range(300)]
    total = 300 * 100_000
    CONFLUENT.produce(node.bootstrap, TOPIC, [Record(value) for value in values])

    def bytes_in_bucket() -> int | None:
        """None while what is to be deleted is still there."""
        data = str(node.directory / "data")
        code = run(["bucket", "fsck", url, "--metadata", data, "--json"])
        found = json.loads(capsys.readouterr().out)
        assert (code, found["errors"]) == (0, 0), found  # at no time
        return found["states"][1]["bytes"] if found["settled"] else None

    def holds_at_most(share: float) -> Callable[[], bool]:
        def is_reached() -> bool:
            found = bytes_in_bucket()
            return found is not None and found < share * total

        return is_reached

    with WireConnection(node.bootstrap) as wire:
        assert delete(wire, 200) == (0, 200)  # all that is below it is uploaded by now
        uploaded = node.metrics()["headrace_uploaded_bytes_total"]
        assert uploaded > total / 2
        # A third of the records, and what else is in the object in which they begin: a busy machine makes large ones.
        node.process.wait_until(holds_at_most(0.75), "deletion of objects", timeout_s=60)
        stored = CONFLUENT.consume(node.bootstrap, TOPIC, 100)
        assert [(item.offset, item.value) for item in stored] == [
            (number, values[number]) for number in range(200, 300)
        ]
        assert delete(wire, HIGH_WATERMARK) == (0, 300)
        # Checkpoints live on beside what is deleted, in up to two objects, until those are compacted.
        node.process.wait_until(holds_at_most(0.2), "deletion of objects", timeout_s=60)
        assert run(["bucket", "compact", "--admin", f"127.0.0.1:{node.admin_port}"]) == 0
        capsys.readouterr()
        node.process.wait_until(holds_at_most(0.01), "deletion of the rest", timeout_s=60)
    restarted(node, killed=True)
    assert first_offset(node) == 300
    assert CONFLUENT.produce(node.bootstrap, TOPIC, [Record(b"next")])[0].offset == 300
    assert bytes_in_bucket() is not None
