"""Compacted topics of running brokers: what clients see, and what is left in the bucket."""

import json
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from headrace.testing import Broker, Cluster

PATIENCE_S = 30.0
SETTINGS = {
    "headrace.admin.listener": "127.0.0.1:0",
    "s3.wal.upload.interval.ms": "100",
    "log.retention.check.interval.ms": "500",
}
COMPACTED = {
    "cleanup.policy": "compact",
    "segment.ms": "1",
    "min.cleanable.dirty.ratio": "0.01",
    "delete.retention.ms": "1",
}
Seen = dict[int, tuple[bytes | None, bytes | None, int]]  # key, value and time by offset


class Clients:
    """What a test does with a cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.admin = AdminClient({"bootstrap.servers": cluster.bootstrap})

    def topic(self, name: str, **configs: str) -> None:
        config = COMPACTED | {key.replace("_", "."): value for key, value in configs.items()}
        made = self.admin.create_topics([NewTopic(name, 1, 1, config=config)])
        made[name].result(PATIENCE_S)

    def producer(self, **configs: Any) -> Producer:
        return Producer({"bootstrap.servers": self.cluster.bootstrap, "linger.ms": 1} | configs)

    def end_segments(self, topic: str, model: dict[bytes, bytes]) -> None:
        """Write records that are so far apart that what was written before is not in the active segment."""
        producer = self.producer()
        for number in range(3):
            model[b"newest"] = b"%d" % number
            time.sleep(0.005)
            producer.produce(topic, key=b"newest", value=b"%d" % number)
            producer.flush(PATIENCE_S)

    def compact(self, *node_ids: int) -> dict[str, int]:
        """Upload and compact everything; return what the last broker counts."""
        time.sleep(0.3)  # three times the interval of uploads
        found: dict[str, int] = {}
        for node_id in node_ids or self.cluster.node_ids:
            number = self._ask(node_id, "POST")["round"]
            deadline_s = time.monotonic() + PATIENCE_S
            while (found := self._ask(node_id, "GET"))["rounds_finished"] < number:
                assert time.monotonic() < deadline_s
                time.sleep(0.02)
            assert found["failures"] == found["damaged_objects"] == 0
        return found

    def _ask(self, node_id: int, method: str) -> dict[str, int]:
        url = f"{self.cluster._nodes[node_id].address.admin_url}/compact"
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(
            url, None if method == "GET" else b"", headers, method=method
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            return dict(json.load(answer))

    def metrics(self, node_id: int = 1) -> dict[str, float]:
        url = f"{self.cluster._nodes[node_id].address.admin_url}/metrics"
        with urllib.request.urlopen(url, timeout=10) as page:
            lines = page.read().decode().splitlines()
        return {
            name: float(value)
            for name, _, value in (it.rpartition(" ") for it in lines if it[0] != "#")
        }

    def forget_memory(self, *node_ids: int) -> None:
        """Restart brokers: what they have in memory is as it was written."""
        for node_id in node_ids or self.cluster.node_ids:
            self.cluster.stop(node_id)
            self.cluster.start(node_id)
        self.admin = AdminClient({"bootstrap.servers": self.cluster.bootstrap})

    def read(self, topic: str, start: int | None = None) -> Seen:
        """Read all records from an offset, or the beginning."""
        consumer = Consumer(
            {
                "bootstrap.servers": self.cluster.bootstrap,
                "group.id": "reader",
                "enable.partition.eof": True,
                "fetch.wait.max.ms": 10,
                "auto.offset.reset": "error",
            }
        )
        low, high = consumer.get_watermark_offsets(TopicPartition(topic, 0), PATIENCE_S)
        consumer.assign([TopicPartition(topic, 0, low if start is None else start)])
        found: Seen = {}
        deadline_s = time.monotonic() + PATIENCE_S
        while True:
            assert time.monotonic() < deadline_s
            record = consumer.poll(1.0)
            if record is None:
                continue
            if record.error():
                assert record.error().name() == "_PARTITION_EOF", record.error()
                assert record.offset() == high
                break
            found[record.offset()] = (record.key(), record.value(), record.timestamp()[1])
        consumer.close()
        return found

    def offset(self, topic: str, spec: OffsetSpec) -> int:
        partition = TopicPartition(topic, 0)
        found = self.admin.list_offsets({partition: spec})
        return int(found[partition].result(PATIENCE_S).offset)


def values(seen: Seen) -> dict[bytes | None, bytes | None]:
    """The last value of each key."""
    return {key: value for _, (key, value, _) in sorted(seen.items())}


@pytest.fixture(scope="module")
def one() -> Iterator[Clients]:
    with Broker(settings=SETTINGS) as broker:
        yield Clients(broker)


def test_a_consumer_sees_the_last_value_of_each_key(one: Clients) -> None:
    before: dict[str, Seen] = {}
    models: dict[str, dict[bytes, bytes | None]] = {}
    producers: dict[str, Producer] = {}
    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        one.topic(codec, delete_retention_ms="3600000")
        configs = {"compression.type": codec, "enable.idempotence": True}
        producer = producers[codec] = one.producer(**configs)
        model = models[codec] = {}
        for number in range(2_000):
            key = b"key %d" % (number * number % 101)
            model[key] = None if number % 7 == 0 else b"value %d " % number * 5
            producer.produce(codec, key=key, value=model[key])
        producer.flush(PATIENCE_S)
        one.end_segments(codec, model)
        before[codec] = one.read(codec)
    statistics = one.compact()
    assert statistics["cleaned_streams"] >= len(models)
    assert statistics["cleaned_bytes_out"] * 4 < statistics["cleaned_bytes_in"]
    one.forget_memory()
    for codec, model in models.items():
        after = one.read(codec)
        assert {offset: before[codec][offset] for offset in after} == after
        assert values(after) == model
        assert len(after) <= len(model) + 3
        # An idempotent producer goes on where it was.
        producers[codec].produce(codec, key=b"one more", value=b"x")
        assert producers[codec].flush(PATIENCE_S) == 0
    assert values(one.read("zstd")) == models["zstd"] | {b"one more": b"x"}
    # A reader may begin anywhere, before a gap, in one and behind it.
    offsets = sorted(after)
    for start in (offsets[0] - 1, offsets[5] + 1, offsets[-1]):
        assert min(one.read("zstd", start)) == min(it for it in offsets if it >= start)


def test_tombstones_go_after_their_time(one: Clients) -> None:
    topic = "tombstones"
    one.topic(topic)
    producer = one.producer()
    model: dict[bytes, bytes] = {}
    for value in (b"1", None):
        producer.produce(topic, key=b"gone", value=value)
        producer.produce(topic, key=b"stays", value=b"2")
        producer.flush(PATIENCE_S)
    model[b"stays"] = b"2"
    one.end_segments(topic, model)
    one.compact()
    one.end_segments(topic, model)
    one.compact()
    one.forget_memory()
    assert values(one.read(topic)) == model


def test_a_reader_at_the_edge_of_memory_gets_no_old_value_back(one: Clients) -> None:
    topic = "edge"
    one.topic(topic)
    producer, model = one.producer(), {}
    for value in (b"old", None):
        producer.produce(topic, key=b"gone", value=value)
        producer.flush(PATIENCE_S)
    for _ in range(2):
        one.end_segments(topic, model)
        one.compact()
    # The tombstone has left the bucket. Now somebody begins to read.
    consumer = Consumer(
        {
            "bootstrap.servers": one.cluster.bootstrap,
            "group.id": "slow",
            "max.partition.fetch.bytes": 1,
            "fetch.message.max.bytes": 1,
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    record = consumer.poll(PATIENCE_S)
    consumer.close()
    seen = {record.offset(): (record.key(), record.value(), 0)}
    # Others write meanwhile, more than fits into memory.
    one.topic("filler", cleanup_policy="delete")
    filler = one.producer(**{"message.max.bytes": 900_000})
    for _ in range(80):
        filler.produce("filler", value=b"x" * 800_000)
        filler.poll(0)
    filler.flush(PATIENCE_S)
    one.compact()
    rest = one.read(topic, record.offset() + 1)
    found = values(seen | rest)
    assert {key: value for key, value in found.items() if value is not None} == model


def test_a_log_that_begins_within_a_batch_of_tombstones_is_cleaned(one: Clients) -> None:
    topic = "begins-within"
    one.topic(topic, cleanup_policy="compact,delete", retention_ms="-1")
    producer, model = one.producer(**{"linger.ms": 1_000}), {b"c": b"2"}
    for key, value in ((b"a", None), (b"b", None), (b"c", b"1")):
        producer.produce(topic, key=key, value=value)  # one batch
    producer.flush(PATIENCE_S)
    producer.produce(topic, key=b"c", value=b"2")
    producer.flush(PATIENCE_S)
    partition = TopicPartition(topic, 0, 1)
    one.admin.delete_records([partition])[partition].result(PATIENCE_S)
    for _ in range(2):
        one.end_segments(topic, model)
        one.compact()
    one.forget_memory()
    assert values(one.read(topic)) == model


def test_sizes_times_and_the_ends_of_the_log_follow(one: Clients) -> None:
    topic = "sizes"
    one.topic(topic)
    producer, model = one.producer(), {}
    base_ms = int(time.time() * 1000) - 100_000
    for number in range(3_000):
        key = b"%d" % (number % 10)
        model[key] = b"x" * 100
        producer.produce(topic, key=key, value=model[key], timestamp=base_ms + number)
    producer.flush(PATIENCE_S)
    one.end_segments(topic, model)
    before_bytes = log_bytes(one, topic)
    assert one.metrics()["headrace_cleaning_dirty_ratio"] == 1.0
    end = one.offset(topic, OffsetSpec.latest())
    one.compact()
    after_bytes = log_bytes(one, topic)
    assert 0 < after_bytes < before_bytes / 50
    time.sleep(1.1)  # a page is not rendered more often
    found = one.metrics()
    assert found["headrace_cleaning_dirty_ratio"] < 1.0
    assert found["headrace_cleaning_passes_total"] >= 1
    assert (
        found["headrace_cleaning_records_kept_total"] < found["headrace_cleaning_records_in_total"]
    )
    assert abs(found["headrace_cleaning_last_finished_timestamp_seconds"] - time.time()) < 60
    one.forget_memory()
    assert log_bytes(one, topic) == after_bytes  # its checkpoint has them
    seen = one.read(topic)
    assert one.offset(topic, OffsetSpec.earliest()) == 0
    assert one.offset(topic, OffsetSpec.latest()) == end
    assert one.offset(topic, OffsetSpec.max_timestamp()) == max(seen)
    first = min(seen)
    for time_ms in (base_ms, seen[first][2]):
        assert one.offset(topic, OffsetSpec.for_timestamp(time_ms)) == first
    assert one.offset(topic, OffsetSpec.for_timestamp(seen[first][2] + 1)) == first + 1


def test_deleted_records_stay_deleted_and_the_rest_is_cleaned(one: Clients) -> None:
    topic = "deleted"
    one.topic(topic, cleanup_policy="compact,delete", retention_ms="-1")
    producer, model = one.producer(), {}
    for number in range(600):
        key = b"%d" % (number // 6)
        model[key] = b"%d" % number
        producer.produce(topic, key=key, value=model[key])
    producer.flush(PATIENCE_S)
    one.end_segments(topic, model)
    one.compact()
    one.forget_memory()
    start = 303  # within a gap
    partition = TopicPartition(topic, 0, start)
    one.admin.delete_records([partition])[partition].result(PATIENCE_S)
    left = {key: value for key, value in model.items() if key == b"newest" or int(value) >= start}
    assert values(one.read(topic)) == left
    for number in range(600, 900):
        left[b"%d" % (number // 6)] = b"%d" % number
        producer.produce(topic, key=b"%d" % (number // 6), value=b"%d" % number)
    producer.flush(PATIENCE_S)
    one.end_segments(topic, left)
    one.compact()
    one.forget_memory()
    assert one.offset(topic, OffsetSpec.earliest()) == start
    after = one.read(topic)
    assert values(after) == left
    assert len(after) <= len(left) + 3
    # By size, everything but the last segments goes.
    alter(one, topic, "retention.bytes", "1")
    deadline_s = time.monotonic() + PATIENCE_S
    while one.offset(topic, OffsetSpec.earliest()) <= start:
        assert time.monotonic() < deadline_s
        time.sleep(0.1)


@pytest.mark.parametrize(
    "configs",
    [
        {"cleanup_policy": "compact,compact"},
        {"cleanup_policy": "shrink"},
        {"min_compaction_lag_ms": "10", "max_compaction_lag_ms": "9"},
        {"min_cleanable_dirty_ratio": "1.1"},
    ],
)
def test_settings_that_make_no_sense_are_refused(one: Clients, configs: dict[str, str]) -> None:
    with pytest.raises(KafkaException) as refused:
        one.topic("refused", **configs)
    assert refused.value.args[0].name() == "INVALID_CONFIG"


def test_settings_that_contradict_others_are_refused_later_too(one: Clients) -> None:
    one.topic("contradicted", min_compaction_lag_ms="10", cleanup_policy="")
    alter(one, "contradicted", "max.compaction.lag.ms", "10")
    with pytest.raises(KafkaException) as refused:
        alter(one, "contradicted", "max.compaction.lag.ms", "9")
    assert refused.value.args[0].name() == "INVALID_CONFIG"
    resource = ConfigResource(ResourceType.TOPIC, "contradicted")
    found = one.admin.describe_configs([resource])[resource].result(PATIENCE_S)
    assert found["max.compaction.lag.ms"].value == "10"
    assert found["cleanup.policy"].value == ""


def alter(clients: Clients, topic: str, name: str, value: str) -> None:
    resource = ConfigResource(ResourceType.TOPIC, topic)
    resource.add_incremental_config(
        ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
    )
    clients.admin.incremental_alter_configs([resource])[resource].result(PATIENCE_S)


def test_records_without_a_key_are_refused_and_go_if_they_were_there_before(one: Clients) -> None:
    topic = "keyless"
    one.topic(topic, cleanup_policy="delete")
    producer, model = one.producer(), {}
    producer.produce(topic, value=b"from before")
    producer.produce(topic, key=b"k", value=b"from before")
    producer.flush(PATIENCE_S)
    alter(one, topic, "cleanup.policy", "compact")
    errors = []
    deadline_s = time.monotonic() + PATIENCE_S
    while not errors:  # until the broker knows the setting
        assert time.monotonic() < deadline_s
        producer.produce(
            topic, value=b"x", on_delivery=lambda error, _: error and errors.append(error.name())
        )
        producer.flush(PATIENCE_S)
    assert errors == ["INVALID_RECORD"]
    one.end_segments(topic, model)
    one.compact()
    one.forget_memory()
    assert values(one.read(topic)) == model | {b"k": b"from before"}


def test_a_topic_of_no_policy_keeps_everything(one: Clients) -> None:
    topic = "kept"
    one.topic(topic, cleanup_policy="", retention_ms="1", retention_bytes="1")
    producer, model = one.producer(), {}
    for number in range(20):
        producer.produce(topic, key=b"k", value=b"%d" % number)
    producer.flush(PATIENCE_S)
    one.end_segments(topic, model)
    one.compact()
    time.sleep(1)  # two checks of retention
    one.forget_memory()
    assert len(one.read(topic)) == 23


def test_more_keys_than_there_is_memory_for_take_several_passes() -> None:
    memory = {
        "s3.stream.set.object.compaction.cache.size": "10485760",  # for 20,480 keys
        "s3.object.part.size": "5242880",
        "s3.object.block.size": "524288",
    }
    with Broker(settings=SETTINGS | memory) as broker:
        clients = Clients(broker)
        # Its index has one segment of a megabyte after the other: passes end within them.
        clients.topic("keys", segment_ms="86400000")
        producer, model = clients.producer(), {}
        for number in range(90_000):
            key = b"%d" % (number * 7919 % 45_000)
            model[key] = b"%d" % number
            producer.produce("keys", key=key, value=model[key] + b" of many" * 4)
            producer.poll(0)
            if number % 1_000 == 0:
                producer.flush(PATIENCE_S)
        producer.flush(PATIENCE_S)
        before_bytes = log_bytes(clients, "keys")
        clients.compact()
        assert clients.metrics()["headrace_cleaning_passes_total"] >= 3
        clients.forget_memory()
        after = clients.read("keys")
        assert {key: (value or b"").split()[0] for key, value in values(after).items()} == model
        assert len(after) < 75_000  # the newest megabyte has both of some keys
        assert log_bytes(clients, "keys") < before_bytes * 0.9


def test_cleaned_partitions_move_and_fail_over() -> None:
    """What one broker has cleaned another one serves and goes on to clean, dead or alive."""
    with Cluster(2, settings=SETTINGS) as cluster:
        clients = Clients(cluster)
        clients.topic("moved")
        producer = clients.producer(**{"enable.idempotence": True})
        model: dict[bytes, bytes] = {}
        for turn, stopped in enumerate((1, 2, None)):
            for number in range(1_000):
                key = b"%d" % (number % (20 + turn))
                model[key] = b"%d of %d" % (number, turn)
                producer.produce("moved", key=key, value=model[key])
            assert producer.flush(PATIENCE_S) == 0
            clients.end_segments("moved", model)
            clients.compact()
            if stopped is not None:
                cluster.stop(stopped)
                assert values(clients.read("moved")) == model
                cluster.start(stopped)
        clients.forget_memory()
        after = clients.read("moved")
        assert values(after) == model
        assert len(after) <= len(model) + 3


def log_bytes(clients: Clients, topic: str) -> int:
    from kafka import KafkaAdminClient

    admin = KafkaAdminClient(bootstrap_servers=clients.cluster.bootstrap)
    try:
        found = admin.describe_log_dirs()
    finally:
        admin.close()
    return sum(_sizes(found, topic))


def _sizes(found: Any, topic: str) -> Iterator[int]:
    if isinstance(found, dict):
        if found.get("name", found.get("topic")) == topic:
            for it in found["partitions"]:
                yield it["partition_size"] if "partition_size" in it else it["size"]
        for it in found.values():
            yield from _sizes(it, topic)
    elif isinstance(found, (list, tuple)):
        for it in found:
            yield from _sizes(it, topic)
