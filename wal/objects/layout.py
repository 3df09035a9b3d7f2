"""Names and headers of the objects. Pure.

The log of a node is one dense sequence of numbers across all of its generations:

    wal/<cluster id>/<node id>/<number, 20 digits>

The keys begin with `wal/`, so that one rule of access or lifecycle covers the logs of all clusters.
They need no hashed prefix: a log makes a handful of requests a second, a prefix takes thousands.

An object is a header and records as in `headrace.wal.framing`, packed, whose checksums are seeded with the
generation id. So every byte has a checksum. Header, big-endian, 160 bytes:

    offset | bytes | type  | field
    -------|-------|-------|----------------------------------------------------------------------------------
         0 |     8 | bytes | magic, "HEADWALO"
         8 |     2 | u16   | format version, 1
        10 |     2 | u16   | kind: 1 data, 2 fence, 3 trim
        12 |     4 | i32   | node id
        16 |     8 | i64   | node epoch
        24 |     8 | u64   | generation id: random, of the writer; seeds the checksums of the records
        32 |     8 | u64   | number of this object
        40 |     8 | u64   | released: no object of a lower number is needed, they may be missing
        48 |     8 | u64   | confirmed: every object of a lower number was settled, and may have been acknowledged
        56 |     8 | i64   | trim offset: records that begin at or below it are released
        64 |     8 | u64   | logical offset of the first record; where the next one goes, if there is none
        72 |     8 | u64   | bytes of the records
        80 |     8 | u64   | capacity: no offset was given out further than this beyond a confirmed one
        88 |     4 | u32   | number of records
        92 |     4 | u32   | bytes of the cluster id in use
        96 |    60 | bytes | cluster id, UTF-8, zero-padded
       156 |     4 | u32   | CRC32C of bytes 0 to 155

`released <= confirmed <= number < confirmed + WINDOW` always holds: how far numbers may reach is part
of the format, since a new owner relies on it.
"""

import re
import struct
from dataclasses import dataclass
from enum import IntEnum

from headrace.checksums import crc32c
from headrace.wal.errors import WalVersionError
from headrace.wal.framing import (
    RECORD_HEADER_BYTES,
    body_is_intact,
    checksum_seed,
    read_record_header,
)
from headrace.wal.port import Buffer, RecoveredRecord

MAGIC = b"HEADWALO"
FORMAT_VERSION = 1
WINDOW = 32
REACH = WINDOW // 2  # a writer's own limit: so there is room for a fence ahead of it
MAX_CLUSTER_ID_BYTES = 60
PROBE_NAME = "conditional-put"  # of the object by which a start checks that nothing is overwritten

_FIELDS = struct.Struct(">8sHHiqQQQQqQQQII60s")
_CRC = struct.Struct(">I")
HEADER_BYTES = _FIELDS.size + _CRC.size
assert HEADER_BYTES == 160

_NUMBER = re.compile(r"[0-9]{20}")


class Kind(IntEnum):
    """What an object is for."""

    DATA = 1  # holds records
    FENCE = 2  # takes a number, so that no writer of an earlier generation can have it
    TRIM = 3  # only records what is released


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectHeader:
    """The fields of a header; see the module."""

    kind: Kind
    cluster_id: str
    node_id: int
    node_epoch: int
    generation_id: int
    number: int
    released: int
    confirmed: int
    trim_offset: int
    base_offset: int
    length: int
    capacity_bytes: int
    records: int

    @property
    def end_offset(self) -> int:
        """Logical offset behind the last record."""
        return self.base_offset + self.length

    def encode(self) -> bytes:
        """Return the header's bytes."""
        cluster_id = self.cluster_id.encode()
        fields = _FIELDS.pack(
            MAGIC,
            FORMAT_VERSION,
            self.kind,
            self.node_id,
            self.node_epoch,
            self.generation_id,
            self.number,
            self.released,
            self.confirmed,
            self.trim_offset,
            self.base_offset,
            self.length,
            self.capacity_bytes,
            self.records,
            len(cluster_id),
            cluster_id,
        )
        return fields + _CRC.pack(crc32c(fields))


def decode_header(content: Buffer) -> ObjectHeader | None:
    """Read the header at the start of an object; None when it is not a valid one.

    Raises:
        WalVersionError: it is valid, but of a format that this version does not know.
    """
    if len(content) < HEADER_BYTES:
        return None
    fields = bytes(content[: _FIELDS.size])
    (crc,) = _CRC.unpack_from(content, _FIELDS.size)
    magic, version, kind, *values, id_bytes, cluster_id = _FIELDS.unpack(fields)
    if magic != MAGIC or crc32c(fields) != crc:
        return None
    if version != FORMAT_VERSION:
        raise WalVersionError(
            found=version, known=FORMAT_VERSION, is_empty=False, path="the object WAL"
        )
    try:
        header = ObjectHeader(
            kind=Kind(kind),
            node_id=values[0],
            node_epoch=values[1],
            generation_id=values[2],
            number=values[3],
            released=values[4],
            confirmed=values[5],
            trim_offset=values[6],
            base_offset=values[7],
            length=values[8],
            capacity_bytes=values[9],
            records=values[10],
            cluster_id=cluster_id[:id_bytes].decode(),
        )
    except ValueError:
        return None
    return header if _is_consistent(header) else None


def _is_consistent(header: ObjectHeader) -> bool:
    """Whether the fields have the relations that every writer keeps."""
    has_records = header.kind is Kind.DATA
    return (
        header.released <= header.confirmed <= header.number < header.confirmed + WINDOW
        and header.trim_offset < header.base_offset
        and (header.records > 0) is has_records
        and (header.length > 0) is has_records
        and header.records * RECORD_HEADER_BYTES <= header.length
    )


def read_records(content: memoryview, header: ObjectHeader) -> list[RecoveredRecord] | None:
    """Return the records of a whole object, as views; None when anything is not as it was written."""
    if len(content) != HEADER_BYTES + header.length:
        return None
    seed = checksum_seed(header.generation_id)
    records = []
    at, offset = HEADER_BYTES, header.base_offset
    while at < len(content):
        record = read_record_header(content, at, offset, seed)
        if record is None:
            return None
        body_at = at + RECORD_HEADER_BYTES
        body = content[body_at : body_at + record.length]
        if len(body) != record.length or not body_is_intact(body, record.body_crc, seed):
            return None
        size = RECORD_HEADER_BYTES + record.length
        records.append(RecoveredRecord(offset, offset + size, body))
        at += size
        offset += size
    return records if len(records) == header.records else None


@dataclass(frozen=True, slots=True)
class LogKeys:
    """Keys of one node's log."""

    cluster_id: str
    node_id: int

    @property
    def folder(self) -> str:
        """The folder of all of them."""
        return f"wal/{self.cluster_id}/{self.node_id}"

    @property
    def probe(self) -> str:
        """Key of the object that a start tries to create twice."""
        return f"{self.folder}/{PROBE_NAME}"

    def key(self, number: int) -> str:
        """Key of the object with this number."""
        return f"{self.folder}/{number:020d}"

    def number(self, key: str) -> int | None:
        """Return the number of an object; None for a key that is not one of this log's objects."""
        folder, _, name = key.rpartition("/")
        return int(name) if folder == self.folder and _NUMBER.fullmatch(name) else None
