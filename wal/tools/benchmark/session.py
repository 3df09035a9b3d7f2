"""Runs the loads one after the other on one device, each in turn with fio, and yields rows."""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from headrace.config.node import WalConfig
from headrace.config.uris import MIN_WAL_CAPACITY_BYTES
from headrace.wal.device.kernel_queue import write_counters
from headrace.wal.errors import WalDeviceError
from headrace.wal.layout import ShutdownType, Superblock
from headrace.wal.ring.content import Content, Kind
from headrace.wal.ring.wake_timer import precise_timer
from headrace.wal.tools.benchmark.figures import (
    Counted,
    DeviceWork,
    Figures,
    Load,
    PeerFigures,
    Row,
    Sample,
    count,
    medians,
    peer_depth,
    peer_request_bytes,
    summarise,
)
from headrace.wal.tools.benchmark.fio import fio_command, run_fio
from headrace.wal.tools.benchmark.load import CLUSTER_ID, LoadDriver
from headrace.wal.tools.formatting import Formatter
from headrace.wal.tools.inspection import OfflineDevice

RECORD_SIZES = tuple(size * 1024 for size in (1, 4, 64, 128, 256, 1024))
OFFERED_BYTES_PER_SECOND = 120 * 1024 * 1024  # of the article
CAPACITY_BYTES = 1024 * 1024 * 1024
_WARM_UP_S = 0.3
_SAMPLE_NS = 5_000_000
# A run continues until something was confirmed, with so many checks at most.
_MAX_LOOKS = 1200
_LOOK_AGAIN_S = 0.05


Reading = Callable[[int], AbstractContextManager[Callable[[int], None]]]


def _silently(_total: int) -> AbstractContextManager[Callable[[int], None]]:
    return nullcontext(lambda _: None)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured, and for how long."""

    loads: tuple[Load, ...]
    seconds: float  # of each run
    runs: int  # of each load; medians are taken of these
    fio: str | None  # its program


def article_loads(bytes_per_second: int) -> tuple[Load, ...]:
    """Return the rows of the article: every size of record at a fixed rate, then flat out."""
    return tuple(Load(size, rate) for rate in (bytes_per_second, 0) for size in RECORD_SIZES)


@contextmanager
def expendable(
    path: str,
    *,
    capacity_bytes: int | None,
    force: bool,
    reading: Reading = _silently,
) -> Iterator[int]:
    """Provide a file or device that may be overwritten: a missing file is created, and removed afterwards.

    An existing one is read first, all of it, unless it is the log of a benchmark.

    Args:
        path: of it.
        capacity_bytes: of the log on it; by default a GiB, or what a smaller device has, or all of a file.
        force: also take a device that is not blank.
        reading: shows the progress of that, given the number of bytes.

    Yields:
        The capacity.

    Raises:
        WalDeviceError: it is not blank, too small, or cannot be used.
    """
    if not Path(path).exists():
        _require_capacity(path, capacity_bytes or CAPACITY_BYTES)
        try:
            yield capacity_bytes or CAPACITY_BYTES
        finally:
            Path(path).unlink(missing_ok=True)
        return
    with OfflineDevice.open(path) as device:
        size_bytes, is_file = device.file.size_bytes, device.file.is_file
        capacity = capacity_bytes or (size_bytes if is_file else min(size_bytes, CAPACITY_BYTES))
        _require_capacity(path, capacity)
        with reading(size_bytes) as on_read:
            content = None if force else device.content(capacity, on_read=on_read)
        if content is not None and not _is_expendable(content):
            msg = f"{path} is not blank, and would be overwritten: use --force to do so"
            raise WalDeviceError(msg)
    yield capacity


def _require_capacity(path: str, capacity_bytes: int) -> None:
    if capacity_bytes < MIN_WAL_CAPACITY_BYTES:
        msg = (
            f"{path} would hold a WAL of {capacity_bytes} bytes; at least {MIN_WAL_CAPACITY_BYTES} "
            f"({MIN_WAL_CAPACITY_BYTES >> 20} MiB) are needed"
        )
        raise WalDeviceError(msg)


def _is_expendable(content: Content) -> bool:
    """Whether it may be overwritten: it is blank, or a benchmark has left it behind."""
    left = content.superblock is not None and content.superblock.cluster_id == CLUSTER_ID
    return left or content.kind in {Kind.BLANK, Kind.FORMATTING}


class Session:
    """The measurements on one device, which they overwrite."""

    def __init__(self, config: WalConfig, plan: Plan) -> None:
        """Nothing is written yet; `config` says where and how."""
        self._config = config
        self._plan = plan
        self._is_zeroed = False
        self.io = ""  # the kind of IO that was used

    async def rows(self) -> AsyncIterator[Row]:
        """Measure, and yield each load's row when it is complete; errors as of `row`."""
        for load in self._plan.loads:
            yield await self.row(load)

    async def row(self, load: Load) -> Row:
        """Measure one load as often as planned, in turn with fio.

        Raises:
            WalError: the log or fio failed.
            OSError: the device failed.
        """
        ours: list[Figures] = []
        peers: list[PeerFigures] = []
        for _ in range(self._plan.runs):
            figures, _ = await self.run(load)
            ours.append(figures)
            if self._plan.fio is not None:
                peers.append(await self._run_fio(figures))
        return Row(load, medians(ours), medians(peers) if peers else None)

    async def run(self, load: Load, *, counted: bool = False) -> tuple[Figures, Counted | None]:
        """Measure one load once; with `counted` also by the device's own counters, where it has some.

        Raises:
            WalError: the log failed.
            OSError: the device failed.
        """
        self._make_empty()
        driver = LoadDriver(load, self._config)
        wal = driver.wal
        await wal.start()
        try:
            async for _ in wal.recover():
                pass
            await wal.reset()
            driver.begin()
            sampler = _Sampler(self._config.path) if counted else None
            figures = await self._measure(driver, load)
            samples = [] if sampler is None else sampler.end()
            self.io = wal.device.io  # which `auto` has chosen
        finally:
            driver.end()
            await wal.shutdown()
        return figures, count(samples) if samples else None

    def _make_empty(self) -> None:
        """Fill the device with zeros the first time, so that no run pays for first writes; then only empty the log."""
        with closing(Formatter(self._config.path)) as formatter:
            if self._is_zeroed:
                formatter.begin(_empty_log(self._config))
            else:
                plan = formatter.plan(self._config.capacity_bytes, force=True)
                formatter.run(plan, lambda _: None)
        self._is_zeroed = True

    async def _measure(self, driver: LoadDriver, load: Load) -> Figures:
        await asyncio.sleep(_WARM_UP_S)
        driver.take_latencies()
        before, began_ns, began_cpu_ns = _work(driver), _now_ns(), time.process_time_ns()
        await asyncio.sleep(self._plan.seconds)
        for _ in range(_MAX_LOOKS):  # on a busy machine nothing is confirmed for a while
            if driver.latencies_ns or driver.failure is not None:
                break
            await asyncio.sleep(_LOOK_AGAIN_S)
        after, elapsed_ns = _work(driver), _now_ns() - began_ns
        cpu_ns = time.process_time_ns() - began_cpu_ns
        if driver.failure is not None:
            raise driver.failure
        try:
            return summarise(
                driver.take_latencies(),
                record_bytes=load.record_bytes,
                work=DeviceWork(*(late - early for early, late in zip(before, after, strict=True))),
                elapsed_ns=elapsed_ns,
                cpu_ns=cpu_ns,
            )
        except ValueError as error:
            raise WalDeviceError(f"{self._config.path}: {error}") from error

    async def _run_fio(self, figures: Figures) -> PeerFigures:
        assert self._plan.fio is not None
        command = fio_command(
            self._plan.fio,
            self._config.path,
            capacity_bytes=self._config.capacity_bytes,
            request_bytes=peer_request_bytes(figures),
            depth=peer_depth(figures),
            seconds=self._plan.seconds,
        )
        return await run_fio(command, seconds=self._plan.seconds)


def _empty_log(config: WalConfig) -> Superblock:
    """Return the superblock of a log that needs no recovery."""
    return Superblock(
        sequence=1,
        generation_id=secrets.randbits(64),
        capacity_bytes=config.capacity_bytes,
        trim_offset=-1,
        head_offset=0,
        confirmed_offset=0,
        window_bytes=config.window_bytes_initial,
        shutdown=ShutdownType.GRACEFUL,
        node_id=1,
        node_epoch=1,
        cluster_id=CLUSTER_ID,
        last_write_ms=0,
    )


def _work(driver: LoadDriver) -> DeviceWork:
    writes = driver.wal.statistics
    return DeviceWork(writes.writes_total, writes.written_bytes_total, writes.writes.sum_ns)


def _now_ns() -> int:
    return time.perf_counter_ns()


class _Sampler:
    """Reads the device's counters every few milliseconds."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._samples: list[Sample] = []
        self._timer = precise_timer(self._sample)
        self._sample()

    def end(self) -> list[Sample]:
        """Stop, and return what was read; nothing where there are no counters."""
        self._timer.close()
        return self._samples

    def _sample(self) -> None:
        counters = write_counters(self._path)
        if counters is not None:
            self._samples.append(Sample(_now_ns(), *counters))
            self._timer.set(_SAMPLE_NS)
