"""Opening, locking and sizing of files and devices."""

import errno
import os
from pathlib import Path

import pytest

from headrace.wal.device import file_device
from headrace.wal.device.file_device import open_file
from headrace.wal.errors import WalDeviceError, WalLockedError
from headrace.wal.layout import PAGE_BYTES


def test_a_writer_creates_a_missing_file_with_its_directory(tmp_path: Path) -> None:
    path = tmp_path / "new" / "wal"
    file = open_file(str(path), writable=True)
    assert file.is_file
    assert file.size_bytes == 0
    assert path.stat().st_mode & 0o777 == 0o600
    file.close()


def test_a_reader_creates_nothing(tmp_path: Path) -> None:
    with pytest.raises(WalDeviceError, match="No such file"):
        open_file(str(tmp_path / "wal"), writable=False)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_device_is_not_created_as_a_file() -> None:
    with pytest.raises(WalDeviceError, match="No such file"):
        open_file("/dev/no-such-device", writable=True)
    assert not Path("/dev/no-such-device").exists()


@pytest.mark.parametrize("path", ["/dev/null", "/tmp"])
def test_what_is_neither_file_nor_block_device_is_refused(path: str) -> None:
    with pytest.raises(WalDeviceError, match="neither a regular file nor a block device"):
        open_file(path, writable=True)


def test_writes_are_durable_when_they_return(tmp_path: Path) -> None:
    import fcntl

    file = open_file(str(tmp_path / "wal"), writable=True)
    assert fcntl.fcntl(file.fd, fcntl.F_GETFL) & os.O_DSYNC
    assert bool(fcntl.fcntl(file.fd, fcntl.F_GETFL) & os.O_DIRECT) == file.is_direct
    file.close()


def test_allocation_reserves_the_space(tmp_path: Path) -> None:
    path = tmp_path / "wal"
    file = open_file(str(path), writable=True)
    file.allocate(1 << 20)
    assert file.size_bytes == 1 << 20
    assert path.stat().st_blocks * 512 >= 1 << 20
    file.close()


def test_growing_leaves_alone_what_is_written_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a file system without fallocate, where the C library reads each block and writes a zero for a zero."""
    path = tmp_path / "wal"
    path.write_bytes(bytes(4 * PAGE_BYTES))

    def posix_fallocate(_fd: int, start: int, size: int) -> None:
        with path.open("r+b", buffering=0) as blocks:
            fd = blocks.fileno()
            for at in range(start, start + size, PAGE_BYTES):
                first = os.pread(fd, 1, at)
                if at == start:
                    os.pwrite(fd, b"appended", 0)  # in between, by the log
                if not first.strip(b"\0"):
                    os.pwrite(fd, b"\0", at)

    monkeypatch.setattr(os, "posix_fallocate", posix_fallocate)
    file = open_file(str(path), writable=True)
    file.allocate(8 * PAGE_BYTES)
    file.close()
    assert path.read_bytes().startswith(b"appended")


def test_a_full_file_system_is_said_to_be_full(tmp_path: Path) -> None:
    file = open_file(str(tmp_path / "wal"), writable=True)
    with pytest.raises(WalDeviceError, match="cannot allocate"):
        file.allocate(1 << 60)
    file.close()


def test_the_lock_is_held_until_closing(tmp_path: Path) -> None:
    path = str(tmp_path / "wal")
    first = open_file(path, writable=True)
    with pytest.raises(WalLockedError, match=rf"process {os.getpid()} \(.+\) writes to the WAL"):
        open_file(path, writable=True)
    reader = open_file(path, writable=False)
    reader.close()
    first.close()
    open_file(path, writable=True).close()


@pytest.mark.parametrize("refused", ["open", "read"])
def test_without_direct_io_the_page_cache_is_used_and_said(
    refused: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file system may refuse the flag, or accept it and refuse the operation."""
    real_open = os.open

    def refusing_open(path: str, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_DIRECT:
            raise OSError(errno.EINVAL, "Invalid argument")
        return real_open(path, flags, mode)

    def refusing_read(fd: int, buffers: list[memoryview], offset: int) -> int:
        raise OSError(errno.EINVAL, "Invalid argument")

    if refused == "open":
        monkeypatch.setattr(file_device.os, "open", refusing_open)
    else:
        monkeypatch.setattr(file_device.os, "preadv", refusing_read)
    file = open_file(str(tmp_path / "wal"), writable=True)
    assert not file.is_direct
    file.close()
