"""Compares what the metadata knows of a cluster's objects with what a lister found. Pure.

| finding            | severity | meaning                                                              |
|--------------------|----------|----------------------------------------------------------------------|
| missing            | error    | committed, not in the bucket: its records are lost                   |
| wrong size         | error    | not as long as it was when it was committed                          |
| beyond metadata    | error    | an id that this metadata has never given out: the metadata is older  |
|                    |          | than the bucket, and must not be trusted to know what is needed      |
| damaged            | error    | the object itself contradicts its checksums                          |
| other ranges       | error    | its index does not hold what the metadata says that it holds         |
| unknown            | leftover | an id that was forgotten: leaked, or written after it had expired    |
| expired            | leftover | prepared, uploaded, never committed; the broker will remove it       |
| overdue            | leftover | marked destroyed long ago; the broker should have removed it         |

Metadata that are a snapshot in the bucket are older than what came since: an object beyond them that
was written about when they were, or later, is not judged (`newer_from_ms`).

A bucket that changes is compared twice, with metadata and listing read again: a difference that
exists only because one of the two was older is gone the second time (`Comparison.confirmed_by`).
What is unknown both times had been listed before the second metadata were read, and an id is known
before anything is written under it: so that object really is forgotten.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import pairwise
from typing import Final, NamedTuple

import msgspec

from headrace.storage.audit.inventory import KeyKind, ListedObject, meaning_of
from headrace.storage.objects.keys import object_key
from headrace.storage.ports import StreamRange

MAX_FINDINGS_KEPT: Final = 100_000  # of each kind; more are only counted
OVERDUE_MS_DEFAULT: Final = 24 * 3_600_000

# (stream id, start offset, end offset) of offsets that follow each other without a gap.
Run = tuple[int, int, int]


class Severity(Enum):
    """How bad a finding is."""

    ERROR = "error"  # records are lost or in danger
    LEFTOVER = "leftover"  # costs money, does no harm


class Problem(Enum):
    """What was found."""

    MISSING = "missing"
    WRONG_SIZE = "wrong size"
    BEYOND_METADATA = "beyond metadata"
    DAMAGED = "damaged"
    OTHER_RANGES = "other ranges"
    UNKNOWN = "unknown"
    EXPIRED = "expired"
    OVERDUE = "overdue"

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return Severity.LEFTOVER if self in _LEFTOVERS else Severity.ERROR


_LEFTOVERS: Final = (Problem.UNKNOWN, Problem.EXPIRED, Problem.OVERDUE)


class KnownObjectState(Enum):
    """The state of an object in the metadata."""

    PREPARED = "prepared"
    COMMITTED = "committed"
    DESTROYED = "destroyed"


class KnownObject(NamedTuple):
    """An object as the metadata knows it."""

    object_id: int
    state: KnownObjectState
    size_bytes: int  # 0: not known
    since_ms: int  # prepared: when it expires; destroyed: when it was marked
    ranges: Sequence[StreamRange] = ()


class KnownBucket(msgspec.Struct, frozen=True):
    """What the metadata knows of one cluster's objects."""

    cluster_id: str
    objects: Mapping[int, KnownObject]  # by id
    next_object_id: int  # ids from here on have never been given out


class Finding(NamedTuple):
    """One disagreement."""

    problem: Problem
    key: str
    object_id: int
    size_bytes: int  # as listed; of a missing object: as committed
    modified_ms: int
    detail: str
    damaged: tuple[Run, ...] = ()  # what cannot be read; empty: everything that the object holds


class StateTotals(msgspec.Struct):
    """Objects that the metadata has in one state, and those of them that were found."""

    known: int = 0
    found: int = 0
    found_bytes: int = 0


class Comparison(msgspec.Struct):
    """The outcome. `kept` has the findings up to a bound each, `counts` all of them."""

    cluster_id: str
    states: dict[KnownObjectState, StateTotals]
    not_judged: dict[KeyKind, int] = msgspec.field(default_factory=dict)
    other_clusters: dict[str, int] = msgspec.field(default_factory=dict)
    newer: int = 0  # objects that came after the metadata
    kept: dict[Problem, list[Finding]] = msgspec.field(default_factory=dict)
    counts: dict[Problem, int] = msgspec.field(default_factory=dict)

    def add(self, finding: Finding) -> None:
        """Take in one more finding."""
        kept = self.kept.setdefault(finding.problem, [])
        if len(kept) < MAX_FINDINGS_KEPT:
            kept.append(finding)
        self.counts[finding.problem] = self.counts.get(finding.problem, 0) + 1

    def findings(self, severity: Severity | None = None) -> Iterator[Finding]:
        """Yield what was kept, worst first, by object."""
        for problem in Problem:
            if severity is None or problem.severity == severity:
                yield from sorted(self.kept.get(problem, ()), key=lambda it: it.object_id)

    def count(self, severity: Severity) -> int:
        """Findings of a severity, those included that were not kept."""
        return sum(number for it, number in self.counts.items() if it.severity == severity)

    @property
    def is_exact(self) -> bool:
        """Whether the bucket holds what the metadata knows, and nothing else of this cluster."""
        return not self.count(Severity.ERROR) and not self.counts.get(Problem.UNKNOWN)

    @property
    def is_settled(self) -> bool:
        """Whether it holds committed objects and nothing else: no deletion is left to be done."""
        waiting = (KnownObjectState.PREPARED, KnownObjectState.DESTROYED)
        return self.is_exact and not any(self.states[state].found for state in waiting)

    def confirmed_by(self, later: "Comparison") -> "Comparison":
        """Return the later comparison with only those findings that this one has as well.

        Of the findings beyond the bound of what is kept, the smaller of both counts is taken.
        """
        confirmed = Comparison(
            later.cluster_id, later.states, later.not_judged, later.other_clusters, later.newer
        )
        for problem, findings in later.kept.items():
            before = {it.object_id for it in self.kept.get(problem, ())}
            for finding in findings:
                if finding.object_id in before:
                    confirmed.add(finding)
            beyond = min(
                counted - len(kept)
                for counted, kept in (
                    (self.counts.get(problem, 0), self.kept.get(problem, [])),
                    (later.counts[problem], findings),
                )
            )
            if beyond:
                confirmed.counts[problem] = confirmed.counts.get(problem, 0) + beyond
        return confirmed


class Comparer:
    """Compares a listing page by page."""

    def __init__(
        self,
        known: KnownBucket,
        *,
        now_ms: int,
        overdue_ms: int = OVERDUE_MS_DEFAULT,
        newer_from_ms: int | None = None,
    ) -> None:
        """Begin.

        Args:
            known: what the metadata knows.
            now_ms: approximately, by the clock of the machine that wrote the metadata.
            overdue_ms: how long after its mark a destroyed object may still be there.
            newer_from_ms: by the store's clock; objects beyond the metadata that were written from then on are
                counted, not judged. None: all are judged.
        """
        self._known = known
        self._now_ms = now_ms
        self._overdue_ms = overdue_ms
        self._newer_from_ms = newer_from_ms
        self._seen: set[int] = set()
        self._outcome = Comparison(
            known.cluster_id, {state: StateTotals() for state in KnownObjectState}
        )
        for known_object in known.objects.values():
            self._outcome.states[known_object.state].known += 1

    def add(self, page: Iterable[ListedObject]) -> None:
        """Compare some of the objects below the bucket's prefix, in any order."""
        known, outcome = self._known, self._outcome
        for one in page:
            kind, cluster_id, object_id = meaning_of(one.key)
            if kind != KeyKind.OBJECT:
                outcome.not_judged[kind] = outcome.not_judged.get(kind, 0) + 1
            elif cluster_id != known.cluster_id:
                outcome.other_clusters[cluster_id] = outcome.other_clusters.get(cluster_id, 0) + 1
            elif object_id not in self._seen:  # a page that was asked for again
                self._seen.add(object_id)
                self._add(one, object_id)

    def finish(self) -> Comparison:
        """Everything was listed: what is missing now is missing."""
        known = self._known
        for object_id in sorted(known.objects.keys() - self._seen):
            lost = known.objects[object_id]
            if lost.state == KnownObjectState.COMMITTED:
                self._outcome.add(_missing(known.cluster_id, lost))
        return self._outcome

    def _add(self, one: ListedObject, object_id: int) -> None:
        newer_from_ms = self._newer_from_ms
        if (
            newer_from_ms is not None
            and object_id >= self._known.next_object_id
            and one.modified_ms >= newer_from_ms
        ):
            self._outcome.newer += 1
            return
        found = _judge(
            self._known, one, object_id, now_ms=self._now_ms, overdue_ms=self._overdue_ms
        )
        if found is not None:
            self._outcome.add(found)
        known_object = self._known.objects.get(object_id)
        if known_object is not None:
            totals = self._outcome.states[known_object.state]
            totals.found += 1
            totals.found_bytes += one.size_bytes


def compare(
    known: KnownBucket,
    listed: Iterable[ListedObject],
    *,
    now_ms: int,
    overdue_ms: int = OVERDUE_MS_DEFAULT,
) -> Comparison:
    """Compare a whole listing; see `Comparer`."""
    comparer = Comparer(known, now_ms=now_ms, overdue_ms=overdue_ms)
    comparer.add(listed)
    return comparer.finish()


def _judge(
    known: KnownBucket, one: ListedObject, object_id: int, *, now_ms: int, overdue_ms: int
) -> Finding | None:
    """Return what is wrong with an object that was listed, or None."""

    def finding(problem: Problem, detail: str) -> Finding:
        return Finding(problem, one.key, object_id, one.size_bytes, one.modified_ms, detail)

    if object_id >= known.next_object_id:
        return finding(
            Problem.BEYOND_METADATA, f"the metadata has given out ids below {known.next_object_id}"
        )
    entry = known.objects.get(object_id)
    match entry:
        case None:
            return finding(Problem.UNKNOWN, "the metadata has forgotten this id")
        case KnownObject(state=KnownObjectState.COMMITTED) if entry.size_bytes != one.size_bytes:
            return finding(
                Problem.WRONG_SIZE, f"{one.size_bytes} bytes, committed with {entry.size_bytes}"
            )
        case KnownObject(state=KnownObjectState.PREPARED) if entry.since_ms <= now_ms:
            return finding(Problem.EXPIRED, f"expired {_span(now_ms - entry.since_ms)} ago")
        case KnownObject(state=KnownObjectState.DESTROYED) if entry.since_ms + overdue_ms <= now_ms:
            return finding(Problem.OVERDUE, f"marked {_span(now_ms - entry.since_ms)} ago")
    return None


def _missing(cluster_id: str, lost: KnownObject) -> Finding:
    shown = ", ".join(
        f"stream {it.stream_id} offsets {it.start_offset} to {it.end_offset}"
        for it in lost.ranges[:3]
    )
    more = f" and {len(lost.ranges) - 3} more" if len(lost.ranges) > 3 else ""
    return Finding(
        Problem.MISSING,
        object_key(cluster_id, lost.object_id),
        lost.object_id,
        lost.size_bytes,
        0,
        f"held {shown or 'nothing known'}{more}",
    )


def runs_of(ranges: Iterable[Run]) -> list[Run]:
    """Join ranges that continue each other; sorted by stream and offset."""
    runs: list[Run] = []
    for stream_id, start, end in sorted(ranges):
        if runs and runs[-1][0] == stream_id and runs[-1][2] == start:
            runs[-1] = (stream_id, runs[-1][1], end)
        else:
            runs.append((stream_id, start, end))
    return runs


def contradiction(known: Sequence[StreamRange], held: Iterable[Run]) -> str | None:
    """Describe where an object's index contradicts the ranges that the metadata has of it, or None.

    More than the metadata has is no contradiction: a copied object may hold offsets that were
    trimmed meanwhile.

    Args:
        known: committed ranges of the object.
        held: what its index says of each block, or joined.
    """
    runs = runs_of(held)
    overlap = next((b for a, b in pairwise(runs) if a[0] == b[0] and b[1] < a[2]), None)
    if overlap is not None:
        return f"the index has offset {overlap[1]} of stream {overlap[0]} twice"
    for stream_id, start, end in runs_of(
        (it.stream_id, it.start_offset, it.end_offset) for it in known
    ):
        # The last run that begins at or before `start`.
        ordinal = bisect_right(runs, (stream_id, start), key=lambda run: run[:2]) - 1
        if ordinal < 0 or runs[ordinal][0] != stream_id or runs[ordinal][2] < end:
            return f"the index lacks offsets {start} to {end} of stream {stream_id}"
    return None


def _span(milliseconds: int) -> str:
    """Write a duration in a readable unit."""
    seconds = milliseconds // 1_000
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length} {unit}"
    return f"{seconds} s"
