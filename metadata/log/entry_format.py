"""Format of a segment of the metadata log. Bytes in, entries out. Pure.

All integers are big-endian. A segment is a header and frames, one frame for each entry.

Segment header, 32 bytes:
offset | bytes | type  | field         | meaning
0      | 4     | bytes | magic         | "HRML"
4      | 2     | u16   | version       | 2
6      | 2     | u16   | reserved      | 0
8      | 8     | u64   | base index    | index of the first frame
16     | 8     | u64   | segment id    | random; seeds the CRC of every frame of this segment
24     | 4     | u32   | generation    | how often the log had been truncated before
28     | 4     | u32   | CRC           | CRC32C of bytes 0 to 27

Frame, 36 bytes and the payload:
offset | bytes | type  | field         | meaning
0      | 4     | bytes | magic         | "HRME"
4      | 4     | u32   | CRC           | CRC32C of everything after it, seeded with that of the segment id
8      | 4     | u32   | length        | of the payload, at most `MAX_PAYLOAD_BYTES`
12     | 8     | u64   | index         | one more than that of the frame before
20     | 8     | u64   | term          | not below that of the frame before
28     | 8     | u64   | synced index  | last entry that was durable when this frame was written
36     | n     | bytes | payload       | `records.codec`

Entries are written in groups, and a group is durable before the next one is started. A crash can
therefore damage frames of the last group only, in any pattern. Whether an invalid frame had been
durable follows from the synced index of any valid frame after it: then the log is corrupt, and no
part of it is discarded. The last group is proven by `quorum-state` once the log has been idle or
closed (`ProvenEnd`, see `hard_state`). Because of the seed, bytes inside a payload, which users choose, cannot pass
for a frame.

A log is truncated by a new segment that begins at the cut, with the next generation. Frames of
older segments from there on do not count and are not read, and a segment that begins after one of a
higher generation does not count at all. Nothing is written into a segment after it was truncated:
an index that is used again is written under another segment id, so that no earlier frame can
replace, prove or disprove a later one.
"""

import struct
from collections.abc import Sequence
from typing import Final, NamedTuple

from headrace.checksums import crc32c
from headrace.invariants import require
from headrace.metadata.errors import MetadataLogCorruptError
from headrace.metadata.records.entry import LogEntry

SEGMENT_MAGIC: Final = b"HRML"
FRAME_MAGIC: Final = b"HRME"
SEGMENT_VERSION: Final = 2
MAX_PAYLOAD_BYTES: Final = 32 << 20  # half of an RPC frame: an entry must fit into an answer

_SEGMENT: Final = struct.Struct(">4sHHQQI")
_CRC: Final = struct.Struct(">I")
SEGMENT_HEADER_BYTES: Final = _SEGMENT.size + _CRC.size
_PREFIX: Final = struct.Struct(">4sI")
_FIELDS: Final = struct.Struct(">IQQQ")
FRAME_HEADER_BYTES: Final = _PREFIX.size + _FIELDS.size
_SEGMENT_ID: Final = struct.Struct(">Q")


class SegmentHeader(NamedTuple):
    """The header of a segment."""

    base_index: int
    segment_id: int
    generation: int


class ProvenEnd(NamedTuple):
    """How far a segment is known to be durable, by something outside of it."""

    segment_id: int
    last_index: int  # of the last durable entry
    position: int  # where it ends in the segment


NOT_PROVEN: Final = ProvenEnd(0, 0, 0)


class ScannedSegment(NamedTuple):
    """The contents of a segment."""

    header: SegmentHeader
    entries: list[LogEntry]
    proven_bytes: int  # later frames prove that everything up to here was durable
    valid_bytes: int  # bytes after it are the rest of a group that was never acknowledged


class _Frame(NamedTuple):
    entry: LogEntry
    synced_index: int
    end: int


def encode_segment_header(header: SegmentHeader) -> bytes:
    """Encode the header of a new segment."""
    fields = _SEGMENT.pack(SEGMENT_MAGIC, SEGMENT_VERSION, 0, *header)
    return fields + _CRC.pack(crc32c(fields))


def decode_segment_header(data: bytes | memoryview) -> SegmentHeader:
    """Read the header.

    Raises:
        MetadataLogCorruptError: it is not a header that this version can read.
    """
    if len(data) < SEGMENT_HEADER_BYTES:
        raise MetadataLogCorruptError(f"the segment header ends after {len(data)} bytes")
    magic, version, _, *fields = _SEGMENT.unpack_from(data)
    (crc,) = _CRC.unpack_from(data, _SEGMENT.size)
    if magic != SEGMENT_MAGIC or crc != crc32c(data[: _SEGMENT.size]):
        raise MetadataLogCorruptError("the segment header does not match its checksum")
    if version != SEGMENT_VERSION:
        msg = f"the segment has format {version}, this version can read {SEGMENT_VERSION}"
        raise MetadataLogCorruptError(msg)
    return SegmentHeader(*fields)


def encode_group(entries: Sequence[LogEntry], *, synced_index: int, segment_id: int) -> bytes:
    """Encode entries that are written together."""
    seed = _seed(segment_id)
    parts: list[bytes] = []
    for entry in entries:
        require(
            len(entry.payload) <= MAX_PAYLOAD_BYTES,
            "the size of an entry is checked when it is decided",
        )
        fields = _FIELDS.pack(len(entry.payload), entry.index, entry.term, synced_index)
        crc = crc32c(entry.payload, crc32c(fields, seed))
        parts += (_PREFIX.pack(FRAME_MAGIC, crc), fields, entry.payload)
    return b"".join(parts)


def scan_segment(
    data: bytes, end_index: int | None = None, *, proven_end: ProvenEnd = NOT_PROVEN
) -> ScannedSegment:
    """Read a segment, header included, up to the first incomplete frame.

    Args:
        data: the whole file.
        end_index: where the next segment begins: every entry before it must be there, and frames
            from there on are not read. None: this is the last segment.
        proven_end: counts if it is of this segment and the segment is the last one.

    Raises:
        MetadataLogCorruptError: an acknowledged entry cannot be read.
    """
    header = decode_segment_header(data)
    seed = _seed(header.segment_id)
    entries: list[LogEntry] = []
    ends: list[int] = []
    position = SEGMENT_HEADER_BYTES
    next_index = header.base_index
    term = 0
    synced_index = header.base_index - 1
    while position < len(data) and next_index != end_index:
        frame = _frame_at(data, position, seed)
        if frame is None:
            if end_index is None:
                _require_torn(data, position, next_index, seed)
            break
        if frame.entry.index != next_index or frame.entry.term < term:
            raise MetadataLogCorruptError(
                f"byte {position} has entry {frame.entry.index} of term {frame.entry.term}, expected "
                f"entry {next_index} of term {term} or later"
            )
        entries.append(frame.entry)
        next_index += 1
        term = frame.entry.term
        synced_index = max(synced_index, frame.synced_index)
        position = frame.end
        ends.append(position)
    if end_index is not None and next_index != end_index:
        raise MetadataLogCorruptError(
            f"entry {next_index} is missing or damaged at byte {position}: the next segment begins "
            f"at entry {end_index}"
        )
    if end_index is None and proven_end.segment_id == header.segment_id:
        if position < proven_end.position:
            raise MetadataLogCorruptError(
                f"entry {next_index} at byte {position} is missing or damaged: entries up to "
                f"{proven_end.last_index} were durable when the log was last idle or closed"
            )
        synced_index = max(synced_index, proven_end.last_index)
    proven = min(synced_index - header.base_index + 1, len(ends))
    proven_bytes = ends[proven - 1] if proven > 0 else SEGMENT_HEADER_BYTES
    return ScannedSegment(header, entries, proven_bytes, position)


def _require_torn(data: bytes, position: int, next_index: int, seed: int) -> None:
    """Raise an error if a later frame proves that the entry at `position` was durable."""
    candidate = data.find(FRAME_MAGIC, position + 1)
    while candidate != -1:
        frame = _frame_at(data, candidate, seed)
        if frame is not None and frame.synced_index >= next_index:
            raise MetadataLogCorruptError(
                f"entry {next_index} at byte {position} is damaged: entry {frame.entry.index} at "
                f"byte {candidate} was written after it had become durable"
            )
        candidate = data.find(FRAME_MAGIC, candidate + 1)


def _frame_at(data: bytes, position: int, seed: int) -> _Frame | None:
    if position + FRAME_HEADER_BYTES > len(data):
        return None
    magic, crc = _PREFIX.unpack_from(data, position)
    if magic != FRAME_MAGIC:
        return None
    fields_at = position + _PREFIX.size
    length, index, term, synced_index = _FIELDS.unpack_from(data, fields_at)
    payload_at = position + FRAME_HEADER_BYTES
    end = payload_at + length
    if length > MAX_PAYLOAD_BYTES or end > len(data):
        return None
    if crc32c(memoryview(data)[fields_at:end], seed) != crc:
        return None
    return _Frame(LogEntry(index, term, data[payload_at:end]), synced_index, end)


def _seed(segment_id: int) -> int:
    return crc32c(_SEGMENT_ID.pack(segment_id))
