"""Objects stay in the bucket for as long as metadata that are rebuilt from it would name them."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from kafka.protocol.admin import DeleteRecordsRequest, DeleteRecordsResponse

from headrace.broker.cli.root import run
from headrace.metadata.image import MetadataImage
from headrace.metadata.images.objects import ObjectState
from headrace.metadata.log.snapshot_format import decode_snapshot
from headrace.metadata.published import parse_published_key
from headrace.storage.objects.keys import parse_object_key
from tests.e2e.admin_calls import end_offsets
from tests.e2e.broker_process import HeadraceProcess
from tests.e2e.wire import WireConnection, batch
from tests.integration.s3_fault_server import SLOW_DOWN, FaultServer

TOPIC = "given-up"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
SETTINGS = {
    "s3.wal.upload.interval.ms": "200",
    "s3.object.delete.retention.minutes": "0",
    "headrace.metadata.snapshot.publish.interval.ms": "1000",
}


class Watched:
    """A bucket in which each removal is compared with what a rebuild would name at that moment."""

    def __init__(self, server: FaultServer) -> None:
        self.server = server
        self.url = f"s3://bucket?endpoint={server.endpoint}"
        self.removed: set[int] = set()
        self.missed: set[int] = set()
        server.bucket.on_remove = self._on_remove

    def newest(self) -> MetadataImage:
        """What a rebuild begins with."""
        found = self.server.bucket.objects
        snapshots = [key for key in list(found) if parse_published_key(key) is not None]
        return decode_snapshot(found[max(snapshots)]) if snapshots else MetadataImage()

    def named(self) -> set[int]:
        """The objects that rebuilt metadata would read."""
        objects = self.newest().objects.by_id.values()
        return {it.object_id for it in objects if it.state == ObjectState.COMMITTED}

    def present(self) -> set[int]:
        """The objects that are there."""
        parsed = (parse_object_key(key) for key in list(self.server.bucket.objects))
        return {it[1] for it in parsed if it is not None}

    def _on_remove(self, key: str) -> None:
        """Called by the server's threads, with its lock held."""
        parsed = parse_object_key(key)
        if parsed is not None:
            self.removed.add(parsed[1])
            self.missed |= self.removed & self.named()


@pytest.fixture
def bucket() -> Iterator[Watched]:
    with FaultServer() as server:
        yield Watched(server)


@pytest.fixture
def node(bucket: Watched, tmp_path: Path) -> Iterator[HeadraceProcess]:
    """A node that deletes at once, and publishes each second."""
    made = HeadraceProcess(
        tmp_path / "node",
        overrides={**SETTINGS, "s3.data.buckets": f"0@{bucket.url}"},
        environment=CREDENTIALS,
    )
    with made:
        admin = AdminClient({"bootstrap.servers": made.bootstrap})
        admin.create_topics([NewTopic(TOPIC, 1)])[TOPIC].result(30)
        end_offsets(made.bootstrap, TOPIC, 1)  # it leads
        yield made


def give_up_all(wire: WireConnection) -> None:
    topic = DeleteRecordsRequest.DeleteRecordsTopic
    partition = topic.DeleteRecordsPartition(partition_index=0, offset=-1)
    request = DeleteRecordsRequest(
        topics=[topic(name=TOPIC, partitions=[partition])], timeout_ms=20_000
    )
    answer = wire.ask(request, DeleteRecordsResponse, 2)
    assert answer.topics[0].partitions[0].error_code == 0


def rebuilt(bucket: Watched, directory: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, int]:
    capsys.readouterr()
    arguments = ["metadata", "rebuild", str(directory), "--bucket", bucket.url, "--json"]
    arguments += ["--cluster-id", bucket.newest().cluster_id, "--node-id", "1"]
    assert run([*arguments, "--controller", "127.0.0.1:9"]) == 0
    found: dict[str, int] = json.loads(capsys.readouterr().out)
    return found


def test_destroyed_objects_stay_until_a_snapshot_without_them_is_published(
    node: HeadraceProcess,
    bucket: Watched,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)

    def metric(name: str) -> float:
        return node.metrics()[f"headrace_{name}"]

    def waiting() -> float:
        return metric("deletion_awaiting_snapshot_objects")

    wait = node.process.wait_until
    with WireConnection(node.bootstrap) as wire:
        wire.produce(TOPIC, batch([bytes(100_000)]))
        wait(lambda: bool(bucket.named()), "a snapshot that names an object", timeout_s=30)
        named = bucket.named()
        with bucket.server.bucket.always(SLOW_DOWN, "PUT", key="metadata/"):
            give_up_all(wire)
            wait(lambda: waiting() > 0, "its deletion waits for a snapshot", timeout_s=30)
            failures = metric("metadata_publishing_failures_total")
            wait(
                lambda: metric("metadata_publishing_failures_total") > failures,
                "the publication fails",
                timeout_s=30,
            )
            assert named <= bucket.named() <= bucket.present()
            assert not bucket.removed
        wait(lambda: named <= bucket.removed, "deletion", timeout_s=30)
        wait(lambda: waiting() == 0, "nothing waits any more", timeout_s=30)
    node.kill()
    assert not bucket.missed
    assert rebuilt(bucket, tmp_path / "rebuilt", capsys)["missing_objects"] == 0
