"""Batches of equal records, which are checked by columns, against the walk over their records."""

import random
from collections.abc import Iterator

import pytest

from headrace.protocol.records.batch import HEADER_BYTES, encode_header, parse_header
from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from headrace.protocol.records.runs import facts_of_equal
from headrace.protocol.records.walk import StructureWalk

COUNT = 8


def equal(key: bytes | None, value_bytes: int, count: int = COUNT) -> bytearray:
    records = [Record(it, 1_000 + it // 3, key, bytes(value_bytes)) for it in range(count)]
    return encode_batch(records, BatchOptions())


def agrees(batch: bytearray) -> bool:
    """Whether the batch was taken; if so, the walk must have found the same."""
    view = memoryview(batch)
    header = parse_header(view)
    found = facts_of_equal(view, header.records_count)
    if found is None:
        return False
    walk = StructureWalk(header, view, 1 << 20, 1_000)
    assert walk.is_done_at_once()
    assert (found.newest_delta_ms, found.lacks_key) == (walk.newest_delta_ms, walk.lacks_key)
    assert found.oldest_delta_ms == walk.oldest_delta_ms
    return True


@pytest.mark.parametrize("key", [None, b"", b"key"])
@pytest.mark.parametrize("value_bytes", [0, 1, 60, 63, 64, 1_024, 8_000])
def test_equal_records_are_taken(key: bytes | None, value_bytes: int) -> None:
    assert agrees(equal(key, value_bytes))


def test_others_are_left_to_the_walk() -> None:
    assert not agrees(equal(None, 10, COUNT - 1))
    assert not agrees(equal(None, 10, 65))
    assert not agrees(equal(None, 9_000))
    view = memoryview(equal(None, 10))
    assert facts_of_equal(view[:-1], COUNT) is None
    assert facts_of_equal(view, 2 * COUNT) is None


def changed(good: bytearray) -> Iterator[bytearray]:
    """One byte of the records, or the same byte of all of them."""
    size = (len(good) - HEADER_BYTES) // COUNT
    for place in range(HEADER_BYTES, len(good)):
        for change in (1, 2, 0x7F, 0x80, 0xFF):
            bad = bytearray(good)
            bad[place] ^= change
            yield bad
    chance = random.Random(1)
    for _ in range(3_000):
        bad = bytearray(good)
        for _ in range(chance.randint(1, 3)):
            place = HEADER_BYTES + chance.choice((*range(8), size - 1)) % size
            bad[place::size] = bytes((chance.randrange(0x100),)) * COUNT
        yield bad


@pytest.mark.parametrize("key", [None, b"k"])
@pytest.mark.parametrize("value_bytes", [1, 62, 100])
def test_whatever_is_changed_what_is_taken_is_right(key: bytes | None, value_bytes: int) -> None:
    taken = [agrees(it) for it in changed(equal(key, value_bytes))]
    assert 0 < sum(taken) < len(taken), "contents may change, lengths may not"


def test_any_offset_is_compared_and_any_time_counts() -> None:
    good = equal(None, 10)
    size = (len(good) - HEADER_BYTES) // COUNT
    for number in range(COUNT):
        offset_at = HEADER_BYTES + number * size + 3
        swapped = bytearray(good)
        swapped[offset_at] += 2
        assert not agrees(swapped)
        late = bytearray(good)
        late[offset_at - 1] = 0x7E
        assert agrees(late)
        header = parse_header(memoryview(late))
        found = facts_of_equal(memoryview(encode_header(header, late[HEADER_BYTES:])), COUNT)
        assert found is not None
        assert found.newest_delta_ms == 63
