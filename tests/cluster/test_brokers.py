"""Brokers die, are cut off and come back under load: what they acknowledged is there.

See `test_controllers.py` for what `scene.settle` checks.
"""

import time

import pytest

from tests.cluster.cluster import SESSION_MS
from tests.cluster.scene import Scene

FENCED_WITHIN_S = SESSION_MS / 1000 + 15
SILENCE_S = 2.0

pytestmark = pytest.mark.timeout(180)


def test_a_killed_broker_comes_back_with_all_that_it_acknowledged(scene: Scene) -> None:
    for broker in scene.cluster.brokers:  # one of them coordinates each of the groups
        acknowledged = list(scene.records.acknowledged)
        broker.kill()
        others = [it for it in scene.cluster.brokers if it is not broker]
        served = [number for other in others for number in scene.records.led_by(other.node_id)]
        scene.cluster.wait_until(
            lambda before=acknowledged, served=served: all(
                scene.records.acknowledged[number] > before[number] + 1 for number in served
            ),
            "the other brokers go on",
        )
        scene.settle()


@pytest.mark.usefixtures("cut")
def test_a_broker_cut_off_from_the_controllers_acknowledges_nothing_once_its_lease_is_over(
    scene: Scene,
) -> None:
    broker, asked = scene.cluster.brokers[0], scene.cluster.brokers[1]
    scene.cluster.isolate(broker, scene.cluster.controllers)
    scene.cluster.wait_until(
        lambda: scene.cluster.fenced(asked).get(broker.node_id, False),
        "the broker is fenced",
        timeout_s=FENCED_WITHIN_S,
    )
    own = scene.records.led_by(broker.node_id)
    before = [scene.records.acknowledged[number] for number in own]
    time.sleep(SILENCE_S)
    assert [scene.records.acknowledged[number] for number in own] == before
    scene.settle()


@pytest.mark.usefixtures("cut")
def test_a_broker_cut_off_from_the_leading_controller_comes_back(scene: Scene) -> None:
    broker = scene.cluster.brokers[2]
    scene.cluster.isolate(broker, [scene.cluster.leader()])
    scene.cluster.wait_until(
        lambda: scene.cluster.fenced(scene.cluster.brokers[0]).get(broker.node_id, False),
        "the broker is fenced",
        timeout_s=FENCED_WITHIN_S,
    )
    scene.settle()


def test_everything_is_restarted_one_after_the_other(scene: Scene) -> None:
    for node in scene.cluster.nodes:
        node.stop()
        node.begin()
        scene.cluster.heal()
    scene.settle()
