"""What metadata and bucket disagree in, by name."""

import pytest

from headrace.storage.audit import comparison as module
from headrace.storage.audit.comparison import (
    KnownBucket,
    KnownObject,
    KnownObjectState,
    Problem,
    Severity,
    compare,
    contradiction,
    runs_of,
)
from headrace.storage.audit.inventory import KeyKind, ListedObject
from headrace.storage.objects.keys import object_key
from headrace.storage.ports import StreamRange

NOW_MS = 1_000_000_000
HOUR_MS = 3_600_000


def committed(object_id, size=100, ranges=()):
    return KnownObject(object_id, KnownObjectState.COMMITTED, size, 0, ranges)


def known(*objects, next_object_id=100):
    return KnownBucket("c", {it.object_id: it for it in objects}, next_object_id)


def listed(object_id, size=100, modified_ms=NOW_MS, cluster="c"):
    return ListedObject(object_key(cluster, object_id), size, modified_ms)


def run(bucket, *listing, **options):
    return compare(bucket, listing, now_ms=NOW_MS, **options)


def problems(outcome):
    return {(it.problem, it.object_id) for it in outcome.findings()}


def test_a_bucket_that_holds_what_is_known_is_exact_and_settled():
    outcome = run(known(committed(1), committed(2, 7)), listed(1), listed(2, 7))
    assert list(outcome.findings()) == []
    assert outcome.is_exact
    assert outcome.is_settled
    totals = outcome.states[KnownObjectState.COMMITTED]
    assert (totals.known, totals.found, totals.found_bytes) == (2, 2, 107)


def test_a_missing_object_is_told_with_what_it_held():
    ranges = [StreamRange(5, 1, 10, 20), *(StreamRange(6 + n, 1, 0, 1) for n in range(4))]
    outcome = run(known(committed(1, 50, ranges)))
    (finding,) = outcome.findings(Severity.ERROR)
    assert (finding.problem, finding.key) == (Problem.MISSING, object_key("c", 1))
    assert finding.size_bytes == 50
    assert finding.detail.startswith("held stream 5 offsets 10 to 20, ")
    assert finding.detail.endswith(" and 2 more")
    assert not outcome.is_exact


@pytest.mark.parametrize("size", [99, 101])
def test_another_size(size):
    outcome = run(known(committed(1)), listed(1, size))
    assert problems(outcome) == {(Problem.WRONG_SIZE, 1)}
    assert not outcome.is_exact


def test_an_id_that_was_forgotten_is_unknown_and_one_never_given_out_is_worse():
    outcome = run(known(committed(1), next_object_id=9), listed(1), listed(8), listed(9))
    assert problems(outcome) == {(Problem.UNKNOWN, 8), (Problem.BEYOND_METADATA, 9)}
    assert (outcome.count(Severity.LEFTOVER), outcome.count(Severity.ERROR)) == (1, 1)


def test_an_unknown_object_is_not_exact_and_no_error():
    outcome = run(known(), listed(8))
    assert not outcome.is_exact
    assert outcome.count(Severity.ERROR) == 0


@pytest.mark.parametrize(("expires_ms", "expired"), [(NOW_MS, True), (NOW_MS + 1, False)])
def test_prepared_objects(expires_ms, expired):
    bucket = known(KnownObject(1, KnownObjectState.PREPARED, 0, expires_ms))
    assert problems(run(bucket)) == set()  # nothing was uploaded
    uploaded = run(bucket, listed(1, 12345))
    assert problems(uploaded) == ({(Problem.EXPIRED, 1)} if expired else set())
    assert uploaded.is_exact
    assert not uploaded.is_settled


@pytest.mark.parametrize(("age_ms", "overdue"), [(HOUR_MS, True), (HOUR_MS - 1, False)])
def test_destroyed_objects(age_ms, overdue):
    bucket = known(KnownObject(1, KnownObjectState.DESTROYED, 100, NOW_MS - age_ms))
    assert problems(run(bucket, overdue_ms=HOUR_MS)) == set()  # deleted, not yet forgotten
    present = run(bucket, listed(1), overdue_ms=HOUR_MS)
    assert problems(present) == ({(Problem.OVERDUE, 1)} if overdue else set())
    assert not present.is_settled


def test_what_is_not_this_cluster_s_is_counted_and_not_judged():
    outcome = run(
        known(),
        listed(1, cluster="other"),
        ListedObject("wal/c/1/2", 5, 0),
        ListedObject("headrace-probe/x/put", 5, 0),
        ListedObject("readme.txt", 5, 0),
    )
    assert outcome.is_settled
    assert outcome.other_clusters == {"other": 1}
    assert outcome.not_judged == {KeyKind.WAL: 1, KeyKind.PROBE: 1, KeyKind.OTHER: 1}


def test_only_what_is_found_twice_is_confirmed():
    # The first time, 1 was listed too early and 2 was deleted meanwhile; the second time, 5 and 6.
    first = run(known(committed(1), committed(3)), listed(2), listed(4))
    second = run(known(committed(1), committed(3), committed(5)), listed(1), listed(4), listed(6))
    confirmed = first.confirmed_by(second)
    assert problems(confirmed) == {(Problem.MISSING, 3), (Problem.UNKNOWN, 4)}
    assert confirmed.counts == {Problem.MISSING: 1, Problem.UNKNOWN: 1}
    assert confirmed.states[KnownObjectState.COMMITTED].found == 1


def test_what_is_not_kept_is_counted(monkeypatch):
    monkeypatch.setattr(module, "MAX_FINDINGS_KEPT", 3)
    outcome = run(known(), *(listed(n) for n in range(10)))
    assert len(outcome.kept[Problem.UNKNOWN]) == 3
    assert outcome.count(Severity.LEFTOVER) == 10
    assert outcome.confirmed_by(run(known(), *(listed(n) for n in range(8)))).counts == {
        Problem.UNKNOWN: 8
    }


def test_runs_are_joined():
    assert runs_of([(2, 5, 9), (1, 0, 5), (1, 5, 7), (1, 8, 9)]) == [
        (1, 0, 7),
        (1, 8, 9),
        (2, 5, 9),
    ]


def ranges(*triples):
    return [StreamRange(stream_id, 1, start, end) for stream_id, start, end in triples]


@pytest.mark.parametrize(
    ("held", "text"),
    [
        ([(1, 0, 10), (2, 5, 9)], None),
        ([(1, 0, 4), (1, 4, 10), (2, 5, 9)], None),  # two blocks
        ([(1, 0, 12), (2, 3, 9), (3, 0, 1)], None),  # more than is asked for
        ([(1, 0, 9), (2, 5, 9)], "the index lacks offsets 0 to 10 of stream 1"),
        ([(1, 1, 10), (2, 5, 9)], "the index lacks offsets 0 to 10 of stream 1"),
        ([(1, 0, 4), (1, 5, 10), (2, 5, 9)], "the index lacks offsets 0 to 10 of stream 1"),
        ([(1, 0, 10)], "the index lacks offsets 5 to 9 of stream 2"),
        ([], "the index lacks offsets 0 to 10 of stream 1"),
        ([(1, 0, 10), (1, 9, 12), (2, 5, 9)], "the index has offset 9 of stream 1 twice"),
    ],
)
def test_an_index_and_what_is_known_of_it(held, text):
    assert contradiction(ranges((1, 0, 5), (1, 5, 10), (2, 5, 9)), held) == text
