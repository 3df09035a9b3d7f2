"""The term and the vote of a node, in a small file beside the log. Blocking: for the log's own thread.

The file has two slots, in separate blocks, that both hold the newest state once a write has
returned. The first is durable before the second is written: a crash damages one of them at most, and
an acknowledged state survives damage of either. All integers are big-endian.

Slot, 28 bytes, at byte 0 and at byte 4096:
offset | bytes | type  | field         | meaning
0      | 4     | bytes | magic         | "HRMT"
4      | 2     | u16   | version       | 1
6      | 2     | u16   | reserved      | 0
8      | 8     | u64   | term          |
16     | 8     | i64   | voted for     | node id; -1: nobody
24     | 4     | u32   | CRC           | CRC32C of bytes 0 to 23

A slot that cannot be read is ignored; if neither can be read the node must not take part in the
quorum: it could vote twice in a term.
"""

import os
import struct
from pathlib import Path
from typing import Final

from crc32c import crc32c

from headrace.metadata.errors import MetadataLogCorruptError
from headrace.metadata.log.durable_files import Sync, create_whole, write_all
from headrace.metadata.raft.effects import HardState

HARD_STATE_FILE: Final = "quorum-state"
SLOT_POSITIONS: Final = (0, 4096)
MAGIC: Final = b"HRMT"
VERSION: Final = 1

_FIELDS: Final = struct.Struct(">4sHHQq")
_CRC: Final = struct.Struct(">I")
SLOT_BYTES: Final = _FIELDS.size + _CRC.size


class HardStateFile:
    """The open file."""

    def __init__(self, descriptor: int, state: HardState, sync: Sync) -> None:
        self._descriptor = descriptor
        self._sync = sync
        self.state = state

    @classmethod
    def create(cls, directory: Path, state: HardState, sync: Sync) -> None:
        """Create the file; it is durable on return."""
        gap = bytes(SLOT_POSITIONS[1] - SLOT_BYTES)
        create_whole(directory / HARD_STATE_FILE, _encode(state) + gap + _encode(state), sync)

    @classmethod
    def open(cls, directory: Path, sync: Sync) -> "HardStateFile":
        """Open the file and make both slots durable again: the state may have been in the page cache only.

        Raises:
            MetadataLogCorruptError: there is no file, or no slot of it can be read.
        """
        state = read_hard_state(directory)
        found = cls(os.open(directory / HARD_STATE_FILE, os.O_RDWR), state, sync)
        found._write_slots(state)
        return found

    def write(self, state: HardState) -> None:
        """Write the next state; it is durable on return."""
        old = self.state
        assert state.term > old.term or (
            state.term == old.term and old.voted_for in (-1, state.voted_for)
        ), "a term does not decrease, a vote does not change"
        self._write_slots(state)
        self.state = state

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def _write_slots(self, state: HardState) -> None:
        for position in SLOT_POSITIONS:
            write_all(self._descriptor, _encode(state), position)
            self._sync(self._descriptor)


def read_hard_state(directory: Path) -> HardState:
    """Read the newest state.

    Raises:
        MetadataLogCorruptError: there is no file, or no slot of it can be read.
    """
    path = directory / HARD_STATE_FILE
    try:
        with path.open("rb") as file:
            data = file.read(SLOT_POSITIONS[1] + SLOT_BYTES)
    except FileNotFoundError:
        raise MetadataLogCorruptError(
            f"{path} is missing: the term and vote of this node are unknown, so it must not vote. "
            "Treat the metadata directory as lost"
        ) from None
    slots = [_decode(data[at : at + SLOT_BYTES], path) for at in SLOT_POSITIONS]
    states = [it for it in slots if it is not None]
    if not states:
        raise MetadataLogCorruptError(
            f"{path} is damaged: the term and vote of this node are unknown, so it must not vote. "
            "Treat the metadata directory as lost"
        )
    # Within a term a vote can only be added.
    return max(states, key=lambda it: (it.term, it.voted_for))


def _encode(state: HardState) -> bytes:
    fields = _FIELDS.pack(MAGIC, VERSION, 0, state.term, state.voted_for)
    return fields + _CRC.pack(crc32c(fields))


def _decode(data: bytes, path: Path) -> HardState | None:
    if len(data) < SLOT_BYTES:
        return None
    magic, version, _, term, voted_for = _FIELDS.unpack_from(data)
    if magic != MAGIC or _CRC.unpack_from(data, _FIELDS.size)[0] != crc32c(data[: _FIELDS.size]):
        return None
    if version != VERSION:
        raise MetadataLogCorruptError(
            f"{path} has format {version}, this version can read {VERSION}"
        )
    return HardState(term, voted_for)
