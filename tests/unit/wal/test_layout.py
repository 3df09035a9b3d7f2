"""The superblock's bytes, its choice, and ring arithmetic."""

from dataclasses import replace

import pytest
from crc32c import crc32c

from headrace.wal.errors import WalDeviceError, WalVersionError
from headrace.wal.layout import (
    PAGE_BYTES,
    RING_POSITION,
    Ring,
    ShutdownType,
    Superblock,
    align_down,
    align_up,
    decode_superblock,
    newest_superblock,
)

EXAMPLE = Superblock(
    sequence=5,
    generation_id=0x0102030405060708,
    capacity_bytes=2 << 30,
    trim_offset=8191,
    head_offset=8192,
    confirmed_offset=12288,
    window_bytes=1 << 20,
    shutdown=ShutdownType.UNGRACEFUL,
    node_id=3,
    node_epoch=9,
    cluster_id="mkU3OEVBNTcwNTJENDM2Qg",
    last_write_ms=1_700_000_000_000,
)
GOLDEN = (
    "4845414452414345"  # magic
    "00000001"  # version
    "00000001"  # shutdown type
    "0000000000000005"  # sequence
    "0102030405060708"  # generation
    "0000000080000000"  # capacity
    "0000000000001fff"  # trim
    "0000000000002000"  # head
    "0000000000003000"  # confirmed
    "0000000000100000"  # window
    "0000018bcfe56800"  # wall clock
    "00000003"  # node id
    "00000016"  # length of the cluster id
    "0000000000000009"  # node epoch
) + b"mkU3OEVBNTcwNTJENDM2Qg".hex().ljust(128, "0")


def test_golden_bytes() -> None:
    encoded = EXAMPLE.encode()
    assert encoded[:160].hex() == GOLDEN
    assert encoded[160:164].hex() == "eee7163d"
    assert encoded[164:] == bytes(PAGE_BYTES - 164)


def test_what_is_encoded_is_decoded() -> None:
    assert decode_superblock(EXAMPLE.encode()) == EXAMPLE


def test_every_changed_byte_and_every_cut_makes_it_invalid() -> None:
    encoded = EXAMPLE.encode()
    for at in range(164):
        damaged = bytearray(encoded)
        damaged[at] ^= 0x40
        assert decode_superblock(damaged) is None
        assert decode_superblock(encoded[:at]) is None


def of_version(version: int, *, shutdown: ShutdownType = ShutdownType.UNGRACEFUL) -> bytes:
    """A slot as another version of the program would write it, with something appended."""
    fields = bytearray(replace(EXAMPLE, shutdown=shutdown).encode()[:160])
    fields[8:12] = version.to_bytes(4, "big")
    slot = bytes(fields) + crc32c(bytes(fields)).to_bytes(4, "big") + b"a field of the future"
    return slot.ljust(PAGE_BYTES, b"\0")


@pytest.mark.parametrize("version", [0, 2, 2**32 - 1])
def test_an_unknown_version_is_refused_by_name(version: int) -> None:
    with pytest.raises(WalVersionError, match=f"format version {version}, .* reads 1") as refusal:
        decode_superblock(of_version(version))
    assert "stop it gracefully" in str(refusal.value)


def test_an_empty_log_of_an_unknown_version_may_be_formatted() -> None:
    slot = of_version(2, shutdown=ShutdownType.GRACEFUL)
    with pytest.raises(WalVersionError, match="nothing is lost by `headrace wal format --force"):
        newest_superblock(EXAMPLE.encode() + slot)


@pytest.mark.parametrize("at", [164, 511, 512, 1080, PAGE_BYTES - 1])
def test_a_slot_that_something_else_was_written_into_is_not_ours(at: int) -> None:
    slot = bytearray(EXAMPLE.encode())
    slot[at] = 1
    assert decode_superblock(slot) is None


@pytest.mark.parametrize(
    "change",
    [
        {"head_offset": 4097, "confirmed_offset": 8192},
        {"confirmed_offset": 4096},
        {"trim_offset": 12288},
        {"trim_offset": -2},
        {"capacity_bytes": 4096},
    ],
)
def test_fields_that_contradict_each_other_are_not_believed(change: dict[str, int]) -> None:
    assert decode_superblock(replace(EXAMPLE, **change).encode()) is None


def test_a_cluster_id_that_does_not_fit_is_refused() -> None:
    with pytest.raises(WalDeviceError, match="65 bytes"):
        replace(EXAMPLE, cluster_id="x" * 65).encode()


def slots(*copies: Superblock) -> bytes:
    image = bytearray(RING_POSITION)
    for copy in copies:
        image[copy.slot_position : copy.slot_position + PAGE_BYTES] = copy.encode()
    return bytes(image)


def test_the_highest_sequence_wins_and_never_the_clock() -> None:
    older = replace(EXAMPLE, sequence=8, last_write_ms=EXAMPLE.last_write_ms + 1)
    newer = replace(EXAMPLE, sequence=9, last_write_ms=0)
    assert newest_superblock(slots(older, newer)) == newer


def test_a_torn_copy_leaves_the_other() -> None:
    older, newer = replace(EXAMPLE, sequence=8), replace(EXAMPLE, sequence=9)
    image = bytearray(slots(older, newer))
    image[newer.slot_position + 20] ^= 1
    assert newest_superblock(image) == older


def test_a_copy_in_the_wrong_slot_is_not_believed() -> None:
    misdirected = EXAMPLE.encode() + bytes(PAGE_BYTES)  # sequence 5 belongs into slot 1
    assert newest_superblock(misdirected) is None


def test_both_copies_damaged_leave_nothing() -> None:
    assert newest_superblock(bytes(RING_POSITION)) is None


def test_alignment() -> None:
    assert [align_up(value) for value in (0, 1, 4096, 4097)] == [0, 4096, 4096, 8192]
    assert [align_down(value) for value in (0, 4095, 4096, 8191)] == [0, 0, 4096, 4096]


def test_positions_go_around_the_ring() -> None:
    ring = Ring.of_capacity(RING_POSITION + 65536 + 4095)
    assert ring.size_bytes == 65536
    assert ring.position(0) == RING_POSITION
    assert ring.position(65535) == RING_POSITION + 65535
    assert ring.position(3 * 65536 + 5) == RING_POSITION + 5
    assert ring.distance_to_end(65536) == 65536
    assert ring.distance_to_end(65536 - 4096) == 4096


def test_a_capacity_without_a_useful_ring_is_refused() -> None:
    with pytest.raises(WalDeviceError, match="too small"):
        Ring.of_capacity(RING_POSITION + 7 * PAGE_BYTES)
