"""Multipart uploads that were begun and never completed: S3 keeps their parts, and charges for them."""

import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from headrace.storage.audit.inventory import TEMPORARY_FOLDER
from headrace.storage.object_store.daemon_threads import stepwise
from headrace.storage.object_store.s3_access import S3Access
from headrace.storage.object_store.s3_administration import s3_client
from headrace.storage.object_store.s3_errors import asked_of_bucket, code_of, status_of
from headrace.storage.object_store.s3_listing import MAX_PAGE_ENTRIES, pages_of
from headrace.storage.sweep.rules import IncompleteUpload

_T = TypeVar("_T")


class IncompleteUploads(Protocol):
    """A bucket's list of uploads that are neither completed nor aborted."""

    def pages(self) -> AsyncIterator[list[IncompleteUpload]]:
        """Yield them page by page.

        Raises:
            StorageError: the bucket does not answer, or does not allow it.
        """
        ...

    async def abort(self, uploads: Sequence[IncompleteUpload]) -> None:
        """Abort uploads; one that has ended already is not an error, one that fails does not stop the others.

        Raises:
            StorageError: the bucket does not answer, or does not allow it, for some of them at least.
        """
        ...


class S3Uploads:
    """Of an `s3://` bucket, by boto3, in one thread while it is used.

    The whole bucket is listed, from the prefix on: MinIO lists all uploads, or those of one key, but
    not those below a prefix. S3's list is sorted, so this costs no additional page. MinIO's list has
    all of them on one page, in any order.
    """

    def __init__(self, access: S3Access, prefix: str) -> None:
        """Prepare; nothing is sent yet.

        Args:
            access: how the bucket is reached.
            prefix: of the cluster's URI, empty or ending in "/"; keys are returned without it.
        """
        self._access = access
        self._prefix = prefix

    async def pages(self) -> AsyncIterator[list[IncompleteUpload]]:
        """See `IncompleteUploads`."""
        walk = self._walk()
        step = partial(asked_of_bucket, "uploads", lambda: next(walk, None))
        async for page in stepwise(step, "bucket-sweep"):
            yield page

    async def abort(self, uploads: Sequence[IncompleteUpload]) -> None:
        """See `IncompleteUploads`."""
        await _once("uploads", lambda: self._abort(uploads))

    def _walk(self) -> Iterator[list[IncompleteUpload]]:
        client = s3_client(self._access)
        try:
            where = {"Bucket": self._access.bucket}
            if self._prefix:
                where["KeyMarker"] = self._prefix
            for page in pages_of(client, "list_multipart_uploads", "Uploads", where):
                # Also a page without uploads of this cluster: the caller bounds the number of requests.
                yield [self._listed(it) for it in page if it["Key"].startswith(self._prefix)]
                if page and self._is_behind(page[-1]["Key"]):
                    return
        finally:
            client.close()

    def _is_behind(self, key: str) -> bool:
        return key > self._prefix and not key.startswith(self._prefix)

    def _listed(self, entry: Any) -> IncompleteUpload:
        begun_ms = int(entry["Initiated"].timestamp() * 1000)
        return IncompleteUpload(
            entry["Key"].removeprefix(self._prefix), entry["UploadId"], begun_ms
        )

    def _abort(self, uploads: Sequence[IncompleteUpload]) -> None:
        client = s3_client(self._access)
        try:
            _each(uploads, partial(self._abort_one, client))
        finally:
            client.close()

    def _abort_one(self, client: Any, upload: IncompleteUpload) -> None:
        try:
            client.abort_multipart_upload(
                Bucket=self._access.bucket,
                Key=self._prefix + upload.key,
                UploadId=upload.upload_id,
            )
        except Exception as error:
            if status_of(error) != 404 and code_of(error) != "NoSuchUpload":
                raise


class DirectoryUploads:
    """Of a `file://` bucket: temporary files that were never renamed to an object's name."""

    def __init__(self, root: Path) -> None:
        self._temporaries = root / TEMPORARY_FOLDER

    async def pages(self) -> AsyncIterator[list[IncompleteUpload]]:
        """See `IncompleteUploads`."""
        yield await _once("bucket directory", self._list)

    async def abort(self, uploads: Sequence[IncompleteUpload]) -> None:
        """See `IncompleteUploads`."""
        await _once("bucket directory", lambda: self._remove(uploads))

    def _list(self) -> list[IncompleteUpload]:
        found: list[IncompleteUpload] = []
        try:
            entries = os.scandir(self._temporaries)
        except FileNotFoundError:
            return found  # nothing has been written yet
        for entry in entries:
            try:
                begun_ms = entry.stat(follow_symlinks=False).st_mtime_ns // 1_000_000
            except FileNotFoundError:
                continue  # its writer has just published it
            found.append(IncompleteUpload(f"{TEMPORARY_FOLDER}/{entry.name}", "", begun_ms))
            if len(found) == MAX_PAGE_ENTRIES:
                break
        return found

    def _remove(self, uploads: Sequence[IncompleteUpload]) -> None:
        _each(
            uploads,
            lambda it: (self._temporaries / it.key.rpartition("/")[2]).unlink(missing_ok=True),
        )


def _each(uploads: Sequence[IncompleteUpload], end: Callable[[IncompleteUpload], None]) -> None:
    """Abort each of them: one that fails does not stop the others, and its error is raised at the end."""
    failure: Exception | None = None
    for upload in uploads:
        try:
            end(upload)
        except Exception as error:  # noqa: BLE001 - raised below
            failure = error
    if failure is not None:
        raise failure


async def _once(what: str, call: Callable[[], _T]) -> _T:
    """Make one blocking call in a thread of its own."""
    calls = iter((call,))

    def step() -> tuple[_T] | None:
        following = next(calls, None)
        return None if following is None else (following(),)

    ask = partial(asked_of_bucket, what, step)
    results = [result async for (result,) in stepwise(ask, "bucket-sweep")]
    return results[0]
