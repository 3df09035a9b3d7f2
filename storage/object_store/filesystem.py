"""`file://`: a bucket in a directory, the default of a single node.

An object appears whole or not at all, and is never replaced: it is written to a file of its own under `.tmp/`, which
gets the object's name as a second one (`link(2)`), unless the name is taken; then its bytes must be the same. So an
attempt that was given up, and whose thread comes back from a system call later, changes nothing that another has
published.
What a process that was killed leaves there is for the sweep.
`put` returns after the file **and** every directory entry that leads to it have been fsynced,
because the WAL is trimmed once the object is committed: from then on this file is the only copy.
`delete` fsyncs the directories too, since a deleted object is then forgotten by the metadata and
nothing would delete it again.

Blocking calls run in three small thread pools of this store, so that reads do not queue behind
fsyncs, nor uploads behind what compaction writes and deletion removes. Their queues are bounded by
the callers, each of which waits for its call; one that was given up stays there until a thread comes to it, so a
disk that hangs leaves one for each attempt. Data are written in steps, past the page cache where that can be
(`direct_append`); every system call runs without the GIL.
"""

import asyncio
import errno
import filecmp
import itertools
import os
import secrets
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import ParamSpec, TypeVar

from headrace.daemon_threads import DaemonThreads
from headrace.storage.errors import NotDeletedError, ObjectNotFoundError, ObjectStoreError
from headrace.storage.object_store.copy_parts import Piece, cut_pieces
from headrace.storage.object_store.direct_append import append
from headrace.storage.object_store.ranges import exactly, folder_of, require_valid_range
from headrace.storage.object_store.upload_parts import cut, cut_stream
from headrace.storage.objects.keys import require_valid_key
from headrace.storage.ports import Buffer, CopiedRange, Progress, unnoticed

READ_THREADS = 2
WRITE_THREADS = 2
BACKGROUND_THREADS = 1
# Bytes that are written, or copied, at a time: whole pages, so that the next step begins on one and goes past the page
# cache, too. An fsync of hundreds of MiB that are in the page cache gives all of them to the disk at once, and a write
# of the WAL waits behind them, for up to 0.4 s. While a step is written the kernel has a core for itself: there the
# event loop, or the kernel's worker that completes a write of the WAL, waits for milliseconds. A pause after each step
# lets them pass: on two cores a producer's p99 beside uploads of 96 MiB is 6 ms instead of 30.
STEP_BYTES = 4 * 1024 * 1024
STEP_PAUSE_S = 0.002
TEMPORARY_FOLDER = ".tmp"
MAX_DURABLE_DIRECTORIES = 4096

# What file systems answer that know no hard links.
_WITHOUT_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS})

_P = ParamSpec("_P")
_T = TypeVar("_T")


def _link(path: Path, temporary: Path) -> None:
    """Publish a file unless its key has been published already, by an attempt whose answer never came.

    Raises:
        ObjectStoreError: the key has another content; a published object is never replaced.
    """
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        pass
    except OSError as error:
        if error.errno not in _WITHOUT_LINKS:
            raise
        if not path.exists():
            # Between the two, a late attempt may replace what another has published: by the same bytes.
            temporary.rename(path)
            return
    else:
        return
    if not filecmp.cmp(path, temporary, shallow=False):
        raise ObjectStoreError(f"bucket directory: {path} exists and has another content")
    # The same bytes, entered anew: an fsync of the directory that failed may have left the entry unwritten, and the
    # next fsync would not know of it.
    temporary.rename(path)


class FileObjectStore:
    """Objects as files below one directory, which several processes may share."""

    def __init__(self, root: Path) -> None:
        """Use `root`, which is created when missing; nothing else is written before an object is.

        Raises:
            ObjectStoreError: the directory cannot be created.
        """
        self._root = root
        self._temporaries = root / TEMPORARY_FOLDER
        # Processes of several machines, or containers, may have the same number.
        self._name = f"{os.getpid()}-{secrets.token_hex(8)}"
        self._counter = itertools.count()
        # Directories whose entries up to the root are known to be on the disk.
        self._durable: set[Path] = set()
        self._readers = DaemonThreads(READ_THREADS, "bucket-read")
        self._writers = DaemonThreads(WRITE_THREADS, "bucket-write")
        self._background = DaemonThreads(BACKGROUND_THREADS, "bucket-background")
        try:
            root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ObjectStoreError(f"bucket directory {root}: {error}") from error

    async def put(self, key: str, parts: Sequence[Buffer]) -> None:
        """See `headrace.storage.ports.ObjectStore`.

        Cancellation: the object may still appear.
        """
        require_valid_key(key)
        if sum(map(len, parts)) <= STEP_BYTES:
            await _run(self._writers, self._write_object, key, parts)
            return
        async with self._published(key, self._writers) as temporary:
            for step in cut(parts, STEP_BYTES):
                await self._append(self._writers, temporary, step)

    async def create(self, key: str, parts: Sequence[Buffer]) -> bool:
        """See `headrace.storage.ports.ObjectStore`.

        Cancellation: the object may still appear.
        """
        require_valid_key(key)
        return await _run(self._writers, self._create_object, key, parts)

    async def put_stream(self, key: str, chunks: AsyncIterable[Sequence[Buffer]]) -> None:
        """See `headrace.storage.ports.ObjectStore`.

        Each step opens the temporary file anew: a step that outlives a cancelled caller shares no
        descriptor.
        """
        require_valid_key(key)
        async with self._published(key, self._background) as temporary:
            async for step in cut_stream(chunks, STEP_BYTES):
                await self._append(self._background, temporary, step)

    @property
    def copies_remotely(self) -> bool:
        """No: it is this machine's disk that does it."""
        return False

    async def compose(
        self,
        key: str,
        pieces: Sequence[CopiedRange | Buffer],
        progress: Progress = unnoticed,
    ) -> None:
        """See `headrace.storage.ports.ObjectStore`.

        Step by step as well, so that others of its kind get their turn in between.
        """
        for name in (key, *(it.key for it in pieces if isinstance(it, CopiedRange))):
            require_valid_key(name)
        async with self._published(key, self._background) as temporary:
            for step in cut_pieces(pieces, STEP_BYTES):
                size_bytes = await _run(self._background, self._append_pieces, temporary, step)
                progress(size_bytes)
                await _pause_after(size_bytes)

    async def get_range(self, key: str, start: int, end: int) -> memoryview:
        """See `headrace.storage.ports.ObjectStore`."""
        require_valid_key(key)
        require_valid_range(start, end)
        content = await _run(self._readers, self._read_object, key, start, end)
        return exactly(content, key, start, end)

    async def delete(self, keys: Sequence[str]) -> None:
        """See `headrace.storage.ports.ObjectStore`."""
        for key in keys:
            require_valid_key(key)
        await _run(self._background, self._delete, keys)

    async def list(self, prefix: str) -> Sequence[tuple[str, int]]:
        """See `headrace.storage.ports.ObjectStore`."""
        return await _run(self._readers, self._list, folder_of(prefix))

    async def close(self) -> None:
        """Accept nothing more. A step that has begun comes to its end; what would have to begin another fails."""
        self._readers.shutdown(wait=False)
        self._writers.shutdown(wait=False)
        self._background.shutdown(wait=False)

    @asynccontextmanager
    async def _published(self, key: str, pool: DaemonThreads) -> AsyncIterator[Path]:
        """Lend a temporary file, which becomes the object in the end, or goes."""
        temporary = self._new_temporary()
        # Made before the first step: one that outlives a cancelled caller must not make it anew.
        with _failures():
            made = asyncio.get_running_loop().run_in_executor(pool, self._make, temporary)
        try:
            with _failures():
                await asyncio.shield(made)
            yield temporary
            await _run(pool, self._publish_and_tidy, temporary, key)
        except BaseException:
            # Once it is made: another thread of the pool may remove it before.
            made.add_done_callback(partial(self._discard, pool, temporary))
            raise

    def _discard(self, pool: DaemonThreads, temporary: Path, made: "asyncio.Future[None]") -> None:
        if not made.cancelled() and made.exception() is not None:
            return
        try:
            pool.submit(temporary.unlink, missing_ok=True)
        except RuntimeError:  # the pool is shut down
            with suppress(OSError):
                temporary.unlink(missing_ok=True)

    async def _append(self, pool: DaemonThreads, temporary: Path, step: Sequence[Buffer]) -> None:
        await _pause_after(await _run(pool, append, temporary, step))

    def _append_pieces(self, temporary: Path, step: Sequence[Piece]) -> int:
        return append(temporary, [self._content(it) for it in step])

    def _content(self, piece: Piece) -> Buffer:
        if not isinstance(piece, CopiedRange):
            return piece
        content = self._read_object(piece.key, piece.start, piece.end)
        return exactly(content, piece.key, piece.start, piece.end)

    def _read_object(self, key: str, start: int, end: int) -> memoryview:
        try:
            return _read(self._root / key, start, end)
        except FileNotFoundError as error:
            raise ObjectNotFoundError(key) from error

    async def ensure_writable(self) -> None:
        """Make a temporary file, link it as objects are, and remove it.

        Raises:
            ObjectStoreError: it cannot be done.
        """
        await _run(self._writers, self._make_for_nothing)

    def _make_for_nothing(self) -> None:
        temporary, linked = self._new_temporary(), self._new_temporary()
        self._make(temporary)
        try:
            _link(linked, temporary)
        finally:
            linked.unlink(missing_ok=True)
            temporary.unlink(missing_ok=True)

    def _new_temporary(self) -> Path:
        return self._temporaries / f"{self._name}-{next(self._counter)}"

    def _make(self, temporary: Path) -> None:
        try:
            temporary.touch()
        except FileNotFoundError:
            # Not its parents: a disk that is not mounted is no bucket.
            self._temporaries.mkdir(exist_ok=True)
            temporary.touch()

    def _write_object(self, key: str, parts: Sequence[Buffer]) -> None:
        temporary = self._new_temporary()
        try:
            self._make(temporary)
            append(temporary, parts)
            self._publish(temporary, key)
        finally:
            temporary.unlink(missing_ok=True)

    def _create_object(self, key: str, parts: Sequence[Buffer]) -> bool:
        temporary = self._new_temporary()
        try:
            self._make(temporary)
            append(temporary, parts)
            self._publish(temporary, key, Path.hardlink_to)
        except FileExistsError:
            # Who finds it and takes it for durable must be right, even if its writer died just now.
            path = self._root / key
            if filecmp.cmp(path, temporary, shallow=False):
                temporary.rename(path)  # entered anew, as in `_link`
            _fsync(path.parent)
            return False
        finally:
            temporary.unlink(missing_ok=True)
        return True

    def _publish_and_tidy(self, temporary: Path, key: str) -> None:
        self._publish(temporary, key)
        temporary.unlink(missing_ok=True)

    def _publish(
        self, temporary: Path, key: str, enter: Callable[[Path, Path], object] = _link
    ) -> None:
        _fsync(temporary)
        path = self._root / key
        try:
            self._make_durable_directory(path.parent)
            enter(path, temporary)
        except FileNotFoundError:
            # The directory was removed since this process made it.
            self._durable.clear()
            self._make_durable_directory(path.parent)
            enter(path, temporary)
        _fsync(path.parent)

    def _make_durable_directory(self, directory: Path) -> None:
        if directory in self._durable:
            return
        if directory != self._root:
            self._make_durable_directory(directory.parent)
            directory.mkdir(exist_ok=True)
            try:
                _fsync(directory.parent)
            except OSError:
                # What comes next makes it anew: another fsync would not know that this entry is not on the disk.
                with suppress(OSError):
                    directory.rmdir()
                raise
        if len(self._durable) >= MAX_DURABLE_DIRECTORIES:
            self._durable.clear()
        self._durable.add(directory)

    def _delete(self, keys: Sequence[str]) -> None:
        gone: dict[
            Path, list[str]
        ] = {}  # by directory; what was gone before may be no older than a crash
        left: list[str] = []
        failure: OSError | None = None
        for key in keys:
            path = self._root / key
            try:
                path.unlink(missing_ok=True)
            except NotADirectoryError:
                continue
            except OSError as error:
                left.append(key)
                failure = error
            else:
                gone.setdefault(path.parent, []).append(key)
        for directory, its_keys in sorted(gone.items()):
            try:
                with suppress(FileNotFoundError, NotADirectoryError):
                    _fsync(directory)
            except OSError as error:
                left += its_keys  # they may come back
                failure = error
        if failure is not None:
            message = f"bucket directory: {len(left)} keys not deleted: {failure}"
            raise NotDeletedError(message, left) from failure

    def _list(self, folder: str) -> Sequence[tuple[str, int]]:
        found: list[tuple[str, int]] = []
        pending = [folder]
        while pending:
            below = pending.pop()
            try:
                entries = list(os.scandir(self._root / below))
            except (FileNotFoundError, NotADirectoryError):
                continue
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    pending.append(f"{below}{entry.name}/")
                    continue
                try:
                    found.append((below + entry.name, entry.stat().st_size))
                except FileNotFoundError:
                    continue  # deleted since the directory was read
        return sorted(found)


async def _run(
    executor: DaemonThreads, call: Callable[_P, _T], *args: _P.args, **_: _P.kwargs
) -> _T:
    """Run a blocking call; it fails as `_failures` says."""
    with _failures():
        return await asyncio.get_running_loop().run_in_executor(executor, call, *args)


@contextmanager
def _failures() -> Iterator[None]:
    """Raise as ObjectStoreError what a blocking call raises: a directory that is gone, a pool that is shut down."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        raise ObjectStoreError(f"bucket directory: {error}") from error


async def _pause_after(size_bytes: int) -> None:
    if size_bytes >= STEP_BYTES:
        await asyncio.sleep(STEP_PAUSE_S)


def _read(path: Path, start: int, end: int) -> memoryview:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        content = os.pread(descriptor, end - start, start)
        if len(content) == end - start or not content:
            return memoryview(content)
        pieces = [content]
        position = start + len(content)
        while position < end and pieces[-1]:
            pieces.append(os.pread(descriptor, end - position, position))
            position += len(pieces[-1])
        return memoryview(b"".join(pieces))
    finally:
        os.close(descriptor)


def _fsync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
