"""The quorum loses leaders, followers, links and disks under load, and nobody is told but to try again.

`scene.settle` ends a fault, and checks: every partition takes and gives records again, what was acknowledged is
there, clients saw nothing but errors that a repetition answers. The histories are judged by `test_outcome.py`.
"""

import time

import pytest

from tests.cluster.clock import now_ns
from tests.cluster.cluster import Cluster
from tests.cluster.node import Node
from tests.cluster.scene import Scene

WRITTEN_WITHIN_MS = 10_000  # loose, as the machine may be; `make bench-cluster` measures
UNDISTURBED_MS = 2_000
LEADER_LOSSES = 3
SILENCE_S = 2.0  # several election timeouts

pytestmark = pytest.mark.timeout(180)


def followers(cluster: Cluster) -> list[Node]:
    leader = cluster.leader()
    return [node for node in cluster.controllers if node is not leader]


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
    scene.cluster.isolate(leader, followers(scene.cluster), outward_only=True)
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
