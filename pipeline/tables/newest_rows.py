"""The newest row of each key among the records of one task, which come by offset."""

from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa

from headrace.pipeline.tables.rows import Rows

_MIN_ROWS: Final = 20_000  # before rows that were replaced are dropped from memory


class NewestRows:
    """Collects rows; those that were replaced are dropped once they are more than half of all."""

    def __init__(self) -> None:
        self._pieces: list[tuple[pa.RecordBatch, pa.RecordBatch]] = []
        self._newest: dict[Any, tuple[int, int] | None] = {}  # number of the piece, and of the row
        self._count = 0  # of rows in pieces

    def add(self, made: Rows) -> None:
        """Take rows, and keys without one."""
        number = len(self._pieces)
        self._pieces.append((made.rows, made.places))
        self._count += len(made.rows)
        for key, row in made.changes:
            self._newest[key] = None if row is None else (number, row)
        if self._count > max(_MIN_ROWS, 2 * len(self._newest)):
            self._drop_replaced()

    def keys(self) -> list[Any]:
        """All keys."""
        return list(self._newest)

    def pieces(self) -> Iterator[tuple[pa.RecordBatch, pa.RecordBatch]]:
        """The newest rows, and where their records are."""
        for (rows, places), kept in zip(self._pieces, self._kept(), strict=True):
            chosen = pa.array([row for row, _ in kept], pa.int64())
            yield rows.take(chosen), places.take(chosen)

    def _kept(self) -> list[list[tuple[int, Any]]]:
        """Of each piece its newest rows, with their keys."""
        found: list[list[tuple[int, Any]]] = [[] for _ in self._pieces]
        for key, place in self._newest.items():
            if place is not None:
                found[place[0]].append((place[1], key))
        return found

    def _drop_replaced(self) -> None:
        kept, pieces = self._kept(), list(self.pieces())
        self._pieces = pieces
        self._count = sum(map(len, kept))
        for number, piece in enumerate(kept):
            for row, (_, key) in enumerate(piece):
                self._newest[key] = (number, row)
