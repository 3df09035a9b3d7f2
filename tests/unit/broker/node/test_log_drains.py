"""Draining the logs of brokers that have died: by a real controller, from logs that the test makes up."""

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from headrace.broker.adapters.drained_log import MAX_REASON_CHARACTERS, DrainedLog
from headrace.broker.adapters.wal_registry import LogAddress, WalRegistry, reach_below
from headrace.broker.node import log_drains
from headrace.broker.node.drained_partitions import checkpoints_of
from headrace.broker.node.log_drains import LogDrains
from headrace.broker.partition import checkpoint
from headrace.broker.partition.state import PartitionState
from headrace.config.node import LogConfig, StorageConfig
from headrace.metadata.controller.drains import REFUSED_MS
from headrace.metadata.images.logs import LogState
from headrace.metadata.records.logs import LogMedium
from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from headrace.storage.drain import WalDrain
from headrace.storage.errors import CommitRefusedError, ObjectStoreError
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.storage.record_batch import encode_header
from headrace.storage.stats import UploadCounters
from headrace.storage.upload.commit import make_committer
from headrace.wal.errors import WalChangedError, WalDeviceError
from headrace.wal.port import RecoveredRecord
from tests.unit.broker.adapters.test_storage_metadata import open_topic
from tests.unit.metadata.running_cluster import (
    Cluster,
    FaultyTransport,
    running,
    scenario,
)

PLACE = "/shared/wal-1"
NOW_MS = 1_700_000_000_000
REACH = reach_below(["/shared"])
OWNER, DRAINER = 1, 2


def checkpoint_at(offset: int) -> bytes:
    """A partition's state there."""
    state = PartitionState(producer_id_expiration_ms=1)
    return checkpoint.take(state, offset, 0)


def batch_at(offset: int) -> bytes:
    """A batch of one record, as a partition writes it."""
    return bytes(encode_batch([Record(offset, NOW_MS, None, b"v")], BatchOptions(leader_epoch=0)))


class Log:
    """A `ForeignLog` of these records of one stream, from offset 0."""

    def __init__(self, logs: "Logs") -> None:
        self._logs = logs
        self.lost_bytes = 0
        self.position = 0

    async def recover(self) -> AsyncGenerator[RecoveredRecord, None]:
        logs = self._logs
        if logs.checkpoint is not None:
            stream_id, payload = logs.checkpoint
            body = encode_header(stream_id, 0, 0, 1, len(payload)) + payload
            yield RecoveredRecord(0, 1, memoryview(body))
        for offset in range(logs.records):
            if offset == logs.hang_at:
                await asyncio.Event().wait()
            payload = b"abc" if logs.checkpoint is None else batch_at(offset)
            body = encode_header(logs.stream_id, 0, offset, 1, len(payload)) + payload
            self.position += len(body)
            yield RecoveredRecord(offset * 100, offset * 100 + 100, memoryview(body))
        if logs.failures:
            raise logs.failures.pop(0)

    async def close(self) -> None:
        self._logs.closed += 1


class Logs:
    """In place of `ForeignLogs`."""

    def __init__(self) -> None:
        self.stream_id = -1
        self.records = 5
        self.checkpoint: tuple[int, bytes] | None = None  # stream and payload, before the others
        self.meta_stream_id = -1
        self.hang_at = -1
        self.failures: list[Exception] = []
        self.refusals: list[Exception] = []
        self.opened: list[str] = []
        self.closed = 0

    async def open(self, log, place):
        self.opened.append(place)
        if self.refusals:
            raise self.refusals.pop(0)
        return Log(self)


@pytest.fixture
def cluster(tmp_path):
    return Cluster(tmp_path / "metadata")


@pytest.fixture(autouse=True)
def _without_pauses(monkeypatch):
    monkeypatch.setattr(log_drains, "PAUSE_S", 0)


async def eventually(condition) -> None:
    """Wait until a condition holds: the controller writes to a real disk."""
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.002)


def drains_of(client, logs: Logs, store: MemoryObjectStore | None = None) -> LogDrains:
    """Drains of one broker, with these logs and this bucket."""
    bucket = store or MemoryObjectStore()
    return LogDrains(
        client,
        logs,
        reach=REACH,
        committer=lambda objects: make_committer(
            StorageConfig(), bucket, objects, "c", random.Random(1), UploadCounters()
        ),
        checkpoints=lambda streams: checkpoints_of(
            client.image, streams, LogConfig(), lambda: NOW_MS
        ),
        max_segment_bytes=200,
        stream_split_bytes=1 << 20,
    )


async def died(cluster, logs: Logs) -> None:
    """Let the owner open a stream, and end without a word; its session expires."""
    async with cluster.client(OWNER) as owner:
        address = LogAddress(LogMedium.FILE, (PLACE,))
        await WalRegistry(owner, address, reach=REACH, accept_loss_generation="").begun(7)
        _, logs.stream_id, logs.meta_stream_id = await open_topic(owner)
    await cluster.pass_time(60_000)


@asynccontextmanager
async def draining(cluster, logs, store=None):
    """A second broker that can reach the log; it has been assigned."""
    async with cluster.client(DRAINER) as client:
        address = LogAddress(LogMedium.FILE, ("/shared/wal-2",))
        await WalRegistry(client, address, reach=REACH, accept_loss_generation="").begun(8)
        drains = drains_of(client, logs, store)
        async with running(drains.run()):
            await cluster.node.check_deadlines()
            yield client, drains


def log_of(client):
    return client.image.logs[OWNER]


@scenario
async def test_what_a_dead_broker_has_acknowledged_is_brought_to_the_bucket_and_led_by_another(
    cluster,
):
    logs, store = Logs(), MemoryObjectStore()
    async with cluster.controller():
        await died(cluster, logs)
        async with draining(cluster, logs, store) as (client, drains):
            await eventually(lambda: log_of(client).state == LogState.DRAINED)
            stream = client.image.streams[logs.stream_id]
            assert (stream.end_offset, stream.opened) == (5, False)
            topic = client.image.topic_by_id(next(iter(client.image.topics)))
            partition = topic.partitions[0]
            assert (partition.leader, partition.leader_epoch) == (DRAINER, 1)
            assert log_of(client).position == 5 * len(encode_header(1, 0, 0, 1, 3) + b"abc")
            assert len(await store.list("")) > 1  # several segments
            await eventually(lambda: drains.statistics.finished == 1)
    statistics = drains.statistics
    assert (statistics.records, statistics.bytes, statistics.running) == (5, 15, 0)
    assert (statistics.refused, statistics.ended) == (0, 0)
    assert logs.opened == [PLACE]
    assert logs.closed == 1


@scenario
async def test_its_partitions_end_with_a_checkpoint(cluster):
    logs = Logs()
    async with cluster.controller():
        await died(cluster, logs)
        logs.checkpoint = logs.meta_stream_id, checkpoint_at(0)
        async with draining(cluster, logs) as (client, drains):
            await eventually(lambda: log_of(client).state == LogState.DRAINED)
            assert client.image.streams[logs.stream_id].end_offset == 5
            assert client.image.streams[logs.meta_stream_id].end_offset == 2
            await eventually(lambda: drains.statistics.finished == 1)
    assert drains.statistics.records == 7


@scenario
async def test_a_drain_that_is_done_again_adds_no_second_checkpoint(cluster, monkeypatch):
    logs = Logs()
    finish, failures = DrainedLog.finish, [ObjectStoreError("the end is lost")]

    async def fail_once(self, position, ends):
        if failures:
            raise failures.pop()
        await finish(self, position, ends)

    monkeypatch.setattr(DrainedLog, "finish", fail_once)
    async with cluster.controller():
        await died(cluster, logs)
        logs.checkpoint = logs.meta_stream_id, checkpoint_at(0)
        async with draining(cluster, logs) as (client, drains):
            await eventually(lambda: log_of(client).state == LogState.DRAINED)
            assert client.image.streams[logs.meta_stream_id].end_offset == 2
            await eventually(lambda: drains.statistics.finished == 1)
    assert drains.statistics.records == 0
    assert len(logs.opened) == 2


@scenario
async def test_the_owner_that_comes_back_ends_the_drain(cluster):
    logs = Logs()
    logs.hang_at = 4
    async with cluster.controller():
        await died(cluster, logs)
        async with draining(cluster, logs) as (client, drains):
            await eventually(lambda: client.image.streams[logs.stream_id].end_offset == 4)
            async with cluster.client(OWNER) as owner:
                await eventually(lambda: log_of(client).state == LogState.ACTIVE)
                await eventually(lambda: not drains.statistics.running)
                stream = owner.image.streams[logs.stream_id]
                assert (stream.end_offset, stream.opened, stream.node_id) == (4, True, OWNER)
    assert (drains.statistics.ended, drains.statistics.finished, logs.closed) == (1, 0, 1)


@pytest.mark.parametrize(
    "error",
    [
        OSError(5, "EIO"),
        WalChangedError("it is written"),
        ObjectStoreError("503"),
        CommitRefusedError("a late commit"),
    ],
)
@scenario
async def test_a_failure_that_may_pass_is_tried_again(cluster, error):
    logs = Logs()
    logs.failures = [error]
    async with cluster.controller():
        await died(cluster, logs)
        async with draining(cluster, logs) as (client, drains):
            await eventually(lambda: log_of(client).state == LogState.DRAINED)
            assert client.image.streams[logs.stream_id].end_offset == 5
    assert drains.statistics.refused == 0
    assert len(logs.opened) == 2


@scenario
async def test_a_log_that_cannot_be_opened_is_refused_with_the_reason(cluster):
    logs = Logs()
    logs.refusals = [WalDeviceError("there is no WAL " + "x" * 5_000)]
    async with cluster.controller():
        await died(cluster, logs)
        async with draining(cluster, logs) as (client, drains):
            await eventually(lambda: log_of(client).refusals)
            (refusal,) = log_of(client).refusals
            assert refusal.node_id == DRAINER
            assert refusal.reason.startswith("WalDeviceError: there is no WAL xxx")
            assert len(refusal.reason) == MAX_REASON_CHARACTERS
            assert log_of(client).state == LogState.ACTIVE
            assert client.image.streams[logs.stream_id].opened
            await eventually(lambda: not drains.statistics.running)
            # It is asked again later, and can read it now.
            cluster.wall.now_ms += REFUSED_MS
            cluster.boot.now_ms += 1_000
            await cluster.node.check_deadlines()
            await eventually(lambda: drains.statistics.finished)
            assert log_of(client).state == LogState.DRAINED
    assert (drains.statistics.refused, drains.statistics.finished) == (1, 1)


@scenario
async def test_a_log_that_shows_a_mistake_ends_no_broker(cluster, caplog):
    logs = Logs()
    logs.refusals = [ZeroDivisionError("a mistake of ours")]
    async with cluster.controller():
        await died(cluster, logs)
        async with draining(cluster, logs) as (client, drains):
            await eventually(lambda: log_of(client).refusals)
            assert log_of(client).refusals[0].reason == "ZeroDivisionError: a mistake of ours"
            await eventually(lambda: not drains.statistics.running)
    assert [it.exc_info for it in caplog.records if it.message == "draining a log has failed"]
    caplog.clear()


@scenario
async def test_a_broker_that_is_stopped_hands_its_drains_back(cluster):
    logs = Logs()
    logs.hang_at = 2
    async with cluster.controller():
        await died(cluster, logs)
        async with draining(cluster, logs) as (client, drains):
            await eventually(lambda: client.image.streams[logs.stream_id].end_offset == 2)
            drains.leave()
            await eventually(lambda: log_of(client).drain is None)
            assert log_of(client).refusals[0].reason == "this broker is being stopped"
            await eventually(lambda: not drains.statistics.running)
            assert logs.closed == 1


@scenario
async def test_what_is_assigned_to_a_broker_that_is_being_stopped_is_handed_back_at_once(
    cluster, monkeypatch
):
    """For as long as it takes to stop, again and again."""
    logs = Logs()
    async with cluster.controller():
        await died(cluster, logs)
        async with cluster.client(DRAINER) as client:
            drains = drains_of(client, logs)
            drains.leave()
            monkeypatch.setattr("headrace.metadata.controller.drains.REFUSED_MS", 0)
            address = LogAddress(LogMedium.FILE, ("/shared/wal-2",))
            await WalRegistry(client, address, reach=REACH, accept_loss_generation="").begun(8)
            async with running(drains.run()):
                for _ in range(2):
                    before = log_of(client).refusals
                    await cluster.node.check_deadlines()
                    await eventually(lambda before=before: log_of(client).refusals is not before)
                    assert log_of(client).refusals[0].reason == "this broker is being stopped"
                    await eventually(lambda: log_of(client).drain is None)
            assert logs.opened == []


@scenario
async def test_failures_that_do_not_pass_are_refused_in_the_end(cluster, monkeypatch):
    monkeypatch.setattr(log_drains, "GIVE_UP_MS", -1)
    logs = Logs()
    logs.failures = [OSError(5, "EIO")]
    async with cluster.controller():
        await died(cluster, logs)
        async with draining(cluster, logs) as (client, _):
            await eventually(lambda: log_of(client).refusals)
            assert "EIO" in log_of(client).refusals[0].reason


@scenario
async def test_the_end_of_a_drain_is_told_again_until_a_controller_answers(cluster, monkeypatch):
    logs = Logs()
    async with cluster.controller():
        await died(cluster, logs)
        transport = FaultyTransport(cluster.handle)
        brought = asyncio.Event()
        run = WalDrain.run

        async def then_lose(self):
            report = await run(self)
            transport.plan[:] = ["lose reply"] * 3
            brought.set()
            return report

        monkeypatch.setattr(WalDrain, "run", then_lose)
        cluster.config = cluster.config.__class__(
            log_dir=cluster.config.log_dir, request_timeout_ms=50
        )
        async with cluster.client(DRAINER, transport=transport) as client:
            address = LogAddress(LogMedium.FILE, ("/shared/wal-2",))
            await WalRegistry(client, address, reach=REACH, accept_loss_generation="").begun(8)
            drains = drains_of(client, logs)
            async with running(drains.run()):
                await cluster.node.check_deadlines()
                await brought.wait()
                await eventually(lambda: drains.statistics.finished)
                assert log_of(client).state == LogState.DRAINED
