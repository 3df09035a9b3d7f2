"""The quorum loses leaders, followers, links and disks under load, and nobody is told but to try again.

`scene.settle` ends a fault, and checks: every partition takes and gives records again, what was acknowledged is
there, clients saw nothing but errors that a repetition answers. The histories are judged by `test_outcome.py`.
"""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cluster.clock import now_ns
from tests.cluster.cluster import CONTROLLER_PORT, Cluster
from tests.cluster.node import Node
from tests.cluster.scene import Scene
from tests.environment.paths import ROOT

WRITTEN_WITHIN_MS = 10_000  # loose, as the machine may be; `make bench-cluster` measures
UNDISTURBED_MS = 2_000
LEADER_LOSSES = 3
SILENCE_S = 2.0  # several election timeouts

pytestmark = pytest.mark.timeout(180)


def followers(cluster: Cluster) -> list[Node]:
    leader = cluster.leader()
    return [node for node in cluster.controllers if node is not leader]


def metadata_directory(controller: Node) -> Path:
    return Path(controller.settings["metadata.log.dir"])


def directory_id(controller: Node) -> str:
    """The id that the controller has given its directory."""
    lines = (metadata_directory(controller) / "meta.properties").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)["directory.id"]


def headrace(cluster: Cluster, *arguments: str) -> None:
    """Run `headrace cluster quorum`."""
    command = [sys.executable, "-m", "headrace.broker", "cluster", "quorum", *arguments]
    command += ["-b", cluster.bootstrap]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, f"{arguments}: {ran.stdout}{ran.stderr}"


def ms_until_another_leads(scene: Scene, leader: Node, since_ns: int, what: str) -> float:
    took_ms = scene.probe.ns_until_written(since_ns) / 1e6
    assert scene.cluster.leader() is not leader
    print(f"\n{what}: written again after {took_ms:.0f} ms")
    return took_ms


def test_a_killed_leader_is_replaced(scene: Scene) -> None:
    for _ in range(LEADER_LOSSES):
        leader = scene.cluster.leader()
        since_ns = now_ns()
        leader.kill()
        took_ms = ms_until_another_leads(scene, leader, since_ns, "killed leader")
        assert took_ms < WRITTEN_WITHIN_MS
        scene.settle()


def test_a_leader_that_was_stopped_is_replaced_and_follows_when_it_goes_on(scene: Scene) -> None:
    leader = scene.cluster.leader()
    since_ns = now_ns()
    leader.pause()
    took_ms = ms_until_another_leads(scene, leader, since_ns, "stopped leader")
    replaced_by = scene.cluster.leader()
    term = scene.cluster.quorum().term
    leader.resume()
    scene.settle()
    quorum = scene.cluster.quorum()
    assert quorum.leader == replaced_by.node_id, "the one that comes back does not disturb"
    assert quorum.term == term
    assert took_ms < WRITTEN_WITHIN_MS


def test_followers_that_die_stop_nothing(scene: Scene) -> None:
    leader, term = scene.cluster.leader(), scene.cluster.quorum().term
    for follower in followers(scene.cluster):
        follower.kill()
        assert scene.probe.ns_until_written(now_ns()) / 1e6 < UNDISTURBED_MS
        scene.settle()
    assert (scene.cluster.leader(), scene.cluster.quorum().term) == (leader, term)


def test_without_a_majority_nothing_is_written_until_it_is_back(scene: Scene) -> None:
    paused = followers(scene.cluster)
    for follower in paused:
        follower.pause()
    with pytest.raises(AssertionError, match="no metadata was written"):
        scene.probe.ns_until_written(now_ns(), within_s=2)
    for follower in paused:
        follower.resume()
    scene.settle()


@pytest.mark.usefixtures("cut")
def test_a_leader_cut_off_from_controllers_is_replaced(scene: Scene) -> None:
    leader = scene.cluster.leader()
    since_ns = now_ns()
    scene.cluster.isolate(leader, followers(scene.cluster))
    took_ms = ms_until_another_leads(scene, leader, since_ns, "leader cut off")
    assert took_ms < WRITTEN_WITHIN_MS
    scene.settle()


@pytest.mark.usefixtures("cut")
def test_a_leader_that_hears_and_is_not_heard_is_replaced(scene: Scene) -> None:
    leader = scene.cluster.leader()
    since_ns = now_ns()
    scene.cluster.isolate(leader, followers(scene.cluster), inward=False)
    took_ms = ms_until_another_leads(scene, leader, since_ns, "leader not heard")
    assert took_ms < WRITTEN_WITHIN_MS
    scene.settle()


@pytest.mark.usefixtures("cut")
def test_a_follower_that_does_not_hear_the_leader_disturbs_nobody(scene: Scene) -> None:
    leader, term = scene.cluster.leader(), scene.cluster.quorum().term
    deaf, other = followers(scene.cluster)
    scene.cluster.network.cut(leader.name, deaf.name)
    deadline = time.monotonic() + SILENCE_S
    while time.monotonic() < deadline:  # several election timeouts
        assert scene.probe.ns_until_written(now_ns()) / 1e6 < UNDISTURBED_MS
    quorum = scene.cluster.quorum()
    assert (quorum.leader, quorum.term) == (leader.node_id, term), "no vote while there is a leader"
    scene.settle()
    assert other.is_running


def test_a_controller_that_lost_its_disk_counts_for_nothing_until_it_is_added_again(
    scene: Scene,
) -> None:
    """By the commands of docs/operations.md."""
    wiped, other = followers(scene.cluster)
    before = directory_id(wiped)
    wiped.kill()
    for path in metadata_directory(wiped).iterdir():
        path.unlink()
    wiped.begin()
    scene.cluster.wait_until(
        lambda: (metadata_directory(wiped) / "meta.properties").exists(), "it has a directory"
    )
    after = directory_id(wiped)
    assert after != before
    other.pause()
    with pytest.raises(AssertionError, match="no metadata was written"):
        scene.probe.ns_until_written(now_ns(), within_s=2)
    other.resume()
    assert scene.probe.ns_until_written(now_ns()) / 1e6 < WRITTEN_WITHIN_MS

    headrace(scene.cluster, "remove", str(wiped.node_id), "--yes")
    address = f"{wiped.node_id}@{wiped.address}:{CONTROLLER_PORT}"
    headrace(scene.cluster, "add", address, "--directory-id", after)
    scene.settle()
    other.pause()
    assert scene.probe.ns_until_written(now_ns()) / 1e6 < WRITTEN_WITHIN_MS, "it counts again"
    other.resume()
    scene.settle()


@pytest.mark.usefixtures("small_disks")
def test_a_full_disk_of_the_leader_stops_nothing(scene: Scene) -> None:
    leader = scene.cluster.leader()
    scene.cluster.disks[leader.name].fill()
    # The next write may still fit into the file's last block.
    scene.cluster.wait_until(
        lambda: scene.cluster.leader() is not leader, "another leads", timeout_s=15
    )
    assert scene.probe.ns_until_written(now_ns()) / 1e6 < WRITTEN_WITHIN_MS
    scene.settle()
