"""Chooses the kind of IO for a device."""

import asyncio
import logging
from collections.abc import Callable

from headrace.config.node import WalConfig
from headrace.wal.device.aio_device import AioDevice, AioUnavailableError
from headrace.wal.device.block_device import BlockDevice
from headrace.wal.device.file_device import DeviceFile, open_file
from headrace.wal.device.sized_device import SizedDevice
from headrace.wal.device.thread_device import ThreadDevice
from headrace.wal.errors import WalDeviceError
from headrace.wal.port import Medium

# Beside the log's writes: a superblock, a page of zeros, reads.
_DEPTH_BESIDE_WRITES = 4

DeviceOpener = Callable[[WalConfig, bool], BlockDevice]  # (settings, writable)

_logger = logging.getLogger("headrace.wal")


def open_device(config: WalConfig, writable: bool) -> BlockDevice:  # noqa: FBT001 - a DeviceOpener
    """Open `config.path` on the running loop, by kernel AIO or threads as `config.io` says.

    `auto` takes both for a writer, by the size of a write, where AIO works and is really asynchronous, which it is for
    direct IO only; AIO alone for a reader; threads where AIO is not.

    Raises:
        WalDeviceError: the device cannot be opened, or not with the configured kind of IO.
    """
    if config.io not in {"auto", "aio", "threads"}:
        msg = f"unknown kind of WAL IO {config.io!r}: use auto, aio or threads"
        raise WalDeviceError(msg)
    loop = asyncio.get_running_loop()
    file = open_file(config.path, writable=writable)
    try:
        medium = file.medium
        if medium is Medium.MEMORY:
            _logger.warning(
                "the WAL %s is in memory: what is acknowledged is lost with the machine", file.path
            )
        elif medium is Medium.CACHED:
            _logger.warning(
                "%s does not support direct IO; writes go through the page cache", file.path
            )
        if config.io == "aio" or (config.io == "auto" and file.is_direct):
            try:
                aio = AioDevice(file, loop, depth=config.io_depth + _DEPTH_BESIDE_WRITES)
            except AioUnavailableError as error:
                if config.io == "aio":
                    msg = f"kernel AIO is configured but not available: {error}"
                    raise WalDeviceError(msg) from error
                _logger.info("kernel AIO is not available (%s); using threads", error)
            else:
                return _sized(aio, file, config, loop) if config.io == "auto" and writable else aio
        return ThreadDevice(file, loop, threads=config.io_threads)
    except BaseException:
        file.close()
        raise


def _sized(
    aio: AioDevice, file: DeviceFile, config: WalConfig, loop: asyncio.AbstractEventLoop
) -> BlockDevice:
    """Add threads to AIO; where none can be started, AIO alone does it."""
    try:
        other = file.duplicate()
        try:
            threads = ThreadDevice(other, loop, threads=config.io_threads)
        except BaseException:
            other.close()
            raise
    except (OSError, RuntimeError, MemoryError) as error:
        _logger.warning("no threads for the WAL (%s); using kernel AIO alone", error)
        return aio
    return SizedDevice(file, threads, aio)
