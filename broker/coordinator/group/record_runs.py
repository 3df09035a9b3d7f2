"""The records of a batch; committed offsets that follow each other alike are read as one run. Pure.

A commit, and a rewrite of the log, write one record after the other that differ only in offset delta, partition,
offset, leader epoch and commit timestamp: everything else is the same, and at the same bytes. So the first one is read
field by field, and gives the layout of the next ones. A load of a million offsets takes most of them by this.
"""

from collections.abc import Iterator
from functools import lru_cache
from struct import Struct
from typing import Final, NamedTuple

from headrace.broker.coordinator.group.records import (
    NO_TIMESTAMP,
    CoordinatorRecord,
    OffsetCommitValue,
    OffsetRecord,
    OffsetRun,
    decode_record,
)
from headrace.protocol.records.record import RecordFields, RecordReader, encode_varint

MAX_RUN_RECORDS: Final = 128  # in one turn of the loop
_MAX_LAYOUTS_SHARED: Final = 1_024
_PARTITION_BYTES: Final = 4  # at the end of a key
_VERSION: Final = b"\0\4"
_METADATA_AT: Final = 14  # in such a value: behind the version, the offset and the leader epoch
_NO_METADATA: Final = 1  # its length, plus one
_TAGS_AT: Final = 23  # behind that and the commit timestamp
_NO_HEADERS: Final = b"\0"
_SHORT_DELTAS: Final = range(-64, 64)  # of one byte; of longer ones the last two may differ


class _Layout(NamedTuple):
    """Where the fields of an offset's record are, and the parts that its size alone decides."""

    fields: Struct
    lead_bytes: int  # the record's length, its attributes and its timestamp delta
    delta_mask: int  # of an offset delta: the bits that have its length,
    delta_length: int  # and their value
    key_length: bytes
    value_begin: bytes  # its length, and its version


def decode_records(
    reader: RecordReader,
) -> Iterator[tuple[CoordinatorRecord | OffsetRun | None, int]]:
    """Give each record as `decode_record`, offsets as runs; with each, how many records it stands for.

    Raises:
        CorruptRecordError: a record does not match its version.
        CorruptBatchError: the batch cannot be read.
    """
    start = reader.position
    for fields in reader:
        _, _, key, value, _ = fields
        decoded = decode_record(key, value)
        if isinstance(decoded, OffsetRecord) and decoded.value is not None:
            yield _read_run(reader, start, fields, decoded)
        else:
            yield decoded, 1
        start = reader.position


def _read_run(
    reader: RecordReader, start: int, fields: RecordFields, first: OffsetRecord
) -> tuple[OffsetRun, int]:
    """Read the records that are like the first one, which begins at `start`, and was read before them."""
    _, offset_delta, key, value, headers = fields
    assert key is not None
    assert value is not None
    assert first.value is not None
    values = {first.key.partition: first.value}
    run = OffsetRun(first.key.group, first.key.topic, values)
    data, end = reader.data, reader.position
    size_bytes = end - start
    owner = key[:-_PARTITION_BYTES]
    if (
        headers
        or not value.startswith(_VERSION)
        or value[_METADATA_AT] != _NO_METADATA
        or data.find(owner, end, end + size_bytes) < 0  # nor would what follows have another length
    ):
        return run, 1
    layout = _layout(size_bytes, 1 if offset_delta in _SHORT_DELTAS else 2, len(key), len(value))
    known_lead = data[start : start + layout.lead_bytes]
    known_owner = layout.key_length + owner
    known_tail = value[_TAGS_AT:] + _NO_HEADERS
    known_begin, mask, delta_length = layout.value_begin, layout.delta_mask, layout.delta_length
    topic_id = first.value.topic_id
    most = min(reader.records_left + 1, (len(data) - start) // size_bytes, MAX_RUN_RECORDS)
    ahead = memoryview(data)[start : start + most * size_bytes]
    count = 0
    # From the first one on: if a length in it takes more bytes than it needs, it does not look like this itself.
    for record in layout.fields.iter_unpack(ahead):
        lead, delta, found, partition, begin, offset, epoch, metadata, time_ms, tail = record
        if (
            lead != known_lead
            or delta & mask != delta_length
            or found != known_owner
            or begin != known_begin
            or metadata != _NO_METADATA
            or tail != known_tail
        ):
            break
        # What its constructor does, without that call: this runs for every offset of a load.
        values[partition] = tuple.__new__(
            OffsetCommitValue, (offset, epoch, "", time_ms, NO_TIMESTAMP, topic_id)
        )
        count += 1
    count = max(count, 1)
    reader.skip(count - 1, (count - 1) * size_bytes)
    return run, count


@lru_cache(maxsize=_MAX_LAYOUTS_SHARED)
def _layout(size_bytes: int, delta_bytes: int, key_bytes: int, value_bytes: int) -> _Layout:
    delta, mask, length = ("B", 0x80, 0) if delta_bytes == 1 else ("H", 0x8080, 0x8000)
    key_length = encode_varint(key_bytes)
    value_begin = encode_varint(value_bytes) + _VERSION
    owner_bytes = len(key_length) + key_bytes - _PARTITION_BYTES
    tail_bytes = value_bytes - _TAGS_AT + len(_NO_HEADERS)
    rest = f"{delta}{owner_bytes}si{len(value_begin)}sqiBq{tail_bytes}s"
    lead_bytes = size_bytes - Struct(">" + rest).size
    fields = Struct(f">{lead_bytes}s{rest}")
    return _Layout(fields, lead_bytes, mask, length, key_length, value_begin)
