"""Compares a bucket with a metadata directory, twice if they differ: one of them may be changing."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from headrace.broker.cli.metadata_directory import known_bucket, load_metadata
from headrace.metadata.offline import OfflineMetadata
from headrace.storage.audit.check_many import check_many
from headrace.storage.audit.comparison import (
    Comparer,
    Comparison,
    Finding,
    KnownObject,
    KnownObjectState,
    Problem,
    Run,
    contradiction,
    runs_of,
)
from headrace.storage.objects.keys import object_key

if TYPE_CHECKING:
    from headrace.storage.audit.audited_bucket import AuditedBucket
    from headrace.storage.audit.object_check import ObjectReport


class Compared(NamedTuple):
    """An outcome, and the metadata that it is of."""

    comparison: Comparison
    metadata: OfflineMetadata


async def compare_bucket(
    place: "AuditedBucket", metadata_dir: str, *, overdue_ms: int, count: Callable[[int], None]
) -> Compared:
    """Compare; what differs is looked at once more, and only what differs still is told.

    Args:
        place: the bucket.
        metadata_dir: read anew each time.
        overdue_ms: see `Comparer`.
        count: told of objects as they are listed.

    Raises:
        CommandFailedError: the metadata cannot be read.
        ObjectStoreError: the bucket cannot be listed.
    """
    first = await _compare_once(place, metadata_dir, overdue_ms=overdue_ms, count=count)
    if not first.comparison.counts:
        return first
    second = await _compare_once(place, metadata_dir, overdue_ms=overdue_ms, count=count)
    confirmed = first.comparison.confirmed_by(second.comparison)
    return Compared(confirmed, second.metadata)


async def _compare_once(
    place: "AuditedBucket", metadata_dir: str, *, overdue_ms: int, count: Callable[[int], None]
) -> Compared:
    metadata = load_metadata(metadata_dir)
    known = known_bucket(metadata.image, metadata.cluster_id)
    comparer = Comparer(known, now_ms=wall_clock_ms(), overdue_ms=overdue_ms)
    async for page in place.lister.pages():
        count(len(page))
        comparer.add(page)
    return Compared(comparer.finish(), metadata)


async def compare_indexes(
    place: "AuditedBucket",
    metadata_dir: str,
    compared: Compared,
    *,
    blocks: bool,
    parallel: int,
    count: Callable[[int], None],
) -> None:
    """Read the index of every committed object; add what contradicts the metadata to the findings.

    With `blocks`, its data are read and checked as well.

    Raises:
        CommandFailedError: the metadata cannot be read.
        ObjectStoreError: the bucket does not answer.
    """
    outcome, metadata = compared
    known = known_bucket(metadata.image, metadata.cluster_id)
    known_wrong = {it.object_id for it in outcome.findings()}
    chosen = {
        object_key(known.cluster_id, it.object_id): it
        for it in known.objects.values()
        if it.state == KnownObjectState.COMMITTED and it.object_id not in known_wrong
    }
    candidates = ((key, it.size_bytes) for key, it in chosen.items())
    gone: list[str] = []
    async for key, report in check_many(place.reader, candidates, blocks=blocks, parallel=parallel):
        count(1)
        if report is None:
            gone.append(key)
        else:
            _judge_index(outcome, chosen[key], report)
    if gone:
        # Compacted away and deleted meanwhile, or lost: newer metadata tell.
        now_known = known_bucket(load_metadata(metadata_dir).image, known.cluster_id)
        for key in gone:
            lost = chosen[key]
            still = now_known.objects.get(lost.object_id)
            if still is not None and still.state == KnownObjectState.COMMITTED:
                outcome.add(
                    Finding(Problem.MISSING, key, lost.object_id, lost.size_bytes, 0, "not found")
                )


def _judge_index(outcome: Comparison, known: KnownObject, report: "ObjectReport") -> None:
    def add(problem: Problem, detail: str, damaged: tuple[Run, ...] = ()) -> None:
        object_id, size_bytes = known.object_id, report.size_bytes
        outcome.add(Finding(problem, report.key, object_id, size_bytes, 0, detail, damaged))

    if not report.is_whole:
        detail = f"byte {report.damage[0].position}: {report.damage[0].what}"
        add(Problem.DAMAGED, detail, _damaged_runs(report))
        return
    text = contradiction(known.ranges, report.runs)
    if text is not None:
        add(Problem.OTHER_RANGES, text)


def _damaged_runs(report: "ObjectReport") -> tuple[Run, ...]:
    """Return what the damaged blocks hold; nothing unless all damage is in blocks, and was kept."""
    runs = [it.run for it in report.damage if it.run is not None]
    return tuple(runs_of(set(runs))) if len(runs) == report.damage_count else ()


def wall_clock_ms() -> int:
    """Return the time of this machine."""
    return time.time_ns() // 1_000_000
