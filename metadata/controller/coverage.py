"""Checks that new objects hold exactly the offsets of the objects that they replace. Pure.

Only live offsets count: those at or above the start of a stream that exists. Offsets that were
trimmed while a compaction ran may or may not be in its output.
"""

from collections.abc import Iterable

from headrace.metadata.errors import RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.records.objects import RecordedRange
from headrace.protocol.errors import ErrorCode

Interval = tuple[int, int]


class LiveOffsets:
    """Compares objects by the live offsets that they hold, stream by stream."""

    def __init__(self, image: MetadataImage) -> None:
        self._image = image

    def require_same(
        self, source_ids: Iterable[int], outputs: Iterable[tuple[int, RecordedRange]]
    ) -> None:
        """Refuse a replacement that would lose, repeat or add offsets.

        Raises:
            RefusedError: OFFSET_OUT_OF_RANGE, naming the stream.
        """
        held = self._held_by(source_ids)
        offered: dict[int, list[Interval]] = {}
        for _, piece in outputs:
            interval = self._live(piece.stream_id, piece.start_offset, piece.end_offset)
            if interval is not None:
                offered.setdefault(piece.stream_id, []).append(interval)
        for stream_id in sorted(held.keys() | offered.keys()):
            before = merged(held.get(stream_id, []))
            after = merged(offered.get(stream_id, []))
            if before is None or before != after:
                raise RefusedError(
                    ErrorCode.OFFSET_OUT_OF_RANGE,
                    f"the new objects do not hold the same offsets of stream {stream_id}: "
                    f"{before} before, {after} after",
                )

    def _held_by(self, source_ids: Iterable[int]) -> dict[int, list[Interval]]:
        held: dict[int, list[Interval]] = {}
        for object_id in source_ids:
            for piece in self._image.objects.by_id[object_id].ranges:
                interval = self._live(piece.stream_id, piece.start_offset, piece.end_offset)
                if interval is not None:
                    held.setdefault(piece.stream_id, []).append(interval)
        return held

    def _live(self, stream_id: int, start_offset: int, end_offset: int) -> Interval | None:
        stream = self._image.streams.get(stream_id)
        if stream is None or end_offset <= stream.start_offset:
            return None
        return max(start_offset, stream.start_offset), end_offset


def merged(intervals: list[Interval]) -> list[Interval] | None:
    """Join intervals that touch; None when two overlap."""
    result: list[Interval] = []
    for start, end in sorted(intervals):
        if result and start < result[-1][1]:
            return None
        if result and start == result[-1][1]:
            result[-1] = (result[-1][0], end)
        else:
            result.append((start, end))
    return result
