from contextlib import suppress
from uuid import UUID

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.metadata.errors import MetadataFormatError
from headrace.metadata.levels import UNTOLD, LevelRange
from headrace.metadata.rpc import frames
from headrace.metadata.rpc.frames import (
    Answer,
    decode_answer,
    decode_correlation,
    decode_request,
    encode_answer,
    encode_request,
)
from headrace.metadata.rpc.loads import Loads, PartitionLoad, TrafficRates
from headrace.metadata.rpc.requests import (
    BrokerGoal,
    FetchEntries,
    FetchSnapshot,
    Heartbeat,
    RegisterBroker,
    Relay,
)
from headrace.metadata.rpc.responses import Done, HeartbeatAnswer
from headrace.protocol.errors import ErrorCode
from tests.unit.metadata.pure_controller import opening

LOADS = Loads((PartitionLoad(6, TrafficRates(7, 8, 9)),), 1, TrafficRates(2, 3, 4))
HEARTBEAT = Heartbeat(1, 2, 3, BrokerGoal.SERVE, 4, LevelRange(1, 2), LOADS, 10, False)
GOLDEN_REQUEST = bytes.fromhex(
    "01 0000000000000007 9a 02 01 02 03 01 04 92 01 02 93 91 92 06 93 07 08 09 01 93 02 03 04 0a c2"
)
GOLDEN_ANSWER = bytes.fromhex("01 0000000000000007 95 00 c0 05 92 03 c2 c0")
HEADER_BYTES = 9
ANSWER = Answer(ErrorCode.NONE, None, 5, HeartbeatAnswer(fenced=False))


def test_golden_frames():
    assert encode_request(7, HEARTBEAT) == GOLDEN_REQUEST
    assert decode_correlation(GOLDEN_REQUEST) == 7
    assert decode_request(GOLDEN_REQUEST).request == HEARTBEAT
    assert encode_answer(7, ANSWER) == GOLDEN_ANSWER
    assert decode_answer(GOLDEN_ANSWER, 7) == ANSWER


def test_fields_at_the_end_may_be_missing_or_unknown():
    """Brokers and controllers of other versions."""
    older = bytes.fromhex("01 0000000000000007 95 02 01 02 03 01")
    assert decode_request(older).request == Heartbeat(1, 2, 3, BrokerGoal.SERVE, -1)
    newer = bytes.fromhex("01 0000000000000007 9b 02 01 02 03 01 04 92 01 02 c0 06 c2 05")
    expected = Heartbeat(1, 2, 3, BrokerGoal.SERVE, 4, LevelRange(1, 2), None, 6, False)
    assert decode_request(newer).request == expected


PROOF = bytes(range(16))
GOLDEN_PROOF = bytes.fromhex("d801") + PROOF


def test_a_proof_is_behind_everything_that_the_sender_knows():
    frame = encode_request(7, HEARTBEAT, PROOF)
    assert frame == GOLDEN_REQUEST.replace(b"\x9a", b"\x9b", 1) + GOLDEN_PROOF
    assert decode_request(frame) == (HEARTBEAT, PROOF)
    # Of a sender that knows fewer fields: it is in the place of one.
    older = bytes.fromhex("01 0000000000000007 96 02 01 02 03 01") + GOLDEN_PROOF
    assert decode_request(older) == (Heartbeat(1, 2, 3, BrokerGoal.SERVE), PROOF)
    newer = bytes.fromhex("01 0000000000000007 9c 02 01 02 03 01 04 92 01 02 c0 06 c2 05")
    expected = Heartbeat(1, 2, 3, BrokerGoal.SERVE, 4, LevelRange(1, 2), None, 6, False)
    assert decode_request(newer + GOLDEN_PROOF) == (expected, PROOF)


def test_bytes_that_look_like_a_proof_are_none():
    for value in (GOLDEN_PROOF, b"x" + GOLDEN_PROOF):
        body = msgspec.msgpack.encode([65, value])
        assert body.endswith(GOLDEN_PROOF)
        assert decode_request(GOLDEN_REQUEST[:9] + body) == (Relay(value), None)


def test_the_first_release_ignores_a_proof():
    class Heartbeat4(msgspec.Struct, array_like=True, tag=2):
        node_id: int
        node_epoch: int
        applied_index: int
        goal: BrokerGoal

    body = encode_request(7, HEARTBEAT, PROOF)[9:]
    assert msgspec.msgpack.decode(body, type=Heartbeat4) == Heartbeat4(1, 2, 3, BrokerGoal.SERVE)


@pytest.mark.parametrize(
    ("told", "request_"),
    [
        ("95 02 01 02 03 01", Heartbeat(1, 2, 3, BrokerGoal.SERVE)),
        ("94 32 01 02 03", FetchEntries(1, 2, 3)),
        ("94 33 01 02 03", FetchSnapshot(1, 2, 3)),
        (
            "96 01 a0 01 c410" + bytes(16).hex() + "90 a0",
            RegisterBroker("", 1, UUID(int=0), (), ""),
        ),
    ],
    ids=lambda it: type(it).__name__,
)
def test_a_node_that_tells_no_levels_reads_the_first_one_only(told, request_):
    assert decode_request(bytes.fromhex("01 0000000000000007" + told)).request == request_
    assert request_.reads == UNTOLD == LevelRange(1, 1)


def test_an_error_comes_with_its_message():
    answer = Answer(ErrorCode.STALE_BROKER_EPOCH, "over", -1, None)

    assert decode_answer(encode_answer(1, answer), 1) == answer


def test_an_answer_to_another_request_is_refused():
    with pytest.raises(
        MetadataFormatError, match="answer to request 8 has the number of request 7"
    ):
        decode_answer(GOLDEN_ANSWER, 8)


@pytest.mark.parametrize(
    "answer",
    [Answer(ErrorCode.NONE, None, 5, None), Answer(ErrorCode.INVALID_REQUEST, "", 5, Done())],
)
def test_an_answer_has_either_an_error_or_a_body(answer):
    with pytest.raises(MetadataFormatError):
        decode_answer(encode_answer(1, answer), 1)


def test_an_unknown_error_code_is_refused():
    frame = GOLDEN_ANSWER[:9] + msgspec.msgpack.encode([9_999, "x", 0, None])

    with pytest.raises(MetadataFormatError):
        decode_answer(frame, 7)


def test_frames_cut_off_anywhere_are_refused():
    for length in range(len(GOLDEN_REQUEST)):
        decode = decode_correlation if length <= HEADER_BYTES else decode_request
        with pytest.raises(MetadataFormatError):
            decode(GOLDEN_REQUEST[:length])
    for length in range(len(GOLDEN_ANSWER)):
        with pytest.raises(MetadataFormatError):
            decode_answer(GOLDEN_ANSWER[:length], 7)


def test_a_later_version_is_read_as_this_one():
    assert decode_correlation(b"\x02" + GOLDEN_REQUEST[1:]) == decode_correlation(GOLDEN_REQUEST)
    assert decode_answer(b"\x02" + GOLDEN_ANSWER[1:], 7) == decode_answer(GOLDEN_ANSWER, 7)
    with pytest.raises(MetadataFormatError, match="version 0"):
        decode_correlation(b"\x00" + GOLDEN_REQUEST[1:])


def test_frames_are_bounded_in_both_directions(monkeypatch):
    monkeypatch.setattr(frames, "MAX_FRAME_BYTES", 20)

    with pytest.raises(MetadataFormatError):
        decode_correlation(bytes([1]) + bytes(20))
    with pytest.raises(MetadataFormatError):
        encode_answer(1, Answer(ErrorCode.INVALID_REQUEST, "x" * 30, 0, None))
    monkeypatch.setattr(frames, "MAX_REQUEST_BYTES", 5)
    with pytest.raises(MetadataFormatError):
        encode_request(7, HEARTBEAT)


@pytest.mark.parametrize(
    "fields",
    [
        [20, -1, 1, 1, 1],
        [20, 1, 2**63, 1, 1],
        [20, 1, -2, 1, 1],
        [20, 1, "1", 1, 1],
        [20, 1, 1, 1],
        [99, 1],
        [],
    ],
)
def test_fields_out_of_range_are_refused(fields):
    with pytest.raises(MetadataFormatError):
        decode_request(GOLDEN_REQUEST[:9] + msgspec.msgpack.encode(fields))


@settings(deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_are_a_request_or_an_error(junk):
    with suppress(MetadataFormatError):
        decode_request(GOLDEN_REQUEST[:9] + junk)


@settings(deadline=None)
@given(
    st.integers(0, 2**64 - 1),
    st.builds(
        opening,
        st.integers(0, 2**31 - 1),
        st.integers(-1, 2**63 - 1),
        st.integers(-1, 2**63 - 1),
        st.integers(-1, 2**63 - 1),
    )
    | st.builds(
        FetchEntries,
        st.integers(-1, 2**63 - 1),
        st.integers(0, 2**31 - 1),
        st.integers(0, 2**31 - 1),
    ),
)
def test_requests_round_trip(correlation, request):
    frame = encode_request(correlation, request)

    assert decode_correlation(frame) == correlation
    assert decode_request(frame).request == request
