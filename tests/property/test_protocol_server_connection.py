"""Any split of the input gives the same frames, and kept views never change."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.protocol.errors import ProtocolError
from headrace.protocol.frames import frame
from headrace.protocol.headers import RequestHeader, encode_request_header
from headrace.protocol.server_connection import ClaimedMemory, Frame, ServerConnection

HEADERS = st.builds(
    RequestHeader,
    st.sampled_from([0, 1, 3, 18, 20_000]),
    st.integers(0, 20),
    st.integers(-(2**31), 2**31 - 1),
    st.none() | st.text(max_size=20),
)
# Sizes on either side of every buffer size that is used below.
BODY_BYTES = st.sampled_from([0, 1, 50, 200, 300, 1_000, 5_000, 20_000])
REQUESTS = st.lists(st.tuples(HEADERS, BODY_BYTES), max_size=12)
MAX_READ_BYTES = st.sampled_from([20, 300, 4_000, 1 << 20])
RECEIVE_BUFFER_BYTES = st.sampled_from([256, 1_024, 16_384])


def claimed_memory(rng: random.Random) -> ClaimedMemory:
    return ClaimedMemory(rng.choice((0, 10_000, 1 << 20)))


def feed(
    server: ServerConnection, data: bytes, rng: random.Random, max_read_bytes: int
) -> list[Frame]:
    frames: list[Frame] = []
    position = 0
    while position < len(data):
        room = server.get_buffer(-1)
        assert len(room) > 0
        count = min(len(room), len(data) - position, rng.randint(1, max_read_bytes))
        room[:count] = data[position : position + count]
        del room
        position += count
        frames += server.buffer_updated(count)
    return frames


@given(REQUESTS, MAX_READ_BYTES, RECEIVE_BUFFER_BYTES, st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_any_split_gives_the_same_frames(
    requests: list[tuple[RequestHeader, int]],
    max_read_bytes: int,
    receive_buffer_bytes: int,
    seed: int,
) -> None:
    rng = random.Random(seed)
    expected = [(header, rng.randbytes(size)) for header, size in requests]
    data = b"".join(frame(encode_request_header(header) + body) for header, body in expected)
    server = ServerConnection(receive_buffer_bytes, 1 << 20, claimed_memory(rng))
    frames = feed(server, data, rng, max_read_bytes)
    # All of them were kept until here: no later read has touched them.
    assert [(received.header, bytes(received.body)) for received in frames] == expected


@given(REQUESTS, MAX_READ_BYTES, RECEIVE_BUFFER_BYTES, st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_reused_buffers_lose_nothing(
    requests: list[tuple[RequestHeader, int]],
    max_read_bytes: int,
    receive_buffer_bytes: int,
    seed: int,
) -> None:
    rng = random.Random(seed)
    expected = [(header, rng.randbytes(size)) for header, size in requests]
    data = b"".join(frame(encode_request_header(header) + body) for header, body in expected)
    server = ServerConnection(receive_buffer_bytes, 1 << 20, claimed_memory(rng))
    found = []
    while data:
        part, data = data[:receive_buffer_bytes], data[receive_buffer_bytes:]
        # Nothing is kept from one turn to the next, so that buffers are used again.
        found += [(f.header, bytes(f.body)) for f in feed(server, part, rng, max_read_bytes)]
    assert found == expected


@given(REQUESTS, MAX_READ_BYTES, RECEIVE_BUFFER_BYTES, st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_views_are_kept_or_dropped_in_any_order(
    requests: list[tuple[RequestHeader, int]],
    max_read_bytes: int,
    receive_buffer_bytes: int,
    seed: int,
) -> None:
    rng = random.Random(seed)
    server = ServerConnection(receive_buffer_bytes, 1 << 20, claimed_memory(rng))
    kept: list[tuple[memoryview, bytes]] = []
    for header, size in requests:
        body = rng.randbytes(size)
        data = frame(encode_request_header(header) + body)
        (received,) = feed(server, data, rng, max_read_bytes)
        assert (received.header, bytes(received.body)) == (header, body)
        if rng.random() < 0.5:
            kept.append((received.body[size // 2 :], body[size // 2 :]))
        del received
        if kept and rng.random() < 0.3:
            kept.pop(rng.randrange(len(kept)))
        assert all(view == copy for view, copy in kept)


@given(REQUESTS, st.binary(min_size=1, max_size=40), MAX_READ_BYTES, st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_frames_before_garbage_do_not_depend_on_the_split(
    requests: list[tuple[RequestHeader, int]], garbage: bytes, max_read_bytes: int, seed: int
) -> None:
    data = b"".join(frame(encode_request_header(h) + bytes(size)) for h, size in requests)
    data += b"\xff\xff\xff" + garbage  # a negative size
    outcomes = []
    for reads in (max_read_bytes, 1 << 20):
        server = ServerConnection(4_096, 1 << 20, ClaimedMemory())
        rng = random.Random(seed)
        frames: list[Frame] = []
        position = 0
        try:
            while position < len(data):
                room = server.get_buffer(-1)
                count = min(len(room), len(data) - position, rng.randint(1, reads))
                room[:count] = data[position : position + count]
                del room
                position += count
                frames += server.buffer_updated(count)
        except ProtocolError:
            pass
        assert server.error is not None
        outcomes.append([(received.header, bytes(received.body)) for received in frames])
    assert outcomes[0] == outcomes[1]
    assert len(outcomes[0]) == len(requests)
