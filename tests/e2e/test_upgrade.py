"""A cluster of the last release becomes one of this tree, node by node and under load."""

import json
from pathlib import Path

import pytest

from headrace.metadata.levels import NEWEST, OLDEST
from tests.e2e.mixed_cluster import BROKERS, MixedCluster, wait_until
from tests.e2e.steady_load import SteadyLoad

pytestmark = pytest.mark.timeout(240)
REFUSED = (
    f"this node reads headrace.metadata.version 1..2, the cluster is at {NEWEST}: upgrade this node"
)


def upgrade(cluster: MixedCluster) -> None:
    """Raise the level, for all brokers to see."""
    tried = cluster.command("upgrade", "--dry-run")
    assert json.loads(tried.stdout)["result"] == "possible", tried.stderr
    assert cluster.level() == OLDEST < NEWEST
    told = cluster.command("upgrade")
    assert json.loads(told.stdout)["result"] == "upgraded", told.stderr
    assert "cannot be lowered" in cluster.refusal(OLDEST, broker=2)


def test_controllers_first(tmp_path: Path) -> None:
    with MixedCluster(tmp_path, controllers=3) as cluster:
        with SteadyLoad(cluster.bootstrap) as load:
            load.wait_for_progress()
            cluster.restart(cluster.controllers)
            load.wait_for_progress()
            told = cluster.command("upgrade")
            assert told.returncode != 0
            assert "of an earlier release" in told.stderr
            cluster.restart(BROKERS[:1])
            assert "broker 2 reads 1..2: upgrade it" in cluster.refusal(NEWEST, broker=1)
            cluster.restart(BROKERS[1:])
            upgrade(cluster)
            cluster.restart(cluster.controllers[:1])
            load.wait_for_progress()
        assert load.check_all() > 100


def test_brokers_first_and_a_node_of_the_last_release_is_refused_in_the_end(tmp_path: Path) -> None:
    with MixedCluster(tmp_path, controllers=1) as cluster:
        (controller,) = (cluster.nodes[it] for it in cluster.controllers)
        with SteadyLoad(cluster.bootstrap) as load:
            load.wait_for_progress()
            cluster.restart(BROKERS)
            load.wait_for_progress()
            assert "the leading controller reads 1..2" in cluster.refusal(NEWEST, broker=1)
            cluster.nodes[1].replace(old=True)  # there is still a way back
            cluster.restart([1, *cluster.controllers])
            upgrade(cluster)
            load.wait_for_progress()
        assert load.check_all() > 100

        broker = cluster.nodes[BROKERS[1]]
        broker.stop()
        broker.begin(old=True)
        wait_until(lambda: REFUSED in broker.log.read_text(), REFUSED, [broker.log])
        controller.stop()
        controller.begin(old=True)
        assert controller.process.wait_for_end(timeout_s=60) != 0
        assert "the node has stopped" in controller.log.read_text()
