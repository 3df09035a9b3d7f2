"""Brokers die, are cut off and come back under load: what they acknowledged is there.

See `test_controllers.py` for what `scene.settle` checks.
"""

import pytest

from tests.cluster.cluster import SESSION_MS
from tests.cluster.raw_writer import RawWriter
from tests.cluster.scene import Scene
from tests.cluster.wire_calls import create_topic

FENCED_WITHIN_S = SESSION_MS / 1000 + 15

pytestmark = pytest.mark.timeout(300)


def test_a_killed_broker_comes_back_with_all_that_it_acknowledged(scene: Scene) -> None:
    for broker in scene.cluster.brokers:  # one of them coordinates each of the groups
        led = scene.records.led_by(broker)
        broker.kill()
        others = [it for it in range(scene.records.partitions) if it not in led]
        scene.records.wait_until_acknowledged(others)
        scene.settle()


@pytest.mark.usefixtures("cut")
@pytest.mark.parametrize("way", ["outward", "inward"])
def test_a_broker_that_is_not_heard_or_hears_nothing_is_followed_by_others(
    scene: Scene, way: str
) -> None:
    """The links from it to all controllers are cut, or those to it."""
    cluster, topic = scene.cluster, f"cut-{way}"
    broker = scene.busiest()
    asked = next(it for it in cluster.brokers if it is not broker)
    with cluster.connect(asked) as connection:
        assert create_topic(connection, topic, brokers=[broker.node_id])[0] == 0
    writer = RawWriter(cluster.connect(broker, timeout_s=60), topic)
    writer.start()
    cluster.wait_until(lambda: len(writer.acknowledged) > 20, "the writer is under way")

    cluster.isolate(broker, cluster.controllers, outward=way == "outward", inward=way == "inward")
    cluster.wait_until(
        lambda: cluster.fenced(asked).get(broker.node_id, False),
        "the broker is fenced",
        timeout_s=FENCED_WITHIN_S,
    )
    before = len(writer.acknowledged)
    scene.check_others_serve(broker)
    assert len(writer.acknowledged) == before, "acknowledged when its lease was over"
    scene.settle()


def test_everything_is_restarted_one_after_the_other(scene: Scene) -> None:
    for node in scene.cluster.nodes:
        node.stop()
        node.begin()
        scene.cluster.heal()
    scene.settle()
