"""Brokers of a cluster are evened out while a client of Kafka writes, and none of its records is lost or doubled."""

import asyncio
import threading
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from headrace.broker.node.node import NodeAddress
from headrace.config.node import NodeConfig, TelemetryConfig
from tests.integration.test_cluster_nodes import Scene, in_scene

TOPIC = "orders"
PARTITIONS = 6
NODES = (1, 2, 3)
VALUE_BYTES = 2_000
# Loads count that are no older than a fifth of a window.
SETTINGS = {
    "balance": True,
    "balance_interval_ms": 100,
    "balance_window_ms": 4_000,
    "broker_heartbeat_interval_ms": 200,
}


class Load:
    """An idempotent producer in a thread, which writes numbers to all partitions in turn."""

    def __init__(self, bootstrap: str) -> None:
        self.acknowledged: defaultdict[int, list[int]] = defaultdict(list)  # by partition
        self.failures: list[str] = []
        self._producer = Producer(
            {"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 2}
        )
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def finish(self) -> None:
        """Stop, once everything that was sent is answered."""
        self._stop.set()
        self._thread.join()
        assert self._producer.flush(20) == 0

    def _run(self) -> None:
        number = 0
        while not self._stop.wait(0.01):
            for partition in range(PARTITIONS):
                value = b"%d".ljust(VALUE_BYTES) % number
                self._producer.produce(
                    TOPIC, value, partition=partition, on_delivery=self._delivered
                )
                number += 1
            self._producer.poll(0)

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.failures.append(error.str())
            return
        self.acknowledged[message.partition() or 0].append(int(message.value() or b"-1"))


def create_topic(bootstrap: str) -> None:
    """All of its partitions are led by broker 1."""
    assignments = [[1] for _ in range(PARTITIONS)]
    topic = NewTopic(TOPIC, num_partitions=PARTITIONS, replica_assignment=assignments)
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([topic])[TOPIC].result(timeout=20)


def led(bootstrap: str) -> Counter[int]:
    """How many partitions each broker leads."""
    found = AdminClient({"bootstrap.servers": bootstrap}).list_topics(TOPIC, timeout=20)
    return Counter(it.leader for it in found.topics[TOPIC].partitions.values())


def read_all(bootstrap: str, ends: dict[int, int]) -> dict[int, list[int]]:
    """The numbers of each partition, in their order."""
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "reader", "enable.auto.commit": False}
    )
    found: dict[int, list[int]] = {it: [] for it in ends}
    try:
        consumer.assign([TopicPartition(TOPIC, it, 0) for it in ends])
        while any(len(found[it]) < end for it, end in ends.items()):
            message = consumer.poll(10)
            assert message is not None, "no more records come"
            assert message.error() is None
            found[message.partition() or 0].append(int(message.value() or b"-1"))
        for it, end in ends.items():
            assert consumer.get_watermark_offsets(TopicPartition(TOPIC, it)) == (0, end)
    finally:
        consumer.close()
    return found


def with_admin(settings: NodeConfig) -> NodeConfig:
    return replace(settings, telemetry=TelemetryConfig(admin_port=0))


async def described(node: NodeAddress) -> Any:
    async with aiohttp.ClientSession() as session, session.get(f"{node.admin_url}/balance") as told:
        assert told.status == 200, await told.text()
        return await told.json()


def bootstrap_of(node: NodeAddress) -> str:
    assert node.broker is not None
    return f"127.0.0.1:{node.broker.kafka_port}"


def test_partitions_of_a_busy_broker_spread_and_no_record_is_lost(tmp_path: Path) -> None:
    async def test(scene: Scene) -> None:
        await scene.start(*(scene.controller(it.node_id) for it in scene.voters))
        one, *_ = await scene.start(*(with_admin(scene.broker(it)) for it in NODES))
        bootstrap = bootstrap_of(one)
        await asyncio.to_thread(create_topic, bootstrap)
        assert await asyncio.to_thread(led, bootstrap) == {1: PARTITIONS}
        load = Load(bootstrap)
        load.start()
        spread: Counter[int] = Counter()
        while set(spread) != set(NODES) or max(spread.values()) > 3:
            spread = await asyncio.to_thread(led, bootstrap)
            await asyncio.sleep(0.1)
        before = {it: len(numbers) for it, numbers in load.acknowledged.items()}
        while any(len(load.acknowledged[it]) < before[it] + 10 for it in before):
            await asyncio.sleep(0.05)
        await asyncio.to_thread(load.finish)

        assert not load.failures
        ends = {it: len(numbers) for it, numbers in load.acknowledged.items()}
        assert len(ends) == PARTITIONS
        assert await asyncio.to_thread(read_all, bootstrap, ends) == load.acknowledged
        decisions = (await described(one))["decisions"]
        moved = [it for it in decisions if it["outcome"] == "moved"]
        assert len(moved) >= PARTITIONS - spread[1]
        assert all("MiB/s" in it["reason"] for it in moved)
        print(f"{sum(ends.values())} records, led {dict(spread)}, {len(moved)} moves")

    in_scene(test, tmp_path, **SETTINGS)


def test_a_broker_that_is_switched_off_tells_no_loads(tmp_path: Path) -> None:
    """The controllers move nothing then, and say why."""

    async def test(scene: Scene) -> None:
        await scene.start(*(scene.controller(it.node_id) for it in scene.voters))
        brokers = [with_admin(scene.broker(it)) for it in (1, 2)]
        one, _ = await scene.start(
            *(replace(it, metadata=replace(it.metadata, balance=False)) for it in brokers)
        )
        await asyncio.to_thread(create_topic, bootstrap_of(one))
        while "brokers [1, 2] have not reported" not in str(
            (found := await described(one))["waits_for"]
        ):
            assert not found["decisions"]
            await asyncio.sleep(0.1)
        assert await asyncio.to_thread(led, bootstrap_of(one)) == {1: PARTITIONS}

    in_scene(test, tmp_path, **{**SETTINGS, "balance_window_ms": 1_000})
