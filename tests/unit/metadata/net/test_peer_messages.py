from contextlib import suppress
from uuid import UUID

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.links.errors import LinkFormatError
from headrace.metadata.net import peer_messages
from headrace.metadata.net.peer_messages import decode_message, encode_message
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


@pytest.mark.parametrize("message", [it for it, _ in GOLDEN_MESSAGES], ids=repr)
def test_a_message_with_something_missing_or_behind_it_is_refused(message):
    body = body_of(encode_message(message))

    for cut in range(len(body)):
        with pytest.raises(LinkFormatError):
            decode_message(body[:cut])
    with pytest.raises(LinkFormatError):
        decode_message(body + b"\x00")


@given(st.data())
@settings(max_examples=80, deadline=None)
def test_a_message_with_flipped_bytes_is_a_message_or_the_declared_error(data):
    message = data.draw(st.sampled_from([it for it, _ in GOLDEN_MESSAGES]))
    body = bytearray(body_of(encode_message(message)))
    for _ in range(data.draw(st.integers(1, 3))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    with suppress(LinkFormatError):
        decode_message(bytes(body))


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
@settings(max_examples=100, deadline=None)
def test_any_bytes_are_something_or_the_declared_error(data):
    with suppress(LinkFormatError):
        found = decode_message(data)
        assert decode_message(body_of(encode_message(found))) == found


def test_a_message_too_long_is_not_encoded(monkeypatch):
    message, _ = GOLDEN_MESSAGES[0]
    length = len(body_of(encode_message(message)))
    monkeypatch.setattr(peer_messages, "MAX_MESSAGE_BYTES", length)
    assert encode_message(message)
    monkeypatch.setattr(peer_messages, "MAX_MESSAGE_BYTES", length - 1)
    with pytest.raises(LinkFormatError, match="too large"):
        encode_message(message)
