"""Which way of IO is taken."""

import asyncio
import errno
import os
from pathlib import Path

import pytest

from headrace.config.node import WalConfig
from headrace.wal.device import aio_device, file_device, open_device
from headrace.wal.errors import WalDeviceError


async def io_of(path: Path, io: str) -> str:
    device = open_device.open_device(WalConfig(path=str(path), io=io), True)
    await device.close()
    return device.io


def no_aio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aio_device.platform, "machine", lambda: "pdp11")


def test_auto_takes_both_where_aio_works(tmp_path: Path) -> None:
    assert asyncio.run(io_of(tmp_path / "wal", "auto")) == "both"


def test_auto_takes_threads_where_there_is_no_aio(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_aio(monkeypatch)
    assert asyncio.run(io_of(tmp_path / "wal", "auto")) == "threads"


def test_auto_takes_threads_without_direct_io(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through the page cache kernel AIO would block the loop."""
    real_open = os.open

    def refusing_open(path: str, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_DIRECT:
            raise OSError(errno.EINVAL, "Invalid argument")
        return real_open(path, flags, mode)

    monkeypatch.setattr(file_device.os, "open", refusing_open)
    assert asyncio.run(io_of(tmp_path / "wal", "auto")) == "threads"


def test_aio_that_is_asked_for_and_not_there_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_aio(monkeypatch)
    with pytest.raises(WalDeviceError, match="kernel AIO is configured but not available"):
        asyncio.run(io_of(tmp_path / "wal", "aio"))
    monkeypatch.undo()
    assert asyncio.run(io_of(tmp_path / "wal", "aio")) == "aio", "the lock was released"


def test_an_unknown_way_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WalDeviceError, match="auto, aio or threads"):
        asyncio.run(io_of(tmp_path / "wal", "io_uring"))
