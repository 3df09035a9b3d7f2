"""Parts of a large upload: few, all of the object in order, and read step by step, again if need be."""

import asyncio
import random
from io import SEEK_END

import pytest

from headrace.storage.object_store import upload_parts
from headrace.storage.object_store.upload_parts import (
    MAX_PART_BYTES,
    AbandonedError,
    PartBody,
    cut,
    cut_stream,
    part_bytes_for,
)

MIB = 1024 * 1024


@pytest.mark.parametrize(
    ("size", "least", "expected"),
    [
        (65 * MIB, 64 * MIB, 64 * MIB),
        (256 * MIB, 64 * MIB, 64 * MIB),
        (512 * MIB, 64 * MIB, 128 * MIB),
        (512 * MIB + 1, 64 * MIB, 128 * MIB + 1),
        (100 * MAX_PART_BYTES, 64 * MIB, MAX_PART_BYTES),
    ],
)
def test_an_object_has_four_parts_unless_they_were_too_small_or_too_large(size, least, expected):
    assert part_bytes_for(size, least) == expected


@pytest.mark.parametrize("seed", range(20))
def test_parts_hold_everything_in_order_and_all_but_the_last_have_the_size(seed):
    rng = random.Random(seed)
    buffers = [rng.randbytes(rng.choice([0, 1, 7, 100, 350])) for _ in range(rng.randrange(30))]
    part_bytes = rng.randrange(1, 200)
    parts = [b"".join(part) for part in cut(buffers, part_bytes)]
    assert b"".join(parts) == b"".join(buffers)
    assert all(len(part) == part_bytes for part in parts[:-1])
    assert all(0 < len(part) <= part_bytes for part in parts)

    async def chunks():
        at = 0
        while at < len(buffers):
            end = at + rng.randrange(4)
            yield buffers[at:end]
            at = end

    async def streamed():
        return [b"".join(part) async for part in cut_stream(chunks(), part_bytes)]

    assert asyncio.run(streamed()) == parts, "in chunks as in one"


def test_what_lies_within_a_part_is_not_copied():
    inner, across = b"a" * 10, b"b" * 10
    first, second = cut([inner, across], 15)
    assert first[0] is inner
    assert first[1].obj is across
    assert second[0].obj is across


def read_all(body):
    steps = []
    while step := body.read(16_384):
        steps.append(step)
    return steps


def test_a_body_is_read_by_steps_and_again_from_its_beginning(monkeypatch):
    monkeypatch.setattr(upload_parts, "STEP_BYTES", 10)
    content = random.Random(1).randbytes(100)
    body = PartBody([content[at : at + 4] for at in range(0, 100, 4)])
    for _ in range(2):
        assert body.tell() == 0
        steps = read_all(body)
        assert b"".join(steps) == content
        assert max(map(len, steps)) == 12
        assert body.tell() == 100
        assert body.seek(0) == 0
    assert len(body) == 100
    assert body.seek(0, SEEK_END) == 100
    assert body.read() == b""


def test_a_body_goes_nowhere_else():
    with pytest.raises(ValueError, match="cannot seek"):
        PartBody([b"abc"]).seek(1)


def test_an_abandoned_body_ends_the_thread_that_sends_it():
    body = PartBody([b"abc"])
    body.abandon()
    with pytest.raises(AbandonedError):
        body.read()
