import os
from uuid import UUID

import pytest

from headrace.metadata.errors import MetadataLogCorruptError
from headrace.metadata.log.entry_format import ProvenEnd
from headrace.metadata.log.hard_state import (
    HARD_STATE_FILE,
    MAX_SLOT_BYTES,
    SLOT_POSITIONS,
    HardStateFile,
    QuorumState,
    read_quorum_state,
)
from headrace.metadata.log.os_directory import OsDirectory
from headrace.metadata.raft.effects import FRESH, NOBODY, HardState
from headrace.metadata.raft.messages import Disk
from headrace.metadata.raft.plausibility import MAX_DISKS

GOLDEN_SLOT = bytes.fromhex(
    "48524d54 0002 0000 0000000000000007 0000000000000003 6adb52d9"
    "0000000000000001 0000000000000009 0000000000000004 0000000000000080"
    "00000001 00000005 00000000 31554553"
)
PROVEN = ProvenEnd(segment_id=9, last_index=4, position=128)


DISKS = (Disk(UUID(int=1 << 120), 17, 18, 19), Disk(UUID(int=2), 1 << 62, 0, 5))


def opened(directory, sync=os.fsync, proven=PROVEN):
    return HardStateFile.open(OsDirectory(directory, sync), proven=proven, random32=5)


def hard_state(directory):
    return read_quorum_state(OsDirectory(directory)).hard_state


@pytest.fixture
def path(tmp_path):
    HardStateFile.create(OsDirectory(tmp_path), HardState(7, 3))
    return tmp_path / HARD_STATE_FILE


def spoiled(data, slot, position=9):
    changed = bytearray(data)
    changed[SLOT_POSITIONS[slot] + position] ^= 4
    return bytes(changed)


def test_golden_bytes(tmp_path, path):
    opened(tmp_path).close()
    data = path.read_bytes()
    for position in SLOT_POSITIONS:
        assert data[position : position + len(GOLDEN_SLOT)] == GOLDEN_SLOT


def test_what_was_written_last_is_read(tmp_path, path):
    file = opened(tmp_path)
    for state in (HardState(8, NOBODY), HardState(8, 2), HardState(9, 1)):
        file.write(state)
        assert file.state == hard_state(tmp_path) == state
        assert read_quorum_state(OsDirectory(tmp_path)).proven == PROVEN
    later = PROVEN._replace(last_index=5, position=256)
    file.prove(later, DISKS)
    assert (file.proven, file.state, file.disks) == (later, HardState(9, 1), DISKS)
    file.write(HardState(10, 1))
    start = (1 << 32) + 5
    assert read_quorum_state(OsDirectory(tmp_path)) == QuorumState(
        HardState(10, 1), later, 6, start, DISKS
    )
    file.close()
    file = opened(tmp_path)
    assert (file.start >> 32, file.disks) == (2, DISKS), "starts are counted"
    file.close()


def test_any_number_of_members_fits(tmp_path, path):
    file = opened(tmp_path)
    many = tuple(Disk(UUID(int=it), 1, 2, 3) for it in range(MAX_DISKS + 1))
    file.prove(PROVEN, many)
    assert read_quorum_state(OsDirectory(tmp_path)).disks == many[:MAX_DISKS]
    assert path.stat().st_size <= SLOT_POSITIONS[1] + MAX_SLOT_BYTES
    file.close()


def test_damage_of_one_slot_costs_nothing_and_is_repaired(tmp_path, path):
    for slot in (0, 1):
        for position in range(len(GOLDEN_SLOT)):
            path.write_bytes(spoiled(path.read_bytes(), slot, position))
            assert hard_state(tmp_path) == HardState(7, 3)
            opened(tmp_path).close()
            data = path.read_bytes()
            first, second = (data[at : at + len(GOLDEN_SLOT)] for at in SLOT_POSITIONS)
            assert first == second
            assert read_quorum_state(OsDirectory(tmp_path)).proven == PROVEN


def test_a_start_replaces_the_damaged_slot_first(tmp_path, path):
    """A crash in the middle of it must not damage the other, too."""
    for damaged in (0, 1):
        path.write_bytes(spoiled(path.read_bytes(), damaged))
        seen = []
        opened(tmp_path, lambda _, seen=seen: seen.append(path.read_bytes())).close()
        other = SLOT_POSITIONS[1 - damaged]
        before = seen[-1][other : other + len(GOLDEN_SLOT)]
        assert seen[0][other : other + len(GOLDEN_SLOT)] != before, "it is written after the sync"


def test_damage_of_both_slots_is_refused_and_never_taken_for_an_empty_vote(tmp_path, path):
    whole = path.read_bytes()
    both = spoiled(spoiled(whole, 0), 1)
    for content in (both, b"", bytes(len(whole)), whole[: len(GOLDEN_SLOT) - 1]):
        path.write_bytes(content)
        with pytest.raises(MetadataLogCorruptError, match="damaged"):
            opened(tmp_path)
        assert path.read_bytes() == content
    path.unlink()
    with pytest.raises(MetadataLogCorruptError, match="missing"):
        opened(tmp_path)


def test_a_newer_format_is_refused(tmp_path, path, monkeypatch):
    monkeypatch.setattr("headrace.metadata.log.hard_state.VERSION", 3)
    HardStateFile.create(OsDirectory(tmp_path), HardState(8, 1))
    monkeypatch.undo()

    with pytest.raises(MetadataLogCorruptError, match="format 3"):
        read_quorum_state(OsDirectory(tmp_path))


def test_one_slot_is_durable_before_the_other_is_touched(tmp_path, path):
    """Else one crash could spoil both."""
    seen = []
    file = opened(tmp_path, lambda _: seen.append(path.read_bytes()))
    seen.clear()
    before = path.read_bytes()

    file.write(HardState(8, 1))

    after = path.read_bytes()
    assert seen == [after[: SLOT_POSITIONS[1]] + before[SLOT_POSITIONS[1] :], after]
    file.close()


def test_opening_makes_what_was_read_durable(tmp_path, path):
    synced = []
    opened(tmp_path, synced.append).close()
    assert len(synced) == 2


@pytest.mark.parametrize("state", [HardState(6, 3), HardState(7, 2), HardState(7, NOBODY)])
def test_a_vote_is_never_changed_and_a_term_never_goes_back(tmp_path, path, state):
    file = opened(tmp_path)
    with pytest.raises(AssertionError):
        file.write(state)
    file.close()


def test_the_first_state_of_all(tmp_path):
    HardStateFile.create(OsDirectory(tmp_path), FRESH)
    assert hard_state(tmp_path) == HardState(0, NOBODY)
