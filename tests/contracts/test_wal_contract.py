"""What every write-ahead log must do, on every kind of device and bucket, on both event loops."""

import asyncio
import random
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import pytest
import uvloop

from headrace.broker.adapters.wal_bucket import WalBucket
from headrace.config.node import WalConfig
from headrace.storage.ports import ObjectStore
from headrace.wal.device.open_device import DeviceOpener, open_device
from headrace.wal.errors import (
    WalError,
    WalFailedError,
    WalMissingError,
    WalOutdatedError,
    WalOverCapacityError,
    WalRecordTooLargeError,
    WalStateError,
)
from headrace.wal.objects.log import ObjectWal
from headrace.wal.port import Appended, WriteAheadLog
from headrace.wal.registry import LogEnd
from headrace.wal.ring.log import DeltaWal
from tests.contracts.object_stores import OpenStore, file_store, memory_store
from tests.simulation.disk import SimulatedDisk

KIB = 1024
CAPACITY = 512 * KIB


@dataclass
class Opened:
    """A log and what it has told."""

    wal: WriteAheadLog
    confirmed: list[int] = field(default_factory=list)
    failures: list[WalError] = field(default_factory=list)

    async def recovered(self) -> list[tuple[int, bytes]]:
        await self.wal.start()
        return [(record.offset, bytes(record.body)) async for record in self.wal.recover()]

    async def begin(self) -> None:
        await self.recovered()
        await self.wal.reset()

    async def until_confirmed(self, end_offset: int) -> None:
        async with asyncio.timeout(20):
            while self.wal.confirmed_offset < end_offset:
                await asyncio.sleep(0)


class NotedRegistry:
    """A `headrace.wal.registry.LogRegistry` that notes what it is told, and when."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, int | None]] = []
        self.generation_id = 0
        self.ends: list[LogEnd] = []  # of the logs that were found
        self.uploaded_offset = -1
        self.refusal: WalError | None = None
        self.may_begin = asyncio.Event()
        self.may_begin.set()

    def require(self, place: str, node_epoch: int | None) -> None:
        assert place
        self.calls.append(("require", node_epoch))
        if self.refusal is not None:
            raise self.refusal

    def require_end(self, place: str, end: LogEnd) -> None:
        assert place
        self.ends.append(end)
        if end.offset < self.uploaded_offset:
            raise WalOutdatedError(
                place,
                f"{end.generation_id:016x}",
                end_offset=end.offset,
                uploaded_offset=self.uploaded_offset,
                streams=1,
            )

    async def begun(self, generation_id: int) -> None:
        await self.may_begin.wait()
        self.calls.append(("begun", None))
        assert generation_id != self.generation_id
        self.generation_id = generation_id

    async def emptied(self) -> None:
        self.calls.append(("emptied", None))

    def told(self) -> list[tuple[str, int | None]]:
        calls, self.calls = self.calls, []
        return calls


@dataclass
class Place:
    """Where a log lies."""

    make: Callable[[Callable[[int], None], Callable[[WalError], None]], WriteAheadLog]
    loop: Callable[[Awaitable[None]], None]
    registry: NotedRegistry

    def open(self) -> Opened:
        opened: Opened

        def on_confirmed(offset: int) -> None:
            opened.confirmed.append(offset)

        def on_failed(error: WalError) -> None:
            opened.failures.append(error)

        opened = Opened(self.make(on_confirmed, on_failed))
        return opened


def on_a_device(
    config: WalConfig, opener: DeviceOpener, loop: Callable[[Awaitable[None]], None]
) -> Place:
    registry = NotedRegistry()

    def make(
        on_confirmed: Callable[[int], None], on_failed: Callable[[WalError], None]
    ) -> WriteAheadLog:
        return DeltaWal(
            config,
            node_id=1,
            node_epoch=1,
            cluster_id="contract",
            rng=random.Random(),
            wall_clock_ms=lambda: 0,
            on_confirmed=on_confirmed,
            on_failed=on_failed,
            opener=opener,
            registry=registry,
        )

    return Place(make, loop, registry)


def in_a_bucket(open_store: OpenStore, loop: Callable[[Awaitable[None]], None]) -> Place:
    config = replace(settings("s3://", "auto"), batch_interval_ms=2, batch_bytes=64 * KIB)
    stores: list[ObjectStore] = []  # the first start's: a bucket in memory is that object
    registry = NotedRegistry()

    def make(
        on_confirmed: Callable[[int], None], on_failed: Callable[[WalError], None]
    ) -> WriteAheadLog:
        if not stores:
            stores.append(open_store())
        return ObjectWal(
            config,
            WalBucket(stores[0]),
            node_id=1,
            node_epoch=1,
            cluster_id="contract",
            rng=random.Random(),
            on_confirmed=on_confirmed,
            on_failed=on_failed,
            registry=registry,
        )

    return Place(make, loop, registry)


def settings(path: str, io: str) -> WalConfig:
    return WalConfig(
        path=path,
        io=io,
        capacity_bytes=CAPACITY,
        block_bytes=32 * KIB,
        io_depth=4,
        window_bytes_initial=64 * KIB,
        max_window_bytes=256 * KIB,
        max_record_bytes=100_000,
    )


def attach(image: Path) -> str | None:
    with image.open("wb") as file:
        file.truncate(CAPACITY)
    try:
        found = subprocess.run(
            ["losetup", "--find", "--show", str(image)], check=True, capture_output=True, text=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return found.stdout.strip()


@pytest.fixture(
    params=[
        "file-aio-asyncio",
        "file-aio-uvloop",
        "file-threads-asyncio",
        "file-threads-uvloop",
        "loop-aio-uvloop",
        "simulated--asyncio",
        "memory-bucket-asyncio",
        "file-bucket-uvloop",
    ]
)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    kind, io, loop = request.param.split("-")
    run = uvloop.run if loop == "uvloop" else asyncio.run
    if io == "bucket":
        yield in_a_bucket(memory_store() if kind == "memory" else file_store(tmp_path), run)
        return
    if kind == "simulated":
        disk = SimulatedDisk(CAPACITY)
        config = settings("disk", "auto")
        yield on_a_device(
            config, lambda config, writable: disk.open("disk", writable=writable), run
        )
        return
    if kind == "file":
        yield on_a_device(settings(str(tmp_path / "wal"), io), open_device, run)
        return
    device = attach(tmp_path / "image")
    if device is None:
        pytest.skip("no loop devices here (they need root)")
    try:
        yield on_a_device(settings(device, io), open_device, run)
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)


def bodies(count: int, max_size: int = 20_000) -> list[bytes]:
    rng = random.Random(count)
    return [rng.randbytes(rng.randrange(1, max_size)) for _ in range(count)]


async def append_all(opened: Opened, records: list[bytes]) -> list[Appended]:
    appended = []
    for body in records:
        while not opened.wal.room_for(len(body)):
            await asyncio.sleep(0)
        appended.append(opened.wal.append(body[: len(body) // 2], body[len(body) // 2 :]))
    return appended


def test_appends_are_confirmed_in_order_and_recovered(place: Place) -> None:
    records = bodies(30)

    async def main() -> None:
        opened = place.open()
        await opened.begin()
        appended = await append_all(opened, records)
        await opened.until_confirmed(appended[-1].end_offset)
        assert opened.confirmed == sorted(set(opened.confirmed))
        assert [bytes(a.payload) for a in appended] == [body[len(body) // 2 :] for body in records]
        assert all(a.end_offset <= b.offset for a, b in pairwise(appended))
        await opened.wal.shutdown()
        again = place.open()
        expected = [(a.offset, body) for a, body in zip(appended, records, strict=True)]
        assert await again.recovered() == expected
        await again.wal.reset()
        await again.wal.shutdown()
        last = place.open()
        assert await last.recovered() == []
        await last.wal.shutdown()

    place.loop(main())


def test_many_laps(place: Place) -> None:
    async def main() -> None:
        opened = place.open()
        await opened.begin()
        start = opened.wal.next_offset
        live: list[tuple[int, bytes]] = []
        rng = random.Random(4)
        while opened.wal.next_offset < start + 2 * CAPACITY:
            body = rng.randbytes(rng.choice((100, 5000, 40_000)))
            while not opened.wal.room_for(len(body)):
                confirmed = opened.wal.confirmed_offset
                if opened.wal.trim_offset < confirmed - 1:
                    released = max((o for o, _ in live if o < confirmed), default=-1)
                    keep_from = released - 60_000
                    if keep_from > opened.wal.trim_offset:
                        opened.wal.trim(keep_from)
                        live = [(o, b) for o, b in live if o > keep_from]
                await asyncio.sleep(0)
            live.append((opened.wal.append(b"", body).offset, body))
        await opened.wal.shutdown()
        again = place.open()
        assert await again.recovered() == live
        await again.wal.shutdown()

    place.loop(main())


def test_trim_is_inclusive_and_frees_the_space(place: Place) -> None:
    async def main() -> None:
        opened = place.open()
        await opened.begin()
        appended = await append_all(opened, bodies(10))
        await opened.until_confirmed(appended[-1].end_offset)
        used = opened.wal.used_bytes
        opened.wal.trim(appended[6].offset)
        assert opened.wal.trim_offset == appended[6].offset
        async with asyncio.timeout(10):
            while opened.wal.used_bytes == used:
                await asyncio.sleep(0)
        await opened.wal.shutdown()
        again = place.open()
        assert [offset for offset, _ in await again.recovered()] == [a.offset for a in appended[7:]]
        await again.wal.shutdown()

    place.loop(main())


def test_a_full_log_refuses_with_nothing_changed(place: Place) -> None:
    async def main() -> None:
        opened = place.open()
        await opened.begin()
        while opened.wal.used_bytes < CAPACITY // 2 or opened.wal.room_for(30_000):
            if opened.wal.room_for(30_000):
                opened.wal.append(b"", bytes(30_000))
            await asyncio.sleep(0)
        before = (opened.wal.next_offset, opened.wal.used_bytes)
        with pytest.raises(WalOverCapacityError):
            opened.wal.append(b"", bytes(30_000))
        assert (opened.wal.next_offset, opened.wal.used_bytes) == before
        await opened.until_confirmed(opened.wal.next_offset)
        opened.wal.trim(opened.wal.confirmed_offset - 1)
        async with asyncio.timeout(10):
            while opened.wal.used_bytes:
                await asyncio.sleep(0)
        opened.wal.append(b"", bytes(30_000))
        await opened.wal.shutdown()

    place.loop(main())


def test_a_record_that_is_too_large_is_refused(place: Place) -> None:
    async def main() -> None:
        opened = place.open()
        await opened.begin()
        with pytest.raises(WalRecordTooLargeError):
            opened.wal.append(b"", bytes(100_001))
        opened.wal.append(b"", bytes(100_000))
        await opened.wal.shutdown()
        assert opened.failures == []
        with pytest.raises(WalFailedError):
            opened.wal.append(b"", b"x")

    place.loop(main())


def test_the_copy_stays_while_somebody_holds_it(place: Place) -> None:
    """However often the ring and its buffers have gone around since."""

    async def main() -> None:
        opened = place.open()
        await opened.begin()
        kept = opened.wal.append(b"head", b"kept payload").payload
        for _ in range(60):
            while not opened.wal.room_for(30_000):
                if opened.wal.trim_offset < opened.wal.confirmed_offset - 1:
                    opened.wal.trim(opened.wal.confirmed_offset - 1)
                await asyncio.sleep(0)
            opened.wal.append(b"", b"\xee" * 30_000)
        assert bytes(kept) == b"kept payload"
        await opened.wal.shutdown()

    place.loop(main())


def test_a_registry_hears_of_a_log_from_before_the_first_append_until_it_is_empty(
    place: Place,
) -> None:
    async def main() -> None:
        registry = place.registry
        first = place.open()
        registry.may_begin.clear()
        beginning = asyncio.ensure_future(first.begin())
        await asyncio.wait([beginning], timeout=0.2)
        assert not beginning.done(), "it may be used before that is known"
        registry.may_begin.set()
        await beginning
        assert registry.told() == [("require", None), ("begun", None)]
        appended = first.wal.append(b"", b"kept")
        await first.until_confirmed(appended.end_offset)
        await first.wal.shutdown()
        assert registry.told() == [], "it is not empty"

        second = place.open()
        assert [body for _, body in await second.recovered()] == [b"kept"]
        await second.wal.reset()
        await second.wal.shutdown()
        assert registry.told() == [("require", 1), ("begun", None), ("emptied", None)]

    place.loop(main())


def test_a_registry_is_told_an_end_behind_everything_that_was_confirmed(place: Place) -> None:
    async def main() -> None:
        registry = place.registry
        for released in (False, True, True):
            owner = place.open()
            await owner.begin()
            for size in (10, 100_000, 30_000):
                appended = owner.wal.append(b"", bytes(size))
            await owner.until_confirmed(appended.end_offset)
            if released:
                owner.wal.trim(appended.end_offset - 1)
                async with asyncio.timeout(20):
                    while owner.wal.used_bytes:
                        await asyncio.sleep(0)
            generation_id = registry.generation_id
            await owner.wal.shutdown()
            registry.ends.clear()
            registry.uploaded_offset = appended.end_offset
            found = place.open()
            await found.recovered()
            (end,) = registry.ends
            assert end == LogEnd(1, generation_id, end.offset)
            assert end.offset >= appended.end_offset
            await found.wal.shutdown()

    place.loop(main())


def test_an_old_copy_is_left_as_it_is(place: Place) -> None:
    async def main() -> None:
        registry = place.registry
        owner = place.open()
        await owner.begin()
        appended = owner.wal.append(b"", b"kept")
        await owner.until_confirmed(appended.end_offset)
        await owner.wal.shutdown()
        registry.told()
        registry.uploaded_offset = 1 << 40
        for _ in range(2):
            copy = place.open()
            with pytest.raises(WalOutdatedError, match=f"loss={registry.generation_id:016x}"):
                await copy.recovered()
            with pytest.raises(WalStateError):
                await copy.wal.reset()
            await copy.wal.shutdown()
        assert registry.told() == [("require", 1)] * 2
        registry.uploaded_offset = appended.end_offset
        assert [body for _, body in await place.open().recovered()] == [b"kept"]

    place.loop(main())


def test_a_log_that_is_not_the_right_one_is_left_as_it_is(place: Place) -> None:
    async def main() -> None:
        registry = place.registry
        registry.refusal = WalMissingError("there", "0" * 16, found_epoch=None, streams=1)
        for _ in range(2):
            with pytest.raises(WalMissingError):
                await place.open().wal.start()
        assert registry.told() == [("require", None)] * 2, "the first has left something"
        registry.refusal = None
        await place.open().begin()

    place.loop(main())
