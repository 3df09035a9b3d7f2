"""Partitions move between brokers under load, by Kafka's tools and ours: no client is refused, and nothing is lost."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from headrace.broker.partition.internal_topics import OFFSETS_TOPIC
from tests.cluster.cluster import Cluster
from tests.cluster.python_load import TOPIC as PYTHON_TOPIC
from tests.cluster.scene import Scene
from tests.environment.kafka import run_tool

ROUNDS = 2
REASSIGN = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
ELECT = "org.apache.kafka.tools.LeaderElectionCommand"

pytestmark = pytest.mark.timeout(300)


def rotated(cluster: Cluster, topics: list[str]) -> dict[tuple[str, int], int]:
    """Where each partition of some topics goes: from its broker to the next one."""
    ids = sorted(it.node_id for it in cluster.brokers)
    return {
        (topic, partition): ids[(ids.index(leader) + 1) % len(ids)]
        for topic in topics
        for partition, leader in enumerate(cluster.leaders(topic))
    }


def plan_of(targets: dict[tuple[str, int], int], directory: Path) -> str:
    """Write what the tool is to do; return the file's name."""
    partitions = [
        {"topic": topic, "partition": partition, "replicas": [target]}
        for (topic, partition), target in targets.items()
    ]
    path = directory / "plan.json"
    path.write_text(json.dumps({"version": 1, "partitions": partitions}))
    return str(path)


def test_partitions_move_under_load_and_nobody_notices(scene: Scene, tmp_path: Path) -> None:
    """All partitions of the load and of its groups, twice around."""
    cluster = scene.cluster
    topics = [scene.records.topic, PYTHON_TOPIC, OFFSETS_TOPIC]
    for _ in range(ROUNDS):
        targets = rotated(cluster, topics)
        plan = plan_of(targets, tmp_path)
        server = ("--bootstrap-server", cluster.bootstrap, "--reassignment-json-file", plan)
        told = run_tool(REASSIGN, *server, "--execute").stdout
        assert f"Successfully started partition reassignment{'s'[: len(targets) > 1]}" in told

        def are_led(wanted: dict[tuple[str, int], int] = targets) -> bool:
            return all(
                cluster.leaders(topic)[partition] == target
                for (topic, partition), target in wanted.items()
            )

        cluster.wait_until(are_led, "all partitions have moved")
        told = run_tool(REASSIGN, *server, "--verify").stdout
        assert told.count("is completed") == len(targets)
        scene.wait_for_progress()
        scene.records.check_ends()
        scene.seen.check()
    scene.settle()


def test_one_partition_moves_by_our_command_and_a_move_that_is_not_there_cannot_be_cancelled(
    scene: Scene, tmp_path: Path
) -> None:
    cluster, topic = scene.cluster, scene.records.topic
    ((_, partition), target), *_ = rotated(cluster, [topic]).items()
    command = [sys.executable, "-m", "headrace.broker", "partition", "move"]
    arguments = [topic, str(partition), "--to", str(target), "-b", cluster.bootstrap, "-o", "json"]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    assert told["result"] == "moved"
    print(f"\na partition moved after {told['ms']} ms", flush=True)
    assert cluster.leaders(topic)[partition] == target
    plan = plan_of({(topic, partition): target}, tmp_path)
    server = ("--bootstrap-server", cluster.bootstrap, "--reassignment-json-file", plan)
    assert "None of the specified partition reassignments are active" in (
        run_tool(REASSIGN, *server, "--cancel").stdout
    )
    scene.settle()


def test_a_broker_that_is_drained_gets_no_partitions_until_that_is_taken_back(scene: Scene) -> None:
    cluster = scene.cluster
    drained = scene.busiest()
    command = [sys.executable, "-m", "headrace.broker", "cluster", "drain", str(drained.node_id)]
    server = ["-b", cluster.bootstrap, "-o", "json"]
    done = subprocess.run([*command, *server], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["result"] == "drained"
    create = [sys.executable, "-m", "headrace.broker", "topic", "create"]

    def led(topic: str) -> int:
        made = [*create, topic, "--partitions", "6", "-b", cluster.bootstrap]
        subprocess.run(made, capture_output=True, check=True)
        cluster.wait_until(lambda: len(cluster.leaders(topic)) == 6, f"{topic} is there")
        return cluster.leaders(topic).count(drained.node_id)

    assert led("beside-it") == 0
    assert not scene.records.led_by(drained)
    subprocess.run([*command, "--undo", *server], capture_output=True, check=True)
    assert led("with-it") == 2
    scene.settle()


def test_no_leader_has_to_be_elected(scene: Scene) -> None:
    server = ("--bootstrap-server", scene.cluster.bootstrap)
    everywhere = ("--election-type", "preferred", "--all-topic-partitions")
    told = run_tool(ELECT, *server, *everywhere)
    assert "Error completing leader election" not in told.stdout + told.stderr
    one = ("--election-type", "unclean", "--topic", scene.records.topic, "--partition", "0")
    told = run_tool(ELECT, *server, *one)
    assert f"Valid replica already elected for partitions {scene.records.topic}-0" in told.stdout
