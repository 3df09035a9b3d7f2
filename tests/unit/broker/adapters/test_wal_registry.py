"""Which WAL a node used last: kept in the metadata, and asked for by the next start."""

import logging

import pytest

from headrace.broker.adapters.wal_registry import WalRegistry
from headrace.metadata.client import MetadataClient, NewTopic
from headrace.metadata.errors import NodeFencedError
from headrace.wal.errors import WalMissingError
from tests.unit.broker.adapters.test_storage_metadata import open_topic
from tests.unit.metadata.running_cluster import Cluster, FaultyTransport, scenario

GENERATION = 0x0123456789ABCDEF


@pytest.fixture
def cluster(tmp_path):
    return Cluster(tmp_path / "metadata", request_timeout_ms=100)


def registry_of(client: MetadataClient, accepted: str = "") -> WalRegistry:
    return WalRegistry(client, accept_loss_generation=accepted)


async def used(client: MetadataClient) -> int:
    """Use a WAL, and leave a stream open; return the registration's epoch."""
    await registry_of(client).begun(GENERATION)
    await open_topic(client)
    return client.node_epoch


@scenario
async def test_the_first_start_of_all_needs_no_wal(cluster):
    async with cluster.controller(), cluster.client() as client:
        registry_of(client).require("/wal", None)
        await open_topic(client)
        registry_of(client).require("/wal", None)  # written by a version that kept nothing


@scenario
async def test_the_wal_is_wanted_again_or_a_newer_one(cluster):
    async with cluster.controller():
        async with cluster.client() as client:
            epoch = await used(client)
        async with cluster.client() as client:
            assert client.node_epoch > epoch
            for found in (epoch, epoch + 1):
                registry_of(client).require("/wal", found)
            for found in (None, epoch - 1):
                with pytest.raises(WalMissingError, match=r"is not at /wal: .* 2 open streams"):
                    registry_of(client).require("/wal", found)


@scenario
async def test_each_start_moves_it_on(cluster):
    async with cluster.controller():
        async with cluster.client() as client:
            epoch = await used(client)
        async with cluster.client() as client:
            await registry_of(client).begun(GENERATION + 1)
            newer = client.node_epoch
        async with cluster.client() as client:
            registry_of(client).require("/wal", newer)
            with pytest.raises(WalMissingError, match=f"accept.loss={GENERATION + 1:016x}"):
                registry_of(client).require("/wal", epoch)


@scenario
async def test_one_that_was_emptied_is_not_missed(cluster):
    async with cluster.controller():
        async with cluster.client() as client:
            await used(client)
            await registry_of(client).emptied()
        async with cluster.client() as client:
            registry_of(client).require("/wal", None)


@scenario
async def test_nothing_is_missing_where_no_stream_is_open(cluster):
    async with cluster.controller(), cluster.client() as client:
        await registry_of(client).begun(GENERATION)
        registry_of(client).require("/wal", None)
        await client.create_topics([NewTopic("not opened", 1)])
        registry_of(client).require("/wal", None)


@scenario
async def test_nodes_do_not_mind_each_other(cluster):
    async with cluster.controller(), cluster.client() as client, cluster.client(2) as other:
        await used(client)
        registry_of(other).require("/wal", None)
        await registry_of(other).emptied()
        with pytest.raises(WalMissingError):
            registry_of(client).require("/wal", None)


@scenario
async def test_one_loss_is_accepted_and_no_other(cluster, caplog):
    async with cluster.controller():
        async with cluster.client() as client:
            await used(client)
        async with cluster.client() as client:
            with pytest.raises(WalMissingError):
                registry_of(client, f"{GENERATION + 1:016x}").require("/wal", None)
            assert not caplog.records
            with caplog.at_level(logging.CRITICAL):
                registry_of(client, f"{GENERATION:016x}").require("/wal", None)
            assert "was accepted" in caplog.text
            await registry_of(client, f"{GENERATION:016x}").begun(GENERATION + 2)
            with pytest.raises(WalMissingError):
                registry_of(client, f"{GENERATION:016x}").require("/wal", None)


@scenario
async def test_a_start_waits_for_a_controller_before_it_uses_the_wal(cluster, monkeypatch):
    monkeypatch.setattr("headrace.broker.adapters.wal_registry.ASK_AGAIN_S", 0)
    async with cluster.controller():
        transport = FaultyTransport(cluster.handle)
        async with cluster.client(transport=transport) as client:
            transport.plan = ["lose reply"] * 5
            epoch = await used(client)
        async with cluster.client() as client:
            registry_of(client).require("/wal", epoch)
            with pytest.raises(WalMissingError):
                registry_of(client).require("/wal", None)


@scenario
async def test_a_process_that_was_replaced_neither_begins_nor_ends_anything(cluster):
    async with cluster.controller():
        async with cluster.client() as client:
            await used(client)
        replaced, newer = cluster.new_client(), cluster.new_client()
        await replaced.start()
        await newer.start()
        with pytest.raises(NodeFencedError):
            await registry_of(replaced).begun(GENERATION + 1)
        await registry_of(replaced).emptied()
        with pytest.raises(WalMissingError, match=f"{GENERATION:016x}"):
            registry_of(newer).require("/wal", None)
