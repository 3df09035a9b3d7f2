"""What keys mean, and totals of the objects in a bucket. Pure.

| key | kind |
|---|---|
| `<spread>/<cluster id>/<object id>` | an object of streams, `headrace.storage.objects.keys` |
| `metadata/<cluster id>/<index>-<term>.checkpoint` | a snapshot of the metadata |
| `wal/<cluster id>/<node id>/...` | a write-ahead log made of objects, `headrace.wal.objects.layout` |
| `headrace-probe/...` | left behind by a probe that was killed |
| `.tmp/...` | `file://` only: being written, or left by a writer that was killed; the broker tidies up |
| any other | not Headrace's, or of a version that this one does not know |

Only the first kind is ever judged or removed by the tools; the others are counted.
"""

from collections.abc import Iterable
from enum import Enum
from typing import Final, NamedTuple

import msgspec

from headrace.storage.objects.keys import parse_object_key

PROBE_PREFIX: Final = "headrace-probe"
TEMPORARY_FOLDER: Final = ".tmp"  # as `headrace.storage.object_store.filesystem` has it
METADATA_FOLDER: Final = "metadata"
WAL_FOLDER: Final = "wal"
NO_OBJECT: Final = -1
UNKNOWN_TIME: Final = 0


class KeyKind(Enum):
    """What a key names."""

    OBJECT = "objects"
    METADATA = "metadata"
    WAL = "wal"
    PROBE = "probe"
    TEMPORARY = "temporary"
    OTHER = "other"


class ListedObject(NamedTuple):
    """What a listing says of one object."""

    key: str
    size_bytes: int
    modified_ms: int  # by the store's clock; UNKNOWN_TIME where it is not reported


class KeyMeaning(NamedTuple):
    """A key, decoded; the cluster is empty and the object NO_OBJECT where it names none."""

    kind: KeyKind
    cluster_id: str = ""
    object_id: int = NO_OBJECT


def meaning_of(key: str) -> KeyMeaning:
    """Decode a key."""
    parsed = parse_object_key(key)
    if parsed is not None:
        return KeyMeaning(KeyKind.OBJECT, *parsed)
    folders = key.split("/")[:-1]
    if folders[:1] == [PROBE_PREFIX]:
        return KeyMeaning(KeyKind.PROBE)
    if folders[:1] == [TEMPORARY_FOLDER]:
        return KeyMeaning(KeyKind.TEMPORARY)
    if folders[:1] == [METADATA_FOLDER] and len(folders) == 2:
        return KeyMeaning(KeyKind.METADATA, folders[1])
    if folders[:1] == [WAL_FOLDER] and len(folders) > 1:
        return KeyMeaning(KeyKind.WAL, folders[1])
    return KeyMeaning(KeyKind.OTHER)


class Totals(msgspec.Struct):
    """Objects of one kind of one cluster."""

    objects: int = 0
    bytes: int = 0
    largest_bytes: int = 0
    oldest_ms: int = UNKNOWN_TIME
    newest_ms: int = UNKNOWN_TIME

    def add(self, listed: ListedObject) -> None:
        """Count one more."""
        self.objects += 1
        self.bytes += listed.size_bytes
        self.largest_bytes = max(self.largest_bytes, listed.size_bytes)
        if listed.modified_ms != UNKNOWN_TIME:
            self.newest_ms = max(self.newest_ms, listed.modified_ms)
            known = self.oldest_ms != UNKNOWN_TIME
            self.oldest_ms = (
                min(self.oldest_ms, listed.modified_ms) if known else listed.modified_ms
            )


class Inventory:
    """Totals by cluster and kind; one entry for each pair, however many objects."""

    def __init__(self) -> None:
        self.totals: dict[tuple[str, KeyKind], Totals] = {}

    def add(self, listed: Iterable[ListedObject]) -> None:
        """Count a page of a listing."""
        for one in listed:
            meaning = meaning_of(one.key)
            self.totals.setdefault((meaning.cluster_id, meaning.kind), Totals()).add(one)

    @property
    def bytes(self) -> int:
        """Bytes of everything."""
        return sum(totals.bytes for totals in self.totals.values())

    @property
    def objects(self) -> int:
        """How many objects there are in all."""
        return sum(totals.objects for totals in self.totals.values())
