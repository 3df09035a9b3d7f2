"""Follows the metadata log entry by entry, and has each one judged. Pure.

Who looks at the newest metadata now and then sees what many entries have done together. Here they are replayed one by
one, so what one of them does wrong is seen although the next one puts it right.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from headrace.metadata.follower.entry_buffer import EntryBuffer
from headrace.metadata.image import MetadataImage
from headrace.metadata.records.codec import decode_records
from headrace.metadata.records.record import MetadataRecord
from headrace.metadata.replay import replay
from tests.simulation.cluster.handovers import wrong_changes

_ALL_BYTES = 1 << 62


@dataclass(frozen=True, slots=True)
class Step:
    """One committed entry, and the metadata before and after it."""

    old: MetadataImage
    new: MetadataImage
    payload: bytes
    records: Sequence[MetadataRecord]


Judge = Callable[[Step], Iterable[str]]


class JudgedLog:
    """The committed entries, from where it first looks."""

    def __init__(self, judges: Sequence[Judge]) -> None:
        """Begin; each of the `judges` gets each entry, and gives what is wrong with it."""
        self._judges = judges
        self._image: MetadataImage | None = None

    def follow(self, newest: MetadataImage, entries: EntryBuffer) -> list[str]:
        """Return what is wrong with the entries up to the newest metadata, which a controller keeps in memory."""
        last = self._image
        if last is None or newest.index <= last.index:
            self._image = last or newest
            return []
        committed = entries.read(last.index + 1, _ALL_BYTES)
        if committed is None:  # a snapshot has replaced some of them
            self._image = newest
            return wrong_changes(last, newest)
        wrong: list[str] = []
        for entry in committed:
            records = decode_records(entry.payload)
            image = replay(last, records, index=entry.index, term=entry.term)
            wrong += wrong_changes(last, image)
            step = Step(last, image, entry.payload, records)
            for judge in self._judges:
                wrong += judge(step)
            self._image = last = image
        return wrong
