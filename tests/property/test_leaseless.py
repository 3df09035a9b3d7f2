"""The judge of brokers without a lease finds what they tell or take, and nothing that they may."""

from types import SimpleNamespace
from typing import Any

import pytest

from headrace.metadata.follower.lease import BrokerLease
from headrace.protocol.api_keys import ApiKey
from tests.simulation.cluster.leaseless import ARRIVES_S, LeaselessAnswers

BROKER, OTHER = 1, 2
LENGTH_MS = 1_000


class Scene:
    """One broker with a lease from now on, and its judge."""

    def __init__(self, *, refuses_soon: bool = True) -> None:
        self.now_ms = 0
        self.is_reached = True
        self.lease: BrokerLease | None = self.new_lease()
        self.judge = LeaselessAnswers(
            lambda _: self.lease,
            lambda _: self.is_reached,
            lambda: self.now_ms / 1000,
            refuses_soon=refuses_soon,
        )

    def new_lease(self) -> BrokerLease:
        lease = BrokerLease(LENGTH_MS, lambda: self.now_ms)
        lease.extend(self.now_ms)
        return lease

    def ask(self, key: ApiKey, answer: Any, *, lease_is_back: bool, took_ms: int = 10) -> list[str]:
        """Send a request, look while it is under way, and return what is found at its answer."""
        seen = self.judge.before(BROKER)
        self.judge.look([BROKER])
        self.now_ms += took_ms
        self.judge.look([BROKER])
        if lease_is_back:
            assert self.lease is not None
            self.lease.extend(self.now_ms)
        self.judge.answered(BROKER, key, [answer], seen)
        return self.judge.faults


def partition(code: int) -> SimpleNamespace:
    return SimpleNamespace(error_code=code)


def produced(code: int) -> SimpleNamespace:
    topic = SimpleNamespace(partition_responses=[partition(7), partition(code)])
    return SimpleNamespace(responses=[topic])


def fetched(code: int) -> SimpleNamespace:
    return SimpleNamespace(responses=[SimpleNamespace(partitions=[partition(code)])])


def by_topic(code: int) -> SimpleNamespace:
    topic = SimpleNamespace(partitions=[partition(code)])
    return SimpleNamespace(topics=[topic], error_code=0)


def coordinator(node_id: int) -> SimpleNamespace:
    return SimpleNamespace(error_code=0, node_id=node_id)


TOLD = [
    (ApiKey.PRODUCE, produced(0)),
    (ApiKey.FETCH, fetched(0)),
    (ApiKey.LIST_OFFSETS, by_topic(0)),
    (ApiKey.OFFSET_FETCH, by_topic(0)),
    (ApiKey.OFFSET_COMMIT, by_topic(0)),
    (ApiKey.JOIN_GROUP, partition(0)),
    (ApiKey.SYNC_GROUP, partition(0)),
    (ApiKey.HEARTBEAT, partition(0)),
    (ApiKey.FIND_COORDINATOR, coordinator(BROKER)),
]
NOT_TOLD = [
    (ApiKey.PRODUCE, produced(6)),
    (ApiKey.FETCH, fetched(6)),
    (ApiKey.LIST_OFFSETS, by_topic(6)),
    (ApiKey.OFFSET_FETCH, by_topic(16)),
    (ApiKey.OFFSET_COMMIT, by_topic(16)),
    (ApiKey.HEARTBEAT, partition(16)),
    (ApiKey.FIND_COORDINATOR, coordinator(OTHER)),
    (ApiKey.METADATA, by_topic(0)),
]


@pytest.mark.parametrize(("key", "answer"), TOLD)
def test_what_is_told_without_a_lease_is_found(key: ApiKey, answer: Any) -> None:
    scene = Scene()
    scene.now_ms = LENGTH_MS
    assert len(scene.ask(key, answer, lease_is_back=False)) == 1


@pytest.mark.parametrize(("key", "answer"), NOT_TOLD)
def test_refusals_and_what_anybody_may_tell_are_not(key: ApiKey, answer: Any) -> None:
    scene = Scene()
    scene.now_ms = LENGTH_MS
    assert scene.ask(key, answer, lease_is_back=False) == []


@pytest.mark.parametrize(("key", "answer"), TOLD)
def test_with_a_lease_at_some_moment_all_may_be_told(key: ApiKey, answer: Any) -> None:
    runs_out, comes_back = Scene(), Scene()
    runs_out.now_ms = LENGTH_MS - 1
    comes_back.now_ms = LENGTH_MS
    assert runs_out.ask(key, answer, lease_is_back=False) == []
    assert comes_back.ask(key, answer, lease_is_back=True) == []


def test_a_lease_that_has_ended_for_good_meanwhile_is_none() -> None:
    scene = Scene()
    scene.now_ms = LENGTH_MS
    seen, lease = scene.judge.before(BROKER), scene.lease
    assert lease is not None
    lease.end()
    scene.judge.answered(BROKER, ApiKey.PRODUCE, [produced(0)], seen)
    assert len(scene.judge.faults) == 1


def test_a_broker_that_has_begun_again_is_another_one() -> None:
    scene = Scene()
    scene.now_ms = LENGTH_MS
    seen = scene.judge.before(BROKER)
    scene.lease = scene.new_lease()
    scene.now_ms += LENGTH_MS
    scene.judge.answered(BROKER, ApiKey.PRODUCE, [produced(0)], seen)
    scene.lease = None
    scene.judge.answered(BROKER, ApiKey.PRODUCE, [produced(0)], seen)
    assert scene.judge.faults == []


ARRIVED_MS = round(ARRIVES_S * 1000)


def test_records_that_wait_for_the_lease_are_found() -> None:
    scene = Scene()
    scene.now_ms = LENGTH_MS
    assert len(scene.ask(ApiKey.PRODUCE, produced(0), lease_is_back=True, took_ms=ARRIVED_MS)) == 1


@pytest.mark.parametrize("case", ["soon back", "late requests", "stopped", "offsets"])
def test_what_may_have_come_with_the_lease_is_not(case: str) -> None:
    scene = Scene(refuses_soon=case != "late requests")
    scene.now_ms = LENGTH_MS
    scene.is_reached = case != "stopped"
    key, answer = (
        (ApiKey.LIST_OFFSETS, by_topic(0)) if case == "offsets" else (ApiKey.PRODUCE, produced(0))
    )
    took_ms = ARRIVED_MS - 1 if case == "soon back" else ARRIVED_MS
    assert scene.ask(key, answer, lease_is_back=True, took_ms=took_ms) == []
