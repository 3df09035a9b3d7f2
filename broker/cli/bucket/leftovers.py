"""What a `bucket verify` that was killed has left behind: the next one removes it."""

import os
import random
import re
from contextlib import suppress
from pathlib import Path
from typing import Final

from headrace.storage.audit.inventory import PROBE_PREFIX
from headrace.storage.object_store.factory import open_object_store
from headrace.storage.object_store.uri import FileLocation, parse_bucket_uri
from headrace.storage.sweep.swept_bucket import open_swept_bucket

# A probe takes seconds, and minutes where nothing answers: what is older is not in use any more.
LEFT_MS: Final = 3_600_000
# What else lies there belongs to others, and may be nothing that a store takes for a key.
_PROBES_KEY = re.compile(rf"{PROBE_PREFIX}/[0-9a-f]{{16}}/(?:[a-z]+/)?[a-z0-9-]+")


async def remove_leftovers(url: str, *, now_ms: int) -> int:
    """Delete keys of probes that are older than an hour, and end their uploads.

    Args:
        url: of a bucket that can be looked into.
        now_ms: by the store's clock, more or less.

    Returns:
        How many keys and uploads there were.

    Raises:
        StorageError: the bucket does not answer, or does not allow it.
    """
    place = open_swept_bucket(url, os.environ)
    assert place is not None, "a bucket in memory has been refused"
    location = parse_bucket_uri(url)
    folder, newest_ms = f"{PROBE_PREFIX}/", now_ms - LEFT_MS
    keys = [
        one.key
        async for page in place.lister.pages(folder)
        for one in page
        if one.modified_ms <= newest_ms and _PROBES_KEY.fullmatch(one.key)
    ]
    if keys:
        store = open_object_store(url, rng=random.SystemRandom(), environment=os.environ)
        try:
            await store.delete(keys)
        finally:
            await store.close()
    if isinstance(location, FileLocation):
        _remove_folders(Path(location.path), keys)
        return len(keys)
    uploads = [
        it
        async for page in place.uploads.pages()
        for it in page
        if it.begun_ms <= newest_ms and _PROBES_KEY.fullmatch(it.key)
    ]
    if uploads:
        await place.uploads.abort(uploads)
    return len(keys) + len(uploads)


def _remove_folders(root: Path, keys: list[str]) -> None:
    """Remove the folders that these keys have left empty."""
    folders = {folder for key in keys for folder in (root / key).parents if folder != root}
    for folder in sorted(folders, key=lambda it: len(it.parts), reverse=True):
        if root in folder.parents:
            with suppress(OSError):
                folder.rmdir()  # fails while another probe has keys there
