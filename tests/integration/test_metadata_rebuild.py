"""A node whose controller has lost its disk, with metadata made anew from the bucket."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from headrace.broker.cli.root import run
from headrace.metadata.errors import MetadataError
from headrace.metadata.image import MetadataImage
from headrace.metadata.log.identity import IDENTITY_FILE
from headrace.metadata.log.snapshot_format import decode_snapshot
from headrace.metadata.offline.directory import read_offline
from headrace.storage.audit.inventory import meaning_of
from headrace.storage.objects.keys import object_key
from headrace.storage.record_batch import StreamRecordBatch
from tests.e2e.broker_process import HeadraceProcess
from tests.e2e.wire import batch
from tests.environment.ports import free_port
from tests.unit.storage.samples import joined, write

TOPIC = "orders"
CONTROLLER_PORT = free_port()
CONTROLLER = f"127.0.0.1:{CONTROLLER_PORT}"


@pytest.fixture
def node(tmp_path: Path):
    """A node that publishes its metadata every second."""
    interval = {"headrace.metadata.snapshot.publish.interval.ms": "1000"}
    made = HeadraceProcess(tmp_path, overrides=interval, controller_port=CONTROLLER_PORT)
    made.start()
    yield made
    if made.process.is_running:
        made.kill()


def published(node: HeadraceProcess) -> list[Path]:
    """Snapshots in the bucket, oldest first."""
    return sorted((node.directory / "data" / "bucket" / "metadata").glob("*/*.checkpoint"))


def newest(node: HeadraceProcess) -> MetadataImage:
    for path in reversed(published(node)):
        try:
            return decode_snapshot(path.read_bytes())
        except (FileNotFoundError, MetadataError):
            continue
    return MetadataImage()


def wait_until_published(node: HeadraceProcess) -> None:
    """Until a snapshot holds the topic, with its streams open."""

    def has_topic() -> bool:
        image = newest(node)
        topic = image.topic(TOPIC)
        return topic is not None and image.streams[topic.partitions[0].data_stream_id].opened

    node.process.wait_until(has_topic, "a published snapshot", timeout_s=30)


def produce(node: HeadraceProcess, first: int, number: int) -> None:
    """Records whose values are their offsets; each is acknowledged."""
    failed: list[object] = []
    producer = Producer({"bootstrap.servers": node.bootstrap, "acks": "all"})
    for value in range(first, first + number):
        producer.produce(
            TOPIC, str(value).encode(), callback=lambda error, _: error and failed.append(error)
        )
    assert producer.flush(30) == 0
    assert not failed


def consume(node: HeadraceProcess, number: int) -> list[int]:
    settings = {"bootstrap.servers": node.bootstrap, "group.id": "readers"}
    consumer = Consumer(settings | {"enable.partition.eof": True, "auto.offset.reset": "earliest"})
    consumer.assign([TopicPartition(TOPIC, 0, 0)])
    values: list[int] = []
    while (message := consumer.poll(30)) is not None:
        if message.error() is None:
            values.append(int(message.value()))
        elif len(values) >= number:
            break
    consumer.close()
    return values


def create_topic(node: HeadraceProcess) -> None:
    admin = AdminClient({"bootstrap.servers": node.bootstrap})
    admin.create_topics([NewTopic(TOPIC, 1, config={"retention.ms": "7200000"})])[TOPIC].result(30)


def put_back(node: HeadraceProcess, snapshots: dict[Path, bytes]) -> None:
    """Leave these snapshots alone in the bucket."""
    for path in published(node):
        path.unlink()
    for path, content in snapshots.items():
        path.write_bytes(content)


def upload_late(node: HeadraceProcess, image: MetadataImage, start: int, end: int) -> str:
    """Upload an object as an owner does that was stopped when this was the metadata; return its key."""
    stream = image.streams[image.topic(TOPIC).partitions[0].data_stream_id]
    content = bytearray(batch([b"-1"] * (end - start)))
    content[:8] = start.to_bytes(8, "big")
    late = StreamRecordBatch(
        stream.stream_id, stream.epoch, start, end - start, memoryview(content)
    )
    bucket = node.directory / "data" / "bucket"
    keys = [str(it.relative_to(bucket)) for it in bucket.rglob("*") if it.is_file()]
    key = object_key(image.cluster_id, max(meaning_of(it).object_id for it in keys) + 1)
    path = bucket / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(joined(write([[late]])))
    return key


def lose_and_rebuild(node: HeadraceProcess, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Lose the metadata directory, make one anew, and start on it; return what the command tells."""
    data = node.directory / "data"
    cluster_id = published(node)[0].parent.name
    shutil.rmtree(data / "metadata")
    capsys.readouterr()
    arguments = ["metadata", "rebuild", str(data / "metadata"), "--cluster-id", cluster_id]
    arguments += ["--bucket", f"file://{data / 'bucket'}", "--node-id", "1"]
    assert run([*arguments, "--controller", CONTROLLER, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    node.start()
    return report


def another_joins(node: HeadraceProcess, capsys: pytest.CaptureFixture[str]) -> None:
    """A controller with an empty directory is added, and has what the rebuilt one has."""
    port = free_port()
    settings = {
        "node.id": "2",
        "process.roles": "controller",
        "listeners": f"CONTROLLER://127.0.0.1:{port}",
        "controller.quorum.bootstrap.servers": CONTROLLER,
    }
    second = HeadraceProcess(node.directory / "second", overrides=settings)
    second.begin()
    try:
        identity = second.directory / "data" / "metadata" / IDENTITY_FILE
        second.process.wait_until(identity.is_file, "made its directory", timeout_s=30)
        directory = identity.parent
        directory_id = str(read_offline(directory).directory_id)
        arguments = ["cluster", "quorum", "add", f"2@127.0.0.1:{port}"]
        arguments += ["--directory-id", directory_id, "-b", node.bootstrap]
        assert run(arguments) == 0, capsys.readouterr().err
        second.process.wait_for_url(second.admin_url("/readyz"), timeout_s=30)
        mine = read_offline(node.directory / "data" / "metadata").image
        assert [it.node_id for it in mine.members if it.voter] == [1, 2]
    finally:
        second.kill()
    theirs = read_offline(directory).image
    assert theirs.topic_ids == mine.topic_ids
    assert theirs.index >= mine.index


def test_an_only_controllers_old_copy_is_noticed_by_what_it_published(node, capsys):
    """Nobody else remembers its log; the bucket does. Later starts are refused at once, and a rebuild is not."""
    data = node.directory / "data"
    node.kill()
    shutil.copytree(data / "metadata", node.directory / "copy")
    node.start()
    create_topic(node)
    wait_until_published(node)
    node.kill()
    shutil.rmtree(data / "metadata")
    shutil.copytree(node.directory / "copy", data / "metadata")
    for _ in range(2):
        node.begin()
        assert node.process.wait_for_end(timeout_s=60) == 1
        assert "is an old copy: the bucket has a snapshot" in node.process.log.read_text()
    lose_and_rebuild(node, capsys)
    assert (
        TOPIC in AdminClient({"bootstrap.servers": node.bootstrap}).list_topics(timeout=30).topics
    )


def test_what_the_wal_holds_is_recovered(node, capsys):
    """Written before the snapshot and after it, and not uploaded when the process was killed."""
    create_topic(node)
    produce(node, 0, 100)
    wait_until_published(node)
    produce(node, 100, 100)
    node.kill()
    report = lose_and_rebuild(node, capsys)
    assert (report["topics"], report["missing_objects"]) == (1, 0)
    assert consume(node, 200) == list(range(200))
    produce(node, 200, 50)
    assert consume(node, 250) == list(range(250))
    node.restart()
    assert consume(node, 250) == list(range(250))
    another_joins(node, capsys)


def test_what_was_uploaded_later_is_found_again(node, capsys):
    """And what the WAL then held behind it."""
    create_topic(node)
    produce(node, 0, 100)
    wait_until_published(node)
    old = newest(node)
    old_files = {path: path.read_bytes() for path in published(node)}
    produce(node, 100, 100)
    node.stop()  # uploads everything
    put_back(node, old_files)
    report = lose_and_rebuild(node, capsys)
    assert report["snapshot_index"] == old.index
    assert report["adopted_objects"] > 0
    assert report["unreferenced_objects"] == 0
    assert consume(node, 200) == list(range(200))
    produce(node, 200, 10)
    node.kill()
    report = lose_and_rebuild(node, capsys)
    assert consume(node, 210) == list(range(210))


def test_what_a_stopped_owner_uploaded_late_takes_nothing_away(node, capsys):
    """Neither where it holds the offsets of acknowledged records, nor where it follows them."""
    create_topic(node)
    wait_until_published(node)
    old = newest(node)
    old_files = {path: path.read_bytes() for path in published(node)}
    produce(node, 0, 100)
    node.restart()  # a new epoch
    produce(node, 100, 100)
    node.stop()
    late = [upload_late(node, old, start, end) for start, end in ((0, 150), (100, 130), (200, 220))]
    put_back(node, old_files)
    report = lose_and_rebuild(node, capsys)
    assert report["snapshot_index"] == old.index
    assert report["outdated_objects"] == late
    assert consume(node, 200) == list(range(200))
    produce(node, 200, 10)
    assert consume(node, 210) == list(range(210))
