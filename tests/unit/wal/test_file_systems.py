"""What is lost with the machine is told."""

import logging
import os
from pathlib import Path

import pytest

from headrace.config.node import WalConfig
from headrace.wal.device.file_device import open_file
from headrace.wal.device.file_systems import file_system_of, is_in_memory
from headrace.wal.device.open_device import open_device
from headrace.wal.errors import WalDeviceError
from tests.simulation.virtual_time import run

MOUNTS = """\
24 27 0:6 / /dev rw,relatime - devtmpfs devtmpfs rw,size=12334492k
25 24 0:23 / /dev/shm rw,relatime shared:2 - tmpfs tmpfs rw,size=24684092k
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
"""
MEMORY = Path("/dev/shm")


@pytest.mark.parametrize(
    ("major", "minor", "name"), [(0, 23, "tmpfs"), (254, 0, "ext4"), (254, 1, ""), (0, 2, "")]
)
def test_the_file_system_of_a_mount(major, minor, name):
    assert file_system_of(os.makedev(major, minor), MOUNTS) == name


def test_a_system_without_a_table_of_mounts_does_not_tell(tmp_path):
    assert not is_in_memory("/dev/shm", tmp_path / "none")


@pytest.fixture
def memory():
    directory = MEMORY / f"headrace-{os.getpid()}"
    yield directory
    if directory.exists():
        for path in directory.iterdir():
            path.unlink()
        directory.rmdir()


def test_a_wal_in_shared_memory_works_and_is_told(memory, caplog):
    path = str(memory / "wal")
    assert is_in_memory(path), "what does not exist yet lies where its directory does"
    caplog.set_level(logging.WARNING)

    async def main():
        device = open_device(WalConfig(path=path), True)
        device.allocate(1 << 20)
        await device.close()

    run(main())
    assert "is in memory: what is acknowledged is lost with the machine" in caplog.text
    assert is_in_memory(path)


@pytest.mark.parametrize("path", ["/dev/no-such-device", "/dev/no-such/device"])
def test_a_device_that_is_missing_is_not_made_a_file(path):
    with pytest.raises(WalDeviceError, match="No such file"):
        open_file(path, writable=True)
    assert not Path(path).exists()
