"""The judge of refusals finds those that need not have been, and no others."""

import pytest

from headrace.broker.partition.transit import MAX_WAIT_MS
from headrace.protocol.errors import ErrorCode
from tests.simulation.cluster.clients import SeenCodes
from tests.simulation.cluster.refusals import Refusals, Refused

PLACE = ("records", 0)
WAIT_S = MAX_WAIT_MS / 1000


def judged(*refused: tuple[str, int, float], newest: int, slow_bucket: bool = False) -> list[bool]:
    """Which refusals by (client, learned epoch, seconds) need not have been."""
    judge = Refusals(lambda _: newest, slow_bucket=slow_bucket)
    return [
        judge.wrong(Refused(client, PLACE, epoch, took_s)) is not None
        for client, epoch, took_s in refused
    ]


def test_who_is_refused_without_a_change_is_found() -> None:
    assert judged(("a", 3, 0.0), ("a", 3, WAIT_S), newest=3) == [True, True]


def test_a_client_is_refused_once_for_what_it_has_learned() -> None:
    asked = (("a", 2, 0.0), ("b", 2, 0.0), ("a", 1, 0.0), ("a", 2, 0.0))
    assert judged(*asked, newest=3) == [False, False, False, True]


def test_with_a_slow_bucket_it_is_refused_once_before_a_change_and_after_each_wait() -> None:
    asked = (("a", 3, 0.0), ("a", 3, 0.1), ("a", 3, WAIT_S), ("a", 2, 0.0), ("a", 2, WAIT_S))
    assert judged(*asked, newest=3, slow_bucket=True) == [False, True, False, False, False]


@pytest.mark.parametrize(
    ("code", "slow_bucket", "is_wrong"),
    [
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, False, False),
        (ErrorCode.NOT_COORDINATOR, False, False),
        (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, False, True),
        (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, True, False),
        (ErrorCode.NOT_ENOUGH_REPLICAS, True, True),
    ],
)
def test_no_other_code_is_needed(code: ErrorCode, slow_bucket: bool, is_wrong: bool) -> None:
    refusals = Refusals(lambda _: 2, slow_bucket=slow_bucket)
    without, with_faults = SeenCodes(refusals=refusals), SeenCodes()
    for seen in (without, with_faults):
        seen.refused("produce", code, Refused("a", PLACE, 1, 0.0))
        assert seen.counts == {f"produce: {code.name}": 1}
    assert bool(without.faults) is is_wrong
    assert with_faults.faults == []
