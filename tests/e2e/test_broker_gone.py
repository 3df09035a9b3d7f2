"""A broker that is gone for ever: another one looks after what it left in the bucket.

A controller and two brokers as processes, on one bucket of a real S3 server.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from headrace.metadata.image import MetadataImage
from headrace.metadata.images.objects import ObjectImage, ObjectState, ObjectType
from headrace.metadata.images.streams import StreamImage
from headrace.storage.objects.keys import object_key
from tests.cluster.cluster import BUCKET, REGION, Cluster
from tests.cluster.scene import image_of
from tests.cluster.wire_calls import create_topic, delete_topic
from tests.environment.minio import ACCESS_KEY, SECRET_KEY, minio_program
from tests.environment.paths import ROOT

KIB = 1024
STAYS, GOES = 1, 2
# Merging begins with four Stream Set Objects, and eight Stream Objects of a stream; a round makes one of each, mostly.
MIN_STREAM_SETS, MIN_STREAM_OBJECTS = 5, 8
MAX_ROUNDS = 40
SETTINGS = {
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
    "s3.wal.upload.interval.ms": "200",
    "s3.stream.object.split.size": str(256 * KIB),
    "s3.object.delete.retention.minutes": "0",
    "headrace.metadata.snapshot.publish.interval.ms": "1000",
}
# Of each partition: enough for a Stream Object of its own, or not.
LARGE, SMALL = 400 * KIB, 20 * KIB

pytestmark = [pytest.mark.timeout(180), pytest.mark.s3]


@pytest.fixture
def cluster(component: Any, tmp_path: Path) -> Iterator[Cluster]:
    component(minio_program)
    with Cluster(
        tmp_path, controllers=1, brokers=2, settings=SETTINGS, small_disks=False
    ) as running:
        yield running


def image(cluster: Cluster) -> MetadataImage:
    return image_of(cluster.controllers[0])


def tool(cluster: Cluster, *arguments: str) -> Any:
    """Run one of `headrace bucket | object` on the bucket; what it says, in JSON."""
    place = f"s3://{BUCKET}?region={REGION}&endpoint={cluster.s3.endpoint}&pathStyle=true"
    ran = subprocess.run(
        [sys.executable, "-m", "headrace.broker", *arguments[:2], place, *arguments[2:], "--json"],
        cwd=ROOT,
        env={**os.environ, "AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.stdout, ran.stderr
    return json.loads(ran.stdout)


def fsck(cluster: Cluster) -> Any:
    metadata = cluster.controllers[0].settings["metadata.log.dir"]
    found = tool(cluster, "bucket", "fsck", "--deep", "--metadata", metadata)
    assert found["errors"] == 0, found["findings"]
    return found


def wait_until_settled(cluster: Cluster) -> None:
    """Wait until nothing is left to be deleted, and look that the bucket holds what is known, and nothing else."""

    def is_done() -> bool:
        states = {it.state for it in image(cluster).objects.by_id.values()}
        return states <= {ObjectState.COMMITTED}

    cluster.wait_until(is_done, "nothing is left to be deleted", timeout_s=30)
    found = fsck(cluster)
    assert (found["settled"], found["leftovers"]) == (True, 0), found
    # By another client, and by no rule but the names.
    known = image(cluster)
    pages = cluster.bucket().get_paginator("list_objects_v2").paginate(Bucket=BUCKET)
    listed = {entry["Key"]: entry["Size"] for page in pages for entry in page.get("Contents", ())}
    snapshots = {key for key in listed if key.startswith("metadata/")}
    assert {key: listed[key] for key in listed.keys() - snapshots} == {
        object_key(known.cluster_id, it.object_id): it.size_bytes
        for it in known.objects.by_id.values()
    }


def objects_of(found: MetadataImage, node_id: int, kind: ObjectType) -> list[ObjectImage]:
    return [it for it in found.objects.by_id.values() if it.node_id == node_id and it.kind is kind]


def streams_of(found: MetadataImage, topic: str) -> list[StreamImage]:
    topic_id = next(it.topic_id for it in found.topics.values() if it.name == topic)
    return [it for it in found.streams.values() if it.topic_id == topic_id]


def is_enough(found: MetadataImage) -> bool:
    """Whether there are so many objects that merging is worth while."""
    largest = max(streams_of(found, "kept"), key=lambda it: len(it.objects))
    return (
        len(objects_of(found, GOES, ObjectType.STREAM_SET)) >= MIN_STREAM_SETS
        and len(largest.objects) >= MIN_STREAM_OBJECTS
    )


def produce_until_enough(cluster: Cluster) -> None:
    """Write to all partitions, a record each, and again when they are in the bucket."""
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "linger.ms": 0, "log_level": 0})
    sizes = {"kept": (LARGE, SMALL, SMALL), "dropped": (LARGE, SMALL)}

    def is_uploaded(count: int) -> bool:
        found = image(cluster)
        return all(
            sum(it.end_offset >= count for it in streams_of(found, topic)) >= len(partitions)
            for topic, partitions in sizes.items()
        )

    for number in range(1, MAX_ROUNDS + 1):
        for topic, partitions in sizes.items():
            for partition, size in enumerate(partitions):
                producer.produce(topic, bytes(size), partition=partition)
        assert producer.flush(30) == 0
        cluster.wait_until(lambda count=number: is_uploaded(count), "all of it is in the bucket")
        if is_enough(image(cluster)):
            return
    raise AssertionError(f"too few objects after {MAX_ROUNDS} rounds")


def compact(cluster: Cluster) -> None:
    """Have the broker that is left compact, until there is nothing more to do."""
    address = f"{cluster.brokers[0].address}:9094"
    groups = -1
    while True:
        ran = subprocess.run(
            [sys.executable, "-m", "headrace.broker", "bucket", "compact", "--admin", address, "--json"],
            cwd=ROOT, capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        found = json.loads(ran.stdout)
        assert found["failures"] == 0
        if found["groups"] == groups:
            return
        groups = found["groups"]


def test_what_it_left_is_merged_and_deleted_by_another(cluster: Cluster) -> None:
    stays, goes = cluster.brokers
    with cluster.connect(stays) as connection:
        for topic, partitions in (("kept", 3), ("dropped", 2)):
            assert create_topic(connection, topic, brokers=[GOES] * partitions)[0] == 0
    produce_until_enough(cluster)
    goes.kill()
    cluster.brokers.remove(goes)
    cluster.wait_until(lambda: cluster.fenced(stays).get(GOES) is True, "it is declared dead")
    before = image(cluster)
    kept = {it.stream_id: (it.start_offset, it.end_offset) for it in streams_of(before, "kept")}
    left = {it.object_id for it in before.objects.by_id.values() if it.node_id == GOES}
    with cluster.connect(stays) as connection:
        assert delete_topic(connection, "dropped") == 0
    compact(cluster)
    wait_until_settled(cluster)
    after = image(cluster)
    assert {
        it.stream_id: (it.start_offset, it.end_offset) for it in streams_of(after, "kept")
    } == kept
    for kind in (ObjectType.STREAM_SET, ObjectType.STREAM):
        assert objects_of(after, STAYS, kind)
    # An object that is larger than all newer ones of its kind together is left as it is.
    assert len(left & set(after.objects.by_id)) <= 2
    assert tool(cluster, "object", "verify", "--all")["damaged"] == 0

    with cluster.connect(stays) as connection:
        assert delete_topic(connection, "kept") == 0
    wait_until_settled(cluster)
    assert not image(cluster).objects.by_id
