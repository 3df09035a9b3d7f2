"""Looking at logs in a bucket: what is said, and that nothing is created, fenced or deleted."""

import asyncio
import random
from collections.abc import Awaitable, Callable

import pytest

from headrace.broker.adapters.wal_bucket import WalBucket
from headrace.config.node import WalConfig
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.wal.errors import WalVersionError
from headrace.wal.objects.layout import HEADER_BYTES, Kind, LogKeys
from headrace.wal.objects.log import ObjectWal
from headrace.wal.tools import object_logs as offline
from headrace.wal.tools.object_logs import (
    DryBucket,
    ObjectSeen,
    Soundness,
    Verification,
    find_logs,
    inspect_log,
    read_objects,
    verify_log,
)
from tests.simulation.virtual_time import run

KEYS = LogKeys("c", 1)


class Log:
    """A log in a bucket in memory."""

    def __init__(self) -> None:
        self.store = MemoryObjectStore()
        self.bucket = WalBucket(self.store)

    def wal(self, epoch: int = 1) -> ObjectWal:
        return ObjectWal(
            WalConfig(path="mem://"),
            self.bucket,
            node_id=1,
            node_epoch=epoch,
            cluster_id="c",
            rng=random.Random(epoch),
            on_confirmed=lambda offset: None,
            on_failed=lambda error: None,
        )

    async def begin(self, epoch: int = 1) -> ObjectWal:
        wal = self.wal(epoch)
        await wal.start()
        async for _ in wal.recover():
            pass
        await wal.reset()
        return wal

    async def append(self, wal: ObjectWal, *bodies: bytes) -> int:
        """Each in an object of its own; return the last offset."""
        offset = -1
        for body in bodies:
            offset = wal.append(b"", body).offset
            while wal.confirmed_offset < wal.next_offset:
                await asyncio.sleep(0.01)
        return offset

    async def verify(self) -> Verification:
        return await verify_log(self.bucket, KEYS, rng=random.Random(9))

    async def objects(self) -> list[ObjectSeen]:
        seen = await inspect_log(self.bucket, KEYS)
        return [it async for it in read_objects(self.bucket, seen, first=seen.claims.released)]

    def keys_of(self, kind: Kind) -> list[str]:
        return sorted(
            key
            for key, content in self.store.objects.items()
            if key != KEYS.probe and content[11] == kind
        )


def with_log(scenario: Callable[[Log], Awaitable[None]]) -> None:
    """Run on a bucket; looking must leave it as it is."""

    async def main() -> None:
        await scenario(Log())

    run(main())


async def unchanged(log: Log, look: Callable[[], Awaitable[Verification]]) -> Verification:
    before = dict(log.store.objects)
    found = await look()
    assert dict(log.store.objects) == before
    return found


def test_a_log_is_found_described_and_verified_beside_its_owner() -> None:
    async def scenario(log: Log) -> None:
        wal = await log.begin()
        trimmed = await log.append(wal, b"one", b"two")
        await log.append(wal, b"three", b"four")
        found = await unchanged(log, log.verify)
        assert (found.soundness, found.attempts) == (Soundness.SOUND, 1)
        assert (found.summary.records, found.body_bytes) == (4, 15)
        wal.trim(trimmed)
        await log.append(wal, b"five")
        assert await find_logs(log.bucket) == [KEYS]
        seen = await inspect_log(log.bucket, KEYS)
        assert seen.newest is not None
        assert (seen.newest.node_epoch, seen.claims.trim_offset) == (1, trimmed)
        bodies = [bytes(record.body) for it in await log.objects() for record in it.records or ()]
        assert bodies[-3:] == [b"three", b"four", b"five"]
        assert (await log.verify()).summary.records == 3
        await log.append(wal, b"six")  # nobody has fenced it
        await wal.shutdown()

    with_log(scenario)


def test_what_an_owner_left_behind_is_verified_after_its_death() -> None:
    async def scenario(log: Log) -> None:
        await log.append(await log.begin(), b"one")
        await log.append(await log.begin(epoch=2), b"two", b"three")
        found = await unchanged(log, log.verify)
        assert found.soundness is Soundness.SOUND

    with_log(scenario)


@pytest.mark.parametrize("damage", ["flipped", "missing"])
def test_damage_is_told_with_its_number(damage: str) -> None:
    async def scenario(log: Log) -> None:
        await log.append(await log.begin(), *(b"%d" % number for number in range(5)))
        key = log.keys_of(Kind.DATA)[1]
        if damage == "missing":
            del log.store.objects[key]
        else:
            content = bytearray(log.store.objects[key])
            content[HEADER_BYTES + 24] ^= 1
            log.store.objects[key] = bytes(content)
        found = await unchanged(log, log.verify)
        assert (found.soundness, found.attempts) == (Soundness.DAMAGED, 2)
        assert found.error is not None
        assert KEYS.key(found.error.number) == key
        if damage == "flipped":
            assert [it.number for it in await log.objects() if it.records is None] == [
                found.error.number
            ]

    with_log(scenario)


def test_damage_that_moves_is_an_owner_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(log: Log) -> None:
        await log.append(await log.begin(), *(b"%d" % number for number in range(20)))
        keys = log.keys_of(Kind.DATA)
        real = offline._dry_run
        removed = iter(keys)

        async def meanwhile(*arguments: object) -> Verification:
            key = next(removed)
            content = log.store.objects.pop(key)
            try:
                return await real(*arguments)  # type: ignore[arg-type]
            finally:
                log.store.objects[key] = content

        monkeypatch.setattr(offline, "_dry_run", meanwhile)
        found = await log.verify()
        assert (found.soundness, found.attempts) == (Soundness.IN_USE, offline.MAX_ATTEMPTS)

    with_log(scenario)


def test_another_format_version_is_refused() -> None:
    async def scenario(log: Log) -> None:
        from crc32c import crc32c

        await log.append(await log.begin(), b"one")
        (key,) = log.keys_of(Kind.DATA)
        content = bytearray(log.store.objects[key])
        content[8:10] = b"\x00\x02"
        content[156:160] = crc32c(bytes(content[:156])).to_bytes(4, "big")
        log.store.objects[key] = bytes(content)
        with pytest.raises(WalVersionError, match="format version 2"):
            await log.objects()

    with_log(scenario)


def test_a_dry_bucket_shows_what_it_was_told_to_create_and_nobody_else_sees_it() -> None:
    async def scenario(log: Log) -> None:
        dry = DryBucket(log.bucket)
        await log.bucket.create("wal/c/1/a", [b"real"])
        assert not await dry.create("wal/c/1/a", [b"other"])
        assert await dry.create("wal/c/1/b", [b"dr", b"y"])
        assert not await dry.create("wal/c/1/b", [b"again"])
        assert sorted(await dry.list("wal/c/1")) == [("wal/c/1/a", 4), ("wal/c/1/b", 3)]
        assert bytes(await dry.read("wal/c/1/b", 0, 3) or b"") == b"dry"
        assert bytes(await dry.read("wal/c/1/b", 0, 4) or b"") == b""
        assert await dry.read("wal/c/1/c", 0, 1) is None
        await dry.delete(["wal/c/1/a"])
        assert dict(await log.bucket.list("wal/c/1")) == {"wal/c/1/a": 4}

    with_log(scenario)
