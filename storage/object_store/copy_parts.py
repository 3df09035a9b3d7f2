"""Cuts what an object is composed of into the parts of a multipart upload, or the steps of a file. Pure.

S3 wants at least 5 MiB of every part but the last, and copies at most 5 GiB by one request. So what
is smaller than a part is read and uploaded, together with its neighbours: with as much of the range
that follows as is needed, or all of it if the rest would be too small to be copied.

Source: Amazon S3 user guide, "Multipart upload limits"; API reference, UploadPartCopy.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from headrace.storage.errors import InvalidRequestError
from headrace.storage.object_store.upload_parts import Cutter, split_buffer
from headrace.storage.ports import Buffer, CopiedRange

MIB: Final = 1024 * 1024
MIN_PART_BYTES: Final = 5 * MIB
# Well below S3's 5 GiB, so that a copy is answered in time and parts are copied side by side.
MAX_COPIED_PART_BYTES: Final = 1024 * MIB
MAX_PARTS: Final = 10_000

Piece = CopiedRange | Buffer


@dataclass(frozen=True, slots=True)
class UploadedPart:
    """A part whose ranges are read and uploaded with the rest: below 10 MiB of them."""

    pieces: Sequence[Piece]


# A range is a part that the service copies.
Part = CopiedRange | UploadedPart


def plan_parts(pieces: Sequence[Piece], *, min_part_bytes: int = MIN_PART_BYTES) -> list[Part]:
    """Cut pieces into parts, in order.

    Raises:
        InvalidRequestError: nothing is to be written, or it takes more parts than an upload may have.
    """
    parts = list(_parts(pieces, min_part_bytes))
    if not 1 <= len(parts) <= MAX_PARTS:
        raise InvalidRequestError(f"{len(parts)} parts are not in 1..{MAX_PARTS}")
    return parts


def size_of(piece: Piece) -> int:
    """Bytes of a piece."""
    return piece.size_bytes if isinstance(piece, CopiedRange) else len(piece)


def cut_pieces(pieces: Sequence[Piece], step_bytes: int) -> Iterator[list[Piece]]:
    """Yield steps of `step_bytes`, and what is left; pieces that lie across a border are cut."""
    return Cutter[Piece](step_bytes, size_of, _split).all(pieces)


def _split(piece: Piece, at: int) -> tuple[Piece, Piece]:
    if isinstance(piece, CopiedRange):
        middle = piece.start + at
        return piece._replace(end=middle), piece._replace(start=middle)
    return split_buffer(piece, at)


def _parts(pieces: Sequence[Piece], min_part_bytes: int) -> Iterator[Part]:
    pending: list[Piece] = []
    pending_bytes = 0
    for piece in pieces:
        size_bytes = size_of(piece)
        lacking = min_part_bytes - pending_bytes if pending else 0
        if isinstance(piece, CopiedRange) and size_bytes - lacking >= min_part_bytes:
            cut = piece.start + lacking
            if pending:
                yield UploadedPart((*pending, CopiedRange(piece.key, piece.start, cut)))
                pending, pending_bytes = [], 0
            yield from _copied(CopiedRange(piece.key, cut, piece.end))
            continue
        if size_bytes:
            pending.append(piece)
            pending_bytes += size_bytes
        if pending_bytes >= min_part_bytes:
            yield UploadedPart(tuple(pending))
            pending, pending_bytes = [], 0
    if pending:
        yield UploadedPart(tuple(pending))


def _copied(found: CopiedRange) -> Iterator[CopiedRange]:
    """Cut a range evenly, so that no part is small."""
    number = -(-found.size_bytes // MAX_COPIED_PART_BYTES)
    cuts = [found.start + found.size_bytes * n // number for n in range(number + 1)]
    for start, end in pairwise(cuts):
        yield CopiedRange(found.key, start, end)
