"""Decides what may be removed from a bucket without its broker. Pure.

An object may go when its key is one of this cluster's, the metadata has given its id out once and
forgotten it since, and it is older than a safe age. Forgotten ids are never used again and cannot
be committed any more, so such an object will never be read.

Nothing may go while the metadata and the bucket contradict each other: then the metadata is not the
bucket's, or older than it, and objects that it does not know may be needed.
"""

from collections.abc import Sequence

import msgspec

from headrace.storage.audit.comparison import Comparison, Finding, Problem
from headrace.storage.audit.inventory import UNKNOWN_TIME, KeyKind, meaning_of


class GarbagePlan(msgspec.Struct, frozen=True):
    """What would be removed, or why nothing may be."""

    removable: Sequence[Finding]
    too_young: int
    beyond_bound: int  # found, but more than one run takes: run again
    refusal: str  # empty: none

    @property
    def removable_bytes(self) -> int:
        """Bytes of all that would be removed."""
        return sum(it.size_bytes for it in self.removable)


def plan_garbage(comparison: Comparison, *, now_ms: int, safe_age_ms: int) -> GarbagePlan:
    """Choose among the unknown objects of a confirmed comparison.

    Args:
        comparison: of a whole listing with metadata that were read after it.
        now_ms: approximately, by the store's clock.
        safe_age_ms: only what is older goes; an object whose age is not known never does.

    Raises:
        ValueError: the age is negative.
    """
    if safe_age_ms < 0:
        raise ValueError(f"the safe age is negative: {safe_age_ms} ms")
    unknown = comparison.kept.get(Problem.UNKNOWN, [])
    old = [it for it in unknown if _is_old(it, now_ms - safe_age_ms)]
    removable = [it for it in old if _is_of(it, comparison.cluster_id)]
    return GarbagePlan(
        removable=removable,
        too_young=len(unknown) - len(old),
        beyond_bound=comparison.counts.get(Problem.UNKNOWN, 0) - len(unknown),
        refusal=_refusal(comparison),
    )


def _refusal(comparison: Comparison) -> str:
    counts = comparison.counts
    if counts.get(Problem.BEYOND_METADATA):
        return (
            f"{counts[Problem.BEYOND_METADATA]} objects have ids that this metadata has never "
            "given out: it is older than the bucket, or another cluster's"
        )
    if counts.get(Problem.MISSING) or counts.get(Problem.WRONG_SIZE):
        wrong = counts.get(Problem.MISSING, 0) + counts.get(Problem.WRONG_SIZE, 0)
        return f"{wrong} committed objects are missing or have another size"
    return ""


def _is_old(finding: Finding, limit_ms: int) -> bool:
    return finding.modified_ms != UNKNOWN_TIME and finding.modified_ms <= limit_ms


def _is_of(finding: Finding, cluster_id: str) -> bool:
    """Look at the key once more: this is the last gate before something is deleted."""
    meaning = meaning_of(finding.key)
    return (
        meaning.kind == KeyKind.OBJECT
        and meaning.cluster_id == cluster_id
        and meaning.object_id == finding.object_id
    )
