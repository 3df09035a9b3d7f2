"""A broker that is stopped in the middle of writes, declared dead, and then goes on: it can do no harm.

It acknowledges nothing and serves nothing, changes no metadata of what it had, and comes back only by registering
anew, in the same process, with all that it acknowledged before.
"""

import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from kafka.protocol.consumer import FetchResponse

from headrace.metadata.image import MetadataImage
from headrace.metadata.images.objects import ObjectState
from tests.cluster.clock import now_ns
from tests.cluster.cluster import BUCKET, SESSION_MS, Cluster
from tests.cluster.raw_writer import RawWriter
from tests.cluster.scene import Scene, image_of
from tests.cluster.wire_calls import create_topic
from tests.e2e.wire import FETCH_VERSION, WireConnection, fetch_request

TOPIC = "zombie"
FENCED_WITHIN_S = SESSION_MS / 1000 + 15
ENDS_WITHIN_S = 10
SERVES_AGAIN = "the broker that was fenced serves again"
MORE = 30
LATER = 10**9  # the value of a record that another broker takes meanwhile

pytestmark = pytest.mark.timeout(300)


def what_a_node_committed(image: MetadataImage, node_id: int) -> dict[str, object]:
    """The ends of the streams that it has open, and its objects."""
    streams = {
        f"stream {it.stream_id}": (it.epoch, it.end_offset)
        for it in image.streams.values()
        if it.node_id == node_id
    }
    objects = {
        f"object {it.object_id}": it.state
        for it in image.objects.by_id.values()
        if it.node_id == node_id and it.state is ObjectState.COMMITTED
    }
    return {**streams, **objects}


def keys_in_bucket(cluster: Cluster) -> set[str]:
    pages = cluster.bucket().get_paginator("list_objects_v2").paginate(Bucket=BUCKET)
    return {entry["Key"] for page in pages for entry in page.get("Contents", ())}


def records_served(reading: WireConnection) -> bytes:
    """What a Fetch under way was answered: nothing, when the connection ended."""
    try:
        answer = reading.receive(FetchResponse, FETCH_VERSION)
    except ConnectionError:
        return b""
    return bytes(answer.responses[0].partitions[0].records or b"")


def produce(cluster: Cluster, topic: str, value: int) -> None:
    """Write one record with a client library."""
    errors: list[KafkaError | None] = []
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    producer.produce(
        topic, RawWriter.value(value), on_delivery=lambda error, _: errors.append(error)
    )
    producer.flush(30)
    assert errors == [None]


def values_from_the_beginning(cluster: Cluster, topic: str) -> list[bytes]:
    settings = {"bootstrap.servers": cluster.bootstrap, "group.id": "check", "log_level": 0}
    consumer = Consumer({**settings, "enable.auto.commit": False})
    partition = TopicPartition(topic, 0, 0)
    end = consumer.get_watermark_offsets(partition, timeout=30)[1]
    consumer.assign([partition])
    values: list[bytes] = []
    while len(values) < end:
        messages = consumer.consume(num_messages=end - len(values), timeout=30)
        assert messages
        values += [message.value() for message in messages]
    consumer.close()
    return values


def test_a_stopped_broker_that_was_declared_dead_can_do_nothing(scene: Scene) -> None:
    cluster = scene.cluster
    zombie, asked = cluster.brokers[1], cluster.brokers[0]
    with cluster.connect(asked) as connection:
        assert create_topic(connection, TOPIC, brokers=[zombie.node_id])[0] == 0
    reading = cluster.connect(zombie, timeout_s=60)
    writer = RawWriter(cluster.connect(zombie, timeout_s=60), TOPIC)
    writer.start()
    cluster.wait_until(lambda: len(writer.acknowledged) > 200, "the writer is under way")

    zombie.pause()
    first_unseen = writer.sent
    writer.send_more(MORE)  # these wait in the stopped process's sockets
    reading.send(fetch_request(TOPIC, 0, 0, 1), FETCH_VERSION)
    cluster.wait_until(
        lambda: cluster.fenced(asked).get(zombie.node_id, False),
        "the stopped broker is fenced",
        timeout_s=FENCED_WITHIN_S,
    )
    # Others have drained its log, lead its partition, and take new records.
    cluster.wait_until(
        lambda: zombie.node_id not in cluster.leaders(TOPIC, unasked=zombie), "another leads"
    )
    produce(cluster, TOPIC, LATER)
    image = image_of(cluster.leader())
    epoch = image.brokers[zombie.node_id].epoch
    committed = what_a_node_committed(image, zombie.node_id)
    keys = keys_in_bucket(cluster)
    fenced_ns = now_ns()

    zombie.resume()
    writer.wait_for_end(ENDS_WITHIN_S)
    print(f"\nits connections ended after {(now_ns() - fenced_ns) / 1e6:.0f} ms")
    # What it had decided to acknowledge before it was stopped may still leave its buffers; nothing else.
    late = [it for it in writer.acknowledged if it.number >= first_unseen]
    assert not late, f"acknowledged after it was fenced: {late[:5]}"
    assert writer.sent >= first_unseen + MORE
    assert not records_served(reading), "it served records after it was fenced"

    # It is not there any more as what it was; what it registers as has an epoch of its own.
    def serves_again() -> bool:
        broker = image_of(cluster.leader()).brokers[zombie.node_id]
        return broker.epoch > epoch and not broker.fenced

    cluster.wait_until(serves_again, "it serves again")
    assert zombie.has_logged(SERVES_AGAIN)  # by the process that was stopped
    image = image_of(cluster.leader())
    after = what_a_node_committed(image, zombie.node_id)
    assert {it: after.get(it) for it in committed if it.startswith("object")} == {
        it: state for it, state in committed.items() if it.startswith("object")
    }
    print(f"{len(keys_in_bucket(cluster) - keys)} objects came into the bucket meanwhile")

    scene.settle()
    found = values_from_the_beginning(cluster, TOPIC)
    for it in writer.acknowledged:
        assert found[it.offset] == writer.value(it.number)
    # Records that were written and never acknowledged may be there: each once, and in order.
    numbers = [int(value) for value in found]
    assert numbers == sorted(set(numbers))
    assert numbers[-1] == LATER, "the stopped broker's records come before those that others took"
