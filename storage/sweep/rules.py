"""What may be removed from a bucket while its cluster runs. Pure.

Of objects it is what `headrace bucket gc` would remove (`headrace.storage.audit.garbage`), decided page by
page. One look is enough here, since the metadata are read after the page: an id that has been given
out and is not known has been forgotten, and whoever forgets an id has deleted its object. What lies
there was written later: by a PUT that took its time. Nobody can ever commit it.

An upload of several parts may be ended when nobody can commit its object any more: its id is not
prepared. The age is a margin only, against clocks and metadata of another cluster.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from headrace.storage.audit.comparison import (
    Finding,
    KnownBucket,
    KnownObjectState,
    Problem,
    compare,
)
from headrace.storage.audit.garbage import plan_garbage
from headrace.storage.audit.inventory import KeyKind, ListedObject, meaning_of

# Files that a writer of this machine has left; their names do not tell what they were to become.
TEMPORARY_AGE_MS: Final = 24 * 3_600_000


class IncompleteUpload(NamedTuple):
    """An upload of several parts that has been begun, and neither completed nor aborted."""

    key: str
    upload_id: str  # empty: a file that was never renamed
    begun_ms: int  # by the store's clock


@dataclass(frozen=True, slots=True)
class SweptPage:
    """What a page of a listing comes to."""

    removable: Sequence[Finding]
    beyond_metadata: (
        int  # old objects with ids that were never given out: whose metadata are these?
    )


def swept(
    known: KnownBucket, page: Sequence[ListedObject], *, now_ms: int, safe_age_ms: int
) -> SweptPage:
    """Choose among the objects of a page.

    Args:
        known: at least of the objects of the page, read after it.
        page: a part of a listing.
        now_ms: by the store's clock, more or less.
        safe_age_ms: only what is older goes.
    """
    compared = compare(known, page, now_ms=now_ms)
    plan = plan_garbage(compared, now_ms=now_ms, safe_age_ms=safe_age_ms)
    beyond = [
        it
        for it in compared.kept.get(Problem.BEYOND_METADATA, ())
        if it.modified_ms <= now_ms - safe_age_ms
    ]
    return SweptPage(() if plan.refusal else plan.removable, len(beyond))


def is_abandoned(
    known: KnownBucket, upload: IncompleteUpload, *, now_ms: int, safe_age_ms: int
) -> bool:
    """Whether an upload may be ended: it is ours, old, and its object cannot be committed any more."""
    kind, cluster_id, object_id = meaning_of(upload.key)
    if kind == KeyKind.TEMPORARY and not upload.upload_id:
        return upload.begun_ms <= now_ms - TEMPORARY_AGE_MS
    if kind != KeyKind.OBJECT or cluster_id != known.cluster_id:
        return False
    if object_id >= known.next_object_id or upload.begun_ms > now_ms - safe_age_ms:
        return False
    entry = known.objects.get(object_id)
    return entry is None or entry.state != KnownObjectState.PREPARED
