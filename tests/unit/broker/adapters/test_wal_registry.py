"""Which WAL a node used last: kept in the metadata, and asked for by the next start."""

import asyncio
import logging
from contextlib import asynccontextmanager

import msgspec
import pytest

from headrace.broker.adapters.wal_registry import LogAddress, WalRegistry, reach_below
from headrace.metadata.controller.decision import Decision
from headrace.metadata.errors import ControllerUnavailableError, NodeFencedError
from headrace.metadata.follower.client import MetadataClient, NewTopic
from headrace.metadata.image import MetadataImage
from headrace.metadata.images.logs import LogImage, LogState
from headrace.metadata.records.logs import LogMedium, LogRecord
from headrace.metadata.rpc.requests import BeginLog, EndLog
from headrace.metadata.rpc.responses import Done
from headrace.persistent_map import PersistentMap
from headrace.storage.ports import NO_WAL_OFFSET, StreamRange, StreamSetCommit
from headrace.wal.errors import WalMissingError, WalOutdatedError
from headrace.wal.registry import LogEnd
from tests.unit.broker.adapters.test_storage_metadata import adapter_of, open_topic
from tests.unit.metadata.running_cluster import (
    Cluster,
    FaultyTransport,
    eventually,
    running,
    scenario,
)

GENERATION = 0x0123456789ABCDEF


ADDRESS = LogAddress(LogMedium.FILE, ("/wal",))


@pytest.fixture
def cluster(tmp_path):
    return Cluster(tmp_path / "metadata", request_timeout_ms=1_000)


def registry_of(client: MetadataClient, accepted: str = "") -> WalRegistry:
    return WalRegistry(client, ADDRESS, accept_loss_generation=accepted, reach=reach_below(()))


def known(client: MetadataClient) -> object:
    """What the metadata know of WALs."""
    return dict(client.image.logs)


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


async def uploaded(client: MetadataClient, wal_end_offset: int) -> int:
    """Use a WAL, leave a stream open, and upload from the WAL twice; return the registration's epoch."""
    await registry_of(client).begun(GENERATION)
    await open_topic(client)
    await commit(client, 0, wal_end_offset // 2)
    await commit(client, 10, wal_end_offset)
    return client.node_epoch


async def commit(client: MetadataClient, start_offset: int, wal_end_offset: int) -> None:
    """Commit ten records of the first open stream."""
    adapter = adapter_of(client)
    stream_id = (await adapter.get_opening_streams())[0].stream_id
    object_id = await adapter.prepare_objects(1, 60_000)
    ranges = [StreamRange(stream_id, 0, start_offset, start_offset + 10)]
    await adapter.commit_stream_set_object(
        StreamSetCommit(object_id, 100, ranges, [], wal_end_offset=wal_end_offset)
    )


@scenario
async def test_a_wal_that_ends_before_what_was_uploaded_from_it_is_an_old_copy(cluster):
    async with cluster.controller():
        async with cluster.client() as client:
            epoch = await uploaded(client, 1_000)
        async with cluster.client() as client:
            registry = registry_of(client)
            for offset in (1_000, 1_001):
                registry.require_end("/wal", LogEnd(epoch, GENERATION, offset))
            for _ in range(2):
                with pytest.raises(WalOutdatedError, match=r"at /wal is an old copy.* 2 open str"):
                    registry.require_end("/wal", LogEnd(epoch, GENERATION, 999))


@scenario
async def test_only_the_registration_that_uploaded_is_measured_by_it(cluster):
    """A newer one, whose start died before it was recorded, counts again; an older one is missed anyway."""
    async with cluster.controller():
        async with cluster.client() as client:
            epoch = await uploaded(client, 1_000)
        async with cluster.client() as client:
            registry_of(client).require_end("/wal", LogEnd(epoch + 1, GENERATION, 0))
            await registry_of(client).begun(GENERATION + 1)
            begun = client.node_epoch
        async with cluster.client() as client:
            registry_of(client).require_end("/wal", LogEnd(begun, GENERATION + 1, 0))


@scenario
async def test_a_commit_without_a_wal_offset_moves_nothing(cluster):
    async with cluster.controller(), cluster.client() as client:
        await used(client)
        before = known(client)
        await commit(client, 0, NO_WAL_OFFSET)
        assert known(client) == before


@scenario
async def test_an_old_copy_lacks_nothing_once_the_wal_was_emptied(cluster):
    async with cluster.controller():
        async with cluster.client() as client:
            epoch = await uploaded(client, 1_000)
            await registry_of(client).emptied()
            assert all(it.settled for it in client.image.logs.values())
        async with cluster.client() as client:
            registry_of(client).require_end("/wal", LogEnd(epoch, GENERATION, 0))


@scenario
async def test_an_upload_takes_two_entries_as_ever(cluster):
    async with cluster.controller(), cluster.client() as client:
        await used(client)
        index = client.image.index
        await commit(client, 0, 77)
        assert client.image.index == index + 2, "prepared, committed"
        with pytest.raises(WalOutdatedError):
            registry_of(client).require_end("/wal", LogEnd(client.node_epoch, GENERATION, 76))


@scenario
async def test_an_old_copy_is_accepted_by_its_generation(cluster, caplog):
    async with cluster.controller():
        async with cluster.client() as client:
            epoch = await uploaded(client, 1_000)
        async with cluster.client() as client:
            end = LogEnd(epoch, GENERATION, 10)
            with pytest.raises(WalOutdatedError, match=f"accept.loss={GENERATION:016x}"):
                registry_of(client, f"{GENERATION + 1:016x}").require_end("/wal", end)
            assert not caplog.records
            with caplog.at_level(logging.CRITICAL):
                registry_of(client, f"{GENERATION:016x}").require_end("/wal", end)
            assert "was accepted" in caplog.text


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


@scenario
async def test_a_log_that_is_told_is_not_told_again(cluster):
    async with cluster.controller(), cluster.client() as client:
        await used(client)
        index = client.image.index
        await registry_of(client).begun(GENERATION)
        assert client.image.index == index


@scenario
async def test_no_loss_is_accepted_without_a_generation(cluster):
    async with cluster.controller() as node, cluster.client() as client:
        epoch = await used(client)
        unnamed = LogRecord(1, 1, epoch, "", *ADDRESS, 0)
        await node.propose(lambda *_: Decision((unnamed,), Done()))
        await eventually(lambda: not client.image.logs[1].generation)
        with pytest.raises(WalMissingError):
            registry_of(client, accepted="").require("/wal", None)


class TellingClient:
    """A client whose log has to be told; each change waits until the test has decided on it."""

    node_id, node_epoch = 1, 5
    image = MetadataImage()

    def __init__(self):
        self.asked = []
        self.unavailable = True
        self.answering = asyncio.Event()

    def subscribe(self, follow):
        self.follow = follow

    def is_lease_valid(self):
        return True

    async def change(self, request, answered):
        self.asked.append(request)
        await self.answering.wait()
        await asyncio.sleep(0)
        if self.unavailable:
            raise ControllerUnavailableError("nobody answers")
        if isinstance(request, BeginLog):
            log = LogImage(1, 1, self.node_epoch, request.generation, *ADDRESS, 0)
            self.image = msgspec.structs.replace(self.image, logs=PersistentMap({1: log}))
        elif isinstance(request, EndLog):
            self.image = msgspec.structs.replace(self.image, logs=PersistentMap())
        return answered()


@asynccontextmanager
async def telling():
    """A client and a registry in use that tells its log again, as the metadata have it no more."""
    client = TellingClient()
    registry = registry_of(client)
    client.unavailable = False
    client.answering.set()
    await registry.begun(GENERATION)
    known, client.image, client.unavailable, client.asked = client.image, MetadataImage(), True, []
    client.answering.clear()
    client.follow(known, client.image)
    async with running(registry.run()):
        await eventually(lambda: client.asked)
        yield client, registry


@scenario
async def test_a_log_that_has_ended_is_not_begun_again(monkeypatch):
    monkeypatch.setattr("headrace.broker.adapters.wal_registry.ASK_AGAIN_S", 0)
    async with telling() as (client, registry):
        client.answering.set()
        await eventually(lambda: len(client.asked) > 3)
        ending = asyncio.create_task(registry.emptied())
        await asyncio.sleep(0)
        client.unavailable = False
        await ending
        for _ in range(20):
            await asyncio.sleep(0)
        *before, last = client.asked
        assert isinstance(last, EndLog)
        assert {(type(it), it.generation) for it in before} == {(BeginLog, f"{GENERATION:016x}")}


@scenario
async def test_the_end_of_a_log_follows_its_beginning():
    async with telling() as (client, registry):
        ending = asyncio.create_task(registry.emptied())
        for _ in range(20):
            await asyncio.sleep(0)
        assert [type(it) for it in client.asked] == [BeginLog]
        client.unavailable = False
        client.answering.set()
        await ending
        assert [type(it) for it in client.asked] == [BeginLog, EndLog]


@scenario
async def test_a_shutdown_does_not_wait_for_a_beginning_that_nobody_answers(monkeypatch, caplog):
    monkeypatch.setattr("headrace.broker.adapters.wal_registry.EMPTIED_TIMEOUT_S", 0)
    async with telling() as (client, registry):
        await registry.emptied()
        assert [type(it) for it in client.asked] == [BeginLog]
        assert "could not record in the metadata that the WAL is empty" in caplog.text


@scenario
async def test_who_leaves_says_that_it_takes_nothing_over_any_more(cluster):
    async with cluster.controller(), cluster.client() as client:
        reach = reach_below(["/shared"])
        registry = WalRegistry(client, ADDRESS, reach=reach, accept_loss_generation="")
        await registry.begun(GENERATION)
        log = client.image.logs[client.node_id]
        async with running(registry.run()):
            assert client.image.brokers[client.node_id].reach == reach
            registry.leave()
            await eventually(lambda: not client.image.brokers[client.node_id].reach)
            assert client.image.logs[client.node_id] is log
            await registry.emptied()
        assert client.image.logs[client.node_id].state == LogState.EMPTY
