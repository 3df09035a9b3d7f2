"""Encoding of a batch of records: the payload of a log entry, and of a block of a snapshot.

offset | bytes | type        | field   | meaning
0      | 1     | u8          | version | record format version, `RECORD_FORMAT_VERSION`
1      | rest  | MessagePack | records | array of records, each an array of its tag and fields

A change of the quorum's members is a separate entry, which Raft must find without decoding the
others: its version byte is `MEMBERS_FORMAT`, and the rest is the array of the members.

UUIDs are 16-byte binaries. A record may gain fields at its end, with defaults; a field is never
removed, moved or given another meaning, and a tag is never reused. A change that an older reader
must not ignore raises the version. Integrity (length, CRC) is checked by the format around the
payload.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import reduce
from operator import or_
from typing import Any, Final

import msgspec

from headrace.metadata.errors import MetadataFormatError, MetadataVersionError
from headrace.metadata.records import brokers, cluster, logs, members, objects, streams, topics
from headrace.metadata.records.members import Member, MembersRecord
from headrace.metadata.records.record import MetadataRecord
from headrace.steps import Steps

RECORD_FORMAT_VERSION: Final = 1
MEMBERS_FORMAT: Final = 0xC0

# Every kind of record that the modules of this package define.
KINDS: Final[tuple[type[MetadataRecord], ...]] = tuple(
    kind
    for module in (brokers, cluster, logs, members, objects, streams, topics)
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, MetadataRecord) and kind is not MetadataRecord
)

_ENCODER: Final = msgspec.msgpack.Encoder(uuid_format="bytes")
_ANY_KIND: Final[Any] = reduce(or_, KINDS)
_DECODER: Final = msgspec.msgpack.Decoder[tuple[MetadataRecord, ...]](tuple[_ANY_KIND, ...])
_FEATURE_DECODER: Final = msgspec.msgpack.Decoder(cluster.FeatureRecord)
_RAW_DECODER: Final = msgspec.msgpack.Decoder(tuple[msgspec.Raw, ...])
STEP_RECORDS: Final = 1_000  # decoded at once: about a millisecond
_STEP_BYTES: Final = 32 << 10  # fewer are decoded at once, whatever they hold
_ARRAY32: Final = b"\xdd"  # of MessagePack, before the number of elements
_MEMBERS_DECODER: Final = msgspec.msgpack.Decoder(tuple[Member, ...])


def encode_records(records: Sequence[MetadataRecord]) -> bytes:
    """Encode a batch."""
    buffer = bytearray((RECORD_FORMAT_VERSION,))
    _ENCODER.encode_into(records, buffer, 1)
    return bytes(buffer)


def decode_records(payload: bytes | memoryview) -> tuple[MetadataRecord, ...]:
    """Decode a batch.

    Raises:
        MetadataFormatError: the payload is not a batch of records that this version knows.
    """
    if not payload:
        raise MetadataFormatError("a batch of records is empty")
    members = decode_members(payload)
    if members is not None:
        return (MembersRecord(members),)
    _check_format(payload)
    try:
        return _DECODER.decode(memoryview(payload)[1:])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise _unreadable(payload, error) from error


def decode_records_steps(
    payload: bytes | memoryview,
) -> Steps[Sequence[MetadataRecord]]:
    """Decode a batch as `decode_records` does, in steps: the deletion of a topic may be 100,000 records."""
    if len(payload) <= _STEP_BYTES:
        return decode_records(payload)
    _check_format(payload)
    records: list[MetadataRecord] = []
    try:
        each = _RAW_DECODER.decode(memoryview(payload)[1:])
        for start in range(0, len(each), STEP_RECORDS):
            yield
            some = each[start : start + STEP_RECORDS]
            records += _DECODER.decode(b"".join((_ARRAY32, len(some).to_bytes(4, "big"), *some)))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise _unreadable(payload, error) from error
    return records


def _unreadable(payload: bytes | memoryview, error: Exception) -> MetadataFormatError:
    """Why a batch cannot be read: it may raise the level of the cluster beyond what this version reads."""
    with suppress(msgspec.MsgspecError, RecursionError):
        for each in _RAW_DECODER.decode(memoryview(payload)[1:]):
            with suppress(msgspec.MsgspecError, UnicodeDecodeError):
                feature = _FEATURE_DECODER.decode(each)
                # As operators know the level; `metadata.version` is its name in records alone.
                return MetadataVersionError(
                    f"a batch of records sets headrace.{feature.name} to {feature.level}, and this version cannot "
                    f"read it: upgrade this node ({error})"
                )
    return MetadataFormatError(f"a batch of records cannot be read: {error}")


def _check_format(payload: bytes | memoryview) -> None:
    if payload[0] != RECORD_FORMAT_VERSION:
        msg = f"the records have format {payload[0]}, this version can read {RECORD_FORMAT_VERSION}"
        raise MetadataFormatError(msg)


def encode_members(members: Sequence[Member]) -> bytes:
    """Encode the payload of an entry that changes the quorum."""
    buffer = bytearray((MEMBERS_FORMAT,))
    _ENCODER.encode_into(members, buffer, 1)
    return bytes(buffer)


def decode_members(payload: bytes | memoryview) -> tuple[Member, ...] | None:
    """Decode the members, if this payload changes them.

    Raises:
        MetadataFormatError: it changes them, and cannot be read.
    """
    if not payload or payload[0] != MEMBERS_FORMAT:
        return None
    try:
        return _MEMBERS_DECODER.decode(memoryview(payload)[1:])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise MetadataFormatError(f"the members of a quorum cannot be read: {error}") from error
