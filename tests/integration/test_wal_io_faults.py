"""A write, flush or read of the log fails, is short, hangs or comes late: nothing is confirmed any more, nothing is
tried again, and what was acknowledged is found by the next start.

On a fault disk: the kernel reports each error by the way of IO that production uses, on a raw device and on a file.
"""

import asyncio
import errno
import os
import random
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import uvloop

from headrace.config.node import WalConfig
from headrace.wal.device import aio_device, thread_device
from headrace.wal.device.block_device import BlockDevice
from headrace.wal.device.open_device import open_device
from headrace.wal.device.sized_device import SizedDevice
from headrace.wal.errors import WalDeviceError, WalError, WalFailedError, WalStateError
from headrace.wal.layout import RING_POSITION
from headrace.wal.port import Appended
from headrace.wal.ring.log import DeltaWal
from tests.environment.fault_disk import FaultDisk, fault_disk_support

KIB = 1024
CAPACITY = 4 * KIB * KIB
TIMEOUT_MS = 1_000  # where something hangs; a write may take half of it on a busy machine
PATIENT_TIMEOUT_MS = 30_000
CLOSE_TIMEOUT_S = 0.1
WITHIN_S = 10.0
EVER = 0  # for `times`
WAYS = [
    "loop-aio-uvloop",
    "loop-threads-asyncio",
    "file-aio-asyncio",
    "file-threads-uvloop",
    "loop-auto-uvloop",
]
DATA = {"from_byte": RING_POSITION}
SUPERBLOCK = {"to_byte": RING_POSITION}


@dataclass
class Log:
    """A log and what it has told."""

    wal: DeltaWal
    appended: list[tuple[Appended, bytes]] = field(default_factory=list)
    confirmed: list[int] = field(default_factory=list)
    failures: list[WalError] = field(default_factory=list)
    told_after_failure: list[int] = field(default_factory=list)
    trimmed: int = -1

    def append(self, body: bytes) -> None:
        self.appended.append((self.wal.append(b"", body), body))

    def trim(self) -> None:
        """Release half of what is confirmed."""
        done = [a.offset for a, _ in self.appended if a.end_offset <= self.wal.confirmed_offset]
        target = done[len(done) // 2] if done else -1
        if target > self.trimmed:
            self.trimmed = target
            self.wal.trim(target)

    def acknowledged(self) -> dict[int, bytes]:
        """What must be found again."""
        end = self.confirmed[-1] if self.confirmed else 0
        return {
            a.offset: body
            for a, body in self.appended
            if a.end_offset <= end and a.offset > self.trimmed
        }

    def all(self) -> dict[int, bytes]:
        """What may be found again."""
        return {a.offset: body for a, body in self.appended}


class Bench:
    """A fault disk, and logs on it in one of the ways."""

    def __init__(self, disk: FaultDisk, how: str) -> None:
        self.disk = disk
        kind, self.io, loop = how.split("-")
        self.is_file = kind == "file"
        self.path = str(disk.file) if self.is_file else disk.device
        self._run = uvloop.run if loop == "uvloop" else asyncio.run
        self.timeout_ms = PATIENT_TIMEOUT_MS
        self._opened: list[BlockDevice] = []
        self._hanging: list[BlockDevice] = []  # closed while they hung
        self._rng = random.Random(how)

    def run(self, scenario: Callable[[], Awaitable[None]]) -> None:
        """Run a scenario; what it has left hanging is released and closed."""

        async def main() -> None:
            async with asyncio.timeout(60):
                try:
                    await scenario()
                finally:
                    await self.clean_up()

        self._run(main())

    async def clean_up(self) -> None:
        """Close what could not be closed while it hung."""
        await self.ask(self.disk.heal)
        await self.ask(self.disk.release)
        for device in list(self._opened):
            await device.close()
        assert self._opened == []
        while any(device.hangs for device in self._hanging):  # until the last operation is back
            await asyncio.sleep(0.01)
        await asyncio.sleep(0)  # a turn in which they are released

    @staticmethod
    async def ask(question: Callable[..., object], *arguments: object) -> object:
        """Talk with the disk, and let the loop go on meanwhile."""
        return await asyncio.get_running_loop().run_in_executor(None, question, *arguments)

    def open(self) -> Log:
        """Return a log that is not started yet."""
        log: Log

        def on_confirmed(offset: int) -> None:
            (log.told_after_failure if log.failures else log.confirmed).append(offset)

        def opener(config: WalConfig, writable: bool) -> BlockDevice:
            device = open_device(config, writable)
            close = device.close

            async def close_and_note() -> None:
                await close()
                self._opened.remove(device)
                if device.hangs:
                    self._hanging.append(device)

            device.close = close_and_note
            self._opened.append(device)
            return device

        config = WalConfig(
            path=self.path,
            io=self.io,
            capacity_bytes=CAPACITY,
            block_bytes=32 * KIB,
            io_depth=6,
            window_bytes_initial=64 * KIB,
            max_window_bytes=1024 * KIB,
            max_record_bytes=256 * KIB,
            io_timeout_ms=self.timeout_ms,
        )
        log = Log(
            DeltaWal(
                config,
                node_id=1,
                node_epoch=1,
                cluster_id="faults",
                rng=self._rng,
                wall_clock_ms=lambda: 0,
                on_confirmed=on_confirmed,
                on_failed=lambda error: log.failures.append(error),
                opener=opener,
            )
        )
        return log

    async def begin(self) -> Log:
        """Return a log that takes appends."""
        log = self.open()
        await self.start_anew(log)
        return log

    async def start_anew(self, log: Log) -> None:
        """Start, recover, reset."""
        await self.recover(log)
        await log.wal.reset()

    @staticmethod
    async def recover(log: Log) -> dict[int, bytes]:
        """Start the log and return what it finds."""
        await log.wal.start()
        return {record.offset: bytes(record.body) async for record in log.wal.recover()}

    async def load(self, log: Log, *, until: Callable[[], object]) -> None:
        """Append and trim until the condition holds."""
        deadline = time.monotonic() + WITHIN_S
        while not until():
            assert time.monotonic() < deadline, "it did not come to that"
            for _ in range(self._rng.randrange(1, 6)):
                body = self._rng.randbytes(self._rng.choice((100, 3000, 20_000, 60_000)))
                if log.wal.room_for(len(body)):
                    log.append(body)
                else:
                    break
            if not log.failures and self._rng.random() < 0.2:
                log.trim()
            await asyncio.sleep(0)

    async def load_a_little(self, log: Log) -> None:
        """Append until some is confirmed."""
        await self.load(log, until=lambda: len(log.confirmed) >= 3)

    @asynccontextmanager
    async def failing(self, log: Log, *, late: bool = False) -> AsyncIterator[None]:
        """The body arms a fault under load; afterwards the log has failed, in every respect.

        With `late`, what hangs completes while the log is still open.
        """
        await self.load_a_little(log)
        await self.ask(self.disk.forget_journal)
        yield
        await self.load(log, until=lambda: log.failures)
        with pytest.raises(WalFailedError):
            log.wal.append(b"", b"after the failure")
        with pytest.raises(WalFailedError):
            log.wal.trim(log.wal.confirmed_offset - 1)
        assert not log.wal.room_for(1)
        if late:
            await self.ask(self.disk.release)
            opened: Any = self._opened[-1]
            is_both = isinstance(opened, SizedDevice)
            for device in (opened._small, opened._large) if is_both else (opened,):
                await device._idle.wait()
        started = time.monotonic()
        with pytest.raises(WalFailedError):
            await log.wal.shutdown()
        assert time.monotonic() - started < CLOSE_TIMEOUT_S + 2

    async def check(self, log: Log) -> None:
        """Nothing was confirmed after the failure, and the next start finds all that was before."""
        await self.clean_up()
        for _ in range(5):
            await asyncio.sleep(0)
        assert log.told_after_failure == []
        assert len(log.failures) == 1
        again = self.open()
        found = await self.recover(again)
        assert log.acknowledged().items() <= found.items(), "acknowledged and lost"
        assert found.items() <= log.all().items(), "phantom"
        await again.wal.reset()
        await self.load_a_little(again)
        await again.wal.shutdown()


def written_again(journal: list[tuple[str, int, int, str]], how: str) -> list[object]:
    """Writes that touch what another write had failed to write before."""
    failed: list[tuple[int, int]] = []
    again: list[object] = []
    for entry in journal:
        op, position, size, outcome = entry
        if op != "write":
            continue
        if outcome != "late":  # the end of one that was counted when it began to hang
            again += [entry for low, high in failed if position < high and position + size > low]
        if outcome == how:
            failed.append((position, position + max(size, 4096)))
    return again


@pytest.fixture(scope="module")
def shared_disk(
    component: Callable[[Callable[[], object]], None], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[FaultDisk]:
    component(fault_disk_support)
    with FaultDisk(tmp_path_factory.mktemp("faults") / "disk", CAPACITY) as disk:
        yield disk


@pytest.fixture(params=WAYS)
def bench(
    request: pytest.FixtureRequest, shared_disk: FaultDisk, monkeypatch: pytest.MonkeyPatch
) -> Bench:
    monkeypatch.setattr(aio_device, "_CLOSE_TIMEOUT_S", CLOSE_TIMEOUT_S)
    monkeypatch.setattr(thread_device, "_CLOSE_TIMEOUT_S", CLOSE_TIMEOUT_S)
    shared_disk.heal()
    shared_disk.blank()
    return Bench(shared_disk, request.param)


# --- while it is in use


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC], ids=["EIO", "ENOSPC"])
@pytest.mark.parametrize(("where", "ats"), [(DATA, (1, 2, 3, 5, 9, 14)), (SUPERBLOCK, (1, 2))])
def test_a_write_that_fails_is_final(
    bench: Bench, number: int, where: dict[str, int], ats: tuple[int, ...]
) -> None:
    async def scenario() -> None:
        for at in ats:
            log = await bench.begin()
            async with bench.failing(log):
                bench.disk.arm("write", "error", at=at, errno=number, **where)
            assert isinstance(log.failures[0].__cause__, OSError)
            assert os.strerror(number) in str(log.failures[0]) or not bench.is_file
            journal = bench.disk.journal()
            assert [entry[3] for entry in journal].count("error") == 1
            assert written_again(journal, "error") == []
            await bench.check(log)

    bench.run(scenario)


@pytest.mark.parametrize("bench", ["loop-aio-uvloop", "loop-threads-asyncio"], indirect=True)
def test_a_flush_that_fails_is_final(bench: Bench) -> None:
    """Of a device: a file opened with O_DSYNC gets durable writes instead of flushes."""

    async def scenario() -> None:
        for at in (1, 2, 3, 6, 11):
            log = await bench.begin()
            async with bench.failing(log):
                bench.disk.arm("sync", "error", at=at, errno=errno.EIO)
            journal = bench.disk.journal()
            failed = [entry[3] for entry in journal].index("error")
            flushed = max([n for n in range(failed) if journal[n][0] == "sync"], default=0)
            unsynced = [entry for entry in journal[flushed:failed] if entry[0] == "write"]
            as_failed = [(op, at, size, "error") for op, at, size, _ in unsynced]
            assert written_again([*as_failed, *journal[failed:]], "error") == []
            await bench.check(log)

    bench.run(scenario)


@pytest.mark.parametrize("bench", [way for way in WAYS if way.startswith("file")], indirect=True)
@pytest.mark.parametrize(("where", "ats"), [(DATA, (1, 3, 8)), (SUPERBLOCK, (1,))])
def test_a_short_write_is_final(bench: Bench, where: dict[str, int], ats: tuple[int, ...]) -> None:
    """Of a file: the loop driver passes the short write of its file on as a whole one."""

    async def scenario() -> None:
        for at in ats:
            for keep_bytes in (512, 2048):
                log = await bench.begin()
                async with bench.failing(log):
                    bench.disk.arm("write", "short", at=at, keep_bytes=keep_bytes, **where)
                # Linux makes an error of a short asynchronous write to a FUSE file by itself.
                what = "Input/output error" if bench.io == "aio" else f"ended after {keep_bytes}"
                assert what in str(log.failures[0])
                assert written_again(bench.disk.journal(), "short") == []
                await bench.check(log)

    bench.run(scenario)


@pytest.mark.parametrize(
    ("where", "at", "late"), [(DATA, 1, False), (DATA, 4, True), (SUPERBLOCK, 1, True)]
)
def test_a_write_that_hangs_is_final_even_if_it_completes_later(
    bench: Bench, where: dict[str, int], at: int, late: bool
) -> None:
    """While the log is still open (`late`), or after it was closed."""
    bench.timeout_ms = TIMEOUT_MS

    async def scenario() -> None:
        log = await bench.begin()
        async with bench.failing(log, late=late):
            bench.disk.arm("write", "hang", at=at, **where)
        assert "took more than 1 s" in str(log.failures[0])
        await bench.clean_up()
        journal = bench.disk.journal()
        assert "late" in [entry[3] for entry in journal]
        assert written_again(journal, "hangs") == []
        await bench.check(log)

    bench.run(scenario)


def test_a_write_that_is_late_but_in_time_is_confirmed(bench: Bench) -> None:
    async def scenario() -> None:
        log = await bench.begin()
        await bench.load_a_little(log)
        bench.disk.arm("write", "delay", delay_ms=100)
        end = log.wal.next_offset
        await bench.load(log, until=lambda: log.confirmed[-1] > end)
        assert bench.disk.fired() == 1
        assert log.failures == []
        await log.wal.shutdown()

    bench.run(scenario)


@pytest.mark.parametrize(("action", "ats"), [("error", (1, 2, 3)), ("hang", (1,))])
def test_a_failure_while_shutting_down_is_final(
    bench: Bench, action: str, ats: tuple[int, ...]
) -> None:
    bench.timeout_ms = TIMEOUT_MS if action == "hang" else PATIENT_TIMEOUT_MS

    async def scenario() -> None:
        for at in ats:
            log = await bench.begin()
            await bench.load_a_little(log)
            log.append(b"the last record")
            bench.disk.arm("write", action, at=at, times=EVER, errno=errno.EIO)
            started = time.monotonic()
            with pytest.raises(WalFailedError):
                await log.wal.shutdown()
            assert time.monotonic() - started < TIMEOUT_MS / 1000 + CLOSE_TIMEOUT_S + 2
            await bench.check(log)

    bench.run(scenario)


# --- before it is in use


@pytest.mark.parametrize("action", ["error", "hang"])
@pytest.mark.parametrize("at", [1, 2])
def test_a_reset_that_fails_can_be_repeated_by_the_next_start(
    bench: Bench, action: str, at: int
) -> None:
    bench.timeout_ms = TIMEOUT_MS if action == "hang" else PATIENT_TIMEOUT_MS

    async def scenario() -> None:
        log = await bench.begin()
        await bench.load_a_little(log)
        await log.wal.shutdown()
        again = bench.open()
        found = await bench.recover(again)
        assert log.acknowledged().items() <= found.items()
        bench.disk.arm("write", action, at=at, errno=errno.EIO)
        expected = TimeoutError if action == "hang" else OSError
        with pytest.raises(expected):
            await again.wal.reset()
        bench.disk.disarm()
        with pytest.raises(WalStateError):  # tried again as if it had not happened
            await again.wal.reset()
        with pytest.raises(WalError):
            again.append(b"after the failure")
        await again.wal.shutdown()
        assert again.confirmed == []
        await bench.clean_up()
        last = bench.open()
        assert (await bench.recover(last)).items() <= found.items(), "phantom"
        await last.wal.reset()
        await bench.load_a_little(last)
        await last.wal.shutdown()

    bench.run(scenario)


@pytest.mark.parametrize("at", [1, 2, 3, 4])
def test_a_format_that_fails_leaves_a_disk_that_can_be_formatted(bench: Bench, at: int) -> None:
    async def scenario() -> None:
        bench.disk.arm("write", "error", at=at, errno=errno.EIO)
        log = bench.open()
        with pytest.raises(OSError, match="Input/output error"):
            await bench.start_anew(log)
        await log.wal.shutdown()
        await bench.clean_up()
        again = await bench.begin()
        await bench.load_a_little(again)
        await again.wal.shutdown()

    bench.run(scenario)


@pytest.mark.parametrize("action", ["error", "hang"])
def test_a_read_that_fails_is_never_taken_for_the_end_of_the_log(bench: Bench, action: str) -> None:
    """At each read of a start; the first one, which tries whether direct IO works, is made while opening."""
    bench.timeout_ms = TIMEOUT_MS if action == "hang" else PATIENT_TIMEOUT_MS

    async def scenario() -> None:
        log = await bench.begin()
        await bench.load(log, until=lambda: log.wal.used_bytes > CAPACITY // 2)
        await log.wal.shutdown()
        struck = 0
        for at in (2, 3) if action == "hang" else range(1, 7):
            bench.disk.arm("read", action, at=at, errno=errno.EIO)
            again = bench.open()
            started = time.monotonic()
            try:
                found = await bench.recover(again)
            except (OSError, WalDeviceError):
                struck += 1
                with pytest.raises(WalError):
                    await again.wal.reset()
            else:  # nobody waited for that read
                assert log.acknowledged().items() <= found.items()
            assert time.monotonic() - started < TIMEOUT_MS / 1000 + 2
            await again.wal.shutdown()
            await bench.clean_up()
        assert struck
        found = await bench.recover(bench.open())
        assert log.acknowledged().items() <= found.items()

    bench.run(scenario)


def test_no_space_for_the_file_is_a_clear_error(
    component: Callable[[Callable[[], object]], None], tmp_path: Path
) -> None:
    component(fault_disk_support)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(tmp_path)], check=True)

    async def main() -> None:
        wal = DeltaWal(
            WalConfig(path=str(tmp_path / "wal"), capacity_bytes=CAPACITY),
            node_id=1,
            node_epoch=1,
            cluster_id="faults",
            rng=random.Random(0),
            wall_clock_ms=lambda: 0,
            on_confirmed=lambda offset: None,
            on_failed=lambda error: None,
        )
        with pytest.raises(WalDeviceError, match=f"allocate {CAPACITY} bytes.*No space left"):
            await wal.start()

    try:
        asyncio.run(main())
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)
