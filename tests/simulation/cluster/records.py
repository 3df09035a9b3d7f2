"""What producers were told of their records, and what can be read: judged record by record. Pure.

A record's value names it: producer, number. `sent` is noted before it leaves; then it is acknowledged with an offset,
refused, or never answered. Read back, an acknowledged record is at its offset, once; any other one at most once, or,
if it was refused as not appended, nowhere.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

RecordId = tuple[int, int]  # producer, number
Place = tuple[str, int]  # topic, partition
# Whether a record may be missing that a broker has told of: place, broker, offset, and when it told.
MayMiss = Callable[[Place, int, int, float], bool]


def nothing(_place: Place, _node_id: int, _offset: int, _told_s: float) -> bool:
    """No record may be missing."""
    return False


def value_of(record: RecordId, size_bytes: int) -> bytes:
    """Return the value of a record."""
    return f"{record[0]}/{record[1]}/".encode().ljust(size_bytes, b".")


def record_of(value: bytes) -> RecordId:
    """Return which record a value is."""
    producer, number, _ = value.split(b"/", 2)
    return int(producer), int(number)


@dataclass(slots=True)
class Sent:
    """One record on its way."""

    place: Place
    is_acknowledged: bool = False
    offset: int | None = None  # if it was told
    acknowledged_at_s: float = 0.0
    node_id: int = -1  # who acknowledged it


@dataclass(frozen=True, slots=True)
class Seen:
    """One record that a consumer was given."""

    record: RecordId
    node_id: int
    at_s: float


@dataclass(slots=True)
class RecordHistory:
    """Of all producers."""

    sent: dict[RecordId, Sent] = field(default_factory=dict)
    acknowledged: int = 0
    ends: dict[Place, int] = field(default_factory=dict)  # behind what is acknowledged
    told_ends: dict[tuple[Place, int], int] = field(default_factory=dict)  # likewise, by a broker
    told: dict[tuple[Place, int], list[tuple[int, float]]] = field(
        default_factory=lambda: defaultdict(list)
    )  # likewise, each end with when it was told
    seen: dict[tuple[Place, int], Seen] = field(default_factory=dict)  # by consumers

    def see(self, place: Place, offset: int, seen: Seen) -> None:
        """Note what a consumer was given."""
        self.seen[place, offset] = seen

    def send(self, record: RecordId, place: Place) -> None:
        """Note a record before it leaves."""
        self.sent[record] = Sent(place)

    def acknowledge(self, record: RecordId, offset: int | None, now_s: float, node_id: int) -> None:
        """Note an acknowledgement of a broker; None: it was not told which offset."""
        self.sent[record].is_acknowledged = True
        self.sent[record].offset = offset
        self.sent[record].acknowledged_at_s = now_s
        self.sent[record].node_id = node_id
        self.acknowledged += 1
        if offset is not None:
            place = self.sent[record].place
            self.ends[place] = max(offset + 1, self.ends.get(place, 0))
            by_broker = place, node_id
            self.told_ends[by_broker] = max(offset + 1, self.told_ends.get(by_broker, 0))
            self.told[by_broker].append((offset + 1, now_s))

    def told_end(self, place: Place, node_id: int, by_s: float) -> int:
        """How far a broker had acknowledged a partition at a moment."""
        told = reversed(self.told[place, node_id])
        return next((end for end, at_s in told if at_s <= by_s), 0)

    def judge(
        self,
        found: Mapping[Place, Sequence[tuple[int, RecordId]]],
        starts: Mapping[Place, int],
        *,
        must_all_be_there: frozenset[int] = frozenset(),
        may_miss: MayMiss = nothing,
    ) -> list[str]:
        """Compare with what was read, from each place's start on; return what is wrong.

        Args:
            found: all records by place, by offset.
            starts: where logs start now: what lies below was deleted.
            must_all_be_there: producers that repeated until they were acknowledged, in order.
            may_miss: of which records the loss was accepted.
        """
        wrong: list[str] = []
        offsets: dict[RecordId, list[int]] = defaultdict(list)
        for place, records in found.items():
            wrong += _in_order(place, records, must_all_be_there)
            for offset, record in records:
                offsets[record].append(offset)
                if record not in self.sent or self.sent[record].place != place:
                    wrong.append(f"{place} has at {offset} {record}, which was never sent there")
        for record, sent in self.sent.items():
            there, start = offsets.get(record, []), starts.get(sent.place)
            if start is None:
                continue  # the topic is gone
            if len(there) > 1:
                wrong.append(f"twice: {record} of {sent.place} at {there}")
            elif record[0] in must_all_be_there and not sent.is_acknowledged:
                wrong.append(f"never acknowledged: {record} of {sent.place}")
            elif not there and may_miss(
                sent.place, sent.node_id, _offset_of(sent), sent.acknowledged_at_s
            ):
                continue
            elif sent.is_acknowledged and sent.offset is None and not there and start == 0:
                wrong.append(f"lost: {record} of {sent.place}, acknowledged as a duplicate")
            elif sent.offset is not None and sent.offset >= start and there != [sent.offset]:
                told = f"acknowledged at {sent.offset} at {sent.acknowledged_at_s:.2f} s"
                wrong.append(f"lost: {record} of {sent.place}, {told}, found at {there}")
        return wrong + self._changed(found, starts, may_miss)

    def _changed(
        self,
        found: Mapping[Place, Sequence[tuple[int, RecordId]]],
        starts: Mapping[Place, int],
        may_miss: MayMiss,
    ) -> list[str]:
        """What consumers were given, and is not there any more, or is something else."""
        there = {(place, offset): it for place, records in found.items() for offset, it in records}
        return [
            f"{place} at {offset} was read as {seen.record}, and is {there.get((place, offset))}"
            for (place, offset), seen in self.seen.items()
            if offset >= starts.get(place, 1 << 62)
            and there.get((place, offset)) != seen.record
            and not may_miss(place, seen.node_id, offset, seen.at_s)
        ]


def _offset_of(sent: Sent) -> int:
    """Where a record was acknowledged; of a duplicate it is not known, so anywhere."""
    return 1 << 62 if sent.offset is None else sent.offset


def _in_order(
    place: Place, records: Sequence[tuple[int, RecordId]], producers: frozenset[int]
) -> list[str]:
    wrong = []
    newest: dict[int, int] = {}
    last = -1
    for offset, (producer, number) in records:
        if offset <= last:
            wrong.append(f"{place}: offset {offset} comes after {last}")
        last = offset
        if producer in producers and number <= newest.get(producer, -1):
            wrong.append(
                f"order: {place} has {producer}/{number} at {offset}, later ones before it"
            )
        newest[producer] = number
    return wrong
