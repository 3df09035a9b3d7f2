"""Lays the pieces of a stream out in offset order: gaps, overlaps. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Piece(NamedTuple):
    """Offsets `[start_offset, end_offset)` of a stream, in one object."""

    start_offset: int
    end_offset: int
    object_id: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """A stream's pieces, and what is wrong with them."""

    pieces: Sequence[Piece]  # by start offset, then end offset
    gaps: Sequence[tuple[int, int]]  # offsets that no piece has
    overlaps: Sequence[tuple[int, int]]  # offsets that more than one has

    @property
    def is_exact(self) -> bool:
        """Whether each offset is held once."""
        return not self.gaps and not self.overlaps


def lay_out(
    pieces: Iterable[Piece], *, start_offset: int | None = None, end_offset: int | None = None
) -> Coverage:
    """Sort the pieces and look between them.

    Args:
        pieces: in any order.
        start_offset: where the stream begins; None: with its first piece.
        end_offset: where it ends; None: with its last piece.
    """
    ordered = sorted(pieces)
    gaps: list[tuple[int, int]] = []
    overlaps: list[tuple[int, int]] = []
    position = start_offset
    for ordinal, piece in enumerate(ordered):
        if position is None:
            position = piece.start_offset
        if piece.start_offset > position:
            gaps.append((position, piece.start_offset))
        elif ordinal and piece.start_offset < position:
            overlaps.append((piece.start_offset, min(position, piece.end_offset)))
        position = max(position, piece.end_offset)
    if end_offset is not None and (position or 0) < end_offset:
        gaps.append((position or 0, end_offset))
    return Coverage(ordered, gaps, overlaps)
