"""A partition's checkpoint: the state derived from its log up to an offset, as one record of its meta stream. Pure.

Opening a partition reads the last checkpoint and then the headers of the batches after it, never the whole log.

| bytes | type | field                                                     |
|-------|------|-----------------------------------------------------------|
| 4     | u32  | magic 0x48525043                                          |
| 1     | u8   | format version 2                                          |
| 4     | u32  | CRC-32C of the rest                                       |
| rest  |      | MessagePack array, fields of `Checkpoint` in their order  |

A later version appends fields with defaults; an unknown version is refused.
"""

import struct

import msgspec

from headrace.broker.partition.leader_epochs import EpochStart, LeaderEpochs
from headrace.broker.partition.producer_state import NOT_LOST, ProducerEntry
from headrace.broker.partition.state import PartitionState
from headrace.broker.partition.time_index import MAX_TIMESTAMP_MS, TimeIndexEntry
from headrace.checksums import crc32c

MAGIC = 0x48525043
VERSION = 2
# One costs about 30 us and 5 us a kB, from its encoding to its upload; a record's MB costs 1 to 6 ms. So checkpoints
# take some hundredths of a partition's processor time at most, and an opening replays little.
MIN_INTERVAL_BYTES = 2 * 1024 * 1024
INTERVAL_PER_BYTE = 256  # of log, for each byte of the checkpoint before
_PREFIX = struct.Struct(">IBI")


class CorruptCheckpointError(Exception):
    """The bytes are not a complete checkpoint of a known version."""


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


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Checkpoint)


def interval_bytes(last_bytes: int, max_bytes: int) -> int:
    """By how much the log grows until the next checkpoint, `last_bytes` being the size of the one before."""
    return min(max(MIN_INTERVAL_BYTES, INTERVAL_PER_BYTE * last_bytes), max_bytes)


def take(state: PartitionState, offset: int, log_start_offset: int) -> bytes:
    """Encode the state of a partition whose log ends at `offset`."""
    times = state.times
    checkpoint = Checkpoint(
        offset=offset,
        log_start_offset=log_start_offset,
        producers=list(state.producers),
        leader_epochs=list(state.epochs.starts),
        time_entries=list(times.entries),
        time_interval_bytes=times.interval_bytes,
        segment_max_ms=times.segment_max_ms,
        segment_max_offset=times.segment_max_offset,
        start_bytes=times.start_bytes,
        end_bytes=times.end_bytes,
        producers_lost_ms=state.producers.lost_ms,
    )
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


def restore(
    checkpoint: Checkpoint, state: PartitionState, latest_ms: int = MAX_TIMESTAMP_MS
) -> None:
    """Load a checkpoint into `state`, replacing what it holds; `latest_ms` as in `PartitionState.apply`."""
    state.producers.restore(checkpoint.producers, checkpoint.producers_lost_ms)
    state.epochs = LeaderEpochs(checkpoint.leader_epochs)
    state.times.restore(
        checkpoint.time_entries,
        interval_bytes=checkpoint.time_interval_bytes,
        start_bytes=checkpoint.start_bytes,
        end_bytes=checkpoint.end_bytes,
        segment_max_ms=checkpoint.segment_max_ms,
        segment_max_offset=checkpoint.segment_max_offset,
        latest_ms=latest_ms,
    )
