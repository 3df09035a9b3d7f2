"""Frame sizes and their limits."""

import pytest

from headrace.protocol.errors import ProtocolError
from headrace.protocol.frames import SIZE, frame, parse_frame_size


def test_size_goes_before_the_payload() -> None:
    assert frame(b"abc") == b"\x00\x00\x00\x03abc"
    assert parse_frame_size(memoryview(b"?" + frame(b"abc")), 1, 3) == 3


@pytest.mark.parametrize("encoded", ["ffffffff", "80000000", "00000065", "7fffffff"])
def test_size_outside_of_the_limits_is_refused(encoded: str) -> None:
    with pytest.raises(ProtocolError, match="100"):
        parse_frame_size(memoryview(bytes.fromhex(encoded)), 0, 100)


def test_limits_are_inclusive() -> None:
    assert parse_frame_size(memoryview(SIZE.pack(100)), 0, 100) == 100
    assert parse_frame_size(memoryview(SIZE.pack(0)), 0, 100) == 0
