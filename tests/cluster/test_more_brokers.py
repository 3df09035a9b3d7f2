"""Two brokers more, and three of five die at once. Runs after the scenarios of three, which it would slow down."""

import pytest

from tests.cluster.cluster import WAL_DISK, Cluster, Wals
from tests.cluster.node import Node
from tests.cluster.record_load import RecordLoad
from tests.cluster.scene import Scene

BROKERS = 5
LOST = 3
ENDS_WITHIN_S = 60

pytestmark = pytest.mark.timeout(300)


def with_log_in_file(cluster: Cluster, brokers: list[Node]) -> Node:
    return next(it for it in brokers if cluster.wal_medium(it) is Wals.FILES)


@pytest.mark.usefixtures("small_disks")
def test_a_full_disk_of_the_logs_refuses_new_brokers_and_stops_no_other(scene: Scene) -> None:
    """A log has all of its space from the start, and a broker writes nothing else."""
    cluster = scene.cluster
    known = with_log_in_file(cluster, cluster.brokers)
    cluster.disks[WAL_DISK].fill()
    new = with_log_in_file(cluster, [cluster.add_broker() for _ in range(2)])
    new.begin()
    assert new.process.wait_for_end(timeout_s=ENDS_WITHIN_S) != 0
    assert "No space left on device" in new.log_tail()
    known.kill()
    known.begin()
    known.wait_ready()
    scene.wait_for_progress()
    scene.settle()  # there is space, and the new ones start


def test_the_partitions_of_three_brokers_of_five_are_served_by_the_other_two(scene: Scene) -> None:
    cluster = scene.cluster
    while len(cluster.brokers) < BROKERS:
        cluster.add_broker()
    cluster.heal()
    load = RecordLoad(cluster, scene.seen, 5, topic="more-records")
    load.start()
    load.wait_for_progress()
    lost = sorted(cluster.brokers, key=lambda it: -len(scene.records.led_by(it)))[:LOST]
    for broker in lost:
        broker.kill()
    scene.double_faults += 1
    scene.check_others_serve(*lost)
    load.wait_for_progress()
    scene.settle()
    load.stop()
    load.check_everything()
