"""Ways to damage valid bytes, chosen so that lengths and counts are hit often."""

import random

# Lengths that lie: negative, huge, just past a bound; as int16, int32 and varints.
_LIES = (
    b"\xff\xff",
    b"\x7f\xff",
    b"\xff\xff\xff\xff",
    b"\x7f\xff\xff\xff",
    b"\x80\x00\x00\x00",
    b"\x00\x04\x00\x01",
    b"\xff\xff\xff\xff\x0f",
    b"\xff\xff\xff\xff\x7f",
    b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80",
    b"\x00",
    b"\x01",
)


def mutate(rng: random.Random, data: bytes) -> bytes:
    """Return `data` with one to four faults."""
    damaged = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        _MUTATIONS[rng.randrange(len(_MUTATIONS))](rng, damaged)
    return bytes(damaged)


def _position(rng: random.Random, data: bytearray) -> int:
    return rng.randrange(len(data) + 1)


def _flip_bit(rng: random.Random, data: bytearray) -> None:
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _set_byte(rng: random.Random, data: bytearray) -> None:
    if data:
        data[rng.randrange(len(data))] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))


def _truncate(rng: random.Random, data: bytearray) -> None:
    del data[_position(rng, data) :]


def _delete(rng: random.Random, data: bytearray) -> None:
    start = _position(rng, data)
    del data[start : start + rng.randrange(1, 9)]


def _insert(rng: random.Random, data: bytearray) -> None:
    start = _position(rng, data)
    data[start:start] = rng.randbytes(rng.randrange(1, 9))


def _repeat(rng: random.Random, data: bytearray) -> None:
    start = _position(rng, data)
    data[start:start] = data[start : start + rng.randrange(1, 40)] * rng.choice((1, 2, 50))


def _lie(rng: random.Random, data: bytearray) -> None:
    start = _position(rng, data)
    lie = rng.choice(_LIES)
    data[start : start + len(lie)] = lie


_MUTATIONS = (_flip_bit, _set_byte, _truncate, _delete, _insert, _repeat, _lie, _lie)
