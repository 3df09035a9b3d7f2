import os

import pytest

from headrace.metadata.errors import MetadataLogCorruptError
from headrace.metadata.log.hard_state import (
    HARD_STATE_FILE,
    SLOT_BYTES,
    SLOT_POSITIONS,
    HardStateFile,
    read_hard_state,
)
from headrace.metadata.raft.effects import FRESH, NOBODY, HardState

GOLDEN_SLOT = bytes.fromhex("48524d54 0001 0000 0000000000000007 0000000000000003 a47af101")


@pytest.fixture
def path(tmp_path):
    HardStateFile.create(tmp_path, HardState(7, 3), os.fsync)
    return tmp_path / HARD_STATE_FILE


def spoiled(data, slot, position=9):
    changed = bytearray(data)
    changed[SLOT_POSITIONS[slot] + position] ^= 4
    return bytes(changed)


def test_golden_bytes(path):
    data = path.read_bytes()
    for position in SLOT_POSITIONS:
        assert data[position : position + SLOT_BYTES] == GOLDEN_SLOT
    assert len(data) == SLOT_POSITIONS[1] + SLOT_BYTES


def test_what_was_written_last_is_read(tmp_path, path):
    file = HardStateFile.open(tmp_path, os.fsync)
    for state in (HardState(8, NOBODY), HardState(8, 2), HardState(9, 1)):
        file.write(state)
        assert file.state == read_hard_state(tmp_path) == state
    file.close()


def test_damage_of_one_slot_costs_nothing_and_is_repaired(tmp_path, path):
    for slot in (0, 1):
        for position in range(SLOT_BYTES):
            path.write_bytes(spoiled(path.read_bytes(), slot, position))
            assert read_hard_state(tmp_path) == HardState(7, 3)
            HardStateFile.open(tmp_path, os.fsync).close()
            assert path.read_bytes().count(GOLDEN_SLOT) == 2


def test_damage_of_both_slots_is_refused_and_never_taken_for_an_empty_vote(tmp_path, path):
    whole = path.read_bytes()
    both = spoiled(spoiled(whole, 0), 1)
    for content in (both, b"", bytes(len(whole)), whole[: SLOT_BYTES - 1]):
        path.write_bytes(content)
        with pytest.raises(MetadataLogCorruptError, match="damaged"):
            HardStateFile.open(tmp_path, os.fsync)
        assert path.read_bytes() == content
    path.unlink()
    with pytest.raises(MetadataLogCorruptError, match="missing"):
        HardStateFile.open(tmp_path, os.fsync)


def test_a_newer_format_is_refused(tmp_path, path, monkeypatch):
    monkeypatch.setattr("headrace.metadata.log.hard_state.VERSION", 2)
    HardStateFile.create(tmp_path, HardState(8, 1), os.fsync)
    monkeypatch.undo()

    with pytest.raises(MetadataLogCorruptError, match="format 2"):
        read_hard_state(tmp_path)


def test_one_slot_is_durable_before_the_other_is_touched(tmp_path, path):
    """Else one crash could spoil both."""
    seen = []
    file = HardStateFile.open(tmp_path, lambda _: seen.append(path.read_bytes()))
    seen.clear()
    before = path.read_bytes()

    file.write(HardState(8, 1))

    after = path.read_bytes()
    assert seen == [after[: SLOT_POSITIONS[1]] + before[SLOT_POSITIONS[1] :], after]
    file.close()


def test_opening_makes_what_was_read_durable(tmp_path, path):
    synced = []
    HardStateFile.open(tmp_path, synced.append).close()
    assert len(synced) == 2


@pytest.mark.parametrize("state", [HardState(6, 3), HardState(7, 2), HardState(7, NOBODY)])
def test_a_vote_is_never_changed_and_a_term_never_goes_back(tmp_path, path, state):
    file = HardStateFile.open(tmp_path, os.fsync)
    with pytest.raises(AssertionError):
        file.write(state)
    file.close()


def test_the_first_state_of_all(tmp_path):
    HardStateFile.create(tmp_path, FRESH, os.fsync)
    assert read_hard_state(tmp_path) == HardState(0, NOBODY)
