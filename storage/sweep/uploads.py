"""Multipart uploads that were begun and never completed: S3 keeps their parts, and charges for them."""

import os
from collections.abc import AsyncIterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from headrace.daemon_threads import in_own_thread
from headrace.storage.audit.inventory import TEMPORARY_FOLDER
from headrace.storage.errors import StorageError
from headrace.storage.object_store.s3_access import S3Access
from headrace.storage.object_store.s3_client import one_thread
from headrace.storage.object_store.s3_errors import (
    NO_SUCH_UPLOAD,
    Asked,
    asked_of_bucket,
    failure_of,
)
from headrace.storage.object_store.s3_listing import MAX_PAGE_ENTRIES, UPLOADS, Entry, pages_of
from headrace.storage.sweep.rules import IncompleteUpload

_asked = partial(asked_of_bucket, "bucket directory")


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
    """Of an `s3://` bucket, in one thread while it is used.

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
        place = {"Bucket": self._access.bucket}
        if self._prefix:
            place["KeyMarker"] = self._prefix
        with one_thread(self._access, "bucket-sweep") as client:
            async for page in pages_of(client, UPLOADS, place, _listed):
                # A page without any of ours as well: callers that bound the pages count requests.
                yield [
                    it._replace(key=it.key.removeprefix(self._prefix))
                    for it in page
                    if it.key.startswith(self._prefix)
                ]
                if page and self._is_behind(page[-1].key):
                    return

    async def abort(self, uploads: Sequence[IncompleteUpload]) -> None:
        """See `IncompleteUploads`."""
        failure: StorageError | None = None
        with one_thread(self._access, "bucket-sweep") as client:
            for upload in uploads:
                try:
                    await client.repeated("uploads", Asked.BUCKET, partial(self._abort, upload))
                except StorageError as error:  # it holds up no other
                    failure = error
        if failure is not None:
            raise failure

    def _is_behind(self, key: str) -> bool:
        return key > self._prefix and not key.startswith(self._prefix)

    def _abort(self, upload: IncompleteUpload, client: Any) -> None:
        try:
            client.abort_multipart_upload(
                Bucket=self._access.bucket,
                Key=self._prefix + upload.key,
                UploadId=upload.upload_id,
            )
        except Exception as error:
            failure = failure_of(error)
            if failure.status != 404 and failure.code != NO_SUCH_UPLOAD:
                raise


class DirectoryUploads:
    """Of a `file://` bucket: temporary files that were never renamed to an object's name."""

    def __init__(self, root: Path) -> None:
        self._temporaries = root / TEMPORARY_FOLDER

    async def pages(self) -> AsyncIterator[list[IncompleteUpload]]:
        """See `IncompleteUploads`."""
        yield await in_own_thread("bucket-sweep", _asked, self._list)

    async def abort(self, uploads: Sequence[IncompleteUpload]) -> None:
        """See `IncompleteUploads`."""
        await in_own_thread("bucket-sweep", _asked, partial(self._remove, uploads))

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
        failure: OSError | None = None
        for upload in uploads:
            try:
                (self._temporaries / upload.key.rpartition("/")[2]).unlink(missing_ok=True)
            except OSError as error:  # it holds up no other
                failure = error
        if failure is not None:
            raise failure


def _listed(entry: Entry) -> IncompleteUpload:
    """Keys include the prefix."""
    begun_ms = int(entry["Initiated"].timestamp() * 1000)
    return IncompleteUpload(entry["Key"], entry["UploadId"], begun_ms)
