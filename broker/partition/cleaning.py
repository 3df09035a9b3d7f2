"""Cleaning of a compacted topic's log: which records of which batches stay. Pure.

A pass first indexes the dirty part of a log, from the first offset that was never cleaned up to an end: the newest
offset of each key (`KeyMap`). The map has a bound; the pass ends before the batch that it has no room for, and the next
pass goes on there. Then every batch from the log start to that end is cleaned:

- a record with a newer one of its key in the map goes, and one without a key;
- a tombstone (no value) stays until `delete.retention.ms` after its first cleaning, so that a slow consumer sees it.
  The batch has that time as its *delete horizon*, instead of its base timestamp;
- records of aborted transactions go; control batches stay as they are;
- a batch without records goes, unless it is the last of a producer, whose sequence it keeps, or unless the caller has
  to keep it: for offsets that no other batch covers.

Offsets, sequences, codec, leader epoch and last offset delta of a batch stay. A batch that cannot be read stays as it
is: its keys are not known.

A tombstone may go only when nothing that it hides is left. That holds since its horizon is set by a pass that indexed
it, and every batch below it is cleaned by that pass before. So a tombstone below the cleaned offset has a horizon. One
without says that this offset is too high (metadata that were rebuilt from an older snapshot): `NotCleanError`, and the
log is cleaned from its start again.

Source: LogCleaner.scala and MemoryRecords.java of Apache Kafka 4.4; KIP-534.
"""

from bisect import bisect_right
from collections.abc import Generator, Iterable, Mapping
from hashlib import blake2b
from operator import attrgetter
from typing import Final, NamedTuple

import msgspec

from headrace.protocol.partition_checkpoint import AbortedEntry, ProducerEntry
from headrace.protocol.records.batch import (
    CODEC_MASK,
    DELETE_HORIZON_FLAG,
    BatchHeader,
    encode_header,
    parse_header,
)
from headrace.protocol.records.compression import Compression, compress
from headrace.protocol.records.errors import DecompressionLimitError, RecordsError
from headrace.protocol.records.record import (
    NO_TIMESTAMP,
    RecordReader,
    decode_varint,
    encode_varint,
)
from headrace.protocol.records.window import Slice, in_thread

MAX_DECOMPRESSED_BYTES: Final = 256 * 1024 * 1024  # of one batch, as for look-ups
# What a key costs in the map: its bytes or their hash, two numbers, an entry of the table.
KEY_COST_BYTES: Final = 256
_KEY_BYTES: Final = 24  # longer keys are hashed to one byte more, so that a hash is no other key
_LONG_CALL_BYTES: Final = 64 * 1024  # (de)compressing so much is done in a thread
_OPENED_AT_ONCE_BYTES: Final = 1024 * 1024  # about a millisecond
_SLICE_RECORDS: Final = 200  # half a millisecond
_INT64_MAX: Final = (1 << 63) - 1


class NotCleanError(Exception):
    """A tombstone below the cleaned offset was never cleaned."""


class KeyMap:
    """The newest offset of each key; the caller asks `is_full` before each batch that it adds."""

    __slots__ = ("_max_keys", "_offsets")

    def __init__(self, max_keys: int) -> None:
        self._offsets: dict[bytes, int] = {}
        self._max_keys = max_keys

    def __len__(self) -> int:
        return len(self._offsets)

    @property
    def is_full(self) -> bool:
        """Whether no other batch may be added."""
        return len(self._offsets) >= self._max_keys

    def put(self, key: bytes, offset: int) -> None:
        """Add a record."""
        key = _short(key)
        if self._offsets.get(key, -1) < offset:
            self._offsets[key] = offset

    def newest(self, key: bytes) -> int:
        """The newest offset of a key; -1 when it was not added."""
        return self._offsets.get(_short(key), -1)


def _short(key: bytes) -> bytes:
    if len(key) <= _KEY_BYTES:
        return key
    return blake2b(key, digest_size=_KEY_BYTES + 1).digest()


class CleaningRules(msgspec.Struct, frozen=True):
    """What a pass knows besides the log."""

    now_ms: int  # by the wall clock
    delete_retention_ms: int
    cleaned_offset: int  # below it, everything was cleaned before
    # Of each producer, the last offset of its newest acknowledged batch: see `producers_to_keep`.
    producers: Mapping[int, int]
    aborted: Mapping[int, tuple[AbortedEntry, ...]]  # by producer id


def producers_to_keep(producers: Iterable[ProducerEntry], confirm_offset: int) -> dict[int, int]:
    """Give the offset from which on the last batches of a producer are kept.

    What is not acknowledged may be lost, and then the newest batch that is acknowledged is the last one. If none of
    those that are known is, all batches are kept.
    """
    kept = {}
    for entry in producers:
        confirmed = [it.last_offset for it in entry.batches if it.last_offset < confirm_offset]
        kept[entry.producer_id] = confirmed[-1] if confirmed else 0
    return kept


def aborted_by_producer(aborted: Iterable[AbortedEntry]) -> dict[int, tuple[AbortedEntry, ...]]:
    """Group aborted transactions for `CleaningRules`."""
    found: dict[int, list[AbortedEntry]] = {}
    for entry in aborted:
        found.setdefault(entry.producer_id, []).append(entry)
    return {producer_id: tuple(entries) for producer_id, entries in found.items()}


class CleaningCounts:
    """What a pass has read and kept."""

    __slots__ = ("batches_unreadable", "records_in", "records_kept", "records_without_key")

    def __init__(self) -> None:
        self.records_in = 0
        self.records_kept = 0
        self.records_without_key = 0
        self.batches_unreadable = 0


class _Kept(NamedTuple):
    """What stays of a batch."""

    records: list[bytes]  # encoded
    newest_ms: int
    has_tombstone: bool


class BatchFilter:
    """Indexes and cleans batches. Each may be long work, so it is done in steps, see `Slice`."""

    def __init__(self, rules: CleaningRules, keys: KeyMap) -> None:
        self._rules = rules
        self._keys = keys
        self.counts = CleaningCounts()

    def index(self, batch: memoryview) -> Generator[Slice, None, None]:
        """Add the keys of a batch to the map."""
        header = parse_header(batch)
        if header.is_control or not header.records_count or self._is_aborted(header):
            return
        try:
            reader = yield from _opened(header, batch)
            base_offset, put = header.base_offset, self._keys.put
            # A batch whose end cannot be read stays as it is, and so do older records of the keys before.
            found: list[tuple[bytes, int]] = []
            for number, (_, delta, key, _, _) in enumerate(reader, 1):
                if key is not None:
                    found.append((key, base_offset + delta))
                if number % _SLICE_RECORDS == 0:
                    yield Slice.LOOP
        except RecordsError:
            return
        for number, (key, offset) in enumerate(found, 1):
            put(key, offset)
            if number % _SLICE_RECORDS == 0:
                yield Slice.LOOP

    def clean(
        self, batch: memoryview, *, must_stay: bool
    ) -> Generator[Slice, None, memoryview | None]:
        """Return what stays of a batch, itself if that is all, or None.

        Raises:
            NotCleanError: see above.
        """
        header = parse_header(batch)
        # What must stay was counted when it was to go.
        counts = CleaningCounts() if must_stay else self.counts
        counts.records_in += header.records_count
        if header.is_control:
            counts.records_kept += header.records_count
            return batch
        kept = _Kept([], NO_TIMESTAMP, has_tombstone=False)
        if header.records_count and not self._is_aborted(header):
            try:
                reader = yield from _opened(header, batch)
                kept = yield from self._kept(header, reader, counts)
            except RecordsError:
                counts.batches_unreadable += 1
                return batch
        counts.records_kept += len(kept.records)
        if not kept.records:
            stays = must_stay or self._is_last_of_producer(header)
            return _without_records(header, batch) if stays else None
        horizon_ms = None
        if kept.has_tombstone and not header.has_delete_horizon:
            if header.base_offset < self._rules.cleaned_offset:
                raise NotCleanError(f"the batch at offset {header.base_offset} was never cleaned")
            due_ms = self._rules.now_ms + self._rules.delete_retention_ms
            horizon_ms = min(due_ms, _INT64_MAX)
        if len(kept.records) == header.records_count and horizon_ms is None:
            return batch
        return (yield from _rewritten(header, kept, horizon_ms))

    def _kept(
        self, header: BatchHeader, reader: RecordReader, counts: CleaningCounts
    ) -> Generator[Slice, None, _Kept]:
        base_offset, base_ms, newest = header.base_offset, header.base_timestamp, self._keys.newest
        drops_tombstones = header.has_delete_horizon and self._rules.now_ms >= base_ms
        records: list[bytes] = []
        newest_ms, has_tombstone, begin, without_key = NO_TIMESTAMP, False, 0, 0
        for number, (time_delta, delta, key, value, _) in enumerate(reader, 1):
            position, begin = begin, reader.position
            if number % _SLICE_RECORDS == 0:
                yield Slice.LOOP
            if key is None:
                without_key += 1
                continue
            if base_offset + delta < newest(key) or (value is None and drops_tombstones):
                continue
            has_tombstone |= value is None
            newest_ms = max(newest_ms, base_ms + time_delta)
            records.append(reader.data[position:begin])
        counts.records_without_key += without_key
        return _Kept(records, newest_ms, has_tombstone)

    def _is_aborted(self, header: BatchHeader) -> bool:
        if not header.is_transactional:
            return False
        # Those of one producer follow each other, in the order of their markers.
        offset, entries = header.base_offset, self._rules.aborted.get(header.producer_id, ())
        place = bisect_right(entries, offset, key=attrgetter("marker_offset"))
        return place < len(entries) and entries[place].first_offset <= offset

    def _is_last_of_producer(self, header: BatchHeader) -> bool:
        last_offset = self._rules.producers.get(header.producer_id)
        return last_offset is not None and header.last_offset >= last_offset


def _opened(header: BatchHeader, batch: memoryview) -> Generator[Slice, None, RecordReader]:
    def opened() -> RecordReader:
        return RecordReader(batch, header, MAX_DECOMPRESSED_BYTES)

    if header.codec and len(batch) <= _LONG_CALL_BYTES:
        # Two kilobytes may decompress to 60 MB.
        try:
            return RecordReader(batch, header, _OPENED_AT_ONCE_BYTES)
        except DecompressionLimitError:
            return (yield from in_thread(opened))
    if header.codec:
        return (yield from in_thread(opened))
    return opened()


def _without_records(header: BatchHeader, batch: memoryview) -> memoryview:
    if not header.records_count:
        return batch
    flags = header.attributes & ~(CODEC_MASK | DELETE_HORIZON_FLAG)
    empty = header._replace(attributes=flags, base_timestamp=NO_TIMESTAMP, records_count=0)
    return memoryview(encode_header(empty, b""))


def _rewritten(
    header: BatchHeader, kept: _Kept, horizon_ms: int | None
) -> Generator[Slice, None, memoryview]:
    """The batch with fewer records, or with a delete horizon."""
    records = kept.records
    if horizon_ms is not None:
        if not header.is_log_append_time:  # else the times of records are not read
            moved_ms = header.base_timestamp - horizon_ms
            for number, record in enumerate(records):
                records[number] = _moved(record, moved_ms)
                if number % _SLICE_RECORDS == 0:
                    yield Slice.LOOP
        flags = header.attributes | DELETE_HORIZON_FLAG
        header = header._replace(attributes=flags, base_timestamp=horizon_ms)
    newest_ms = min(kept.newest_ms, _INT64_MAX)
    if header.is_log_append_time:
        newest_ms = header.max_timestamp
    header = header._replace(max_timestamp=newest_ms, records_count=len(records))
    content, codec = b"".join(records), Compression(header.codec)

    def encoded() -> memoryview:
        return memoryview(encode_header(header, compress(codec, content)))

    if codec and len(content) > _LONG_CALL_BYTES:
        return (yield from in_thread(encoded))
    return encoded()


def _moved(record: bytes, moved_ms: int) -> bytes:
    """A record whose timestamp delta is `moved_ms` larger, as its base is so much smaller."""
    _, position = decode_varint(record, 0)  # its length
    delta_ms, rest = decode_varint(record, position + 1)
    # Readers add it in 64 bits.
    delta_ms = (delta_ms + moved_ms + _INT64_MAX + 1) % (1 << 64) - _INT64_MAX - 1
    body = record[position : position + 1] + encode_varint(delta_ms) + record[rest:]
    return encode_varint(len(body)) + body
