"""Lists of an S3 bucket, page by page, by boto3: each page must say whether it is the last one.

What says so is `IsTruncated`, which every answer to a list has. An error's text or a proxy's page in
a 200 has none, and most clients take either for a page with nothing on it and nothing behind it: a
list that lacks its end looks whole then.

Source: Amazon S3 API reference, ListObjectsV2 and ListMultipartUploads.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from headrace.storage.errors import ObjectStoreError
from headrace.storage.object_store.s3_calls import S3Calls

MAX_PAGE_ENTRIES: Final = 1_000  # what one page of S3 has at most


def pages_of(
    client: Any,
    operation: str,
    field: str,
    place: Mapping[str, str],
    *,
    max_page_entries: int = MAX_PAGE_ENTRIES,
) -> Iterator[list[Mapping[str, Any]]]:
    """Yield the entries of a list page by page. Blocking.

    Args:
        client: of boto3.
        operation: `list_objects_v2` or `list_multipart_uploads`.
        field: of an answer, where the entries are.
        place: `Bucket` and `Prefix`.
        max_page_entries: how many to ask for at once.

    Raises:
        ObjectStoreError: an answer is no page of a list.
        Exception: botocore's, for anything else.
    """
    pages = client.get_paginator(operation).paginate(
        **place, PaginationConfig={"PageSize": max_page_entries}
    )
    is_truncated = False
    for page in pages:
        if not isinstance(page.get("IsTruncated"), bool):
            raise ObjectStoreError("list: an answer does not say whether it is whole")
        is_truncated = page["IsTruncated"]
        yield page.get(field, [])
    if is_truncated:
        raise ObjectStoreError("list: there is more of it, and no way to ask for that")


class S3Listing:
    """Lists objects for the data path."""

    def __init__(self, calls: S3Calls, bucket: str) -> None:
        self._calls = calls
        self._bucket = bucket

    async def objects(self, prefix: str) -> list[tuple[str, int]]:
        """Return (key, size in bytes) of all objects whose keys begin with `prefix`, in any order.

        Raises:
            RefusedError: the credentials do not allow it, or there is no such bucket.
            ObjectStoreError: the bucket does not answer, or with something that is no list.
        """
        return await self._calls.call(f"list {prefix}", partial(self._objects, prefix))

    async def close(self) -> None:
        """End the threads."""
        await self._calls.close()

    def _objects(self, prefix: str, client: Any) -> list[tuple[str, int]]:
        found: list[tuple[str, int]] = []
        place = {"Bucket": self._bucket, "Prefix": prefix}
        for page in pages_of(client, "list_objects_v2", "Contents", place):
            found += ((entry["Key"], entry["Size"]) for entry in page)
        return found
