"""Format of a segment of the metadata log. Pure: bytes in, entries out.

All integers are big-endian. A segment is a header and frames, one frame for each entry.

Segment header, 32 bytes:
offset | bytes | type  | field         | meaning
0      | 4     | bytes | magic         | "HRML"
4      | 2     | u16   | version       | 1
6      | 2     | u16   | reserved      | 0
8      | 8     | u64   | base index    | index of the first frame
16     | 8     | u64   | life id       | random; seeds the CRC of every frame of this segment
24     | 4     | u32   | CRC           | CRC32C of bytes 0 to 23
28     | 4     | u32   | reserved      | 0

Frame, 36 bytes and the payload:
offset | bytes | type  | field         | meaning
0      | 4     | bytes | magic         | "HRME"
4      | 4     | u32   | CRC           | CRC32C of everything after it, seeded with that of the life id
8      | 4     | u32   | length        | of the payload, at most `PAYLOAD_BYTES_MAX`
12     | 8     | u64   | index         | one more than that of the frame before
20     | 8     | u64   | term          | not below that of the frame before
28     | 8     | u64   | synced index  | last entry that was durable when this frame was written
36     | n     | bytes | payload       | `records.codec`

Entries are written in groups, and a group is durable before the next is begun. A crash can
therefore spoil frames of the last group only, in any pattern. What is invalid and was durable is
told apart by the synced index of any valid frame after it: then the log is damaged, and nothing of
it is thrown away. The seed keeps bytes inside a payload, which users choose, from ever looking like
a frame.
"""

import struct
from collections.abc import Sequence
from typing import Final, NamedTuple

from crc32c import crc32c

from metadata.errors import MetadataLogCorruptError
from metadata.records.entry import LogEntry

SEGMENT_MAGIC: Final = b"HRML"
FRAME_MAGIC: Final = b"HRME"
SEGMENT_VERSION: Final = 1
PAYLOAD_BYTES_MAX: Final = 32 << 20  # half of an RPC frame: an entry must fit into an answer

_SEGMENT: Final = struct.Struct(">4sHHQQ")
_SEGMENT_TAIL: Final = struct.Struct(">II")
SEGMENT_HEADER_BYTES: Final = _SEGMENT.size + _SEGMENT_TAIL.size
_PREFIX: Final = struct.Struct(">4sI")
_FIELDS: Final = struct.Struct(">IQQQ")
FRAME_HEADER_BYTES: Final = _PREFIX.size + _FIELDS.size
_LIFE_ID: Final = struct.Struct(">Q")


class ScannedSegment(NamedTuple):
    """What a segment holds."""

    entries: list[LogEntry]
    valid_bytes: int  # what lies behind is the rest of a group that was never acknowledged


class _Frame(NamedTuple):
    entry: LogEntry
    synced_index: int
    end: int


def encode_segment_header(base_index: int, life_id: int) -> bytes:
    """Encode the header of a new segment."""
    fields = _SEGMENT.pack(SEGMENT_MAGIC, SEGMENT_VERSION, 0, base_index, life_id)
    return fields + _SEGMENT_TAIL.pack(crc32c(fields), 0)


def decode_segment_header(data: bytes | memoryview) -> tuple[int, int]:
    """Return (base index, life id).

    Raises:
        MetadataLogCorruptError: this is no header that this version reads.
    """
    if len(data) < SEGMENT_HEADER_BYTES:
        raise MetadataLogCorruptError(f"the header is cut off after {len(data)} bytes")
    magic, version, _, base_index, life_id = _SEGMENT.unpack_from(data)
    crc, _ = _SEGMENT_TAIL.unpack_from(data, _SEGMENT.size)
    if magic != SEGMENT_MAGIC or crc != crc32c(data[: _SEGMENT.size]):
        raise MetadataLogCorruptError("the header does not match its checksum")
    if version != SEGMENT_VERSION:
        msg = f"the format is {version}, this version reads {SEGMENT_VERSION}"
        raise MetadataLogCorruptError(msg)
    return base_index, life_id


def encode_group(entries: Sequence[LogEntry], *, synced_index: int, life_id: int) -> bytes:
    """Encode entries that are written together."""
    seed = _seed(life_id)
    parts: list[bytes] = []
    for entry in entries:
        assert len(entry.payload) <= PAYLOAD_BYTES_MAX, "an entry is bounded where it is decided"
        fields = _FIELDS.pack(len(entry.payload), entry.index, entry.term, synced_index)
        crc = crc32c(entry.payload, crc32c(fields, seed))
        parts += (_PREFIX.pack(FRAME_MAGIC, crc), fields, entry.payload)
    return b"".join(parts)


def scan_segment(data: bytes) -> ScannedSegment:
    """Read a segment, header included, up to the first frame that was not written whole.

    Raises:
        MetadataLogCorruptError: something that was acknowledged cannot be read.
    """
    base_index, life_id = decode_segment_header(data)
    seed = _seed(life_id)
    entries: list[LogEntry] = []
    position = SEGMENT_HEADER_BYTES
    next_index = base_index
    term = 0
    while position < len(data):
        frame = _frame_at(data, position, seed)
        if frame is None:
            _require_torn(data, position, next_index, seed)
            break
        if frame.entry.index != next_index or frame.entry.term < term:
            raise MetadataLogCorruptError(
                f"entry {frame.entry.index} of term {frame.entry.term} stands at byte {position}, "
                f"where entry {next_index} of term {term} or later belongs"
            )
        entries.append(frame.entry)
        next_index += 1
        term = frame.entry.term
        position = frame.end
    return ScannedSegment(entries, position)


def _require_torn(data: bytes, position: int, next_index: int, seed: int) -> None:
    """Refuse, if a later frame proves that the entry at `position` was durable."""
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
    if length > PAYLOAD_BYTES_MAX or end > len(data):
        return None
    if crc32c(memoryview(data)[fields_at:end], seed) != crc:
        return None
    return _Frame(LogEntry(index, term, data[payload_at:end]), synced_index, end)


def _seed(life_id: int) -> int:
    return crc32c(_LIFE_ID.pack(life_id))
