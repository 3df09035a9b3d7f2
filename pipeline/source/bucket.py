"""Reads a bucket without an event loop: `file://` and `s3://`, in the processes of a Spark job."""

import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from headrace.config.bucket_uris import FileLocation, S3Location
from headrace.pipeline.source.errors import (
    CutOffError,
    ObjectGoneError,
    OptionError,
    SourceError,
)
from headrace.storage.audit.inventory import ListedObject
from headrace.storage.object_store.uri import parse_bucket_uri
from headrace.storage.objects.index_block import ObjectIndex
from headrace.storage.objects.reader import decode_index, decode_tail, index_in_tail, tail_start

MAX_ATTEMPTS: Final = 6  # of one request, with pauses of 3.1 s together
_FIRST_PAUSE_S: Final = 0.1  # doubled each time
PAGE_OBJECTS: Final = 1_000  # of one page of a listing

T = TypeVar("T")


class Bucket(Protocol):
    """The part of a bucket that is needed to read it."""

    def keys(self, folder: str) -> list[str]:
        """Keys below a folder, in no order."""
        ...

    def read(self, key: str, start: int, end: int) -> memoryview:
        """Return bytes `[start, end)` of an object.

        Raises:
            ObjectGoneError: there is no such object.
            SourceError: it cannot be read.
        """
        ...

    def whole(self, key: str) -> bytes:
        """Return an object; errors as of `read`."""
        ...

    def time_ms(self, key: str) -> int:
        """Return when an object was put, in milliseconds since 1970; errors as of `read`."""
        ...

    def pages(self, folder: str = "") -> Iterator[list[ListedObject]]:
        """Yield all that is below a folder, or all there is, page by page, in no order; errors as of `read`."""
        ...


class DirectoryBucket:
    """A bucket that is a directory of this machine, or of a file system that all machines share."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def keys(self, folder: str) -> list[str]:
        """See `Bucket.keys`."""
        found = (self._path / folder).rglob("*")
        return [it.relative_to(self._path).as_posix() for it in found if it.is_file()]

    def pages(self, folder: str = "") -> Iterator[list[ListedObject]]:
        """See `Bucket.pages`."""
        page: list[ListedObject] = []
        for place, _, names in os.walk(self._path / folder):
            for name in names:
                path = Path(place, name)
                try:
                    found = path.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue  # deleted since the directory was read
                key = path.relative_to(self._path).as_posix()
                page.append(ListedObject(key, found.st_size, found.st_mtime_ns // 1_000_000))
                if len(page) == PAGE_OBJECTS:
                    yield page
                    page = []
        if page:
            yield page

    def read(self, key: str, start: int, end: int) -> memoryview:
        """See `Bucket.read`."""
        try:
            with (self._path / key).open("rb") as file:
                file.seek(start)
                found = file.read(end - start)
        except FileNotFoundError as error:
            raise ObjectGoneError(key) from error
        except OSError as error:
            raise SourceError(f"cannot read {key} of the bucket {self._path}: {error}") from error
        return _exactly(memoryview(found), key, start, end)

    def whole(self, key: str) -> bytes:
        """See `Bucket.whole`."""
        try:
            return (self._path / key).read_bytes()
        except FileNotFoundError as error:
            raise ObjectGoneError(key) from error
        except OSError as error:
            raise SourceError(f"cannot read {key} of the bucket {self._path}: {error}") from error

    def time_ms(self, key: str) -> int:
        """See `Bucket.time_ms`."""
        try:
            return (self._path / key).stat().st_mtime_ns // 1_000_000
        except FileNotFoundError as error:
            raise ObjectGoneError(key) from error


class S3Bucket:
    """A bucket of an S3-compatible service; what fails for a moment is asked again, MAX_ATTEMPTS times in all."""

    def __init__(self, location: S3Location) -> None:
        # Loaded only where it is used: 30 MB, and threads of its own.
        import obstore  # noqa: PLC0415

        from headrace.storage.object_store.s3_access import resolve_access  # noqa: PLC0415
        from headrace.storage.object_store.s3_store import open_store  # noqa: PLC0415

        def chain() -> Any:
            try:
                from obstore.auth.boto3 import Boto3CredentialProvider  # noqa: PLC0415
            except ModuleNotFoundError as error:
                raise OptionError(
                    "option bucket: no S3 credentials in the URI or in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "
                    "and profiles and roles need boto3 (pip install boto3)"
                ) from error
            return Boto3CredentialProvider()

        self._obstore = obstore
        self._name = location.bucket
        self._prefix = location.prefix
        self._store = open_store(resolve_access(location, os.environ), chain)

    def keys(self, folder: str) -> list[str]:
        """See `Bucket.keys`."""

        def listed() -> list[str]:
            pages = self._obstore.list(self._store, f"{self._prefix}{folder}/")
            return [it["path"].removeprefix(self._prefix) for page in pages for it in page]

        return self._asked(folder, listed)

    def pages(self, folder: str = "") -> Iterator[list[ListedObject]]:
        """See `Bucket.pages`."""
        prefix = f"{self._prefix}{folder}/" if folder else self._prefix
        last: str | None = None

        def page() -> list[Any]:
            found = self._obstore.list(self._store, prefix, offset=last, chunk_size=PAGE_OBJECTS)
            return list(next(iter(found), []))

        while found := self._asked(prefix, page):
            last = found[-1]["path"]
            yield [
                ListedObject(
                    it["path"].removeprefix(self._prefix),
                    it["size"],
                    int(it["last_modified"].timestamp() * 1_000),
                )
                for it in found
            ]

    def read(self, key: str, start: int, end: int) -> memoryview:
        """See `Bucket.read`."""
        path = self._prefix + key
        found = self._asked(
            key, lambda: self._obstore.get_range(self._store, path, start=start, end=end)
        )
        return _exactly(memoryview(found), key, start, end)

    def whole(self, key: str) -> bytes:
        """See `Bucket.whole`."""
        path = self._prefix + key
        return self._asked(key, lambda: bytes(self._obstore.get(self._store, path).bytes()))

    def time_ms(self, key: str) -> int:
        """See `Bucket.time_ms`."""
        path = self._prefix + key
        found = self._asked(key, lambda: self._obstore.head(self._store, path))
        return int(found["last_modified"].timestamp() * 1_000)

    def _asked(self, key: str, ask: Callable[[], T]) -> T:
        pause_s = _FIRST_PAUSE_S
        for attempt in range(1, MAX_ATTEMPTS + 1):
            try:
                return ask()
            except FileNotFoundError as error:
                raise ObjectGoneError(key) from error
            except Exception as error:
                reason = re.sub(r"\s+", " ", str(error))[:500]
                if attempt == MAX_ATTEMPTS:
                    raise SourceError(
                        f"cannot read {key} of the bucket {self._name}: {reason}"
                    ) from error
                time.sleep(pause_s)
                pause_s *= 2
        raise AssertionError("the last attempt returns or raises")


def open_bucket(uri: str) -> Bucket:
    """Open the bucket that a URI names; keys come from it, or from the `AWS_*` variables of this process.

    Raises:
        OptionError: it names none that several processes can read.
    """
    try:
        location = parse_bucket_uri(uri)
        if isinstance(location, S3Location):
            return S3Bucket(location)
        if isinstance(location, FileLocation):
            return DirectoryBucket(Path(location.path).absolute())
    except ValueError as error:
        raise OptionError(f"option bucket: {error}") from error
    raise OptionError(
        "option bucket: mem:// is the memory of one broker, which no other process can read"
    )


def read_index(bucket: Bucket, key: str, size_bytes: int) -> ObjectIndex:
    """Read the index of an object, by one request mostly.

    Raises:
        ObjectGoneError: there is no such object.
        SourceError: it cannot be read.
        CorruptObjectError: it is damaged.
    """
    tail = bucket.read(key, tail_start(size_bytes), size_bytes)
    footer = decode_tail(tail, size_bytes)
    encoded = index_in_tail(tail, footer)
    if encoded is None:
        position = footer.index_position
        encoded = bucket.read(key, position, position + footer.index_length)
    return decode_index(encoded, footer)


def _exactly(view: memoryview, key: str, start: int, end: int) -> memoryview:
    if len(view) != end - start:
        raise CutOffError(
            f"{key} ends at {start + len(view)}, before {end}: the object is cut off", len(view)
        )
    return view


def each_run(
    index: ObjectIndex, stream_id: int, start_offset: int, end_offset: int, most_bytes: int
) -> Iterator[list[tuple[int, int, int]]]:
    """Yield runs of adjacent data blocks, each at most `most_bytes` unless a block is larger.

    A block is (position, size, end offset); all hold some of `[start_offset, end_offset)` of the stream.
    """
    run: list[tuple[int, int, int]] = []
    for it in index.find(stream_id, start_offset, end_offset):
        is_adjacent = bool(run) and run[-1][0] + run[-1][1] == it.position
        if run and (not is_adjacent or it.position + it.size - run[0][0] > most_bytes):
            yield run
            run = []
        run.append((it.position, it.size, it.end_offset))
    if run:
        yield run
