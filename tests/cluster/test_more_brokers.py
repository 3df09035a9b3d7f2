"""Three brokers of five die at once. Runs after the scenarios of three, which it would slow down."""

import pytest

from tests.cluster.record_load import RecordLoad
from tests.cluster.scene import Scene

LOST = 3

pytestmark = pytest.mark.timeout(300)


def test_the_partitions_of_three_brokers_of_five_are_served_by_the_other_two(scene: Scene) -> None:
    cluster = scene.cluster
    for broker in [cluster.add_broker() for _ in range(2)]:
        broker.begin()
        broker.wait_ready()
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
