"""A partition's checkpoint: the state derived from its log up to an offset, as one record of its meta stream. Pure.

Readers of a bucket decode it, too, so it lies below the broker.

| bytes | type | field                                                     |
|-------|------|-----------------------------------------------------------|
| 4     | u32  | magic 0x48525043                                          |
| 1     | u8   | format version 2                                          |
| 4     | u32  | CRC-32C of the rest                                       |
| rest  |      | MessagePack array, fields of `Checkpoint` in their order  |

A later version appends fields with defaults; an unknown version is refused.
"""

import struct
from typing import NamedTuple

import msgspec

from headrace.checksums import crc32c

MAGIC = 0x48525043
VERSION = 2
NOT_LOST = -1
NO_COORDINATOR_EPOCH = -1
_PREFIX = struct.Struct(">IBI")


class CorruptCheckpointError(Exception):
    """The bytes are not a complete checkpoint of a known version."""


class EpochStart(NamedTuple):
    """The first offset that may have been written under `epoch`."""

    epoch: int
    start_offset: int


class BatchMetadata(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """One retained batch of a producer; sequences and offsets are inclusive."""

    first_sequence: int
    last_sequence: int
    base_offset: int
    last_offset: int
    timestamp_ms: int


class ProducerEntry(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """The state of one producer id in this partition: 100,000 of them take 30 ms at most."""

    producer_id: int
    epoch: int
    updated_ms: int  # wall clock of the last append, or of its replay, for expiry
    batches: tuple[BatchMetadata, ...]  # the last five, as in Kafka
    coordinator_epoch: int = NO_COORDINATOR_EPOCH  # of the newest marker


class TimeIndexEntry(NamedTuple):
    """The end of a segment, and its newest batch; `bytes_before` counts from the first batch that the log had."""

    offset: int
    max_ms: int
    max_offset: int
    bytes_before: int


class OngoingTransaction(NamedTuple):
    """A transaction without its marker."""

    producer_id: int
    first_offset: int


class AbortedEntry(NamedTuple):
    """A transaction that was aborted."""

    producer_id: int
    first_offset: int
    marker_offset: int
    stable_offset: int  # below it nothing was undecided once the marker was there


class Checkpoint(msgspec.Struct, array_like=True, frozen=True):
    """State of a partition with everything below `offset` applied."""

    offset: int
    log_start_offset: int
    producers: list[ProducerEntry]
    leader_epochs: list[EpochStart]
    time_entries: list[TimeIndexEntry]
    time_interval_bytes: int
    segment_max_ms: int  # of the active segment, after the last entry
    segment_max_offset: int
    start_bytes: int  # deleted bytes; `time_entries` count from the log's first batch
    end_bytes: int
    producers_lost_ms: int = NOT_LOST
    ongoing: list[OngoingTransaction] = []  # by first offset
    aborted: list[AbortedEntry] = []  # by the offset of their marker
    cleaned_offset: int = 0  # of a compacted topic: below it, cleaning has come to its end


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Checkpoint)


def encode(checkpoint: Checkpoint) -> bytes:
    """Encode a checkpoint."""
    body = _ENCODER.encode(checkpoint)
    return _PREFIX.pack(MAGIC, VERSION, crc32c(body)) + body


def decode(data: bytes | memoryview) -> Checkpoint:
    """Decode a checkpoint.

    Raises:
        CorruptCheckpointError: truncated, damaged, or of an unknown version.
    """
    if len(data) < _PREFIX.size:
        raise CorruptCheckpointError(f"checkpoint of {len(data)} bytes is too short")
    magic, version, crc = _PREFIX.unpack_from(data)
    body = bytes(data[_PREFIX.size :])
    if magic != MAGIC or version != VERSION:
        raise CorruptCheckpointError(f"unknown checkpoint magic {magic:#x} or version {version}")
    if crc32c(body) != crc:
        raise CorruptCheckpointError("checkpoint fails its checksum")
    try:
        return _DECODER.decode(body)
    except msgspec.DecodeError as error:
        raise CorruptCheckpointError(f"checkpoint cannot be decoded: {error}") from error
