"""After all scenarios: every record, every answer about metadata, the controllers' logs, and what was done to nodes."""

import inspect
from operator import ge
from types import ModuleType

import pytest

from tests.cluster import test_brokers, test_controllers, test_failover, test_fenced_broker
from tests.cluster import test_more_brokers as more
from tests.cluster.scene import Scene

MIN_KILLS, MIN_PAUSES, MIN_DOUBLE_FAULTS = 12, 5, 2

pytestmark = pytest.mark.timeout(300)


def scenarios() -> set[str]:
    """The tests that do something to nodes."""
    modules: list[ModuleType] = [test_brokers, test_controllers, test_failover, test_fenced_broker]
    return {
        name
        for module in [*modules, more]
        for name, _ in inspect.getmembers(module, inspect.isfunction)
        if name.startswith("test_")
    }


def test_so_many_nodes_were_killed_and_stopped(
    scene: Scene, request: pytest.FixtureRequest
) -> None:
    """Counted if the scenarios were run as well, and not this test alone."""
    nodes = scene.cluster.nodes
    kills, pauses = sum(it.kills for it in nodes), sum(it.pauses for it in nodes)
    done = f"{kills} kills, {pauses} stopped and continued, {scene.double_faults} double faults"
    print(f"\n{done}")
    ran = {item.originalname for item in request.session.items if isinstance(item, pytest.Function)}
    if ran >= scenarios() and scene.cluster.network.can_cut:
        least = (MIN_KILLS, MIN_PAUSES, MIN_DOUBLE_FAULTS)
        assert all(map(ge, (kills, pauses, scene.double_faults), least)), done


def test_every_record_is_accounted_for_and_the_metadata_was_linearizable(scene: Scene) -> None:
    records = scene.finish()
    print(
        f"\n{records:,} records; {dict(scene.admin.topics.counts())}; {dict(scene.admin.settings.counts())}"
    )
    gaps_s = [it / 1e9 for it in scene.records.longest_gap_ns]
    print(f"clients saw {dict(scene.seen.counts)}; longest gaps {[f'{it:.1f}' for it in gaps_s]} s")
