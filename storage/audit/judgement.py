"""Whether an object's report bears out what the metadata knows of it. Pure."""

from collections.abc import Iterable, Mapping

from headrace.storage.audit.comparison import (
    Comparison,
    Finding,
    KnownBucket,
    KnownObject,
    KnownObjectState,
    Problem,
    Run,
    contradiction,
    runs_of,
)
from headrace.storage.audit.object_check import ObjectReport
from headrace.storage.objects.keys import object_key


def objects_to_read(known: KnownBucket, comparison: Comparison) -> dict[str, KnownObject]:
    """Return the committed objects, by key, without those that are known to be wrong."""
    wrong = {it.object_id for it in comparison.findings()}
    return {
        object_key(known.cluster_id, it.object_id): it
        for it in known.objects.values()
        if it.state == KnownObjectState.COMMITTED and it.object_id not in wrong
    }


def judge_object(known: KnownObject, report: ObjectReport) -> Finding | None:
    """Return what is wrong with an object that was read, or None."""

    def finding(problem: Problem, detail: str, damaged: tuple[Run, ...] = ()) -> Finding:
        return Finding(problem, report.key, known.object_id, report.size_bytes, 0, detail, damaged)

    if not report.is_whole:
        detail = f"byte {report.damage[0].position}: {report.damage[0].what}"
        return finding(Problem.DAMAGED, detail, _damaged_runs(report))
    text = contradiction(known.ranges, report.runs)
    return None if text is None else finding(Problem.OTHER_RANGES, text)


def judge_gone(
    chosen: Mapping[str, KnownObject], gone: Iterable[str], now_known: KnownBucket
) -> list[Finding]:
    """Return findings for objects that were not there when they were read.

    Args:
        chosen: what was to be read.
        gone: keys of those that were not found: compacted away and deleted meanwhile, or lost.
        now_known: by newer metadata.
    """
    found = []
    for key in gone:
        lost = chosen[key]
        still = now_known.objects.get(lost.object_id)
        if still is not None and still.state == KnownObjectState.COMMITTED:
            found.append(
                Finding(Problem.MISSING, key, lost.object_id, lost.size_bytes, 0, "not found")
            )
    return found


def _damaged_runs(report: ObjectReport) -> tuple[Run, ...]:
    """Return what the damaged blocks hold; nothing unless all damage is in blocks, and was kept."""
    runs = [it.run for it in report.damage if it.run is not None]
    return tuple(runs_of(set(runs))) if len(runs) == report.damage_count else ()
