"""Lists a bucket page by page, with the time of each object: in a thread of its own.

A lister takes everything below the bucket's prefix, what the broker's listing leaves out included,
and holds one page at a time.
"""

import os
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path
from typing import Protocol

from headrace.daemon_threads import stepwise
from headrace.storage.audit.inventory import ListedObject
from headrace.storage.object_store.s3_access import S3Access
from headrace.storage.object_store.s3_client import one_thread
from headrace.storage.object_store.s3_errors import asked_of_bucket
from headrace.storage.object_store.s3_listing import MAX_PAGE_ENTRIES, OBJECTS, Entry, pages_of


class BucketLister(Protocol):
    """A bucket's list of objects."""

    def pages(self, prefix: str = "") -> AsyncIterator[list[ListedObject]]:
        """Yield everything, page by page, in no particular order.

        Args:
            prefix: what keys begin with, not necessarily whole segments.

        Raises:
            RefusedError: the credentials do not allow it, or there is no such bucket.
            ObjectStoreError: the bucket does not answer.
        """
        ...


class DirectoryLister:
    """A `file://` bucket, with what writers are still busy with below `.tmp/`."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def pages(self, prefix: str = "") -> AsyncIterator[list[ListedObject]]:
        """See `BucketLister`."""
        walk = self._walk(prefix)
        step = partial(asked_of_bucket, "bucket directory", lambda: next(walk, None))
        async for page in stepwise(step, "bucket-list"):
            yield page

    def _walk(self, prefix: str) -> Iterator[list[ListedObject]]:
        page: list[ListedObject] = []
        top = self._root / prefix.rpartition("/")[0]
        for folder, folders, names in os.walk(top, onerror=_raise_unless_gone):
            below = Path(folder).relative_to(self._root)
            # Others cost time, and may not be ours to read: `lost+found` of a disk, for instance.
            folders[:] = [it for it in folders if _may_hold((below / it).as_posix(), prefix)]
            for name in names:
                path = Path(folder, name)
                key = path.relative_to(self._root).as_posix()
                if not key.startswith(prefix):
                    continue
                try:
                    found = path.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue  # deleted since the directory was read
                page.append(ListedObject(key, found.st_size, found.st_mtime_ns // 1_000_000))
                if len(page) == MAX_PAGE_ENTRIES:
                    yield page
                    page = []
        if page:
            yield page


class S3Lister:
    """An `s3://` bucket."""

    def __init__(
        self, access: S3Access, prefix: str, *, max_page_objects: int = MAX_PAGE_ENTRIES
    ) -> None:
        """Prepare; nothing is sent yet.

        Args:
            access: how the bucket is reached.
            prefix: of the cluster's URI, empty or ending in "/"; keys are returned without it.
            max_page_objects: how many to ask for at once.
        """
        self._access = access
        self._prefix = prefix
        self._max_page_objects = max_page_objects

    async def pages(self, prefix: str = "") -> AsyncIterator[list[ListedObject]]:
        """See `BucketLister`."""
        place = {"Bucket": self._access.bucket, "Prefix": self._prefix + prefix}
        limit = self._max_page_objects
        with one_thread(self._access, "bucket-list") as client:
            pages = pages_of(client, OBJECTS, place, self._listed, max_page_entries=limit)
            async for page in pages:
                yield page

    def _listed(self, entry: Entry) -> ListedObject:
        key = entry["Key"].removeprefix(self._prefix)
        return ListedObject(key, entry["Size"], int(entry["LastModified"].timestamp() * 1000))


async def find_object(lister: BucketLister, key: str) -> ListedObject | None:
    """Look a single key up.

    Raises:
        RefusedError, ObjectStoreError: as `pages`.
    """
    async for page in lister.pages(key):
        for one in page:
            if one.key == key:
                return one
    return None


def _raise_unless_gone(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error


def _may_hold(folder: str, prefix: str) -> bool:
    """Whether keys with a prefix may lie in a folder."""
    return f"{folder}/".startswith(prefix) or prefix.startswith(f"{folder}/")
