"""Real devices and real neighbours: sector sizes, other processes, file systems, mounts, swap space."""

import asyncio
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from headrace.broker.cli.root import run
from headrace.config.node import WalConfig
from headrace.wal.device.file_device import open_file
from headrace.wal.errors import WalDeviceError, WalForeignError, WalLockedError
from headrace.wal.ring.log import DeltaWal
from headrace.wal.tools.inspection import OfflineDevice, inspect
from tests.environment import debian
from tests.environment.paths import ROOT, MissingComponentError

MIB = 1024 * 1024
SIZE = 32 * MIB  # of every device here
Component = Callable[[Callable[[], object]], None]


def attach(image: Path, sector_bytes: int) -> str:
    """Attach a loop device of `SIZE`.

    Raises:
        MissingComponentError: that is not allowed here.
    """
    with image.open("wb") as file:
        file.truncate(SIZE)
    command = ["losetup", "--find", "--show", "--sector-size", str(sector_bytes), str(image)]
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as error:
        msg = "no loop devices here (they need root)"
        raise MissingComponentError(msg) from error


class Devices:
    """Makes loop devices and mounts, and takes them away."""

    def __init__(self, directory: Path, component: Component, stack: ExitStack) -> None:
        self._directory = directory
        self._component = component
        self._stack = stack

    def loop(self, sector_bytes: int = 512) -> str:
        attached: list[str] = []
        image = self._directory / f"image-{sector_bytes}"
        self._component(lambda: attached.append(attach(image, sector_bytes)))
        (device,) = attached
        self._stack.callback(subprocess.run, ["losetup", "--detach", device], check=True)
        return device

    def file(self) -> str:
        path = self._directory / "wal"
        path.write_bytes(bytes(SIZE))
        return str(path)

    @contextmanager
    def mounted(self, device: str) -> Iterator[Path]:
        place = self._directory / "mounted"
        place.mkdir(exist_ok=True)
        subprocess.run(["mount", device, str(place)], check=True)
        try:
            yield place
        finally:
            subprocess.run(["umount", str(place)], check=True)


@pytest.fixture
def devices(tmp_path: Path, component: Component) -> Iterator[Devices]:
    with ExitStack() as stack:
        yield Devices(tmp_path, component, stack)


@pytest.fixture(params=["file", "loop-512", "loop-4096"])
def place(request: pytest.FixtureRequest, devices: Devices) -> str:
    """A file or device of `SIZE`, all zeros."""
    kind, _, sector_bytes = request.param.partition("-")
    return devices.file() if kind == "file" else devices.loop(int(sector_bytes))


def log_on(path: str, capacity: int = 16 * MIB) -> DeltaWal:
    return DeltaWal(
        WalConfig(path=path, capacity_bytes=capacity),
        node_id=1,
        node_epoch=1,
        cluster_id="devices",
        rng=random.Random(),
        wall_clock_ms=lambda: 1_700_000_000_000,
        on_confirmed=lambda offset: None,
        on_failed=lambda error: None,
    )


async def run_log(path: str, *, bodies: list[bytes], capacity: int = 16 * MIB) -> list[bytes]:
    """Start, return what is recovered, append, and leave without a trim."""
    log = log_on(path, capacity)
    await log.start()
    try:
        found = [bytes(record.body) async for record in log.recover()]
        await log.reset()
        for body in bodies:
            end = log.append(b"", body).end_offset
            async with asyncio.timeout(20):
                while log.confirmed_offset < end:
                    await asyncio.sleep(0)
        return found
    finally:
        await log.shutdown()


# --- sizes and sectors


def test_a_log_lives_on_every_kind_of_device(place: str) -> None:
    bodies = [os.urandom(size) for size in (1, 511, 4096, 300_000)]
    assert asyncio.run(run_log(place, bodies=bodies)) == []
    assert asyncio.run(run_log(place, bodies=[])) == bodies


def test_what_is_known_of_a_device_is_told(devices: Devices) -> None:
    for sector_bytes in (512, 4096):
        found = inspect(devices.loop(sector_bytes))
        assert (found.sector_bytes, found.size_bytes) == (sector_bytes, SIZE)
        assert not found.is_file


def test_a_device_that_is_too_small_is_refused_with_both_sizes(devices: Devices) -> None:
    device = devices.loop()
    with pytest.raises(WalDeviceError, match=f"{device} has {SIZE} bytes, .* of {SIZE + 4096}"):
        asyncio.run(run_log(device, bodies=[], capacity=SIZE + 4096))
    assert inspect(device).content.kind.name == "BLANK"


def test_of_a_larger_device_the_capacity_is_used_and_nothing_else(devices: Devices) -> None:
    capacity, place = 4 * MIB, devices.loop(4096)
    bodies = [os.urandom(200_000) for _ in range(15)]
    asyncio.run(run_log(place, bodies=bodies, capacity=capacity))
    content = Path(place).read_bytes()
    assert len(content) == SIZE
    assert content[:capacity].strip(b"\0")
    assert content[capacity:] == bytes(SIZE - capacity)
    superblock = inspect(place).content.superblock
    assert superblock.capacity_bytes == capacity


# --- one writer


class Holder:
    """Another process that has the log open for writing."""

    _PROGRAM = (
        "import sys\n"
        "from headrace.wal.device.file_device import open_file\n"
        "file = open_file(sys.argv[1], writable=True)\n"
        "print('held', flush=True)\n"
        "sys.stdin.read()\n"
    )

    def __init__(self, path: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", self._PROGRAM, path],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "held\n"

    def signal(self, number: int) -> None:
        self.process.send_signal(number)
        if number == signal.SIGSTOP:
            os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WNOWAIT)

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


def test_another_writer_is_refused_and_named_and_readers_never_are(place: str) -> None:
    """Also while the writer hangs, which is when another node recovers its log."""
    asyncio.run(run_log(place, bodies=[b"acknowledged"]))
    holder = Holder(place)
    try:
        for number in (0, signal.SIGSTOP):
            if number:
                holder.signal(number)
            with pytest.raises(WalLockedError, match=f"process {holder.process.pid} "):
                open_file(place, writable=True)
            with OfflineDevice.open(place) as reader:
                assert reader.content().superblock is not None
            assert run(["wal", "verify", place]) == 0
            writer = inspect(place).writer
            assert writer is not None
            assert writer.pid == holder.process.pid
    finally:
        holder.end()
    open_file(place, writable=True).close()


def test_readers_do_not_keep_a_writer_out(place: str) -> None:
    with OfflineDevice.open(place), OfflineDevice.open(place):
        asyncio.run(run_log(place, bodies=[b"x"]))


# --- what else is there


class Maker(NamedTuple):
    """A program that puts something else on a file or device."""

    package: str
    command: tuple[str, ...]
    found: str
    text: str = ""

    def make(self, path: str) -> None:
        subprocess.run(
            [*self.command, path], input=self.text, text=True, check=True, capture_output=True
        )

    def install(self) -> None:
        if shutil.which(self.command[0]) is None:
            debian.install(self.package)


EXT4 = Maker("e2fsprogs", ("mkfs.ext4", "-q", "-F"), "ext4 file system")
MAKERS = [
    EXT4,
    Maker("util-linux", ("mkswap", "--force"), "swap space"),
    Maker("btrfs-progs", ("mkfs.btrfs", "--quiet", "--force", "--mixed"), "Btrfs file system"),
    Maker("fdisk", ("sfdisk", "--no-reread", "--no-tell-kernel"), "GPT", "label: gpt\n,,L\n"),
]


@pytest.mark.parametrize("had_a_log", [False, True], ids=["blank", "over a log"])
@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.found.split()[0])
def test_a_device_that_holds_something_else_is_refused_and_left_as_it_is(
    maker: Maker, had_a_log: bool, devices: Devices, component: Component
) -> None:
    """Not even if superblocks of a former log are left: mke2fs leaves the first 1024 bytes."""
    component(maker.install)
    path = devices.file()
    if had_a_log:
        asyncio.run(run_log(path, bodies=[b"x"]))
    maker.make(path)
    before = Path(path).read_bytes()
    with pytest.raises(
        WalForeignError, match=f"{maker.found}.*`headrace wal format --force {path}`"
    ):
        asyncio.run(run_log(path, bodies=[]))
    assert run(["wal", "format", path]) == 1
    assert Path(path).read_bytes() == before
    assert run(["wal", "format", "--force", path]) == 0
    assert asyncio.run(run_log(path, bodies=[b"x"])) == []


@pytest.mark.parametrize("start", [63 * 512, MIB, 4 * MIB])
@pytest.mark.parametrize("maker", [MAKERS[0], MAKERS[2]], ids=["ext4", "Btrfs"])
def test_a_file_system_in_a_partition_is_found_though_the_table_is_gone(
    maker: Maker, start: int, devices: Devices, component: Component
) -> None:
    component(maker.install)
    path = Path(devices.file())
    part = path.with_name("part")
    part.write_bytes(bytes(SIZE - start))
    maker.make(str(part))
    before = bytes(start) + part.read_bytes()
    path.write_bytes(before)
    for command in (["format"], ["bench", "--seconds", "0.1", "--runs", "1"]):
        assert run(["wal", *command, str(path)]) == 1
    with pytest.raises(WalForeignError, match=maker.found):
        asyncio.run(run_log(str(path), bodies=[b"x"]))
    assert path.read_bytes() == before


def test_what_lies_behind_the_capacity_of_a_device_keeps_no_log_away(devices: Devices) -> None:
    device = devices.loop()
    with Path(device).open("r+b") as file:
        file.seek(20 * MIB)
        file.write(b"somebody's")
    assert asyncio.run(run_log(device, bodies=[b"x"], capacity=16 * MIB)) == []


def test_a_mounted_device_is_never_formatted(
    devices: Devices, capsys: pytest.CaptureFixture[str]
) -> None:
    device = devices.loop()
    EXT4.make(device)
    with devices.mounted(device) as directory:
        (directory / "precious").write_text("data")
        for arguments in ([], ["--force"]):
            assert run(["wal", "format", device, *arguments]) == 1
            assert f"{device} is in use: mounted at {directory}" in capsys.readouterr().err
        with pytest.raises(WalLockedError, match="mounted at"):
            asyncio.run(run_log(device, bodies=[]))
        assert run(["wal", "info", device, "--json"]) == 0
        assert "ext4" in json.loads(capsys.readouterr().out)["holds"]
    with devices.mounted(device):
        assert (directory / "precious").read_text() == "data"


def test_a_read_only_device_is_refused_with_what_to_do(devices: Devices) -> None:
    device = devices.loop()
    subprocess.run(["blockdev", "--setro", device], check=True)
    with pytest.raises(WalDeviceError, match=f"{device} is read-only.*`blockdev --setrw {device}`"):
        asyncio.run(run_log(device, bodies=[]))
    assert run(["wal", "format", device]) == 1
    assert run(["wal", "info", device]) == 0
    subprocess.run(["blockdev", "--setrw", device], check=True)
    assert asyncio.run(run_log(device, bodies=[])) == []


def test_a_file_system_that_is_read_only_is_named(devices: Devices) -> None:
    device = devices.loop()
    EXT4.make(device)
    with devices.mounted(device) as directory:
        (directory / "wal").write_bytes(b"")
        subprocess.run(["mount", "-o", "remount,ro", str(directory)], check=True)
        with pytest.raises(WalDeviceError, match=r"mount -o remount,rw"):
            asyncio.run(run_log(str(directory / "wal"), bodies=[]))


def test_formatting_a_device_makes_it_usable(devices: Devices) -> None:
    device = devices.loop(4096)
    EXT4.make(device)
    assert run(["wal", "format", device, "--capacity", "16MiB", "--force"]) == 0
    content = Path(device).read_bytes()
    assert not content[: 16 * MIB].strip(b"\0")
    assert not content[-MIB:].strip(b"\0")
    assert asyncio.run(run_log(device, bodies=[b"x"])) == []


def test_another_owners_log_is_refused_with_the_way_to_take_it(devices: Devices) -> None:
    path = devices.file()
    asyncio.run(run_log(path, bodies=[b"theirs"]))

    async def start() -> None:
        log = log_on(path)
        log._identity = replace(log._identity, node_id=2)
        await log.start()

    with pytest.raises(WalDeviceError, match=f"node 1 of.*`headrace wal format --force {path}`"):
        asyncio.run(start())
