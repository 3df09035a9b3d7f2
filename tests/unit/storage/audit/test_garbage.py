"""What may be removed without the broker: old, forgotten, ours, and nothing while in doubt."""

import pytest

from headrace.storage.audit.comparison import (
    Comparison,
    Finding,
    KnownBucket,
    KnownObject,
    KnownObjectState,
    Problem,
    StateTotals,
    compare,
)
from headrace.storage.audit.garbage import plan_garbage
from headrace.storage.audit.inventory import ListedObject
from headrace.storage.objects.keys import object_key

NOW_MS = 1_000_000_000
DAY_MS = 24 * 3_600_000
OLD_MS = NOW_MS - DAY_MS


def listed(object_id, modified_ms=OLD_MS, size=100, cluster="c"):
    return ListedObject(object_key(cluster, object_id), size, modified_ms)


def plan(*listing, objects=(), next_object_id=100, safe_age_ms=DAY_MS):
    known = KnownBucket("c", {it.object_id: it for it in objects}, next_object_id)
    found = compare(known, listing, now_ms=NOW_MS)
    return plan_garbage(found, now_ms=NOW_MS, safe_age_ms=safe_age_ms)


def test_old_and_forgotten_objects_may_go():
    chosen = plan(listed(1), listed(2, OLD_MS + 1), listed(3, 0))
    assert [it.object_id for it in chosen.removable] == [1]
    assert (chosen.removable_bytes, chosen.too_young, chosen.refusal) == (100, 2, "")


@pytest.mark.parametrize("state", list(KnownObjectState))
def test_what_the_metadata_knows_stays(state):
    assert plan(listed(1), objects=[KnownObject(1, state, 100, 0)]).removable == []


def test_what_is_not_ours_stays():
    strangers = [
        listed(1, cluster="other"),
        ListedObject("wal/c/1/2", 5, 1),
        ListedObject("headrace-probe/x/put", 5, 1),
        ListedObject("notes.txt", 5, 1),
    ]
    chosen = plan(*strangers)
    assert (chosen.removable, chosen.too_young) == ([], 0)


def test_a_finding_whose_key_does_not_bear_it_out_stays():
    outcome = Comparison("c", {state: StateTotals() for state in KnownObjectState})
    for key in ("wal/c/1/2", object_key("other", 1), object_key("c", 2)):
        outcome.add(Finding(Problem.UNKNOWN, key, 1, 10, OLD_MS, ""))
    assert plan_garbage(outcome, now_ms=NOW_MS, safe_age_ms=0).removable == []


@pytest.mark.parametrize(
    ("listing", "objects", "text"),
    [
        ([listed(1), listed(100)], [], "never given out"),
        (
            [listed(1)],
            [KnownObject(2, KnownObjectState.COMMITTED, 5, 0)],
            "missing or have another size",
        ),
        (
            [listed(1), listed(2, size=6)],
            [KnownObject(2, KnownObjectState.COMMITTED, 5, 0)],
            "missing or have another size",
        ),
    ],
)
def test_nothing_goes_while_metadata_and_bucket_contradict_each_other(listing, objects, text):
    assert text in plan(*listing, objects=objects).refusal


def test_an_age_below_zero_makes_no_sense():
    with pytest.raises(ValueError, match="safe age"):
        plan(safe_age_ms=-1)
