"""What may be removed from a bucket while its cluster runs. Pure.

Of objects it is what `headrace bucket gc` would remove (`headrace.storage.audit.garbage`), decided page by
page. One look is enough here, since the metadata are read after the page: an id that has been given
out and is not known has been forgotten, and an id is forgotten only after its object was deleted. An
object that exists nevertheless was written later, by a PUT that arrived late. It can never be committed.

A multipart upload may be aborted when its object can no longer be committed: its id is not prepared.
The age is only a margin, against wrong clocks and against metadata of another cluster.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from headrace.storage.audit.comparison import (
    Finding,
    KnownBucket,
    KnownObjectState,
    Problem,
    compare,
)
from headrace.storage.audit.garbage import plan_garbage
from headrace.storage.audit.inventory import KeyKind, ListedObject, meaning_of

# Files that a writer of this machine left behind; their names do not contain an object's key.
TEMPORARY_AGE_MS: Final = 24 * 3_600_000


class IncompleteUpload(NamedTuple):
    """A multipart upload that has been begun, and neither completed nor aborted."""

    key: str
    upload_id: str  # empty: a file that was never renamed
    begun_ms: int  # by the store's clock


class SweptPage(msgspec.Struct, frozen=True):
    """The outcome for one page of a listing."""

    removable: Sequence[Finding]
    beyond_metadata: int  # old objects with ids that were never given out: wrong metadata?


def swept(
    known: KnownBucket, page: Sequence[ListedObject], *, now_ms: int, safe_age_ms: int
) -> SweptPage:
    """Choose among the objects of a page.

    Args:
        known: at least of the objects of the page, read after it.
        page: a part of a listing.
        now_ms: approximately, by the store's clock.
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
    """Whether an upload may be aborted: this cluster's, old, and its object can no longer be committed."""
    kind, cluster_id, object_id = meaning_of(upload.key)
    if kind == KeyKind.TEMPORARY and not upload.upload_id:
        return upload.begun_ms <= now_ms - TEMPORARY_AGE_MS
    if kind != KeyKind.OBJECT or cluster_id != known.cluster_id:
        return False
    if object_id >= known.next_object_id or upload.begun_ms > now_ms - safe_age_ms:
        return False
    entry = known.objects.get(object_id)
    return entry is None or entry.state != KnownObjectState.PREPARED
