"""The fault disk does what the tests on it rely on."""

import errno
import mmap
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.environment.fault_disk import EIO, FaultDisk, fault_disk_support
from tests.environment.fault_disk_state import VolatileCache
from tests.environment.paths import ROOT

SIZE = 1 << 20
PAGE = 4096


@pytest.fixture
def disk(component: Callable[[Callable[[], object]], None], tmp_path: Path) -> Iterator[FaultDisk]:
    component(fault_disk_support)
    with FaultDisk(tmp_path / "disk", SIZE) as faulty:
        yield faulty


@pytest.fixture(params=["loop", "file"])
def path(request: pytest.FixtureRequest, disk: FaultDisk) -> str:
    return disk.device if request.param == "loop" else str(disk.file)


def pages(fill: bytes, count: int = 1) -> mmap.mmap:
    """Aligned memory."""
    memory = mmap.mmap(-1, count * PAGE)
    memory[:] = fill * (count * PAGE)
    return memory


def opened(path: str, flags: int = 0) -> int:
    return os.open(path, os.O_RDWR | os.O_DIRECT | flags)


def write(path: str, position: int, data: mmap.mmap, *, flags: int = os.O_DSYNC) -> int:
    fd = opened(path, flags)
    try:
        return os.pwritev(fd, [data], position)
    finally:
        os.close(fd)


def read(path: str, position: int, size: int = PAGE) -> bytes:
    fd = opened(path)
    memory = mmap.mmap(-1, size)
    try:
        os.preadv(fd, [memory], position)
    finally:
        os.close(fd)
    return bytes(memory)


def lose_power(disk: FaultDisk, survive: float = 0.0) -> None:
    disk.cut(survive=survive, seed=1)
    disk.heal()


def test_what_was_written_durably_survives_a_power_cut(disk: FaultDisk, path: str) -> None:
    write(path, 0, pages(b"a", 3))
    fd = opened(path)
    os.pwritev(fd, [pages(b"b")], 8 * PAGE)
    os.fdatasync(fd)
    os.pwritev(fd, [pages(b"c", 2)], 8 * PAGE)
    os.close(fd)
    assert disk.state()["dirty_bytes"] == 2 * PAGE
    assert read(path, 8 * PAGE) == b"c" * PAGE, "a reader sees the cache"
    lose_power(disk)
    assert read(path, 0, 3 * PAGE) == b"a" * 3 * PAGE
    assert read(path, 8 * PAGE, 2 * PAGE) == b"b" * PAGE + bytes(PAGE)
    assert disk.image.read_bytes() == read(path, 0, SIZE)


def test_unsynced_sectors_survive_or_not(disk: FaultDisk, path: str) -> None:
    write(path, 0, pages(b"x", 32), flags=0)
    lose_power(disk, survive=0.5)
    content = read(path, 0, 32 * PAGE)
    sectors = [content[at : at + 512] for at in range(0, len(content), 512)]
    assert set(sectors) == {b"x" * 512, bytes(512)}
    assert 64 < sectors.count(b"x" * 512) < 192


def test_after_a_power_cut_nothing_works_until_it_is_healed(disk: FaultDisk, path: str) -> None:
    disk.cut(survive=1.0, seed=0)
    with pytest.raises(OSError, match="Input/output error"):
        write(path, 0, pages(b"a"))
    with pytest.raises(OSError, match="Input/output error"):
        read(path, 0)
    disk.heal()
    assert write(path, 0, pages(b"a")) == PAGE


def test_a_flush_covers_what_was_complete_when_it_was_asked_for() -> None:
    medium = bytearray(3 * PAGE)
    cache = VolatileCache(medium)
    cache.write(0, b"a" * PAGE)
    asked = cache.mark()
    cache.write(PAGE, b"b" * PAGE)
    cache.flush(asked)
    cache.lose(random.Random(0), survive=0)
    assert medium == b"a" * PAGE + bytes(2 * PAGE)


def test_a_durable_write_makes_no_other_durable() -> None:
    medium = bytearray(3 * PAGE)
    cache = VolatileCache(medium)
    cache.write(0, b"a" * PAGE)
    cache.write_through(PAGE, b"b" * PAGE)
    cache.lose(random.Random(0), survive=0)
    assert medium == bytes(PAGE) + b"b" * PAGE + bytes(PAGE)


def test_parts_of_pages_are_read_and_lost_by_sector() -> None:
    medium = bytearray(3 * PAGE)
    cache = VolatileCache(medium)
    cache.write(512, b"a" * PAGE)
    assert cache.read(0, 2 * PAGE) == bytes(512) + b"a" * PAGE + bytes(PAGE - 512)
    assert cache.read(1000, 100) == b"a" * 100
    cache.lose(random.Random(0), survive=1)
    assert medium == bytes(512) + b"a" * PAGE + bytes(2 * PAGE - 512)


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC])
def test_the_kth_write_fails(disk: FaultDisk, path: str, number: int) -> None:
    disk.arm("write", "error", at=3, errno=number, from_byte=PAGE)
    outcomes = []
    for position in (PAGE, 0, PAGE, 2 * PAGE, PAGE):
        try:
            outcomes.append(write(path, position, pages(b"a")))
        except OSError as error:
            outcomes.append(error.errno)
    assert outcomes == [PAGE, PAGE, PAGE, number, PAGE]
    assert [how for op, _, _, how in disk.journal() if op == "write"].count("error") == 1
    assert read(path, 2 * PAGE) == bytes(PAGE)


def test_reads_and_flushes_fail(disk: FaultDisk, path: str) -> None:
    disk.arm("read", "error", errno=EIO, times=0)
    with pytest.raises(OSError, match="Input/output error"):
        read(path, 0)
    disk.arm("sync", "error", errno=EIO)
    fd = opened(path)
    os.pwritev(fd, [pages(b"a")], 0)
    with pytest.raises(OSError, match="Input/output error"):
        os.fdatasync(fd)
    os.close(fd)


def test_a_short_write_to_the_file(disk: FaultDisk) -> None:
    disk.arm("write", "short", keep_bytes=512)
    assert write(str(disk.file), 0, pages(b"a")) == 512
    assert read(str(disk.file), 0) == b"a" * 512 + bytes(PAGE - 512)


def test_an_operation_hangs_until_it_is_released(disk: FaultDisk, path: str) -> None:
    disk.arm("write", "hang")
    done: list[int] = []
    writing = threading.Thread(target=lambda: done.append(write(path, 0, pages(b"a"))))
    writing.start()
    disk.wait_until(lambda: disk.state()["held"], "write under way")
    assert done == []
    disk.release()
    writing.join()
    assert done == [PAGE]


def test_a_delayed_operation_completes_by_itself(disk: FaultDisk, path: str) -> None:
    disk.arm("write", "delay", delay_ms=20)
    assert write(path, 0, pages(b"a")) == PAGE
    assert "late" in [how for _, _, _, how in disk.journal()]


def is_attached(device: str) -> bool:
    """Whether a loop device has a file."""
    return Path(f"/sys/block/{Path(device).name}/loop/backing_file").exists()


def test_closing_leaves_nothing_behind_even_while_something_hangs(disk: FaultDisk) -> None:
    device = disk.device
    disk.arm("write", "hang")

    def try_to_write() -> None:
        with suppress(OSError):
            write(device, 0, pages(b"a"))

    writing = threading.Thread(target=try_to_write)
    writing.start()
    disk.wait_until(lambda: disk.state()["held"], "write under way")
    disk.close()
    writing.join()
    disk.wait_until(lambda: not is_attached(device), "loop device that is free")
    assert str(disk.file.parent) not in Path("/proc/mounts").read_text()


def test_it_cleans_up_when_its_owner_is_killed(
    component: Callable[[Callable[[], object]], None], tmp_path: Path
) -> None:
    component(fault_disk_support)
    program = (
        "import sys; from pathlib import Path; from tests.environment.fault_disk import FaultDisk\n"
        f"with FaultDisk(Path(sys.argv[1]), {SIZE}) as disk:\n    print(disk.device, flush=True)\n"
        "    while True: disk.state()"
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", program, tmp_path / "owned"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert owner.stdin is not None
    assert owner.stdout is not None
    device = owner.stdout.readline().strip()
    assert is_attached(device)
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    with FaultDisk(tmp_path / "other", SIZE) as other:
        mounts = Path("/proc/mounts")
        other.wait_until(lambda: "owned" not in mounts.read_text(), "end of the mount")
        other.wait_until(lambda: not is_attached(device), "loop device that is free")
    owner.stdin.close()
    owner.stdout.close()
