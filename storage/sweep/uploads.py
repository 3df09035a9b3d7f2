"""Uploads that were begun and never completed: S3 keeps, and charges for, their parts."""

import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from storage.audit.inventory import TEMPORARY_FOLDER
from storage.errors import ObjectStoreError
from storage.object_store.daemon_threads import stepwise
from storage.object_store.s3_access import S3Access
from storage.object_store.s3_administration import s3_client
from storage.object_store.s3_errors import code_of, is_answer, status_of, translated
from storage.object_store.s3_listing import PAGE_ENTRIES_MAX, pages_of
from storage.sweep.rules import IncompleteUpload

_T = TypeVar("_T")


class IncompleteUploads(Protocol):
    """A bucket's list of uploads under way."""

    def pages(self) -> AsyncIterator[list[IncompleteUpload]]:
        """Yield them page by page.

        Raises:
            StorageError: the bucket does not answer, or does not allow it.
        """
        ...

    async def abort(self, uploads: Sequence[IncompleteUpload]) -> None:
        """End uploads; one that has ended already is no error.

        Raises:
            StorageError: the bucket does not answer, or does not allow it.
        """
        ...


class S3Uploads:
    """Of an `s3://` bucket, by boto3, in one thread while it is used.

    MinIO lists uploads of a whole bucket, or of one key, but not below a prefix; it ends them by
    itself after a day.
    """

    def __init__(self, access: S3Access, prefix: str) -> None:
        """Prepare; nothing is sent yet.

        Args:
            access: how the bucket is reached.
            prefix: of the cluster's URI, empty or ending in "/"; keys are told without it.
        """
        self._access = access
        self._prefix = prefix

    async def pages(self) -> AsyncIterator[list[IncompleteUpload]]:
        """See `IncompleteUploads`."""
        walk = self._walk()
        async for page in stepwise(partial(_translated, lambda: next(walk, None)), "bucket-sweep"):
            yield page

    async def abort(self, uploads: Sequence[IncompleteUpload]) -> None:
        """See `IncompleteUploads`."""
        await _once(lambda: self._abort(uploads))

    def _walk(self) -> Iterator[list[IncompleteUpload]]:
        client = s3_client(self._access)
        try:
            place = {"Bucket": self._access.bucket, "Prefix": self._prefix}
            for page in pages_of(client, "list_multipart_uploads", "Uploads", place):
                yield [self._listed(entry) for entry in page]
        finally:
            client.close()

    def _listed(self, entry: Any) -> IncompleteUpload:
        begun_ms = int(entry["Initiated"].timestamp() * 1000)
        return IncompleteUpload(
            entry["Key"].removeprefix(self._prefix), entry["UploadId"], begun_ms
        )

    def _abort(self, uploads: Sequence[IncompleteUpload]) -> None:
        client = s3_client(self._access)
        try:
            for upload in uploads:
                try:
                    client.abort_multipart_upload(
                        Bucket=self._access.bucket,
                        Key=self._prefix + upload.key,
                        UploadId=upload.upload_id,
                    )
                except Exception as error:
                    if status_of(error) != 404 and code_of(error) != "NoSuchUpload":
                        raise
        finally:
            client.close()


class DirectoryUploads:
    """Of a `file://` bucket: files that were never renamed to what they should become."""

    def __init__(self, root: Path) -> None:
        self._temporaries = root / TEMPORARY_FOLDER

    async def pages(self) -> AsyncIterator[list[IncompleteUpload]]:
        """See `IncompleteUploads`."""
        yield await _once(self._list)

    async def abort(self, uploads: Sequence[IncompleteUpload]) -> None:
        """See `IncompleteUploads`."""
        await _once(lambda: self._remove(uploads))

    def _list(self) -> list[IncompleteUpload]:
        found: list[IncompleteUpload] = []
        for entry in os.scandir(self._temporaries):
            try:
                begun_ms = entry.stat(follow_symlinks=False).st_mtime_ns // 1_000_000
            except FileNotFoundError:
                continue  # its writer has just published it
            found.append(IncompleteUpload(f"{TEMPORARY_FOLDER}/{entry.name}", "", begun_ms))
            if len(found) == PAGE_ENTRIES_MAX:
                break
        return found

    def _remove(self, uploads: Sequence[IncompleteUpload]) -> None:
        for upload in uploads:
            (self._temporaries / upload.key.rpartition("/")[2]).unlink(missing_ok=True)


async def _once(call: Callable[[], _T]) -> _T:
    """Make one blocking call in a thread of its own."""
    calls = iter((call,))

    def step() -> tuple[_T] | None:
        following = next(calls, None)
        return None if following is None else (following(),)

    results = [result async for (result,) in stepwise(partial(_translated, step), "bucket-sweep")]
    return results[0]


def _translated(step: Callable[[], _T]) -> _T:
    try:
        return step()
    except OSError as error:
        raise ObjectStoreError(f"bucket directory: {error}") from error
    except KeyError as error:
        raise ObjectStoreError(f"uploads: an entry has no {error}") from error
    except Exception as error:
        if not is_answer(error):
            raise
        raise translated("uploads", error) from error
