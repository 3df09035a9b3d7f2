"""Parts of a composed object: none too small but the last, everything once and in order."""

import random

import pytest

from headrace.storage.object_store import copy_parts
from headrace.storage.object_store.copy_parts import (
    MAX_PARTS,
    UploadedPart,
    cut_pieces,
    plan_parts,
    size_of,
)
from headrace.storage.ports import CopiedRange

LEAST = 100


def flat(parts):
    """The pieces of parts, adjacent ranges joined."""
    joined = []
    for part in parts:
        for piece in part.pieces if isinstance(part, UploadedPart) else (part,):
            last = joined[-1] if joined else None
            if (
                isinstance(piece, CopiedRange)
                and isinstance(last, CopiedRange)
                and (last.key, last.end) == (piece.key, piece.start)
            ):
                joined[-1] = CopiedRange(last.key, last.start, piece.end)
            else:
                joined.append(piece)
    return joined


def part_size(part):
    return sum(map(size_of, part.pieces)) if isinstance(part, UploadedPart) else size_of(part)


def plan(*pieces):
    return plan_parts(pieces, min_part_bytes=LEAST)


def test_large_ranges_are_copied_and_the_end_is_uploaded():
    a, b = CopiedRange("a", 0, 100), CopiedRange("b", 7, 700)
    assert plan(a, b, b"end") == [a, b, UploadedPart((b"end",))]


def test_a_small_range_takes_what_it_lacks_from_the_next():
    assert plan(CopiedRange("a", 0, 30), CopiedRange("b", 0, 500), b"end") == [
        UploadedPart((CopiedRange("a", 0, 30), CopiedRange("b", 0, 70))),
        CopiedRange("b", 70, 500),
        UploadedPart((b"end",)),
    ]


def test_a_range_whose_rest_would_be_too_small_is_uploaded_whole():
    assert plan(CopiedRange("a", 0, 30), CopiedRange("b", 0, 169), b"end") == [
        UploadedPart((CopiedRange("a", 0, 30), CopiedRange("b", 0, 169))),
        UploadedPart((b"end",)),
    ]


def test_a_huge_range_is_cut_evenly(monkeypatch):
    monkeypatch.setattr(copy_parts, "MAX_COPIED_PART_BYTES", 1000)
    assert plan(CopiedRange("a", 5, 2006)) == [
        CopiedRange("a", 5, 672),
        CopiedRange("a", 672, 1339),
        CopiedRange("a", 1339, 2006),
    ]


def test_what_s3_does_not_allow_never_comes_out(monkeypatch):
    monkeypatch.setattr(copy_parts, "MAX_COPIED_PART_BYTES", 1000)
    rng = random.Random(3)
    for _ in range(2_000):
        pieces = []
        for n in range(rng.randrange(1, 12)):
            size = rng.choice([1, 30, 99, 100, 101, 150, 199, 200, 201, 5_000])
            start = rng.randrange(50)
            of_range = rng.random() < 0.8
            pieces.append(CopiedRange(f"{n}", start, start + size) if of_range else bytes(size))
        parts = plan(*pieces)
        assert flat(parts) == pieces
        assert all(part_size(part) >= LEAST for part in parts[:-1])
        for part in parts:
            if isinstance(part, UploadedPart):
                read = [it for it in part.pieces if isinstance(it, CopiedRange)]
                assert sum(map(size_of, read)) < 3 * LEAST
            else:
                assert LEAST <= part_size(part) <= 1000


@pytest.mark.parametrize(
    "pieces", [[], [b""], [CopiedRange("a", n * 200, n * 200 + 200) for n in range(MAX_PARTS + 1)]]
)
def test_what_is_no_upload(pieces):
    with pytest.raises(ValueError, match="parts"):
        plan(*pieces)


@pytest.mark.parametrize("seed", range(30))
def test_steps_have_everything_once_and_in_order(seed):
    rng = random.Random(seed)
    old = rng.randbytes(4000)
    pieces = []
    for _ in range(rng.randrange(8)):
        start, end = sorted(rng.choices(range(len(old)), k=2))
        pieces.append(rng.choice((CopiedRange("old", start, end), old[start:end])))

    def content(piece):
        return old[piece.start : piece.end] if isinstance(piece, CopiedRange) else piece

    expected = b"".join(map(content, pieces))
    steps = [b"".join(map(content, step)) for step in cut_pieces(pieces, 100)]
    assert steps == [expected[at : at + 100] for at in range(0, len(expected), 100)]
