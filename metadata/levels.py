"""The levels of `headrace.metadata.version`, and from which one on each record may be written. Pure.

Each node reports the range of levels that it reads. The level of the cluster is in its metadata, and only an operator
raises it, once every node reads the higher one. What an older node cannot read is written from its level on only:
`encode_at_level` makes the bytes of every entry and snapshot, and refuses the rest.

Each record says its first level, and that of fields that came later (`headrace.metadata.records.record`); for a request
it is in `headrace.metadata.rpc.requests.REQUEST_LEVELS`. What was released at a level never changes.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from headrace.metadata.errors import MetadataVersionError, RefusedError
from headrace.metadata.records.codec import encode_records
from headrace.metadata.records.numbers import Count
from headrace.metadata.records.record import MetadataRecord
from headrace.protocol.errors import ErrorCode

# Clients and operators know the level by this name. `metadata.version` is Kafka's, with levels of Kafka's own.
LEVEL_FEATURE: Final = "headrace.metadata.version"
METADATA_FEATURE: Final = "metadata.version"  # in records, snapshots and requests of nodes

LEVELS: Final[Mapping[int, str]] = {
    2: "the records of the first release",  # level 1 was never released, and is not read any more
    3: "partitions move between brokers that live",
    4: "topics have the replication factor that was asked for, and settings of brokers change while they run",
}
OLDEST: Final = min(LEVELS)
NEWEST: Final = max(LEVELS)
MOVES_LEVEL: Final = 3  # partitions move between brokers that live
FACTOR_LEVEL: Final = 4  # topics have a replication factor
SETTINGS_LEVEL: Final = 4  # every broker follows its dynamic settings


class LevelRange(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The levels that a node reads."""

    oldest: Count
    newest: Count

    def __contains__(self, level: int) -> bool:
        """Whether the node reads this level."""
        return self.oldest <= level <= self.newest

    def __str__(self) -> str:
        """Show both ends."""
        return f"{self.oldest}..{self.newest}"


READ_HERE: Final = LevelRange(OLDEST, NEWEST)
UNTOLD: Final = LevelRange(1, 1)  # of a node that reports none: it is from before the first release


def level_of(features: Mapping[str, int]) -> int:
    """The level of a cluster, by the features of its image."""
    return features.get(METADATA_FEATURE, OLDEST)


def require_read(level: int) -> None:
    """Return only if this version reads this level.

    Raises:
        MetadataVersionError: it does not.
    """
    if level not in READ_HERE:
        raise MetadataVersionError(cannot_read(READ_HERE, level))


def cannot_read(reads: LevelRange, level: int) -> str:
    """Why a node cannot be in the cluster, and what to do."""
    what = (
        "upgrade this node"
        if level > reads.newest
        else "start it with an earlier version, run `headrace cluster upgrade` there, and let it write a snapshot; "
        "or begin with an empty directory and an empty bucket"
    )
    return f"this node reads {LEVEL_FEATURE} {reads}, the cluster is at {level}: {what}"


def require_written(kind: type, first_levels: Mapping[type, int], level: int) -> None:
    """Return only if a cluster at this level has requests of this type.

    Raises:
        RefusedError: UNSUPPORTED_VERSION, they are of a later level.
    """
    first = first_levels.get(kind, OLDEST)
    if first > level:
        raise _too_early(kind.__name__, first, level)


def encode_at_level(records: Sequence[MetadataRecord], level: int) -> bytes:
    """Encode a batch for a cluster at this level.

    Raises:
        RefusedError: UNSUPPORTED_VERSION, a record or a field of it is of a later level: no node may be sent it.
    """
    kinds = {type(it) for it in records}
    for kind in kinds:
        if level < kind.LEVEL:
            raise _too_early(kind.__name__, kind.LEVEL, level)
    if any(later > level for kind in kinds for later in kind.LATER_FIELDS.values()):
        return encode_records(tuple(_without_later_fields(records, level)))
    return encode_records(records)


def _without_later_fields(records: Sequence[MetadataRecord], level: int) -> Iterator[Any]:
    for record in records:
        later = record.LATER_FIELDS
        if all(first <= level for first in later.values()):
            yield record
            continue
        fields = msgspec.structs.fields(record)
        for field in fields:
            first = later.get(field.name, OLDEST)
            if first > level and getattr(record, field.name) != field.default:
                raise _too_early(f"{type(record).__name__}.{field.name}", first, level)
        kept = sum(later.get(field.name, OLDEST) <= level for field in fields)
        yield (type(record).__struct_config__.tag, *msgspec.structs.astuple(record)[:kept])


def _too_early(what: str, first: int, level: int) -> RefusedError:
    return RefusedError(
        ErrorCode.UNSUPPORTED_VERSION,
        f"{what} needs {LEVEL_FEATURE} {first}, and the cluster is at {level}: "
        "when every node is upgraded, run `headrace cluster upgrade`",
    )
