"""Format of a snapshot file. An image in, bytes out, and back. Pure.

All integers are big-endian. A snapshot is a header, blocks, and an end.

Header, 32 bytes:
offset | bytes | type  | field    | meaning
0      | 4     | bytes | magic    | "HRMS"
4      | 2     | u16   | version  | 1
6      | 2     | u16   | level    | of `headrace.metadata.version`; level 1 wrote 0 (see `headrace.metadata.levels`)
8      | 8     | u64   | index    | last entry of the log that the snapshot includes
16     | 8     | u64   | term     | of that entry
24     | 4     | u32   | CRC      | CRC32C of bytes 0 to 23
28     | 4     | u32   | reserved | 0

Block, 8 bytes and the payload:
0      | 4     | u32   | length   | of the payload, 1 or more
4      | 4     | u32   | CRC      | CRC32C of the payload, seeded with the CRC before it
8      | n     | bytes | payload  | records, `records.codec`

End, 16 bytes:
0      | 4     | u32   | length   | 0
4      | 4     | u32   | CRC      | CRC32C of the count, seeded as that of a block
8      | 8     | u64   | count    | of the records in all blocks

The CRCs form a chain that begins with the header's: a block that is missing, repeated or from
another snapshot breaks it.
"""

import struct
from collections.abc import Iterator
from typing import Final

from headrace.checksums import crc32c
from headrace.metadata.errors import (
    MetadataFormatError,
    MetadataLogCorruptError,
    MetadataVersionError,
)
from headrace.metadata.image import MetadataImage
from headrace.metadata.levels import encode_at_level, level_of, require_read
from headrace.metadata.records.codec import decode_records
from headrace.metadata.records.entry import SnapshotId
from headrace.metadata.records.objects import StreamSetObjectRecord
from headrace.metadata.records.record import MetadataRecord
from headrace.metadata.snapshot import image_to_records, records_to_image

MAGIC: Final = b"HRMS"
VERSION: Final = 1
MAX_BLOCK_ITEMS: Final = (
    2_000  # records, each range of a Stream Set Object counted: some 2 ms of work
)

_UNTOLD_LEVEL: Final = 1  # of a header with level 0

_HEADER: Final = struct.Struct(">4sHHQQ")
_HEADER_TAIL: Final = struct.Struct(">II")
_BLOCK: Final = struct.Struct(">II")
_COUNT: Final = struct.Struct(">Q")


def encode_snapshot(image: MetadataImage) -> Iterator[bytes]:
    """Yield the file's bytes piece by piece, each of bounded work.

    Raises:
        RefusedError: the image has what its level of `headrace.metadata.version` lacks.
    """
    level = level_of(image.features)
    header = _HEADER.pack(MAGIC, VERSION, level, image.index, image.term)
    seed = crc32c(header)
    yield header + _HEADER_TAIL.pack(seed, 0)
    count = 0
    for records in _blocks(image_to_records(image)):
        payload = encode_at_level(records, level)
        count += len(records)
        seed = crc32c(payload, seed)
        yield _BLOCK.pack(len(payload), seed) + payload
    end = _COUNT.pack(count)
    yield _BLOCK.pack(0, crc32c(end, seed)) + end


def decode_snapshot(data: bytes) -> MetadataImage:
    """Decode the image.

    Raises:
        MetadataLogCorruptError: the file is incomplete, or a part of it does not match its checksum.
        MetadataVersionError: it is of a cluster at a level that this version does not read.
    """
    snapshot_id, seed = _decode_header(data)
    try:
        return records_to_image(
            _decode_blocks(data, seed), index=snapshot_id.index, term=snapshot_id.term
        )
    except MetadataVersionError:
        raise
    except MetadataFormatError as error:
        raise MetadataLogCorruptError(f"the snapshot cannot be read: {error}") from error


def _blocks(records: Iterator[MetadataRecord]) -> Iterator[list[MetadataRecord]]:
    block: list[MetadataRecord] = []
    items = 0
    for record in records:
        block.append(record)
        items += 1 + (len(record.ranges) if isinstance(record, StreamSetObjectRecord) else 0)
        if items >= MAX_BLOCK_ITEMS:
            yield block
            block, items = [], 0
    if block:
        yield block


def _decode_header(data: bytes) -> tuple[SnapshotId, int]:
    if len(data) < _HEADER.size + _HEADER_TAIL.size:
        raise MetadataLogCorruptError(f"the snapshot ends too early, after {len(data)} bytes")
    magic, version, level, index, term = _HEADER.unpack_from(data)
    crc, _ = _HEADER_TAIL.unpack_from(data, _HEADER.size)
    if magic != MAGIC or crc != crc32c(data[: _HEADER.size]):
        raise MetadataLogCorruptError("the snapshot's header does not match its checksum")
    if version != VERSION:
        msg = f"the snapshot has format {version}, this version can read {VERSION}"
        raise MetadataLogCorruptError(msg)
    require_read(level or _UNTOLD_LEVEL)
    return SnapshotId(index, term), crc


def _decode_blocks(data: bytes, seed: int) -> Iterator[MetadataRecord]:
    position = _HEADER.size + _HEADER_TAIL.size
    count = 0
    while True:
        if position + _BLOCK.size > len(data):
            raise MetadataLogCorruptError(f"the snapshot ends too early, after {len(data)} bytes")
        length, crc = _BLOCK.unpack_from(data, position)
        position += _BLOCK.size
        end = position + (length or _COUNT.size)
        if end > len(data):
            raise MetadataLogCorruptError(f"the snapshot ends too early, after {len(data)} bytes")
        payload = memoryview(data)[position:end]
        if crc32c(payload, seed) != crc:
            msg = f"the snapshot does not match its checksum at bytes {position} to {end}"
            raise MetadataLogCorruptError(msg)
        position, seed = end, crc
        if not length:
            if _COUNT.unpack(payload)[0] != count or end != len(data):
                raise MetadataLogCorruptError(
                    "the snapshot has the wrong number of records, or bytes after its end"
                )
            return
        records = decode_records(payload)
        count += len(records)
        yield from records
