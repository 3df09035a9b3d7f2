"""A broker dies, and nobody waits for it: others drain its log and serve its partitions.

Of the three brokers one or two have their log in a file that the others can open, the others in the bucket.
`scene.settle` checks what it does after every fault, see `test_controllers.py`; `test_outcome.py` reads everything.
No client is ever restarted.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.cluster.bucket_proxy import Faults
from tests.cluster.cluster import S3_NODE, Wals
from tests.cluster.node import Node
from tests.cluster.scene import Scene

SERVES_AGAIN = "the broker that was fenced serves again"
HAS_A_SECOND = "another process has this node id; waiting for the end of its session"
FAULTS = Faults(failed=0.15, unheard=0.05, cut=0.1, slow=0.1)

pytestmark = pytest.mark.timeout(300)


@contextmanager
def silent_bucket(scene: Scene) -> Iterator[None]:
    """While the bucket does not answer, no drain comes to its end."""
    scene.cluster.s3.pause()
    try:
        yield
    finally:
        scene.cluster.s3.resume()


def is_ready_at_last(node: Node) -> bool:
    """Start a process again that has ended, as a supervisor does."""
    if not node.is_running:
        node.begin()
    return node.is_ready()


@pytest.mark.timeout(600)
def test_partitions_of_a_broker_that_stays_away_are_served_by_others(scene: Scene) -> None:
    left = list(scene.cluster.brokers)
    while left:
        broker = scene.busiest(left)
        left.remove(broker)
        assert scene.records.led_by(broker), "what the one before lost went to this one as well"
        broker.kill()
        scene.check_others_serve(broker)
        read = scene.records.read_from_the_beginning()
        print(f"{read:,} records are read from the beginning")
        scene.settle()
        assert not scene.records.led_by(broker), "what has moved stays"


@pytest.mark.usefixtures("cut")
def test_an_owner_that_is_back_in_the_middle_of_its_drain_keeps_its_partitions(
    scene: Scene,
) -> None:
    owner = scene.busiest()
    led = scene.records.led_by(owner)
    for other in scene.cluster.brokers:
        scene.cluster.network.cut(other.name, S3_NODE)
    if scene.cluster.wal_medium(owner) is Wals.FILES:
        scene.records.wait_until_acknowledged(led)  # so that something is nowhere but in its log
    owner.kill()
    scene.logs.wait_for_drainer(owner)
    scene.cluster.network.mend(owner.name, S3_NODE)
    owner.begin()
    owner.wait_ready()
    scene.settle()
    assert scene.records.led_by(owner) == led


def test_a_drainer_that_is_killed_in_the_middle_is_followed_by_another(scene: Scene) -> None:
    owner = scene.busiest()
    with silent_bucket(scene):
        owner.kill()
        drainer = scene.logs.wait_for_drainer(owner)
        drainer.kill()
    scene.double_faults += 1
    scene.check_others_serve(owner, drainer)
    scene.settle()


def test_a_drainer_that_is_stopped_in_the_middle_does_no_harm_when_it_goes_on(
    scene: Scene,
) -> None:
    owner = scene.busiest()
    with silent_bucket(scene):
        owner.kill()
        drainer = scene.logs.wait_for_drainer(owner)
        drainer.pause()
    scene.double_faults += 1
    scene.check_others_serve(owner, drainer)
    drainer.resume()
    scene.cluster.wait_until(lambda: drainer.has_logged(SERVES_AGAIN), "it serves again")
    scene.settle()


def test_a_bucket_that_fails_in_the_middle_of_a_drain_costs_time_only(scene: Scene) -> None:
    """It is silent, ends, and then gives errors and half of answers, until all is served."""
    cluster, owner = scene.cluster, scene.busiest()
    with silent_bucket(scene):
        owner.kill()
        scene.logs.wait_for_drainer(owner)
        cluster.s3.kill()
        cluster.s3.start()
        cluster.fail_bucket(FAULTS)
    scene.check_others_serve(owner)
    before = cluster.bucket_faults.total()
    cluster.fail_bucket(Faults())
    assert cluster.bucket_faults.total() > before, "the bucket did not fail"
    print(f"the bucket failed: {dict(cluster.bucket_faults)}")
    scene.settle()


@pytest.mark.usefixtures("small_disks")
def test_a_broker_and_the_leading_controller_at_once(scene: Scene) -> None:
    owner, leader = scene.busiest(), scene.cluster.leader()
    scene.cluster.disks[leader.name].fill()
    owner.kill()
    scene.double_faults += 1
    scene.check_others_serve(owner)
    assert scene.cluster.leader() is not leader
    scene.settle()


def test_a_second_process_with_a_brokers_id_takes_its_place_once_the_firsts_session_is_over(
    scene: Scene,
) -> None:
    """Others drain the log, or the second process recovers it: what is in a bucket has no lock that the first holds."""
    broker = scene.busiest()
    twin = scene.cluster.add_twin(broker)
    broker.pause()
    twin.begin()  # it waits for the end of the other's session, or ends: nothing of a living one is taken
    scene.check_others_serve()
    scene.cluster.wait_until(lambda: is_ready_at_last(twin), "the second process serves")
    broker.resume()
    # Its role is over, and the next one takes nothing from the process that has its place now: it waits for its
    # session, or ends, as the log in a file that this node used last is another one.
    scene.cluster.wait_until(
        lambda: broker.has_logged(HAS_A_SECOND) or not broker.is_running, "the first gives way"
    )
    scene.wait_for_progress()
    scene.settle()  # which stops the second one
