"""The balance of a controller that runs: heartbeats with loads in, moves out, and a description."""

import dataclasses

import msgspec
import pytest

from headrace.metadata.records.logs import LogMedium
from headrace.metadata.rpc.loads import Loads, TrafficRates
from headrace.metadata.rpc.requests import (
    BeginLog,
    CreateTopics,
    DescribeBalance,
)
from tests.unit.metadata.pure_controller import EVERY_FILE, topic_creation
from tests.unit.metadata.running_cluster import (
    Cluster,
    ask_well,
    eventually,
    heartbeat,
    register,
    scenario,
)

WINDOW_MS = 300_000
LOADS = Loads((), 12, TrafficRates(bytes_in=120 << 20))


@pytest.fixture
def cluster(tmp_path):
    return Cluster(
        tmp_path, balance=True, balance_interval_ms=1, broker_session_timeout_ms=3_600_000
    )


async def start_brokers(node):
    """Broker 1 leads twelve partitions, broker 2 none."""
    epochs = {}
    for node_id in (1, 2):
        epoch = epochs[node_id] = await register(node, node_id, node_id)
        await ask_well(
            node,
            BeginLog(node_id, epoch, node_id, "00", LogMedium.FILE, (f"/w/{node_id}",), EVERY_FILE),
        )
    assignments = tuple((it, (1,)) for it in range(12))
    topic = topic_creation("orders", -1, assignments=assignments)
    await ask_well(node, CreateTopics((topic,), False))
    return epochs


async def tell(node, epochs):
    for node_id, epoch in epochs.items():
        loads = LOADS if node_id == 1 else Loads((), 0, TrafficRates())
        beat = heartbeat(epoch, node_id=node_id)
        await ask_well(node, msgspec.structs.replace(beat, loads=loads))


async def describe(node, *, dry_run=False):
    return (await ask_well(node, DescribeBalance(dry_run))).body


@scenario
async def test_loads_that_brokers_tell_make_partitions_move(cluster):
    async with cluster.controller() as node:
        epochs = await start_brokers(node)
        await tell(node, epochs)
        waiting = await describe(node, dry_run=True)
        assert "has changed" in waiting.waits_for
        assert waiting.decisions == ()
        assert {it.target for it in waiting.planned} == {2}
        assert [it.bytes_per_s >> 20 for it in waiting.brokers] == [120, 0]
        assert not node.image.moves

        cluster.boot.now_ms += WINDOW_MS
        await tell(node, epochs)
        await eventually(lambda: len(node.image.moves) == 5)

        told = await describe(node)
        assert (told.waits_for, told.moving, told.planned) == (None, 5, None)
        assert {it.outcome for it in told.decisions} == {"begun"}
        assert "broker 1 has 120.0 MiB/s" in told.decisions[0].reason
        assert node.balance.moves_total.total() == 5


@scenario
async def test_it_is_off_unless_the_leading_controller_is_set_to_it(cluster):
    cluster.config = dataclasses.replace(cluster.config, balance=False)
    async with cluster.controller() as node:
        epochs = await start_brokers(node)
        cluster.boot.now_ms += WINDOW_MS
        await tell(node, epochs)
        told = await describe(node, dry_run=True)
        assert "it is off" in told.waits_for
        assert told.planned
        assert not node.image.moves
