"""A block device or a regular file, opened for the log: flags, lock, size. No IO of its own.

Writers hold an exclusive `flock` (and `O_EXCL` on a block device, which refuses a mounted one);
readers hold nothing, so recovery by another node works beside an owner that hangs. Writes are
`O_DSYNC` always: direct IO alone does not make them durable. Where the file system refuses
`O_DIRECT`, IO goes through the page cache, and `is_direct` is False.
"""

import errno
import fcntl
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

from headrace.invariants import require
from headrace.wal.device.buffers import BufferPool
from headrace.wal.device.file_systems import is_in_memory
from headrace.wal.device.holders import find_writer, use_of_device
from headrace.wal.device.lock_names import lock_name
from headrace.wal.errors import WalDeviceError, WalError, WalInUseError, WalLockedError
from headrace.wal.layout import PAGE_BYTES
from headrace.wal.port import Medium

_BLKSSZGET = 0x1268  # logical sector size of a block device
_BLKROGET = 0x125E  # whether it is read-only
_FILE_MODE = 0o600


class DeviceFile:
    """An open file descriptor and its properties. Closing it releases the lock."""

    def __init__(
        self, path: str, fd: int, *, is_file: bool, is_direct: bool, writable: bool
    ) -> None:
        self.path = path
        self.fd = fd
        self.is_file = is_file
        self.is_direct = is_direct
        self.writable = writable

    @property
    def medium(self) -> Medium:
        """What makes writes durable."""
        if is_in_memory(self.path):
            return Medium.MEMORY
        return Medium.DIRECT if self.is_direct else Medium.CACHED

    @property
    def lock_name(self) -> str:
        """See `headrace.wal.device.block_device.BlockDevice`."""
        return lock_name(self.fd)

    @property
    def size_bytes(self) -> int:
        """Current size; by seeking, since `st_size` of a block device is 0."""
        return os.lseek(self.fd, 0, os.SEEK_END)

    @property
    def sector_bytes(self) -> int:
        """Smallest unit that a block device reads and writes; 0 for a file."""
        if self.is_file:
            return 0
        return int.from_bytes(fcntl.ioctl(self.fd, _BLKSSZGET, bytes(4)), sys.byteorder)

    def allocate(self, size_bytes: int) -> None:
        """Grow a file to `size_bytes` with its space reserved, durably; check the size of a device.

        Raises:
            WalDeviceError: a device, or the space left for a file, is too small.
        """
        present = self.size_bytes
        if present >= size_bytes:
            return
        if not self.is_file:
            msg = f"{self.path} has {present} bytes, less than the configured capacity of {size_bytes}"
            raise WalDeviceError(msg)
        try:
            # Not from the beginning: where a file system cannot do it, the C library writes a zero into
            # each block that it has just seen to begin with one, also if an append came between.
            os.posix_fallocate(self.fd, present, size_bytes - present)
        except OSError as error:
            # The part that was allocated would fill the disk for nothing.
            os.ftruncate(self.fd, present)
            msg = f"cannot allocate {size_bytes} bytes for {self.path}: {error.strerror}"
            raise WalDeviceError(msg) from error
        os.fsync(self.fd)

    def shrink(self, size_bytes: int) -> None:
        """Truncate a file to `size_bytes`; see `BlockDevice.shrink`."""
        require(self.is_file)
        os.ftruncate(self.fd, size_bytes)

    def duplicate(self) -> "DeviceFile":
        """Return another descriptor of the same open file; the lock goes with the last of them."""
        return DeviceFile(
            self.path,
            os.dup(self.fd),
            is_file=self.is_file,
            is_direct=self.is_direct,
            writable=self.writable,
        )

    def close(self) -> None:
        """Release the descriptor and, with it, the lock."""
        # Its number may be another file's from now on: what comes late must not reach that.
        fd, self.fd = self.fd, -1
        os.close(fd)


def open_file(path: str, *, writable: bool) -> DeviceFile:
    """Open `path`; a writer creates a missing file (empty), never a missing device.

    Raises:
        WalLockedError: another writer has it open, or the device is mounted.
        WalDeviceError: it is missing, neither file nor block device, or not accessible.
    """
    try:
        is_file = _is_regular(path, writable=writable)
        fd, is_direct = _open_descriptor(path, is_file=is_file, writable=writable)
    except OSError as error:
        if error.errno == errno.EBUSY:
            raise _busy(path) from error
        advice = (
            ": mount its file system read-write (mount -o remount,rw)"
            if error.errno == errno.EROFS
            else ""
        )
        msg = f"cannot open the WAL {path}: {error.strerror}{advice}"
        raise WalDeviceError(msg) from error
    file = DeviceFile(path, fd, is_file=is_file, is_direct=is_direct, writable=writable)
    try:
        if writable:
            _require_writable(file)
            _lock(file)
        _require_sector_size(file)
    except BaseException:
        file.close()
        raise
    return file


def _busy(path: str) -> WalLockedError:
    """Return why a block device cannot be opened exclusively."""
    if use := use_of_device(path):
        return WalInUseError(f"{path} is in use: {use}")
    fd = os.open(path, os.O_RDONLY)
    try:
        return _locked(path, fd)
    finally:
        os.close(fd)


def _locked(path: str, fd: int) -> WalLockedError:
    writer = None
    with suppress(OSError):
        writer = find_writer(fd)
    return WalLockedError(f"{writer or 'another process'} writes to the WAL {path}; stop it first")


def _is_regular(path: str, *, writable: bool) -> bool:
    try:
        mode = Path(path).stat().st_mode
    except FileNotFoundError:
        if not writable or _is_missing_device(Path(path)):
            raise
        _create(Path(path))
        return True
    if stat.S_ISREG(mode) or stat.S_ISBLK(mode):
        return stat.S_ISREG(mode)
    msg = f"{path} is neither a regular file nor a block device"
    raise WalDeviceError(msg)


def _is_missing_device(path: Path) -> bool:
    """Whether a name that does not exist is one among the devices; /dev/shm and the like are mounts of their own."""
    if not path.is_relative_to("/dev"):
        return False
    above = next(parent for parent in path.parents if parent.exists())
    return above.stat().st_dev == Path("/dev").stat().st_dev


def _create(path: Path) -> None:
    """Create an empty file so that its name survives a power cut."""
    path.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, _FILE_MODE))
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _open_descriptor(path: str, *, is_file: bool, writable: bool) -> tuple[int, bool]:
    flags = os.O_RDWR | os.O_DSYNC if writable else os.O_RDONLY
    if writable and not is_file:
        flags |= os.O_EXCL
    try:
        fd = os.open(path, flags | os.O_DIRECT)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        return os.open(path, flags), False
    is_direct = False
    try:
        is_direct = _direct_read_works(fd)
    finally:  # a device that cannot be read must not stay locked by this descriptor
        if not is_direct:
            os.close(fd)
    return (fd, True) if is_direct else (os.open(path, flags), False)


def look_at(path: Path) -> None:
    """Open a device or file and read from it once: it may hang, if another machine serves it. Not on the event loop.

    Errors are left to the opener.
    """
    with suppress(OSError, WalError):
        open_file(str(path), writable=False).close()


def _direct_read_works(fd: int) -> bool:
    """Whether direct IO really works: some file systems accept the flag and refuse the operation."""
    page = BufferPool(idle_bytes_per_class=0).take(PAGE_BYTES)
    try:
        os.preadv(fd, [page], 0)
    except OSError as error:
        if error.errno == errno.EINVAL:
            return False
        raise
    return True


def _lock(file: DeviceFile) -> None:
    try:
        fcntl.flock(file.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise _locked(file.path, file.fd) from error


def _require_writable(file: DeviceFile) -> None:
    """Refuse a read-only device: the kernel opens it for writing, and then refuses each write."""
    if file.is_file:
        return
    answer = fcntl.ioctl(file.fd, _BLKROGET, bytes(4))
    if int.from_bytes(answer, sys.byteorder):
        msg = (
            f"the device {file.path} is read-only, so no WAL can be written to it: `blockdev --setrw {file.path}` "
            f"makes it writable, unless it was attached read-only (losetup -r, a volume mounted as a snapshot)"
        )
        raise WalDeviceError(msg)


def _require_sector_size(file: DeviceFile) -> None:
    sector_bytes = file.sector_bytes
    if sector_bytes and PAGE_BYTES % sector_bytes:
        msg = f"{file.path} has sectors of {sector_bytes} bytes; at most {PAGE_BYTES} are supported"
        raise WalDeviceError(msg)
