"""The term and the vote of a node, in a small file beside the log. Blocking: for the log's own thread.

The same file proves how far the log was durable: it is written when the log has been idle, at the
start, and when the log is closed. Frames of the log prove those before them (`entry_format`), but
nothing follows the last ones. It counts the starts, and keeps what is remembered of the directories
of the other controllers (`headrace.metadata.raft.disks`).

The file has two slots, in separate blocks, that both hold the newest state once a write has
returned. One is durable before the other is written: a crash damages one of them at most, and
an acknowledged state survives damage of either. All integers are big-endian.

Slot, 76 bytes and 40 for each directory, at byte 0 and at byte 4096:
offset | bytes | type  | field         | meaning
0      | 4     | bytes | magic         | "HRMT"
4      | 2     | u16   | version       | 2
6      | 2     | u16   | reserved      | 0
8      | 8     | u64   | term          |
16     | 8     | i64   | voted for     | node id; -1: nobody
24     | 4     | u32   | CRC           | CRC32C of bytes 0 to 23
28     | 8     | u64   | write number  | one more than that of the write before
36     | 8     | u64   | segment id    | of the segment that is proven; 0: none is
44     | 8     | u64   | index         | its last entry that was durable
52     | 8     | u64   | position      | where that entry ends in the segment's file
60     | 8     | u64   | start         | of the process that wrote it
68     | 4     | u32   | directories   | their number n, at most `MAX_DISKS`
72     | 40 n  |       | directory     | id (16 bytes), then start, start index and kept index (i64 each)
72+40n | 4     | u32   | CRC           | CRC32C of everything before it

A slot that cannot be read is ignored; if neither can be read the node must not take part in the
quorum: it could vote twice in a term.
"""

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple
from uuid import UUID

from headrace.checksums import crc32c
from headrace.invariants import require
from headrace.metadata.errors import MetadataLogCorruptError
from headrace.metadata.log.directory import Directory, File
from headrace.metadata.log.durable_files import create_whole, read_file, write_all
from headrace.metadata.log.entry_format import NOT_PROVEN, ProvenEnd
from headrace.metadata.raft.disks import next_start
from headrace.metadata.raft.effects import HardState
from headrace.metadata.raft.messages import Disk
from headrace.metadata.raft.plausibility import MAX_DISKS

HARD_STATE_FILE: Final = "quorum-state"
SLOT_POSITIONS: Final = (0, 4096)
MAGIC: Final = b"HRMT"
VERSION: Final = 2

_FIELDS: Final = struct.Struct(">4sHHQq")
_PROOF: Final = struct.Struct(">QQQQQI")
_DISK: Final = struct.Struct(">16sqqq")
_CRC: Final = struct.Struct(">I")
_PROOF_AT: Final = _FIELDS.size + _CRC.size
_DISKS_AT: Final = _PROOF_AT + _PROOF.size
MAX_SLOT_BYTES: Final = _DISKS_AT + MAX_DISKS * _DISK.size + _CRC.size
assert SLOT_POSITIONS[1] >= MAX_SLOT_BYTES


class QuorumState(NamedTuple):
    """The contents of the file."""

    hard_state: HardState
    proven: ProvenEnd = NOT_PROVEN
    write_number: int = 0
    start: int = 0
    disks: tuple[Disk, ...] = ()


class HardStateFile:
    """The open file."""

    def __init__(self, file: File, found: QuorumState) -> None:
        self._file = file
        self._written = found

    @property
    def state(self) -> HardState:
        """The newest durable term and vote."""
        return self._written.hard_state

    @property
    def start(self) -> int:
        """The start of this process."""
        return self._written.start

    @property
    def disks(self) -> tuple[Disk, ...]:
        """What is remembered durably of the other directories."""
        return self._written.disks

    @property
    def proven(self) -> ProvenEnd:
        """How far the file proves the log."""
        return self._written.proven

    @classmethod
    def create(cls, directory: Directory, state: HardState) -> None:
        """Create the file; it is durable on return."""
        slot = _encode(QuorumState(state))
        gap = bytes(SLOT_POSITIONS[1] - len(slot))
        create_whole(directory, HARD_STATE_FILE, slot + gap + slot)

    @classmethod
    def open(
        cls, directory: Directory, *, proven: ProvenEnd = NOT_PROVEN, random32: int = 0
    ) -> "HardStateFile":
        """Count a start, and make both slots durable again: the state may have been in the page cache only.

        Args:
            directory: of the file.
            proven: how far the log is durable now.
            random32: distinguishes this start from one of a copy of the directory.

        Raises:
            MetadataLogCorruptError: there is no file, or no slot of it can be read.
        """
        slots = _read_slots(directory)
        newest = _newest(slots)
        found = cls(directory.open(HARD_STATE_FILE), newest)
        # A crash may have damaged the other slot: until that one is durable, this one stays as it is.
        newest_first = slots[0] == newest
        positions = SLOT_POSITIONS[::-1] if newest_first else SLOT_POSITIONS
        found._write_slots(
            newest._replace(proven=proven, start=next_start(newest.start, random32)), positions
        )
        return found

    def write(self, state: HardState) -> None:
        """Write the next state; it is durable on return."""
        old = self.state
        require(
            state.term > old.term
            or (state.term == old.term and old.voted_for in (-1, state.voted_for)),
            "a term does not decrease, a vote does not change",
        )
        self._write_slots(self._written._replace(hard_state=state))

    def prove(self, proven: ProvenEnd, disks: tuple[Disk, ...]) -> None:
        """Record how far the log is durable, and what is remembered; both are durable on return."""
        self._write_slots(self._written._replace(proven=proven, disks=disks[:MAX_DISKS]))

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _write_slots(self, state: QuorumState, positions: Sequence[int] = SLOT_POSITIONS) -> None:
        state = state._replace(write_number=self._written.write_number + 1)
        for position in positions:
            write_all(self._file, _encode(state), position)
            self._file.sync()
        self._written = state


def read_quorum_state(directory: Directory) -> QuorumState:
    """Read the newest state.

    Raises:
        MetadataLogCorruptError: there is no file, or no slot of it can be read.
    """
    return _newest(_read_slots(directory))


def _read_slots(directory: Directory) -> list[QuorumState | None]:
    path = directory.path / HARD_STATE_FILE
    try:
        data = read_file(directory, HARD_STATE_FILE, SLOT_POSITIONS[1] + MAX_SLOT_BYTES)
    except FileNotFoundError:
        raise MetadataLogCorruptError(
            f"{path} is missing: the term and vote of this node are unknown, so it must not vote. "
            "Treat the metadata directory as lost"
        ) from None
    slots = [_decode(data[at : at + MAX_SLOT_BYTES], path) for at in SLOT_POSITIONS]
    if slots == [None, None]:
        raise MetadataLogCorruptError(
            f"{path} is damaged: the term and vote of this node are unknown, so it must not vote. "
            "Treat the metadata directory as lost"
        )
    return slots


def _newest(slots: Sequence[QuorumState | None]) -> QuorumState:
    """The state of the last write."""
    return max((it for it in slots if it is not None), key=lambda it: it.write_number)


def _encode(state: QuorumState) -> bytes:
    term, voted_for = state.hard_state.term, state.hard_state.voted_for
    slot = _with_crc(_FIELDS.pack(MAGIC, VERSION, 0, term, voted_for))
    slot += _PROOF.pack(state.write_number, *state.proven, state.start, len(state.disks))
    for disk in state.disks:
        slot += _DISK.pack(disk.directory_id.bytes, disk.start, disk.start_index, disk.kept_index)
    return _with_crc(slot)


def _decode(data: bytes, path: Path) -> QuorumState | None:
    if not _matches_crc(data[:_PROOF_AT]) or not data.startswith(MAGIC):
        return None
    _, version, _, term, voted_for = _FIELDS.unpack_from(data)
    if version != VERSION:
        msg = f"{path} has format {version}, this version can read {VERSION}"
        raise MetadataLogCorruptError(msg)
    if len(data) < _DISKS_AT:
        return None
    write_number, *proven, start, number = _PROOF.unpack_from(data, _PROOF_AT)
    end = _DISKS_AT + number * _DISK.size
    if number > MAX_DISKS or not _matches_crc(data[: end + _CRC.size]):
        return None
    fields = _DISK.iter_unpack(data[_DISKS_AT:end])
    disks = tuple(Disk(UUID(bytes=it), *numbers) for it, *numbers in fields)
    return QuorumState(HardState(term, voted_for), ProvenEnd(*proven), write_number, start, disks)


def _with_crc(data: bytes) -> bytes:
    return data + _CRC.pack(crc32c(data))


def _matches_crc(data: bytes) -> bool:
    return len(data) > _CRC.size and _with_crc(data[: -_CRC.size]) == data
