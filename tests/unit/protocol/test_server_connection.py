"""Frames out of bytes: order, limits, and that no byte of a kept view ever changes.

That any split of the input gives the same frames is in
tests/property/test_protocol_server_connection.py.
"""

import mmap

import pytest

from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ProtocolError
from headrace.protocol.frames import SIZE, frame
from headrace.protocol.headers import RequestHeader, encode_request_header
from headrace.protocol.server_connection import (
    CLAIM_BYTES,
    CLAIMED_AT_ONCE_BYTES,
    FIRST_BUFFER_BYTES,
    FRAMES_AT_ONCE,
    MAX_REQUEST_BYTES,
    PROVEN_BYTES,
    READ_BYTES,
    ClaimedMemory,
    Frame,
    ServerConnection,
)

KIB = 1 << 10
MIB = 1 << 20
HEADER = RequestHeader(ApiKey.METADATA, 9, 7, "client")


PRODUCE_KEY = ApiKey.PRODUCE.to_bytes(2, "big")


def request(body: bytes, header: RequestHeader = HEADER) -> bytes:
    return frame(encode_request_header(header) + body)


def connection(
    receive_buffer_bytes: int = 256 * KIB, claims: ClaimedMemory | None = None
) -> ServerConnection:
    return ServerConnection(
        receive_buffer_bytes, 100 * MIB, ClaimedMemory() if claims is None else claims
    )


def receive(server: ServerConnection, data: bytes) -> list[Frame]:
    """Do as a transport does: ask, write, tell."""
    frames: list[Frame] = []
    while data:
        room = server.get_buffer(-1)
        count = min(len(room), len(data))
        room[:count] = data[:count]
        del room
        frames += server.buffer_updated(count)
        while server.has_more:
            frames += server.next_frames()
        data = data[count:]
    return frames


def test_frames_of_one_read_come_in_order() -> None:
    headers = [HEADER._replace(correlation_id=number) for number in range(3)]
    frames = receive(connection(), b"".join(request(b"body", header) for header in headers))
    assert [frame.header for frame in frames] == headers
    assert [bytes(frame.body) for frame in frames] == [b"body"] * 3
    assert [frame.size_bytes for frame in frames] == [len(request(b"body")) - 4] * 3


def test_frames_of_one_read_are_given_some_at_a_time() -> None:
    count = 2 * FRAMES_AT_ONCE + 3
    data = b"".join(request(b"", HEADER._replace(correlation_id=it)) for it in range(count))
    incomplete = request(b"body")
    server = connection()
    while data:
        room = server.get_buffer()
        taken = min(len(room), len(data))
        room[:taken] = data[:taken]
        given = [server.buffer_updated(taken)]
        data = data[taken:]
        while server.has_more:
            given.append(server.next_frames())
        assert max(map(len, given)) <= FRAMES_AT_ONCE
        count -= sum(map(len, given))
    assert count == 0
    assert len(receive(server, incomplete)) == 1


def test_frame_comes_with_its_last_byte() -> None:
    server = connection()
    data = request(b"body")
    for byte in data[:-1]:
        assert receive(server, bytes([byte])) == []
    assert [bytes(frame.body) for frame in receive(server, data[-1:])] == [b"body"]


def test_body_is_writable() -> None:
    (received,) = receive(connection(), request(b"body"))
    received.body[:] = b"done"
    assert received.body == b"done"


@pytest.mark.parametrize("size", [-1, -(2**31), 100 * MIB + 1, 2**31 - 1])
def test_frame_size_outside_of_the_limits_ends_the_connection(size: int) -> None:
    server = connection()
    encoded = size.to_bytes(4, "big", signed=True)
    with pytest.raises(ProtocolError):
        receive(server, encoded)
    assert server.error is not None
    with pytest.raises(ProtocolError):
        server.get_buffer(-1)
    with pytest.raises(ProtocolError):
        server.buffer_updated(0)


def test_largest_frame_is_accepted() -> None:
    server = ServerConnection(1 * KIB, 2 * KIB, ClaimedMemory())
    header_bytes = len(encode_request_header(HEADER))
    (received,) = receive(server, request(bytes(2 * KIB - header_bytes)))
    assert received.size_bytes == 2 * KIB
    with pytest.raises(ProtocolError):
        receive(server, request(bytes(2 * KIB - header_bytes + 1)))


@pytest.mark.parametrize("at_once", [1, 7])
@pytest.mark.parametrize("api_key", [ApiKey.METADATA, ApiKey.OFFSET_COMMIT, 999])
def test_a_large_request_is_refused_as_soon_as_its_key_has_come(api_key: int, at_once: int) -> None:
    def begun(size: int) -> bytes:
        return SIZE.pack(size) + api_key.to_bytes(2, "big") + b"\0"

    def receive_slowly(server: ServerConnection, data: bytes) -> None:
        for start in range(0, len(data), at_once):
            assert receive(server, data[start : start + at_once]) == []

    receive_slowly(connection(), begun(MAX_REQUEST_BYTES))
    server = connection()
    with pytest.raises(ProtocolError, match="request with key"):
        receive_slowly(server, begun(MAX_REQUEST_BYTES + 1))
    assert server.error is not None


@pytest.mark.parametrize("api_key", [ApiKey.PRODUCE, ApiKey.FETCH])
def test_a_request_with_records_may_be_as_large_as_is_configured(api_key: int) -> None:
    server = connection()
    claimed = SIZE.pack(100 * MIB) + api_key.to_bytes(2, "big")
    for byte in claimed:
        assert receive(server, bytes([byte])) == []
    assert server.error is None


def test_malformed_header_ends_the_connection() -> None:
    for payload in (b"", b"\0\3\0\11\0\0\0"):
        with pytest.raises(ProtocolError):
            receive(connection(), frame(payload))
    with pytest.raises(ProtocolError):  # in a frame with a buffer of its own
        receive(connection(256), frame(b"\0\3\0\11\0\0\0\7\x7f\xff" + bytes(1 * KIB)))


def test_frames_before_a_malformed_one_are_not_lost() -> None:
    server = connection()
    (received,) = receive(server, request(b"body") + b"\xff\xff\xff\xff")
    assert received.body == b"body"
    assert server.error is not None
    with pytest.raises(ProtocolError):
        server.get_buffer(-1)


def test_kept_body_never_changes() -> None:
    server = connection(4 * KIB)
    kept = receive(server, request(b"first"))[0].body[1:3]
    for number in range(200):
        receive(server, request(bytes([number]) * 1_000))
    assert kept == b"ir"


def test_buffer_is_reused_when_nobody_looks_at_it() -> None:
    server = connection(4 * KIB)
    receive(server, request(bytes(4_000)))  # grows to its full size
    buffers = set()
    for _ in range(100):
        buffers.add(id(server.get_buffer(-1).obj))
        receive(server, request(bytes(900)))
    assert len(buffers) == 1


def test_another_buffer_takes_the_place_of_one_that_is_looked_at() -> None:
    server = connection(4 * KIB)
    kept = [receive(server, request(bytes([number]) * 3_000))[0].body for number in range(5)]
    assert [bytes(body) for body in kept] == [bytes([number]) * 3_000 for number in range(5)]
    assert len({id(body.obj) for body in kept}) == 5


def test_small_requests_take_a_small_buffer() -> None:
    server = connection(256 * KIB)
    for _ in range(1_000):
        receive(server, request(b"body"))
    assert len(server.get_buffer(-1).obj) == FIRST_BUFFER_BYTES


def test_buffer_grows_with_what_comes_at_once() -> None:
    server = connection(256 * KIB)
    receive(server, request(b"body") * 50_000)
    assert len(server.get_buffer(-1).obj) == 256 * KIB


def test_buffer_grows_to_a_frame_that_it_may_hold_as_it_comes() -> None:
    server = connection(256 * KIB)
    data = request(bytes(100 * KIB))
    assert receive(server, data[:100]) == []
    assert len(server.get_buffer(-1).obj) == FIRST_BUFFER_BYTES
    for rest in (data[100:], data):
        (received,) = receive(server, rest)
        assert len(received.body) == 100 * KIB
        del received
    assert len(server.get_buffer(-1).obj) == 256 * KIB


def test_nothing_is_allocated_before_something_is_read() -> None:
    server = connection(256 * KIB)
    assert len(server._buffer) == 0


def test_large_frame_is_read_straight_into_its_own_buffer() -> None:
    server = connection(16 * KIB, ClaimedMemory(1 * MIB - 1))
    data = request(bytes(1 * MIB))
    assert receive(server, data[: 16 * KIB]) == []
    assert len(server.get_buffer(-1).obj) == len(data) - 4
    own_buffer = server.get_buffer(-1).obj
    (received,) = receive(server, data[16 * KIB :])
    assert received.body.obj is own_buffer


def test_claims_of_all_connections_are_bounded() -> None:
    claims = ClaimedMemory(3 * MIB)
    data = request(bytes(1 * MIB))
    servers = [connection(claims=claims) for _ in range(5)]
    for server in servers:
        assert receive(server, data[: 1 * KIB]) == []
    sizes = [len(server.get_buffer(-1).obj) for server in servers]
    assert sizes == [len(data) - 4] * 3 + [CLAIM_BYTES] * 2
    assert claims.left_bytes < 1 * MIB
    (received,) = receive(servers[0], data[1 * KIB :])
    assert len(received.body) == 1 * MIB
    servers[1].close()
    servers[3].close()
    assert claims.left_bytes == 2 * MIB + 1 * KIB - len(data) + 1 * MIB
    for server in (servers[2], servers[4]):
        (received,) = receive(server, data[1 * KIB :])
        assert received.body == bytes(1 * MIB)
    assert claims.left_bytes == 3 * MIB


def test_no_connection_claims_much_at_once() -> None:
    """To clear 32 MiB would take 15 ms of a turn."""
    server = connection()
    receive(server, SIZE.pack(CLAIMED_AT_ONCE_BYTES) + PRODUCE_KEY)
    assert len(server.get_buffer(-1).obj) == CLAIMED_AT_ONCE_BYTES
    server = connection()
    receive(server, SIZE.pack(CLAIMED_AT_ONCE_BYTES + 1) + PRODUCE_KEY)
    assert len(server.get_buffer(-1).obj) == CLAIM_BYTES


def test_large_frame_beyond_all_claims_grows_with_what_has_come() -> None:
    server = connection(16 * KIB, ClaimedMemory(0))
    data = request(bytes(1 * MIB))
    assert receive(server, data[: 16 * KIB]) == []
    assert len(server.get_buffer(-1).obj) == 4 * (16 * KIB - 4)
    came = 256 * KIB
    assert receive(server, data[16 * KIB : came]) == []
    assert came < len(server.get_buffer(-1).obj) <= 4 * came
    assert receive(server, data[came : len(data) - 1]) == []
    own_buffer = server.get_buffer(-1).obj
    (received,) = receive(server, data[len(data) - 1 :])
    assert received.body.obj is own_buffer
    assert len(received.body) == 1 * MIB


def test_frames_behind_a_large_one_are_received() -> None:
    server = connection(16 * KIB)
    frames = receive(server, request(b"a") + request(bytes(1 * MIB)) + request(b"b") * 2)
    assert [len(frame.body) for frame in frames] == [1, 1 * MIB, 1, 1]


def test_claimed_size_is_not_allocated_before_bytes_come() -> None:
    server = connection(16 * KIB)
    claimed = 100 * MIB
    receive(server, SIZE.pack(claimed) + PRODUCE_KEY)
    received = len(PRODUCE_KEY)
    while received < 20 * MIB:
        room = server.get_buffer(-1)
        assert len(room) <= READ_BYTES  # one client must not keep the loop reading
        if received < PROVEN_BYTES:
            assert len(room.obj) <= max(CLAIM_BYTES, 4 * received)
        else:  # its pages take memory as they are written
            assert isinstance(room.obj, mmap.mmap)
        received += min(len(room), 1 * MIB)
        server.buffer_updated(min(len(room), 1 * MIB))
