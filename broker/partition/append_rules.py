"""Checks of a produced batch before it is appended. Pure.

Only the 61-byte header is read, unless the topic's rules need the records: keys on a compacted topic, or another
codec than the producer's.
"""

from typing import NamedTuple

from headrace.config.topic import EffectiveTopicConfig
from headrace.protocol.errors import ErrorCode
from headrace.protocol.records.batch import (
    HEADER_BYTES,
    MAGIC,
    BatchHeader,
    check_crc,
    parse_header,
)
from headrace.protocol.records.compression import Compression
from headrace.protocol.records.errors import DecompressionLimitError, RecordsError
from headrace.protocol.records.record import BatchOptions, decode_records, encode_batch

ZSTD_SINCE_VERSION = 7
NO_TIMESTAMP = -1
MAGIC_OFFSET = 16  # in every format
RECORD_OVERHEAD_BYTES = 256  # WAL and stream headers of one batch, for admission
KEYLESS = "a compacted topic needs a key on every record"
# What one batch may decompress to in a look-up, record by record.
MAX_DECOMPRESSED_BYTES = 256 * 1024 * 1024
# For an append whose topic needs the records, all at once: one MiB may hold tens of millions of records.
MAX_DECODED_BYTES = 64 * 1024 * 1024
MAX_DECODED_RECORDS = 250_000  # half a second


class Rejection(NamedTuple):
    """Why a batch was refused; nothing was appended."""

    code: ErrorCode
    message: str | None = None
    record_errors: tuple[tuple[int, str | None], ...] = ()


_CORRUPT = Rejection(ErrorCode.CORRUPT_MESSAGE, "the batch is damaged or truncated")


def parse_single_batch(records: memoryview | None) -> BatchHeader | Rejection:
    """Parse the header of what must be exactly one whole batch of format v2."""
    if records is None or len(records) == 0:
        return Rejection(
            ErrorCode.INVALID_RECORD, "a produce request must hold one batch for each partition"
        )
    if len(records) > MAGIC_OFFSET and records[MAGIC_OFFSET] != MAGIC:
        # Messages of older formats are shorter than a batch header, but not damaged: a retry cannot succeed.
        return Rejection(ErrorCode.INVALID_RECORD, "only record format 2 is supported")
    if len(records) < HEADER_BYTES:
        return _CORRUPT
    header = parse_header(records)
    if header.size_bytes < HEADER_BYTES or header.size_bytes > len(records):
        return _CORRUPT
    if header.size_bytes < len(records):
        return Rejection(ErrorCode.INVALID_RECORD, "more than one batch for a partition")
    return header


def check(
    header: BatchHeader,
    records: memoryview,
    config: EffectiveTopicConfig,
    *,
    version: int,
    now_ms: int,
) -> Rejection | None:
    """Check a batch by its header and checksum; None when it may be appended unchanged."""
    too_large = _too_large(len(records), config)
    if too_large is not None:
        return too_large
    if not check_crc(records):
        return _CORRUPT
    if header.base_offset != 0:
        return Rejection(ErrorCode.INVALID_RECORD, "base offset of a produced batch must be 0")
    if header.records_count <= 0 or header.last_offset_delta + 1 != header.records_count:
        return Rejection(
            ErrorCode.INVALID_RECORD, "record count and last offset delta do not match"
        )
    if header.is_control:
        return Rejection(ErrorCode.INVALID_RECORD, "clients may not write control batches")
    if header.producer_id >= 0 and (header.base_sequence < 0 or header.producer_epoch < 0):
        return Rejection(ErrorCode.INVALID_RECORD, "idempotent batch without epoch or sequence")
    codec = header.codec
    if codec > Compression.ZSTD:
        return Rejection(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"unknown codec {codec}")
    if codec == Compression.ZSTD and version < ZSTD_SINCE_VERSION:
        return Rejection(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, "zstd needs Produce 7 or newer")
    if header.is_transactional:
        return Rejection(ErrorCode.INVALID_TXN_STATE, "transactions are not supported")
    return _check_timestamps(header, config, now_ms)


def _check_timestamps(
    header: BatchHeader, config: EffectiveTopicConfig, now_ms: int
) -> Rejection | None:
    if config.stamps_append_time:
        if header.is_log_append_time:
            return Rejection(
                ErrorCode.INVALID_TIMESTAMP, "clients may not set the timestamp type LogAppendTime"
            )
        return None
    newest, oldest = header.max_timestamp, header.base_timestamp
    if newest == NO_TIMESTAMP:
        return None
    if newest - now_ms > config.timestamp_after_max_ms:
        bound = now_ms + config.timestamp_after_max_ms
    elif oldest != NO_TIMESTAMP and now_ms - oldest > config.timestamp_before_max_ms:
        bound = now_ms - config.timestamp_before_max_ms
    else:
        return None
    message = (
        f"timestamp {newest if bound > now_ms else oldest} exceeds the limit {bound} of this topic"
    )
    return Rejection(ErrorCode.INVALID_TIMESTAMP, message, ((0, message),))


def needs_records(header: BatchHeader, config: EffectiveTopicConfig) -> bool:
    """Whether the topic's rules need the records, and not only the header."""
    return config.compacts or _codec_wanted(config) not in (None, header.codec)


def _codec_wanted(config: EffectiveTopicConfig) -> Compression | None:
    """The codec that the topic requires; None when the producer's is kept."""
    if config.compression_type == "producer":
        return None
    if config.compression_type == "uncompressed":
        return Compression.NONE
    return Compression[config.compression_type.upper()]


def apply_record_rules(
    header: BatchHeader, records: memoryview, config: EffectiveTopicConfig
) -> memoryview | Rejection:
    """Check each record, and recompress when the topic requires another codec; the result must not exceed the limit."""
    if header.records_count > MAX_DECODED_RECORDS:
        return Rejection(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"{header.records_count} records in a batch that this topic's configuration requires to decode, "
            f"more than {MAX_DECODED_RECORDS}",
        )
    try:
        decoded = list(decode_records(records, MAX_DECODED_BYTES))
    except DecompressionLimitError as error:
        return Rejection(ErrorCode.MESSAGE_TOO_LARGE, str(error))
    except RecordsError as error:
        return Rejection(ErrorCode.INVALID_RECORD, f"records cannot be decoded: {error}")
    if config.compacts:
        keyless = tuple(
            (index, KEYLESS) for index, record in enumerate(decoded) if record.key is None
        )
        if keyless:
            return Rejection(ErrorCode.INVALID_RECORD, KEYLESS, keyless)
    codec = _codec_wanted(config)
    if codec is None or codec == header.codec:
        return records
    options = BatchOptions(
        compression=codec,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
    )
    encoded = encode_batch(decoded, options)
    return _too_large(len(encoded), config) or memoryview(encoded)


def _too_large(size_bytes: int, config: EffectiveTopicConfig) -> Rejection | None:
    if size_bytes <= config.max_message_bytes:
        return None
    return Rejection(
        ErrorCode.MESSAGE_TOO_LARGE,
        f"batch of {size_bytes} bytes exceeds max.message.bytes={config.max_message_bytes}",
    )
