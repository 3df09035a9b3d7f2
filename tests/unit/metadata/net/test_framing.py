from contextlib import suppress
from uuid import UUID

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.metadata.errors import MetadataFormatError
from headrace.metadata.net import framing
from headrace.metadata.net.framing import (
    MAX_BODY_BYTES,
    MAX_HELLO_BYTES,
    FrameReader,
    Hello,
    Kind,
    Numbered,
    Party,
    decode_hello,
    decode_message,
    decode_numbered,
    encode_hello,
    encode_message,
    encode_numbered,
)
from headrace.metadata.raft.messages import (
    AppendRequest,
    AppendResponse,
    Disk,
    SnapshotOffer,
    TimeoutNow,
    VoteRequest,
    VoteResponse,
)
from headrace.metadata.records.entry import LogEntry

DIRECTORY = UUID(int=0x0102030405060708090A0B0C0D0E0F10)
HELLO = Hello(Kind.PEER, Party("abc", 7, DIRECTORY))
GOLDEN_HELLO = bytes.fromhex(
    "0000001f 4852434e 01 02 00000007 0102030405060708090a0b0c0d0e0f10 0003 616263"
)
GOLDEN_NUMBERED = bytes.fromhex("0000000a 0000000000000009 ffee")
GOLDEN_BEAT = bytes.fromhex("00000008 0000000000000000")
HEAD = {"source": 1, "target": 2, "term": 3, "source_directory": DIRECTORY}
HEAD_HEX = "01 02 03 c4 10 0102030405060708090a0b0c0d0e0f10"
DISKS = (Disk(UUID(int=7), 3, 4, 5),)
DISKS_HEX = "91 94 c4 10" + "00" * 15 + "07 03 04 05"
GOLDEN_MESSAGES = [
    (
        VoteRequest(
            **HEAD,
            pre=True,
            last_index=4,
            last_term=5,
            target_directory=UUID(int=0),
            transfer=False,
            disks=DISKS,
        ),
        "9b 01" + HEAD_HEX + "c3 04 05 c4 10" + "00" * 16 + "c2" + DISKS_HEX,
    ),
    (
        VoteResponse(**HEAD, pre=False, granted=True, disks=DISKS),
        "98 02" + HEAD_HEX + "c2 c3" + DISKS_HEX,
    ),
    (
        AppendRequest(
            **HEAD,
            previous_index=4,
            previous_term=-1,
            entries=(LogEntry(5, 3, b"ab"),),
            commit_index=4,
            round=6,
            disks=DISKS,
        ),
        "9b 03" + HEAD_HEX + "04 ff 91 93 05 03 c4 02 6162 04 06" + DISKS_HEX,
    ),
    (
        AppendResponse(
            **HEAD,
            success=False,
            match_index=-1,
            conflict_term=2,
            conflict_index=3,
            round=6,
            fetching_snapshot=False,
            disks=DISKS,
        ),
        "9c 04" + HEAD_HEX + "c2 ff 02 03 06 c2" + DISKS_HEX,
    ),
    (
        SnapshotOffer(**HEAD, snapshot_index=4, snapshot_term=5, round=6, disks=DISKS),
        "99 05" + HEAD_HEX + "04 05 06" + DISKS_HEX,
    ),
    (TimeoutNow(**HEAD), "95 06" + HEAD_HEX),
]


def body_of(frame):
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    return frame[4:]


def test_golden_hello():
    assert encode_hello(HELLO) == GOLDEN_HELLO
    assert decode_hello(body_of(GOLDEN_HELLO)) == HELLO


def test_golden_numbered_frames():
    assert encode_numbered(9, b"\xff\xee") == GOLDEN_NUMBERED
    assert decode_numbered(body_of(GOLDEN_NUMBERED)) == Numbered(9, b"\xff\xee")
    assert encode_numbered(0, b"") == GOLDEN_BEAT
    assert decode_numbered(body_of(GOLDEN_BEAT)) == Numbered(0, b"")


@pytest.mark.parametrize(("message", "golden"), GOLDEN_MESSAGES, ids=lambda it: type(it).__name__)
def test_golden_messages(message, golden):
    frame = encode_message(message)

    assert body_of(frame) == bytes.fromhex(golden)
    assert decode_message(bytes.fromhex(golden)) == message


@pytest.mark.parametrize(
    ("message", "golden"), GOLDEN_MESSAGES[:-1], ids=lambda it: type(it).__name__
)
def test_a_version_that_tells_nothing_of_disks(message, golden):
    """The array is one shorter; its own decoder ignores what is longer."""
    shorter = bytes.fromhex(golden.removesuffix(DISKS_HEX))
    body = bytes([shorter[0] - 1]) + shorter[1:]
    assert decode_message(body) == msgspec.structs.replace(message, disks=())


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "does not begin with a hello"),
        (b"GET / HTTP/1.1\r\nHost: controller", "does not begin with a hello"),
        (body_of(GOLDEN_HELLO)[:27], "does not begin with a hello"),
        (b"HRCN\x00" + body_of(GOLDEN_HELLO)[5:], "version 0, not 1 or later"),
        (b"HRCN\x02" + body_of(GOLDEN_HELLO)[5:-1], "has 30 bytes, not 31"),
        (b"HRCN\x01\x07" + body_of(GOLDEN_HELLO)[6:], "cannot be read"),
        (body_of(GOLDEN_HELLO)[:-1], "has 30 bytes, not 31"),
        (body_of(GOLDEN_HELLO) + b"d", "has 32 bytes, not 31"),
        (body_of(GOLDEN_HELLO)[:-3] + b"\xff\xff\xff", "cannot be read"),
    ],
)
def test_a_hello_is_read_strictly(body, reason):
    with pytest.raises(MetadataFormatError, match=reason):
        decode_hello(body)


def test_the_hello_of_a_later_version_is_read_as_far_as_it_is_known():
    later = b"HRCN\x02" + body_of(GOLDEN_HELLO)[5:] + b"more"
    assert decode_hello(later) == decode_hello(body_of(GOLDEN_HELLO))


@pytest.mark.parametrize("body", [b"", bytes(7), bytes(9), (1).to_bytes(8, "big")])
def test_a_request_has_a_number_and_a_payload_and_a_beat_neither(body):
    with pytest.raises(MetadataFormatError):
        decode_numbered(body)


@pytest.mark.parametrize("message", [it for it, _ in GOLDEN_MESSAGES], ids=repr)
def test_a_message_with_something_missing_or_behind_it_is_refused(message):
    body = body_of(encode_message(message))

    for cut in range(len(body)):
        with pytest.raises(MetadataFormatError):
            decode_message(body[:cut])
    with pytest.raises(MetadataFormatError):
        decode_message(body + b"\x00")


@given(
    st.one_of(
        st.binary(max_size=80),
        st.recursive(
            st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.binary(max_size=16),
            lambda inner: st.lists(inner, max_size=11),
            max_leaves=20,
        ).map(msgspec.msgpack.encode),
    )
)
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_something_or_the_declared_error(data):
    for decode, encode in (
        (decode_hello, encode_hello),
        (decode_message, encode_message),
        (decode_numbered, lambda it: encode_numbered(*it)),
    ):
        with suppress(MetadataFormatError):
            found = decode(data)
            assert decode(body_of(encode(found))) == found


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_a_message_with_flipped_bytes_is_a_message_or_the_declared_error(data):
    message = data.draw(st.sampled_from([it for it, _ in GOLDEN_MESSAGES]))
    body = bytearray(body_of(encode_message(message)))
    for _ in range(data.draw(st.integers(1, 3))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    with suppress(MetadataFormatError):
        decode_message(bytes(body))


@given(st.lists(st.binary(max_size=40), max_size=8), st.lists(st.integers(1, 30), max_size=30))
@settings(max_examples=200, deadline=None)
def test_frames_come_out_as_they_went_in_however_they_are_cut(bodies, pieces):
    stream = b"".join(len(body).to_bytes(4, "big") + body for body in bodies)
    reader = FrameReader()
    reader.expect_frames(MAX_BODY_BYTES)
    found = []
    for length in [*pieces, len(stream)]:
        reader.feed(stream[:length])
        stream = stream[length:]
        while (body := reader.next_body()) is not None:
            found.append(body)
    assert found == bodies
    assert reader.pending_bytes == 0


def test_a_length_out_of_bounds_is_refused_before_anything_is_read_for_it():
    reader = FrameReader()
    reader.feed((MAX_HELLO_BYTES + 1).to_bytes(4, "big"))
    with pytest.raises(MetadataFormatError, match="allowed"):
        reader.next_body()

    reader = FrameReader()
    reader.expect_frames(MAX_BODY_BYTES)
    reader.feed(MAX_BODY_BYTES.to_bytes(4, "big"))
    assert reader.next_length() == MAX_BODY_BYTES
    assert reader.next_body() is None
    reader = FrameReader()
    reader.expect_frames(MAX_BODY_BYTES)
    reader.feed((MAX_BODY_BYTES + 1).to_bytes(4, "big"))
    with pytest.raises(MetadataFormatError, match="allowed"):
        reader.next_length()


def test_a_frame_too_long_is_not_encoded(monkeypatch):
    monkeypatch.setattr(framing, "MAX_BODY_BYTES", 10)

    assert encode_numbered(1, b"ab")
    with pytest.raises(MetadataFormatError):
        encode_numbered(1, b"abc")
