"""What a produced batch must satisfy before it is appended, and how it is changed for that. Pure.

First the 61-byte header and the checksum, then the records: each must be readable, their offsets must be 0, 1, 2, ...,
and on a compacted topic each has a key. Timestamps are checked record by record, and the maximum in the header is
corrected. Compressed records are looked at as `headrace.produce.validate.compressed` says, and always where the topic's
rules need them: keys on a compacted topic, or another codec than the producer's.

Who appends, the *origin*, decides what else a batch may be. Clients may write neither control batches nor, as long as
they cannot begin transactions, transactional ones. A coordinator of this broker writes records, in a transaction or
not, and without sequences. A marker is a control batch of one record that says how a transaction ended.

The checks take time in proportion to the records, so those of all but small batches are a generator: see
`headrace.protocol.records.walk`.

Source: LogValidator.java and UnifiedLog.java of Apache Kafka 4.4.
"""

from collections.abc import Generator
from enum import Enum, auto
from functools import partial
from typing import NamedTuple, TypeVar

import msgspec

from headrace.checksums import crc32c
from headrace.config.topic import EffectiveTopicConfig
from headrace.protocol.errors import ErrorCode
from headrace.protocol.records.batch import (
    CODEC_MASK,
    CONTROL_FLAG,
    CRC_BEGIN,
    HEADER_BYTES,
    LENGTH_OVERHEAD_BYTES,
    LOG_APPEND_TIME_FLAG,
    MAGIC,
    TRANSACTIONAL_FLAG,
    BatchHeader,
    encode_header,
    newest_timestamp,
    parse_header,
    set_timestamp_type,
)
from headrace.protocol.records.compression import (
    Compression,
    compress,
    decompress,
    has_linked_blocks,
)
from headrace.protocol.records.control import EndOfTransaction, decode_end
from headrace.protocol.records.errors import (
    DecompressionLimitError,
    RecordsError,
    TooManyElementsError,
)
from headrace.protocol.records.runs import RecordsFacts, facts_of_equal
from headrace.protocol.records.walk import RecordFacts, StructureWalk, walk_facts
from headrace.protocol.records.window import Slice, in_thread

ZSTD_SINCE_VERSION = 7
NO_TIMESTAMP = -1
MAGIC_OFFSET = 16  # in every format
RECORD_OVERHEAD_BYTES = 256  # WAL and stream headers of one batch, for admission
MAX_ELEMENTS = 1_000_000  # records and headers of one batch; half a second to a second, in slices
MAX_RECORD_ERRORS = 1_000  # named in an answer
KEYLESS = "a compacted topic needs a key on every record"
BAD_TIMESTAMPS = "one or more records have been rejected due to invalid timestamp"
BAD_TYPE = "clients may not set the timestamp type LogAppendTime"
# What one batch may decompress to in a look-up.
MAX_DECOMPRESSED_BYTES = 256 * 1024 * 1024
_LONG_CALL_BYTES = 256 * 1024  # compressing so much takes milliseconds

_CHECKED_FLAGS = CODEC_MASK | TRANSACTIONAL_FLAG | CONTROL_FLAG
_INT64_MIN, _INT64_MAX = -(1 << 63), (1 << 63) - 1
_T = TypeVar("_T")


class AppendOrigin(Enum):
    """Who appends a batch."""

    CLIENT = auto()  # by a Produce request
    COORDINATOR = auto()  # of this broker: its records
    MARKER = auto()  # the coordinator of transactions: the end of one


class Rejection(NamedTuple):
    """Why a batch was refused; nothing was appended."""

    code: ErrorCode
    message: str | None = None
    record_errors: tuple[tuple[int, str | None], ...] = ()


class Validated(NamedTuple):
    """A batch as it is to be appended, except base offset and leader epoch."""

    header: BatchHeader
    records: memoryview
    append_time_ms: int  # NO_TIMESTAMP unless the topic stamps batches itself
    marker: EndOfTransaction | None = None


class ValidationLimits(msgspec.Struct, frozen=True):
    """How much is looked at for compressed batches."""

    walks_compressed: bool = True
    max_decompressed_bytes: int = 64 * 1024 * 1024


Steps = Generator[Slice, None, Validated | Rejection]


NO_VERSION = 1 << 15  # of Produce: no client has sent the batch, so none is too old for it
_NO_MARKER = Rejection(ErrorCode.INVALID_RECORD, "the batch is no marker of a transaction")
_CORRUPT = Rejection(ErrorCode.CORRUPT_MESSAGE, "the batch is damaged")
_INCOMPLETE = Rejection(ErrorCode.INVALID_RECORD, "the batch is longer than what was sent")


def parse_single_batch(records: memoryview | None) -> BatchHeader | Rejection:
    """Parse the header of what must be exactly one whole batch of format v2."""
    if records is None or len(records) == 0:
        return Rejection(
            ErrorCode.INVALID_RECORD, "a produce request must hold one batch for each partition"
        )
    size_bytes = len(records)
    if size_bytes > MAGIC_OFFSET and records[MAGIC_OFFSET] != MAGIC:
        if records[MAGIC_OFFSET] > MAGIC:
            return _CORRUPT
        # Messages of older formats are shorter than a batch header, but not damaged: a retry cannot succeed.
        return Rejection(ErrorCode.INVALID_RECORD, "only record format 2 is supported")
    if size_bytes < HEADER_BYTES:
        return _INCOMPLETE
    header = parse_header(records)
    claimed_bytes = header.batch_length + LENGTH_OVERHEAD_BYTES
    if claimed_bytes == size_bytes:
        return header
    if claimed_bytes < HEADER_BYTES:
        return _CORRUPT
    if claimed_bytes > size_bytes:
        return _INCOMPLETE
    return Rejection(ErrorCode.INVALID_RECORD, "more than one batch for a partition")


def before_acks(found: object, records: memoryview | None) -> Rejection | None:
    """Say what Kafka refuses before it looks at `acks` or at who leads: an unknown partition, and what is no batch."""
    if isinstance(found, Rejection) and found.code is not ErrorCode.NOT_LEADER_OR_FOLLOWER:
        return found
    shape = parse_single_batch(records)
    return shape if isinstance(shape, Rejection) else None


def check_header(
    header: BatchHeader,
    records: memoryview,
    config: EffectiveTopicConfig,
    origin: AppendOrigin,
    version: int,
) -> Rejection | None:
    """Check a batch by its header and checksum; None when nothing is wrong with them.

    `version` is the client's of Produce.
    """
    if len(records) > config.max_message_bytes:
        return _too_large(len(records), config)
    # At once: to look a field up by its name takes longer than to compare it.
    base_offset, _, _, _, crc, flags, last_delta, _, _, producer_id, epoch, sequence, count = header
    if crc32c(records[CRC_BEGIN:]) != crc:
        return _CORRUPT
    if base_offset != 0:
        return Rejection(ErrorCode.INVALID_RECORD, "base offset of a produced batch must be 0")
    if count <= 0 or last_delta + 1 != count:
        return Rejection(
            ErrorCode.INVALID_RECORD, "record count and last offset delta do not match"
        )
    if producer_id >= 0 and (epoch < 0 or (sequence < 0 and origin is AppendOrigin.CLIENT)):
        return Rejection(ErrorCode.INVALID_RECORD, "idempotent batch without epoch or sequence")
    if flags & _CHECKED_FLAGS:
        return _check_attributes(header, records, origin, version)
    return None


def _check_attributes(
    header: BatchHeader, records: memoryview, origin: AppendOrigin, version: int
) -> Rejection | None:
    if header.is_control and origin is not AppendOrigin.MARKER:
        return Rejection(ErrorCode.INVALID_RECORD, "clients may not write control batches")
    rejection = _check_codec(header, records, version)
    if rejection is not None:
        return rejection
    if header.is_transactional and origin is AppendOrigin.CLIENT:
        return Rejection(ErrorCode.INVALID_TXN_STATE, "transactions are not supported")
    return None


def _check_codec(header: BatchHeader, records: memoryview, version: int) -> Rejection | None:
    """Check whether consumers know the codec, and the form of it."""
    codec = header.codec
    if codec > Compression.ZSTD:
        return Rejection(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"unknown codec {codec}")
    if codec == Compression.ZSTD and version < ZSTD_SINCE_VERSION:
        return Rejection(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, "zstd needs Produce 7 or newer")
    if codec == Compression.LZ4 and has_linked_blocks(records[HEADER_BYTES:]):
        return Rejection(ErrorCode.INVALID_RECORD, "lz4 blocks must not depend on each other")
    return None


def advance(steps: Generator[Slice, None, _T]) -> Slice | _T:
    """Do the next piece of work; a `Slice` says that there is more, and where it belongs."""
    try:
        return next(steps)
    except StopIteration as end:
        result: _T = end.value
        return result


def validate(
    records: memoryview | None,
    config: EffectiveTopicConfig,
    limits: ValidationLimits,
    *,
    origin: AppendOrigin = AppendOrigin.CLIENT,
    version: int = NO_VERSION,
    now_ms: int,
) -> Validated | Rejection | Steps:
    """Check what is to be appended to one partition. `records` must be writable: its header may be corrected.

    `version` is a client's of Produce.

    Most batches are small and have nothing unusual about them; the steps are those that any other one needs.
    """
    header = parse_single_batch(records)
    if isinstance(header, Rejection):
        return header
    assert records is not None  # parse_single_batch refuses that
    rejection = check_header(header, records, config, origin, version)
    if rejection is not None:
        return rejection
    if origin is AppendOrigin.MARKER:
        return _checked_marker(header, records, config, now_ms)
    if header.attributes & CODEC_MASK:
        return _in_steps(header, records, config, limits, now_ms)
    walk = None
    facts: RecordsFacts | StructureWalk | None = facts_of_equal(records, header.records_count)
    if facts is None:
        walk = StructureWalk(header, records, limits.max_decompressed_bytes, MAX_ELEMENTS)
        facts = walk if walk.is_done_at_once() else None
    if facts is not None and _codec_wanted(config, header) is None:
        newest = _check_by_structure(header, facts, config, now_ms)
        if newest is not None:
            if isinstance(newest, Rejection):
                return newest
            return _stamped(header, records, newest, config, now_ms)
    return _in_steps(header, records, config, limits, now_ms, walk)


def made_here(
    records: memoryview, config: EffectiveTopicConfig, *, now_ms: int
) -> Validated | Rejection:
    """Take a batch that a coordinator of this broker has just made: its records are not looked at."""
    header = parse_single_batch(records)
    if isinstance(header, Rejection):
        return header
    rejection = check_header(header, records, config, AppendOrigin.COORDINATOR, NO_VERSION)
    if rejection is not None:
        return rejection
    return _stamped(header, records, header.max_timestamp, config, now_ms)


def _checked_marker(
    header: BatchHeader, records: memoryview, config: EffectiveTopicConfig, now_ms: int
) -> Validated | Rejection:
    if header.attributes & _CHECKED_FLAGS != TRANSACTIONAL_FLAG | CONTROL_FLAG:
        return _NO_MARKER
    if header.producer_id < 0 or header.records_count != 1:
        return _NO_MARKER
    try:
        marker = decode_end(records)
    except RecordsError as error:
        return Rejection(ErrorCode.INVALID_RECORD, f"the marker cannot be read: {error}")
    if marker is None:
        return _NO_MARKER
    return _stamped(header, records, header.max_timestamp, config, now_ms)._replace(marker=marker)


def _in_steps(
    header: BatchHeader,
    records: memoryview,
    config: EffectiveTopicConfig,
    limits: ValidationLimits,
    now_ms: int,
    begun: StructureWalk | None = None,
) -> Steps:
    """Check the records of a batch whose header is right."""
    max_bytes = limits.max_decompressed_bytes
    newest: int | Rejection | None
    codec = _codec_wanted(config, header)
    try:
        if not header.codec or limits.walks_compressed or codec is not None or config.compacts:
            walk = begun or StructureWalk(header, records, max_bytes, MAX_ELEMENTS)
            yield from walk.steps()
            if codec is None and not walk.is_plain:
                codec = Compression(header.codec)  # some clients could not read it as it was sent
            newest = _check_by_structure(header, walk, config, now_ms)
            if newest is None:
                errors = _RecordErrors(header, config, now_ms)
                newest = yield from _check_by_facts(header, records, walk, errors, max_bytes)
        else:
            newest = _check_by_header(header, config, now_ms)
        if isinstance(newest, Rejection):
            return newest
        if codec is not None:
            recompress = partial(_recompress, header, records, codec, max_bytes)
            if len(records) > _LONG_CALL_BYTES or header.codec:
                records = yield from in_thread(recompress)
            else:
                records = recompress()
            if len(records) > config.max_message_bytes:
                return _too_large(len(records), config)
            header = parse_header(records)
    except (DecompressionLimitError, TooManyElementsError) as error:
        return Rejection(ErrorCode.MESSAGE_TOO_LARGE, str(error))
    except RecordsError as error:
        return Rejection(ErrorCode.INVALID_RECORD, f"records cannot be read: {error}")
    return _stamped(header, records, newest, config, now_ms)


def _stamped(
    header: BatchHeader,
    records: memoryview,
    newest_ms: int,
    config: EffectiveTopicConfig,
    now_ms: int,
) -> Validated:
    """The batch with the timestamp type and the maximum timestamp that it is to have."""
    stamped = config.stamps_append_time
    time_ms = now_ms if stamped else newest_ms
    if header.max_timestamp != time_ms or bool(header.attributes & LOG_APPEND_TIME_FLAG) != stamped:
        set_timestamp_type(records, time_ms, is_log_append_time=stamped)
        header = parse_header(records)
    # What its constructor does, without a call of Python code.
    return tuple.__new__(Validated, (header, records, now_ms if stamped else NO_TIMESTAMP, None))


def _check_by_header(
    header: BatchHeader, config: EffectiveTopicConfig, now_ms: int
) -> int | Rejection:
    """The newest timestamp according to the header."""
    newest = header.max_timestamp if header.is_log_append_time else newest_timestamp(header)
    facts = [
        RecordFacts(0, 0, has_key=True),
        RecordFacts(0, newest - header.base_timestamp, has_key=True),
    ]
    errors = _RecordErrors(header, config, now_ms)
    errors.look_at(0, facts)
    return errors.rejection() or newest


def _check_by_structure(
    header: BatchHeader,
    walk: StructureWalk | RecordsFacts,
    config: EffectiveTopicConfig,
    now_ms: int,
) -> int | Rejection | None:
    """The newest timestamp of the records; None when each of them must be looked at."""
    if header.attributes & LOG_APPEND_TIME_FLAG:
        return None
    oldest = header.base_timestamp + walk.oldest_delta_ms
    newest = header.base_timestamp + walk.newest_delta_ms
    if oldest < _INT64_MIN or newest > _INT64_MAX:
        return Rejection(ErrorCode.INVALID_TIMESTAMP, "timestamps do not fit into 64 bits")
    if (
        oldest < now_ms - config.timestamp_before_max_ms
        or newest > now_ms + config.timestamp_after_max_ms
        or (walk.lacks_key and config.compacts)
    ):
        return None
    return max(newest, NO_TIMESTAMP)


def _check_by_facts(
    header: BatchHeader,
    records: memoryview,
    walk: StructureWalk,
    errors: "_RecordErrors",
    max_bytes: int,
) -> Generator[Slice, None, int | Rejection]:
    """The newest timestamp of the records, if nothing is wrong with them."""
    index = 0
    for facts in walk_facts(header, records, max_bytes):
        if isinstance(facts, Slice):
            yield facts
        else:
            errors.look_at(index, facts)
            index += len(facts)
    newest = header.base_timestamp + walk.newest_delta_ms
    if header.is_log_append_time:
        newest = header.max_timestamp
    return errors.rejection() or max(newest, NO_TIMESTAMP)


class _RecordErrors:
    """Collects what is wrong with single records."""

    __slots__ = (
        "_compacts",
        "_errors",
        "_has_bad_timestamp",
        "_header",
        "_newest",
        "_oldest",
        "_stamps",
    )

    def __init__(self, header: BatchHeader, config: EffectiveTopicConfig, now_ms: int) -> None:
        self._header = header
        self._compacts = config.compacts
        self._stamps = config.stamps_append_time
        self._oldest = now_ms - config.timestamp_before_max_ms
        self._newest = now_ms + config.timestamp_after_max_ms
        self._errors: list[tuple[int, str | None]] = []
        self._has_bad_timestamp = False

    def look_at(self, first: int, facts: list[RecordFacts]) -> None:
        """Check records, of which the first has the index `first` in its batch."""
        for index, record in enumerate(facts, first):
            if len(self._errors) == MAX_RECORD_ERRORS:
                return
            if self._compacts and not record.has_key:
                self._errors.append((index, KEYLESS))
                continue
            message = self._wrong_time(record)
            if message is not None:
                self._errors.append((index, message))
                self._has_bad_timestamp = True

    def _wrong_time(self, record: RecordFacts) -> str | None:
        header = self._header
        timestamp = (
            header.max_timestamp
            if header.is_log_append_time
            else header.base_timestamp + record.timestamp_delta_ms
        )
        if self._stamps or timestamp == NO_TIMESTAMP:
            return BAD_TYPE if header.is_log_append_time else None
        if self._oldest <= timestamp <= self._newest:
            return None
        return f"timestamp {timestamp} is out of the range [{self._oldest}, {self._newest}]"

    def rejection(self) -> Rejection | None:
        """The answer, if anything was wrong."""
        if not self._errors:
            return None
        errors = tuple(self._errors)
        if self._has_bad_timestamp:
            return Rejection(ErrorCode.INVALID_TIMESTAMP, BAD_TIMESTAMPS, errors)
        return Rejection(ErrorCode.INVALID_RECORD, KEYLESS, errors)


def _codec_wanted(config: EffectiveTopicConfig, header: BatchHeader) -> Compression | None:
    """The codec that the topic requires; None when the producer's is kept."""
    if config.compression_type == "producer":
        return None
    codec = Compression.NONE
    if config.compression_type != "uncompressed":
        codec = Compression[config.compression_type.upper()]
    return None if codec == header.codec else codec


def _recompress(
    header: BatchHeader, records: memoryview, codec: Compression, max_decompressed_bytes: int
) -> memoryview:
    """The same records under another codec."""
    content = decompress(header.codec, records[HEADER_BYTES:], max_decompressed_bytes)
    attributes = header.attributes & (TRANSACTIONAL_FLAG | CONTROL_FLAG) | codec
    changed = header._replace(attributes=attributes)
    return memoryview(encode_header(changed, compress(codec, content)))


def _too_large(size_bytes: int, config: EffectiveTopicConfig) -> Rejection:
    return Rejection(
        ErrorCode.MESSAGE_TOO_LARGE,
        f"batch of {size_bytes} bytes exceeds max.message.bytes={config.max_message_bytes}",
    )
