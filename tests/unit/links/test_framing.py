from contextlib import suppress
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.links import framing
from headrace.links.ends import Party
from headrace.links.errors import LinkFormatError
from headrace.links.framing import (
    MAX_BODY_BYTES,
    MAX_HELLO_BYTES,
    MAX_TEXT_BYTES,
    FrameReader,
    Hello,
    Numbered,
    decode_hello,
    decode_numbered,
    encode_hello,
    encode_numbered,
)

DIRECTORY = UUID(int=0x0102030405060708090A0B0C0D0E0F10)
HELLO = Hello(2, Party("abc", 7, DIRECTORY))
GOLDEN_HELLO = bytes.fromhex(
    "0000001f 4852434e 01 02 00000007 0102030405060708090a0b0c0d0e0f10 0003 616263"
)
GOLDEN_PROVEN = bytes.fromhex(
    "00000023 4852434e 02 02 00000007 0102030405060708090a0b0c0d0e0f10 0003 616263 0002 aabb"
)
GOLDEN_NUMBERED = bytes.fromhex("0000000a 0000000000000009 ffee")
GOLDEN_BEAT = bytes.fromhex("00000008 0000000000000000")


def body_of(frame):
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    return frame[4:]


def test_golden_hello():
    assert encode_hello(HELLO) == GOLDEN_HELLO
    assert decode_hello(body_of(GOLDEN_HELLO)) == HELLO


def test_golden_hello_with_a_proof():
    proven = HELLO._replace(proof=b"\xaa\xbb")
    assert encode_hello(proven) == GOLDEN_PROVEN
    assert decode_hello(body_of(GOLDEN_PROVEN)) == proven


def test_a_hello_too_long_is_not_encoded():
    longest = HELLO._replace(proof=bytes(MAX_TEXT_BYTES - len("abc") - 2))
    assert decode_hello(body_of(encode_hello(longest))) == longest
    with pytest.raises(LinkFormatError, match="too large"):
        encode_hello(longest._replace(proof=longest.proof + b"a"))


def test_golden_numbered_frames():
    assert encode_numbered(9, b"\xff\xee") == GOLDEN_NUMBERED
    assert decode_numbered(body_of(GOLDEN_NUMBERED)) == Numbered(9, b"\xff\xee")
    assert encode_numbered(0, b"") == GOLDEN_BEAT
    assert decode_numbered(body_of(GOLDEN_BEAT)) == Numbered(0, b"")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "does not begin with a hello"),
        (b"GET / HTTP/1.1\r\nHost: controller", "does not begin with a hello"),
        (body_of(GOLDEN_HELLO)[:27], "does not begin with a hello"),
        (b"HRCN\x00" + body_of(GOLDEN_HELLO)[5:], "version 0, not 1 or later"),
        (b"HRCN\x02" + body_of(GOLDEN_HELLO)[5:], "has 31 bytes, not 33"),
        (body_of(GOLDEN_PROVEN)[:-1], "has 34 bytes, not 35"),
        (body_of(GOLDEN_PROVEN) + b"d", "has 36 bytes, not 35"),
        (b"HRCN\x03" + body_of(GOLDEN_PROVEN)[5:-1], "has 34 bytes, not 35"),
        (body_of(GOLDEN_HELLO)[:-1], "has 30 bytes, not 31"),
        (body_of(GOLDEN_HELLO) + b"d", "has 32 bytes, not 31"),
        (body_of(GOLDEN_HELLO)[:-3] + b"\xff\xff\xff", "cannot be read"),
    ],
)
def test_a_hello_is_read_strictly(body, reason):
    with pytest.raises(LinkFormatError, match=reason):
        decode_hello(body)


def test_the_hello_of_a_later_version_is_read_as_far_as_it_is_known():
    later = b"HRCN\x03" + body_of(GOLDEN_PROVEN)[5:] + b"more"
    assert decode_hello(later) == decode_hello(body_of(GOLDEN_PROVEN))


@pytest.mark.parametrize("body", [b"", bytes(7), bytes(9), (1).to_bytes(8, "big")])
def test_a_request_has_a_number_and_a_payload_and_a_beat_neither(body):
    with pytest.raises(LinkFormatError):
        decode_numbered(body)


@given(st.binary(max_size=80))
@settings(max_examples=100, deadline=None)
def test_any_bytes_are_something_or_the_declared_error(data):
    for decode, encode in (
        (decode_hello, encode_hello),
        (decode_numbered, lambda it: encode_numbered(*it)),
    ):
        with suppress(LinkFormatError):
            found = decode(data)
            assert decode(body_of(encode(found))) == found


@given(st.lists(st.binary(max_size=40), max_size=8), st.lists(st.integers(1, 30), max_size=30))
@settings(max_examples=80, deadline=None)
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
    with pytest.raises(LinkFormatError, match="allowed"):
        reader.next_body()

    reader = FrameReader()
    reader.expect_frames(MAX_BODY_BYTES)
    reader.feed(MAX_BODY_BYTES.to_bytes(4, "big"))
    assert reader.next_length() == MAX_BODY_BYTES
    assert reader.next_body() is None
    reader = FrameReader()
    reader.expect_frames(MAX_BODY_BYTES)
    reader.feed((MAX_BODY_BYTES + 1).to_bytes(4, "big"))
    with pytest.raises(LinkFormatError, match="allowed"):
        reader.next_length()


def test_a_frame_too_long_is_not_encoded(monkeypatch):
    monkeypatch.setattr(framing, "MAX_BODY_BYTES", 10)

    assert encode_numbered(1, b"ab")
    with pytest.raises(LinkFormatError):
        encode_numbered(1, b"abc")
