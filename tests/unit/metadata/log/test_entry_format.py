import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.metadata.errors import MetadataLogCorruptError
from headrace.metadata.log.entry_format import (
    FRAME_HEADER_BYTES,
    SEGMENT_HEADER_BYTES,
    SegmentHeader,
    decode_segment_header,
    encode_group,
    encode_segment_header,
    scan_segment,
)
from headrace.metadata.records.entry import LogEntry

LIFE = 0x1122334455667788
GOLDEN_HEADER = bytes.fromhex("48524d4c 0002 0000 0000000000000005 1122334455667788 00000009")
GOLDEN_FRAME = bytes.fromhex(
    "48524d45 e3536eff 00000003 0000000000000005 0000000000000002 0000000000000004 616263"
)


def entry(index, payload=b"abc", term=2):
    return LogEntry(index, term, payload)


def segment(*groups, base=5):
    """A segment of groups, each written and synced before the next."""
    data = encode_segment_header(SegmentHeader(base, LIFE, 0))
    synced = base - 1
    for group in groups:
        data += encode_group(group, synced_index=synced, segment_id=LIFE)
        synced = group[-1].index
    return data


def test_golden_bytes():
    header = encode_segment_header(SegmentHeader(5, LIFE, 9))

    assert header.startswith(GOLDEN_HEADER)
    assert len(header) == SEGMENT_HEADER_BYTES
    assert decode_segment_header(header) == (5, LIFE, 9)
    assert encode_group([entry(5)], synced_index=4, segment_id=LIFE) == GOLDEN_FRAME
    assert len(GOLDEN_FRAME) == FRAME_HEADER_BYTES + 3


def test_a_segment_is_read_back():
    groups = [[entry(5)], [entry(6, b""), entry(7, b"x" * 1_000)], [entry(8, term=3)]]
    data = segment(*groups)

    scanned = scan_segment(data)

    assert scanned.entries == [it for group in groups for it in group]
    assert scanned.valid_bytes == len(data)


def test_an_empty_segment():
    header = SegmentHeader(5, LIFE, 0)
    assert scan_segment(segment()) == (header, [], SEGMENT_HEADER_BYTES, SEGMENT_HEADER_BYTES)


def test_what_later_frames_prove_to_have_been_durable():
    groups = [[entry(5)], [entry(6), entry(7)], [entry(8), entry(9)]]
    frame = len(GOLDEN_FRAME)

    for number, proven in ((1, 0), (2, 1), (3, 3)):
        scanned = scan_segment(segment(*groups[:number]))
        assert scanned.proven_bytes == SEGMENT_HEADER_BYTES + proven * frame


def test_a_segment_counts_up_to_where_the_next_begins():
    """Whatever stands behind: the log was cut there."""
    data = segment([entry(5)], [entry(6), entry(7)], [entry(8)])
    end_of_6 = SEGMENT_HEADER_BYTES + 2 * len(GOLDEN_FRAME)
    for whole in (data, data[:end_of_6] + b"HRME junk", data[:end_of_6] + bytes(90) + data[-39:]):
        scanned = scan_segment(whole, 7)
        assert [it.index for it in scanned.entries] == [5, 6]
        assert scanned.valid_bytes == end_of_6
    assert scan_segment(data, 5).entries == []


def test_an_entry_that_is_missing_before_the_next_segment_is_refused():
    data = bytearray(segment([entry(5)], [entry(6)]))
    with pytest.raises(MetadataLogCorruptError, match="entry 7"):
        scan_segment(bytes(data), 8)
    data[-1] ^= 1
    with pytest.raises(MetadataLogCorruptError, match="entry 6"):
        scan_segment(bytes(data), 7)


def test_a_segment_cut_off_anywhere_loses_only_what_was_cut():
    groups = [[entry(5)], [entry(6), entry(7)], [entry(8)]]
    data = segment(*groups)
    frame = len(GOLDEN_FRAME)

    for length in range(SEGMENT_HEADER_BYTES, len(data)):
        scanned = scan_segment(data[:length])
        whole = (length - SEGMENT_HEADER_BYTES) // frame
        assert [it.index for it in scanned.entries] == list(range(5, 5 + whole))
        assert scanned.valid_bytes == SEGMENT_HEADER_BYTES + whole * frame


def test_a_header_that_is_cut_off_or_damaged_is_refused():
    data = segment([entry(5)])
    for length in range(SEGMENT_HEADER_BYTES):
        with pytest.raises(MetadataLogCorruptError):
            scan_segment(data[:length])
    for position in range(SEGMENT_HEADER_BYTES):
        spoiled = bytearray(data)
        spoiled[position] ^= 0x40
        with pytest.raises(MetadataLogCorruptError):
            scan_segment(bytes(spoiled))


@pytest.mark.parametrize("bit", range(8))
def test_a_flipped_bit_is_refused_or_hits_only_the_last_group(bit):
    """Never anything but what was written; and nothing that was proven durable is dropped."""
    groups = [[entry(5)], [entry(6), entry(7)], [entry(8)]]
    data = segment(*groups)
    written = [it for group in groups for it in group]
    last_group_at = len(data) - len(GOLDEN_FRAME)

    for position in range(SEGMENT_HEADER_BYTES, len(data)):
        spoiled = bytearray(data)
        spoiled[position] ^= 1 << bit
        if position < last_group_at:
            with pytest.raises(MetadataLogCorruptError):
                scan_segment(bytes(spoiled))
        else:
            assert scan_segment(bytes(spoiled)).entries == written[:-1]


def test_any_pattern_of_an_unfinished_group_is_cut_off():
    """Sectors of one write reach the disk in any order: a later frame may be there, an earlier not."""
    frame = len(GOLDEN_FRAME)
    whole = segment([entry(5)], [entry(6), entry(7), entry(8)])
    group_at = len(whole) - 3 * frame

    for missing in range(1, 8):
        data = bytearray(whole)
        for ordinal in range(3):
            if missing & 1 << ordinal:
                start = group_at + ordinal * frame
                data[start : start + frame] = bytes(frame)
        present = next(it for it in range(3) if missing & 1 << it)
        scanned = scan_segment(bytes(data))
        assert [it.index for it in scanned.entries] == list(range(5, 6 + present))


def test_an_entry_at_the_wrong_place_is_refused():
    for group in ([entry(6)], [entry(5), entry(7)], [entry(5), entry(6, term=1)]):
        data = encode_segment_header(SegmentHeader(5, LIFE, 0))
        data += encode_group(group, synced_index=4, segment_id=LIFE)
        with pytest.raises(MetadataLogCorruptError):
            scan_segment(data)


def test_frames_of_another_life_are_no_frames():
    """Neither left-overs of an older file, nor bytes that a user has put into a payload."""
    foreign = encode_group([entry(6)], synced_index=5, segment_id=LIFE + 1)
    data = segment([entry(5)]) + foreign

    assert [it.index for it in scan_segment(data).entries] == [5]


def test_a_frame_inside_a_payload_proves_nothing():
    foreign = encode_group([entry(9)], synced_index=8, segment_id=LIFE + 1)
    data = bytearray(segment([entry(5, foreign)]))
    data[SEGMENT_HEADER_BYTES + 5] ^= 1

    assert scan_segment(bytes(data)).entries == []


def test_a_length_beyond_the_bound_is_no_frame():
    data = bytearray(segment([entry(5)]))
    data[SEGMENT_HEADER_BYTES + 8 : SEGMENT_HEADER_BYTES + 12] = b"\xff\xff\xff\xff"

    assert scan_segment(bytes(data)).entries == []


@settings(max_examples=100, deadline=None)
@given(
    groups=st.lists(
        st.lists(st.binary(max_size=40), min_size=1, max_size=3), min_size=1, max_size=4
    ),
    junk=st.binary(max_size=50),
    data=st.data(),
)
def test_what_is_read_is_what_was_written(groups, junk, data):
    index, written = 5, []
    for group in groups:
        written.append([entry(index + it, payload) for it, payload in enumerate(group)])
        index += len(group)
    whole = bytearray(segment(*written))
    position = data.draw(st.integers(SEGMENT_HEADER_BYTES, len(whole)))
    whole[position : position + len(junk)] = junk
    try:
        found = scan_segment(bytes(whole)).entries
    except MetadataLogCorruptError:
        return
    flat = [it for group in written for it in group]
    assert found == flat[: len(found)]
    last_group_at = len(segment(*written[:-1]))
    if position + len(junk) <= last_group_at:
        assert found == flat, "an intact group proves those before it"
