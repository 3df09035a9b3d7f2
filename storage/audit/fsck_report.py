"""What fsck found, as a document for programs and as text for people. Pure."""

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Final, NamedTuple

from headrace.readable import Row, format_time, size_text
from headrace.storage.audit.comparison import Comparison, Finding, Problem, Severity

MAX_ROWS_SHOWN: Final = 50
RECORDS: Final = "records"
CHECKPOINTS: Final = "checkpoints"


class Depth(Enum):
    """What is read of the bucket."""

    OBJECTS = "objects"  # their list
    INDEXES = "indexes"
    BLOCKS = "blocks"


class Concerned(NamedTuple):
    """Offsets of a partition that cannot be read, or are at risk."""

    object_id: int
    topic: str
    partition: int
    holds: str  # RECORDS or CHECKPOINTS
    start_offset: int
    end_offset: int


class Examined(NamedTuple):
    """The metadata that a bucket was compared with."""

    node_id: int | None  # of the directory; None: they are a snapshot
    entry: int  # of the metadata log, that they end with
    in_use: bool  # a node has the directory open
    time_ms: int | None  # when the snapshot was put into the bucket; None: of a directory


class FsckOutcome(NamedTuple):
    """The whole report."""

    comparison: Comparison
    examined: Examined
    concerned: Sequence[Concerned]
    depth: Depth

    def exit_code(self, *, strict: bool) -> int:
        """0: no errors; 1: errors, or with `strict` leftovers."""
        counted = self.comparison.count
        return int(bool(counted(Severity.ERROR) or (strict and counted(Severity.LEFTOVER))))


class Table(NamedTuple):
    """Rows of a table in a text."""

    rows: Sequence[Row]
    columns: Sequence[str] | None = None  # None: all


def fsck_document(outcome: FsckOutcome) -> dict[str, object]:
    """Return the document."""
    comparison, examined, concerned, depth = outcome
    time_ms = examined.time_ms
    return {
        "cluster": comparison.cluster_id,
        "node": examined.node_id,
        "metadata_index": examined.entry,
        "metadata_time": None if time_ms is None else format_time(time_ms),
        "metadata_in_use": examined.in_use,
        "deep": depth is not Depth.OBJECTS,
        "blocks": depth is Depth.BLOCKS,
        "exact": comparison.is_exact,
        "settled": comparison.is_settled,
        "errors": comparison.count(Severity.ERROR),
        "leftovers": comparison.count(Severity.LEFTOVER),
        "newer": comparison.newer,
        "counts": {problem.value: count for problem, count in comparison.counts.items()},
        "states": _states(comparison),
        "not_judged": {kind.value: count for kind, count in comparison.not_judged.items()},
        "other_clusters": comparison.other_clusters,
        "findings": [_row(it) for it in comparison.findings()],
        "concerned": [it._asdict() for it in concerned],
    }


def fsck_text(outcome: FsckOutcome) -> Iterator[Table | str]:
    """Yield the report for people: tables, which are results, and sentences, which are not."""
    comparison, examined, concerned, depth = outcome
    used = ", in use by a running node" if examined.in_use else ""
    if examined.time_ms is not None:
        used = f", in the bucket since {format_time(examined.time_ms)}"
    yield f"cluster {comparison.cluster_id}, metadata at entry {examined.entry}{used}"
    yield Table(_states(comparison))
    rows = [_row(it) for it in comparison.findings()]
    if rows:
        columns = ("severity", "problem", "object_id", "bytes", "modified", "detail")
        yield Table(rows[:MAX_ROWS_SHOWN], columns)
    if len(rows) > MAX_ROWS_SHOWN:
        yield f"... and {len(rows) - MAX_ROWS_SHOWN} more; -o json shows all"
    if concerned:
        yield Table([it._asdict() for it in concerned[:MAX_ROWS_SHOWN]])
    if len(concerned) > MAX_ROWS_SHOWN:
        yield f"... and {len(concerned) - MAX_ROWS_SHOWN} more; -o json shows all"
    for kind, number in comparison.not_judged.items():
        yield f"not checked: {number} keys ({kind.value})"
    for cluster_id, number in comparison.other_clusters.items():
        yield f"not checked: {number} objects of cluster {cluster_id}"
    if comparison.newer:
        yield f"not checked: {comparison.newer} objects that are newer than the metadata"
    errors, leftovers = comparison.count(Severity.ERROR), comparison.count(Severity.LEFTOVER)
    leftover_bytes = sum(it.size_bytes for it in comparison.findings(Severity.LEFTOVER))
    how = {Depth.OBJECTS: "objects", Depth.INDEXES: "objects and indexes"}
    what = how.get(depth, "objects, indexes and blocks")
    yield f"{what} compared: {errors} errors, {leftovers} leftovers ({size_text(leftover_bytes)})"
    yield from _advice(comparison)
    yield from _advice_about(concerned)


def _states(comparison: Comparison) -> list[dict[str, object]]:
    return [
        {
            "state": state.value,
            "known": totals.known,
            "in_bucket": totals.found,
            "bytes": totals.found_bytes,
        }
        for state, totals in comparison.states.items()
    ]


def _row(finding: Finding) -> dict[str, object]:
    return {
        "severity": finding.problem.severity.value,
        "problem": finding.problem.value,
        "object_id": finding.object_id,
        "bytes": finding.size_bytes,
        "modified": format_time(finding.modified_ms) if finding.modified_ms else None,
        "key": finding.key,
        "detail": finding.detail,
    }


def _advice(comparison: Comparison) -> Iterator[str]:
    if comparison.counts.get(Problem.BEYOND_METADATA):
        yield (
            "The metadata is older than the bucket: do not start a node on it, and do not remove "
            "anything."
        )
    if comparison.counts.get(Problem.MISSING):
        yield "Records are lost unless the bucket keeps versions or a copy: restore the keys above."
    if comparison.counts.get(Problem.UNKNOWN):
        yield "`headrace bucket gc` removes unknown objects."


def _advice_about(concerned: Sequence[Concerned]) -> Iterator[str]:
    """Say what can be done about partitions."""
    held = {it.holds for it in concerned}
    if RECORDS in held:
        yield (
            "Those records cannot be read; all others can, and the partitions take new ones. Restore the keys "
            "from a version or a copy, or let consumers start behind the damage: with `headrace topic "
            "delete-records NAME -P PARTITION --before END_OFFSET`, which deletes everything below."
        )
    if CHECKPOINTS in held:
        yield "Checkpoints need nothing: the broker reads the log instead, and writes a new one."
