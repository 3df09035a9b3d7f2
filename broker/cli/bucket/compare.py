"""Compares a bucket with metadata, twice if they differ: one of them may be changing."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from headrace.broker.cli.metadata_source import MetadataSource, ReadMetadata
from headrace.known_objects import comparer_of, known_bucket
from headrace.storage.audit.check_many import check_many
from headrace.storage.audit.comparison import Comparison
from headrace.storage.audit.judgement import judge_gone, judge_object, objects_to_read

if TYPE_CHECKING:
    from headrace.storage.audit.audited_bucket import AuditedBucket


class Compared(NamedTuple):
    """An outcome, and the metadata that it is of."""

    comparison: Comparison
    metadata: ReadMetadata


async def compare_bucket(
    place: "AuditedBucket",
    source: MetadataSource,
    *,
    overdue_ms: int,
    count: Callable[[int], None],
) -> Compared:
    """Compare twice what differs, and report what differs both times.

    Args:
        place: the bucket.
        source: read anew each time.
        overdue_ms: see `Comparer`.
        count: called with objects as they are listed.

    Raises:
        CommandFailedError: the metadata cannot be read.
        ObjectStoreError: the bucket cannot be listed.
    """
    first = await _compare_once(place, source, overdue_ms=overdue_ms, count=count)
    if not first.comparison.counts:
        return first
    second = await _compare_once(place, source, overdue_ms=overdue_ms, count=count)
    confirmed = first.comparison.confirmed_by(second.comparison)
    return Compared(confirmed, second.metadata)


async def _compare_once(
    place: "AuditedBucket",
    source: MetadataSource,
    *,
    overdue_ms: int,
    count: Callable[[int], None],
) -> Compared:
    metadata = await source.read()
    comparer = comparer_of(
        metadata.image,
        metadata.cluster_id,
        metadata.examined.time_ms,
        now_ms=wall_clock_ms(),
        overdue_ms=overdue_ms,
    )
    async for page in place.lister.pages():
        count(len(page))
        comparer.add(page)
    return Compared(comparer.finish(), metadata)


async def compare_indexes(
    place: "AuditedBucket",
    source: MetadataSource,
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
    chosen = objects_to_read(known_bucket(metadata.image, metadata.cluster_id), outcome)
    candidates = ((key, it.size_bytes) for key, it in chosen.items())
    gone: list[str] = []
    async for key, report in check_many(place.reader, candidates, blocks=blocks, parallel=parallel):
        count(1)
        if report is None:
            gone.append(key)
        elif (found := judge_object(chosen[key], report)) is not None:
            outcome.add(found)
    if gone:
        # Compacted away and deleted meanwhile, or lost: newer metadata show which.
        now_known = known_bucket((await source.read()).image, metadata.cluster_id)
        for finding in judge_gone(chosen, gone, now_known):
            outcome.add(finding)


def wall_clock_ms() -> int:
    """Return the time of this machine."""
    return time.time_ns() // 1_000_000
