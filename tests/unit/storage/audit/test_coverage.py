"""Pieces of a stream in offset order."""

import pytest

from headrace.storage.audit.coverage import Piece, lay_out


@pytest.mark.parametrize(
    ("pieces", "bounds", "gaps", "overlaps"),
    [
        ([(0, 5), (5, 9)], (0, 9), [], []),
        ([(5, 9), (0, 5)], (None, None), [], []),
        ([(0, 5), (6, 9)], (0, 9), [(5, 6)], []),
        ([(0, 5), (4, 9)], (0, 9), [], [(4, 5)]),
        ([(0, 9), (2, 4), (4, 12)], (0, 12), [], [(2, 4), (4, 9)]),
        ([(3, 5)], (0, 9), [(0, 3), (5, 9)], []),
        ([(0, 9)], (4, 9), [], []),  # trimmed in the middle of an object
        ([], (0, 9), [(0, 9)], []),
        ([], (9, 9), [], []),
        ([], (None, None), [], []),
        ([(7, 9)], (None, None), [], []),
    ],
)
def test_gaps_and_overlaps(pieces, bounds, gaps, overlaps):
    laid = lay_out(
        [Piece(start, end, 1) for start, end in pieces],
        start_offset=bounds[0],
        end_offset=bounds[1],
    )
    assert (laid.gaps, laid.overlaps) == (gaps, overlaps)
    assert laid.is_exact == (not gaps and not overlaps)
    assert list(laid.pieces) == sorted(laid.pieces)
