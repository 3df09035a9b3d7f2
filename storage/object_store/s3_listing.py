"""Lists of an S3 bucket, page by page: each page must say whether it is the last one.

What says so is `IsTruncated`, which every answer to a list has. An error's text or a proxy's page in
a 200 has none, and most clients take either for a page with nothing on it and nothing behind it: a
list that lacks its end looks whole then.

Source: Amazon S3 API reference, ListObjectsV2 and ListMultipartUploads.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from typing import Any, Final, Generic, TypeVar

import msgspec

from headrace.storage.errors import ObjectStoreError
from headrace.storage.object_store.s3_client import S3Client
from headrace.storage.object_store.s3_errors import Asked

MAX_PAGE_ENTRIES: Final = 1_000  # what one page of S3 has at most

Entry = Mapping[str, Any]

_T = TypeVar("_T")


class ListOperation(msgspec.Struct, frozen=True):
    """A list of S3's: its names in boto3."""

    operation: str
    entries: str  # field of an answer
    size: str  # argument: how many to ask for at once
    following: Mapping[str, str]  # argument for the next page: field of the answer that has it


OBJECTS: Final = ListOperation(
    "list_objects_v2", "Contents", "MaxKeys", {"ContinuationToken": "NextContinuationToken"}
)
UPLOADS: Final = ListOperation(
    "list_multipart_uploads",
    "Uploads",
    "MaxUploads",
    {"KeyMarker": "NextKeyMarker", "UploadIdMarker": "NextUploadIdMarker"},
)


class _Page(msgspec.Struct, Generic[_T], frozen=True):
    entries: list[_T]
    following: dict[str, str]  # arguments for the next one; none: this is the last


async def pages_of(
    client: S3Client,
    listing: ListOperation,
    place: Mapping[str, str],
    read: Callable[[Entry], _T],
    *,
    max_page_entries: int = MAX_PAGE_ENTRIES,
    is_repeated: bool = True,
) -> AsyncIterator[list[_T]]:
    """Yield what a list has page by page.

    Args:
        client: asks for them.
        listing: which list.
        place: `Bucket` and where to begin.
        read: makes what is yielded of an entry, in a thread.
        max_page_entries: how many to ask for at once.
        is_repeated: whether to ask again for a single page, or leave it to the caller to begin anew.

    Raises:
        RefusedError: the credentials do not allow it, or there is no such bucket.
        ObjectStoreError: the bucket does not answer, or with something that is no page of a list.
    """
    ask = client.repeated if is_repeated else client.once
    following: dict[str, str] = {}
    while True:
        arguments = {**place, **following, listing.size: max_page_entries}
        page = await ask("list", Asked.BUCKET, partial(_page, listing, arguments, read))
        yield page.entries
        if not page.following:
            return
        following = page.following


def _page(
    listing: ListOperation, arguments: dict[str, Any], read: Callable[[Entry], _T], client: Any
) -> _Page[_T]:
    answer = getattr(client, listing.operation)(**arguments)
    if not isinstance(answer.get("IsTruncated"), bool):
        raise ObjectStoreError("list: an answer has no IsTruncated")
    following = {}
    if answer["IsTruncated"]:
        found = ((name, answer.get(field)) for name, field in listing.following.items())
        following = {name: value for name, value in found if value}
        if not following or following.items() <= arguments.items():
            raise ObjectStoreError(
                "list: an answer is truncated and has no marker for the next page"
            )
    return _Page([read(entry) for entry in answer.get(listing.entries, ())], following)
