"""The leading controller is cut from brokers, and all else works: others pass requests on, and nobody notices."""

import time

import pytest

from tests.cluster.cluster import SESSION_MS
from tests.cluster.scene import Scene
from tests.cluster.wire_calls import create_topic

SESSION_S = SESSION_MS / 1000
RELAYED = "headrace_controller_requests_relayed_total"
PASSED_ON = "headrace_quorum_relayed_requests_total"

pytestmark = [pytest.mark.timeout(300), pytest.mark.usefixtures("cut")]


@pytest.mark.parametrize(
    ("to_leader", "from_leader", "sessions"),
    [(True, False, 3.0), (False, True, 1.5), (True, True, 1.5)],
    ids=["not heard", "hears nothing", "both"],
)
def test_a_leader_that_is_cut_from_all_brokers(
    scene: Scene, to_leader: bool, from_leader: bool, sessions: float
) -> None:
    cluster, records = scene.cluster, scene.records
    leader = cluster.leader()
    others = [it for it in cluster.controllers if it is not leader]
    processes = {it.name: it.process.process_id for it in cluster.nodes}
    relayed = {it.name: it.metrics()[RELAYED] for it in cluster.brokers}
    passed_on = sum(it.metrics()[PASSED_ON] for it in others)
    earlier, records.longest_gap_ns = records.longest_gap_ns, [0] * records.partitions
    cluster.isolate(leader, cluster.brokers, outward=from_leader, inward=to_leader)
    time.sleep(sessions * SESSION_S)

    # Not heartbeats alone get through.
    scene.wait_for_progress()
    with cluster.connect(cluster.brokers[0]) as connection:
        assert create_topic(connection, f"made-{to_leader}-{from_leader}", brokers=[1])[0] == 0
    assert all(it.metrics()[RELAYED] > relayed[it.name] for it in cluster.brokers)
    assert sum(it.metrics()[PASSED_ON] for it in others) > passed_on
    assert cluster.leader() is leader, "only brokers were cut from it"
    assert not any(cluster.fenced(cluster.brokers[0]).values())

    cluster.network.heal()
    settled = {it.name: it.metrics()[RELAYED] for it in cluster.brokers}
    scene.settle()
    assert {it.name: it.process.process_id for it in cluster.nodes} == processes, "one has ended"
    gap_s = max(records.longest_gap_ns) / 1e9
    more = {name: count - relayed[name] for name, count in settled.items()}
    print(f"\nno acknowledgement of a partition for {gap_s:.2f} s at most; passed on: {more}")
    assert gap_s < SESSION_S + 3
    records.longest_gap_ns = list(map(max, earlier, records.longest_gap_ns))
