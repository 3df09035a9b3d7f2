"""The object WAL on a real S3 server: the contract of every log, and owners that take over from each other."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import uvloop

from headrace.broker.adapters.wal_bucket import WAL_POLICY, WalBucket
from headrace.storage.object_store.factory import ensure_bucket
from headrace.wal.errors import WalDeviceError
from headrace.wal.objects.errors import WalFencedError
from headrace.wal.objects.log import ObjectWal
from tests.contracts import test_wal_contract as contract
from tests.contracts.object_stores import opener, s3_uri
from tests.environment.minio import MinioServer

REQUIREMENTS = [it for name, it in vars(contract).items() if name.startswith("test_")]
CONFIG = replace(contract.settings("s3://", "auto"), batch_interval_ms=20, capacity_bytes=2**24)

pytestmark = pytest.mark.s3


@pytest.fixture(scope="module")
def minio(minio: MinioServer) -> MinioServer:
    asyncio.run(ensure_bucket(s3_uri(minio.endpoint)))
    return minio


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=lambda it: it.__name__)
def test_the_contract(requirement: Callable[[contract.Place], None], minio: MinioServer) -> None:
    requirement(
        contract.in_a_bucket(
            opener(s3_uri(minio.endpoint), max_looks=WAL_POLICY.max_looks), uvloop.run
        )
    )


class Owner:
    """A log that appends until it is fenced, and what was acknowledged to it."""

    def __init__(self, store, epoch: int) -> None:
        self.epoch = epoch
        self.open: list[tuple[int, bytes]] = []
        self.acknowledged: list[bytes] = []
        self.failures: list[Exception] = []
        self.wal = ObjectWal(
            CONFIG,
            WalBucket(store),
            node_id=1,
            node_epoch=epoch,
            cluster_id="race",
            rng=random.Random(),
            on_confirmed=self._on_confirmed,
            on_failed=self.failures.append,
        )

    def _on_confirmed(self, offset: int) -> None:
        while self.open and self.open[0][0] <= offset:
            self.acknowledged.append(self.open.pop(0)[1])

    async def recover(self) -> list[bytes]:
        await self.wal.start()
        return [bytes(record.body) async for record in self.wal.recover()]

    async def append(self) -> None:
        while not self.failures:
            body = b"%d-%d" % (self.epoch, len(self.acknowledged) + len(self.open))
            if self.wal.room_for(len(body)):
                self.open.append((self.wal.append(b"", body).end_offset, body))
            await asyncio.sleep(0.002)


def test_owners_take_over_from_owners_that_go_on(minio: MinioServer) -> None:
    """Each finds a run of what the one before appended, at least what was acknowledged to it."""

    async def main() -> None:
        store = opener(s3_uri(minio.endpoint), max_looks=WAL_POLICY.max_looks)()
        async with asyncio.TaskGroup() as group:
            before = None
            for epoch in range(1, 5):
                owner = Owner(store, epoch)
                found = await owner.recover()
                if before is not None:
                    async with asyncio.timeout(20):
                        while not before.failures:
                            await asyncio.sleep(0.01)
                    assert isinstance(before.failures[0], WalFencedError)
                    count = len(before.acknowledged)
                    assert count > 0
                    assert found[:count] == before.acknowledged
                    tried = [*before.acknowledged, *(body for _, body in before.open)]
                    assert found == tried[: len(found)]
                await owner.wal.reset()
                appending = group.create_task(owner.append())
                await asyncio.sleep(0.5)
                before = owner
            assert before is not None
            appending.cancel()
        await before.wal.shutdown()

    uvloop.run(main())


def test_an_outage_of_the_server_is_waited_out(minio: MinioServer) -> None:
    async def main() -> None:
        store = opener(s3_uri(minio.endpoint), max_looks=WAL_POLICY.max_looks)()
        owner = Owner(store, 1)
        await owner.recover()
        await owner.wal.reset()
        await asyncio.to_thread(minio.stop)
        for number in range(10):
            owner.open.append((owner.wal.append(b"", b"%d" % number).end_offset, b"%d" % number))
        await asyncio.sleep(1)
        assert owner.acknowledged == []
        await asyncio.to_thread(minio.start)
        async with asyncio.timeout(30):
            while len(owner.acknowledged) < 10:
                await asyncio.sleep(0.01)
        assert owner.failures == []
        await owner.wal.shutdown()
        assert await Owner(store, 2).recover() == [b"%d" % number for number in range(10)]

    uvloop.run(main())


def test_a_server_that_is_away_or_refuses_ends_the_start(
    minio: MinioServer, tmp_path: Path
) -> None:
    async def start(uri: str) -> None:
        with pytest.raises(WalDeviceError, match="cannot be used"):
            await Owner(opener(uri)(), 1).wal.start()

    asyncio.run(start(s3_uri(minio.endpoint, secret="wrong-secret")))
    asyncio.run(start(s3_uri(minio.endpoint, bucket="missing")))
