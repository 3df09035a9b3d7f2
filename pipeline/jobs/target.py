"""Where an export is written: a directory or an S3 bucket, in which a file appears whole or not at all."""

import os
import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final, Protocol, TypeVar

from headrace.config.bucket_uris import FileLocation, S3Location
from headrace.pipeline.source.bucket import Bucket, DirectoryBucket, S3Bucket
from headrace.pipeline.source.errors import OptionError, SourceError
from headrace.storage.object_store.uri import parse_bucket_uri

MAX_DELETED_KEYS: Final = 1_000  # by one request

T = TypeVar("T")


class TargetError(SourceError):
    """The export's directory cannot be written; the message says what to do."""


class Target(Bucket, Protocol):
    """Where files are written: a directory or a bucket."""

    def begin(self, key: str) -> BinaryIO:
        """Return a file to write; it is not there before `finish`."""
        ...

    def finish(self, key: str, file: BinaryIO) -> int:
        """Publish what was written under its name, and return its bytes.

        Raises:
            TargetError: it cannot be written.
        """
        ...

    def create(self, key: str, data: bytes) -> bool:
        """Write a file unless there is one; returns False if there is. Errors as of `finish`."""
        ...

    def move(self, source: str, target: str) -> None:
        """Give a file another name, under which it appears whole; errors as of `finish`."""
        ...

    def delete(self, keys: list[str]) -> None:
        """Delete; what is not there is no error. Errors as of `finish`."""
        ...

    def delete_empty(self, folder: str) -> None:
        """Delete a folder that has no files, with the folders in it; errors as of `finish`."""
        ...


class DirectoryTarget(DirectoryBucket):
    """A directory of this machine, or of a file system that all machines share."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._root = path

    def begin(self, key: str) -> BinaryIO:
        """See `Target.begin`; the name of a file that is not finished begins with a dot."""
        path = _unfinished(self._root / key)
        return self._done(key, lambda: _opened(path))

    def finish(self, key: str, file: BinaryIO) -> int:
        """See `Target.finish`."""

        def renamed() -> int:
            file.flush()
            os.fsync(file.fileno())
            size_bytes = file.tell()
            file.close()
            path = self._root / key
            _unfinished(path).rename(path)
            return size_bytes

        return self._done(key, renamed)

    def create(self, key: str, data: bytes) -> bool:
        """See `Target.create`."""
        path = self._root / key
        writing = path.with_name(f".{path.name}.{uuid.uuid4().hex}")

        def linked() -> bool:
            with _opened(writing) as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            try:
                path.hardlink_to(writing)
            except FileExistsError:
                return False
            finally:
                writing.unlink()
            _sync(path.parent)
            return True

        return self._done(key, linked)

    def move(self, source: str, target: str) -> None:
        """See `Target.move`."""
        path = self._root / target

        def moved() -> None:
            path.parent.mkdir(parents=True, exist_ok=True)
            (self._root / source).rename(path)
            _sync(path.parent)

        self._done(target, moved)

    def delete(self, keys: list[str]) -> None:
        """See `Target.delete`; directories that are empty then go as well."""
        for key in keys:
            path = self._root / key
            self._done(key, partial(path.unlink, missing_ok=True))
            for folder in path.parents:
                if folder == self._root:
                    break
                try:
                    folder.rmdir()
                except OSError:
                    break  # it has something else

    def delete_empty(self, folder: str) -> None:
        """See `Target.delete_empty`: a killed worker leaves a folder that it has just made."""
        for path, _, _ in os.walk(self._root / folder, topdown=False):
            with suppress(OSError):  # it has something else
                Path(path).rmdir()

    def _done(self, key: str, act: Callable[[], T]) -> T:
        try:
            return act()
        except OSError as error:
            raise TargetError(f"cannot write {key} below {self._root}: {error}") from error


class S3Target(S3Bucket):
    """An S3 bucket, or what has a prefix in one."""

    def begin(self, key: str) -> BinaryIO:
        """See `Target.begin`; it is in memory until then, so that a killed worker leaves no parts of an upload."""
        del key
        return BytesIO()

    def finish(self, key: str, file: BinaryIO) -> int:
        """See `Target.finish`."""
        assert isinstance(file, BytesIO)
        view = file.getbuffer()
        path = self._prefix + key
        self._written(
            key,
            lambda: self._obstore.put(self._store, path, view, use_multipart=False),
        )
        return len(view)

    def create(self, key: str, data: bytes) -> bool:
        """See `Target.create`."""
        path = self._prefix + key
        refused = self._obstore.exceptions

        def created() -> bool:
            try:
                self._obstore.put(self._store, path, data, mode="create", use_multipart=False)
            except (refused.AlreadyExistsError, refused.PreconditionError):
                # Perhaps of this request, whose answer was lost.
                return self.whole(key) == data
            return True

        return self._written(key, created)

    def move(self, source: str, target: str) -> None:
        """See `Target.move`."""
        start, end = self._prefix + source, self._prefix + target
        self._written(target, lambda: self._obstore.copy(self._store, start, end))
        self.delete([source])

    def delete(self, keys: list[str]) -> None:
        """See `Target.delete`."""
        for start in range(0, len(keys), MAX_DELETED_KEYS):
            paths = [self._prefix + it for it in keys[start : start + MAX_DELETED_KEYS]]
            self._written(paths[0], partial(self._obstore.delete, self._store, paths))

    def delete_empty(self, folder: str) -> None:
        """See `Target.delete_empty`: S3 has no folders."""

    def _written(self, key: str, act: Callable[[], T]) -> T:
        try:
            return self._asked(key, act)
        except SourceError as error:
            raise TargetError(str(error).replace("cannot read", "cannot write", 1)) from error


def open_target(uri: str) -> Target:
    """Open the target that a URI names; its form is that of a bucket's.

    Raises:
        OptionError: it names none that several processes can write.
    """
    try:
        location = parse_bucket_uri(uri)
        if isinstance(location, S3Location):
            return S3Target(location)
        if isinstance(location, FileLocation):
            return DirectoryTarget(Path(location.path).absolute())
    except ValueError as error:
        raise OptionError(f"--to: {error}") from error
    raise OptionError("--to: mem:// is the memory of one broker, which no other process can write")


def _unfinished(path: Path) -> Path:
    return path.with_name(f".{path.name}")


def _opened(path: Path) -> BinaryIO:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("wb")


def _sync(folder: Path) -> None:
    """Make the names in a directory durable."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
