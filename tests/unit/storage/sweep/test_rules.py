"""What a sweep may remove: nothing that anybody could still need."""

import pytest

from headrace.storage.audit.comparison import KnownBucket, KnownObject, KnownObjectState
from headrace.storage.audit.inventory import UNKNOWN_TIME, ListedObject
from headrace.storage.objects.keys import object_key
from headrace.storage.sweep.rules import TEMPORARY_AGE_MS, IncompleteUpload, is_abandoned, swept

NOW_MS = 10**12
SAFE_AGE_MS = 1000
OLD_MS = NOW_MS - SAFE_AGE_MS
FORGOTTEN, PREPARED, COMMITTED, DESTROYED, NEVER_GIVEN = range(5)
KNOWN = KnownBucket(
    "c",
    {
        it.object_id: it
        for it in (
            KnownObject(PREPARED, KnownObjectState.PREPARED, 0, NOW_MS + 1),
            KnownObject(COMMITTED, KnownObjectState.COMMITTED, 9, 0),
            KnownObject(DESTROYED, KnownObjectState.DESTROYED, 9, NOW_MS - 5),
        )
    },
    NEVER_GIVEN,
)


def listed(object_id, modified_ms=OLD_MS, cluster="c", size=9):
    return ListedObject(object_key(cluster, object_id), size, modified_ms)


def removed(*page):
    found = swept(KNOWN, page, now_ms=NOW_MS, safe_age_ms=SAFE_AGE_MS)
    return [it.object_id for it in found.removable], found.beyond_metadata


def test_what_was_forgotten_goes_and_nothing_else():
    page = [listed(it) for it in (FORGOTTEN, PREPARED, COMMITTED, DESTROYED)]
    others = [ListedObject("wal/c/1/0", 9, 0), ListedObject("notes.txt", 9, 0)]
    assert removed(*page, listed(FORGOTTEN, cluster="d"), *others) == ([FORGOTTEN], 0)


@pytest.mark.parametrize("modified_ms", [OLD_MS + 1, NOW_MS + 10**9, UNKNOWN_TIME])
def test_what_is_young_or_of_unknown_age_stays(modified_ms):
    assert removed(listed(FORGOTTEN, modified_ms)) == ([], 0)


def test_metadata_that_contradict_the_bucket_remove_nothing():
    assert removed(listed(FORGOTTEN), listed(NEVER_GIVEN)) == ([], 1)
    assert removed(listed(FORGOTTEN), listed(NEVER_GIVEN, NOW_MS)) == ([], 0)
    assert removed(listed(FORGOTTEN), listed(COMMITTED, size=8)) == ([], 0)


@pytest.mark.parametrize(
    ("object_id", "abandoned"),
    [
        (FORGOTTEN, True),
        (PREPARED, False),
        (COMMITTED, True),
        (DESTROYED, True),
        (NEVER_GIVEN, False),
    ],
)
def test_uploads_whose_object_nobody_can_commit(object_id, abandoned):
    def judge(key, begun_ms=OLD_MS, upload_id="id"):
        upload = IncompleteUpload(key, upload_id, begun_ms)
        return is_abandoned(KNOWN, upload, now_ms=NOW_MS, safe_age_ms=SAFE_AGE_MS)

    assert judge(object_key("c", object_id)) == abandoned
    assert not judge(object_key("c", object_id), OLD_MS + 1)
    assert not judge(object_key("d", object_id))
    assert not judge("somebody/elses")
    assert judge(".tmp/x", NOW_MS - TEMPORARY_AGE_MS, upload_id="")
    assert not judge(".tmp/x", NOW_MS - TEMPORARY_AGE_MS + 1, upload_id="")
    # In a bucket that is shared, another program's upload.
    assert not judge(".tmp/x", NOW_MS - TEMPORARY_AGE_MS)
