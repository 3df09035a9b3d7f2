"""The layout of the device: alignment, ring arithmetic, and the superblock. Pure.

The device begins with two superblock slots of 4096 bytes; the ring follows, up to the capacity. A
superblock with sequence number n goes to slot n mod 2, so that a torn write can only lose the
inflight update: the valid copy with the highest sequence number wins, never a clock. Everything fits
into the first 512 bytes, the unit that a device writes atomically; the rest of the slot is zero. A slot
where it is not zero was overwritten by another program: some programs that format a device leave its
first bytes unchanged.

Superblock, big-endian:

    offset | bytes | type  | field
    -------|-------|-------|---------------------------------------------------------------------------------
         0 |     8 | bytes | magic, "HEADRACE"
         8 |     4 | u32   | format version, 1
        12 |     4 | u32   | shutdown type: 0 graceful (the ring is empty), 1 not
        16 |     8 | u64   | sequence number of this write, from 1
        24 |     8 | u64   | generation id: random, renewed by format and reset; seeds the checksums in the ring
        32 |     8 | u64   | capacity: bytes of the device in use, superblocks included
        40 |     8 | i64   | trim offset: records that begin at or below it are released; -1 when none is
        48 |     8 | u64   | head offset: block boundary where recovery begins; everything below it may be reused
        56 |     8 | u64   | confirmed offset when this was written
        64 |     8 | u64   | window: no block reaches further than this beyond the confirmed offset
        72 |     8 | i64   | wall clock of this write, milliseconds since 1970 (informative)
        80 |     4 | i32   | node id
        84 |     4 | u32   | bytes of the cluster id in use
        88 |     8 | i64   | node epoch
        96 |    64 | bytes | cluster id, UTF-8, zero-padded
       160 |     4 | u32   | CRC32C of bytes 0 to 159

The format version covers the superblock, blocks and records (`headrace.wal.framing`). The rule for the next
one:

- Bytes 0 to 163 never change their positions, meanings and checksum, so that every version can recognise
  the owner and the version of a log, and whether it is empty. New fields follow at byte 164 with a
  checksum of their own, within the first 512 bytes.
- Any change that this version would misread (a field that must not be ignored, a different block or
  record) takes the next number. A slot of another number is refused by name: `WalVersionError`.
- No version reads the ring of another. A graceful shutdown leaves an empty ring, which a newer
  version takes over like its own, by beginning a new generation. An older version does not know the
  newer format, so the device must be formatted by hand for it. So both an upgrade and a downgrade begin
  with a graceful stop.

While a device is being formatted both slots hold the text "HRFORMAT" and zeros: neither blank nor a log.

Source: "How to implement high performance WAL based on raw devices" (WALHeader), with a sequence
number instead of its timestamp.
"""

import struct
from dataclasses import dataclass
from enum import IntEnum

from headrace.checksums import crc32c
from headrace.wal.errors import WalDeviceError, WalVersionError
from headrace.wal.port import Buffer

PAGE_BYTES = 4096  # unit of every position, length and memory address that reaches the device
SUPERBLOCK_SLOTS = 2
RING_POSITION = SUPERBLOCK_SLOTS * PAGE_BYTES
MIN_RING_BYTES = 8 * PAGE_BYTES

MAGIC = b"HEADRACE"
FORMAT_VERSION = 1
FORMATTING_SLOT = b"HRFORMAT".ljust(PAGE_BYTES, b"\0")
MAX_CLUSTER_ID_BYTES = 64

_FIELDS = struct.Struct(">8sIIQQQqQQQqiIq64s")
_CRC = struct.Struct(">I")
_ENCODED_BYTES = _FIELDS.size + _CRC.size
assert _FIELDS.size == 160


def align_up(value: int) -> int:
    """Round up to a whole page."""
    return (value + PAGE_BYTES - 1) & -PAGE_BYTES


def align_down(value: int) -> int:
    """Round down to a whole page."""
    return value & -PAGE_BYTES


@dataclass(frozen=True, slots=True)
class Ring:
    """Arithmetic between logical offsets, which always grow, and positions on the device."""

    size_bytes: int  # a multiple of PAGE_BYTES

    @classmethod
    def of_capacity(cls, capacity_bytes: int) -> "Ring":
        """Return the ring of a device of which `capacity_bytes` are used, superblocks included.

        Raises:
            WalDeviceError: the capacity leaves no useful ring.
        """
        size = align_down(capacity_bytes) - RING_POSITION
        if size < MIN_RING_BYTES:
            msg = f"a WAL of {capacity_bytes} bytes is too small: at least {RING_POSITION + MIN_RING_BYTES} are needed"
            raise WalDeviceError(msg)
        return cls(size)

    def position(self, offset: int) -> int:
        """Return the position on the device of a logical offset."""
        return RING_POSITION + offset % self.size_bytes

    def distance_to_end(self, offset: int) -> int:
        """Return the bytes from `offset` to the end of its lap; a whole lap at a lap's start."""
        return self.size_bytes - offset % self.size_bytes


class ShutdownType(IntEnum):
    """How the last owner stopped."""

    GRACEFUL = 0  # everything was released: nothing to scan
    UNGRACEFUL = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Superblock:
    """The state of the log that is known without reading the ring. Field meanings: the table above."""

    sequence: int
    generation_id: int
    capacity_bytes: int
    trim_offset: int
    head_offset: int
    confirmed_offset: int
    window_bytes: int
    shutdown: ShutdownType
    node_id: int
    node_epoch: int
    cluster_id: str
    last_write_ms: int = 0

    @property
    def slot_position(self) -> int:
        """Position on the device of the slot for this superblock."""
        return (self.sequence % SUPERBLOCK_SLOTS) * PAGE_BYTES

    @property
    def ring(self) -> Ring:
        """The ring behind it."""
        return Ring.of_capacity(self.capacity_bytes)

    def encode(self) -> bytes:
        """Return one whole slot of PAGE_BYTES.

        Raises:
            WalDeviceError: the cluster id does not fit.
        """
        cluster_id = self.cluster_id.encode()
        if len(cluster_id) > MAX_CLUSTER_ID_BYTES:
            msg = f"the cluster id has {len(cluster_id)} bytes; a WAL holds at most {MAX_CLUSTER_ID_BYTES}"
            raise WalDeviceError(msg)
        fields = _FIELDS.pack(
            MAGIC,
            FORMAT_VERSION,
            self.shutdown,
            self.sequence,
            self.generation_id,
            self.capacity_bytes,
            self.trim_offset,
            self.head_offset,
            self.confirmed_offset,
            self.window_bytes,
            self.last_write_ms,
            self.node_id,
            len(cluster_id),
            self.node_epoch,
            cluster_id,
        )
        return (fields + _CRC.pack(crc32c(fields))).ljust(PAGE_BYTES, b"\0")


def decode_superblock(slot: Buffer) -> Superblock | None:
    """Read one slot; None when it holds no valid superblock.

    Raises:
        WalVersionError: it is valid, but of a format that this version does not know.
    """
    if len(slot) < _ENCODED_BYTES:
        return None
    fields = bytes(slot[: _FIELDS.size])
    (crc,) = _CRC.unpack_from(slot, _FIELDS.size)
    if not fields.startswith(MAGIC) or crc32c(fields) != crc:
        return None
    values = _FIELDS.unpack(fields)
    if values[1] != FORMAT_VERSION:
        is_empty = values[2] == ShutdownType.GRACEFUL
        raise WalVersionError(found=values[1], known=FORMAT_VERSION, is_empty=is_empty)
    if bytes(slot[_ENCODED_BYTES:]).strip(b"\0"):
        return None
    try:
        superblock = Superblock(
            sequence=values[3],
            generation_id=values[4],
            capacity_bytes=values[5],
            trim_offset=values[6],
            head_offset=values[7],
            confirmed_offset=values[8],
            window_bytes=values[9],
            shutdown=ShutdownType(values[2]),
            node_id=values[11],
            node_epoch=values[13],
            cluster_id=values[14][: values[12]].decode(),
            last_write_ms=values[10],
        )
    except ValueError:
        return None
    return superblock if _is_consistent(superblock) else None


def _is_consistent(superblock: Superblock) -> bool:
    """Whether the fields have the relations that every writer keeps."""
    return (
        superblock.capacity_bytes >= RING_POSITION + MIN_RING_BYTES
        and superblock.trim_offset >= -1
        and superblock.head_offset % PAGE_BYTES == 0
        and superblock.head_offset <= superblock.confirmed_offset
        and superblock.trim_offset < superblock.confirmed_offset
    )


def newest_superblock(slots: Buffer) -> Superblock | None:
    """Return the valid copy with the highest sequence number of both slots, read together; None when both are bad."""
    copies = [
        superblock
        for start in range(0, RING_POSITION, PAGE_BYTES)
        if (superblock := decode_superblock(slots[start : start + PAGE_BYTES])) is not None
        and superblock.slot_position == start
    ]
    return max(copies, key=lambda superblock: superblock.sequence, default=None)
