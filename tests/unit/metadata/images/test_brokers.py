from uuid import UUID

import pytest

from headrace.metadata.images.brokers import BrokersDelta, BrokerState
from headrace.metadata.records.brokers import (
    FenceBrokerRecord,
    FenceReason,
    RegisterBrokerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
)
from headrace.persistent_map import PersistentMap


def record(epoch):
    return RegisterBrokerRecord(1, epoch, UUID(int=epoch), (), "", 0, None)


@pytest.fixture
def delta():
    delta = BrokersDelta(PersistentMap())
    delta.register(record(5))
    return delta


def test_life_of_an_epoch(delta):
    assert delta.finish()[1].state == BrokerState.STARTING
    delta.unfence(UnfenceBrokerRecord(1, 5))
    assert not delta.finish()[1].fenced
    delta.fence(FenceBrokerRecord(1, 5, FenceReason.SHUT_DOWN))
    assert delta.finish()[1].state == BrokerState.SHUT_DOWN
    delta.register(record(6))
    assert delta.finish()[1].state == BrokerState.STARTING
    delta.fence(FenceBrokerRecord(1, 6, FenceReason.SESSION_EXPIRED))
    assert delta.finish()[1].epoch_ended
    delta.unregister(UnregisterBrokerRecord(1, 6))
    assert not delta.finish()


@pytest.mark.parametrize(
    "replay",
    [
        lambda delta: delta.register(record(5)),
        lambda delta: delta.register(record(4)),
        lambda delta: delta.unfence(UnfenceBrokerRecord(1, 4)),
        lambda delta: delta.unfence(UnfenceBrokerRecord(2, 5)),
        lambda delta: delta.fence(FenceBrokerRecord(1, 6, FenceReason.SHUT_DOWN)),
        lambda delta: delta.unregister(UnregisterBrokerRecord(1, 4)),
    ],
)
def test_records_that_do_not_fit(delta, replay):
    with pytest.raises(AssertionError):
        replay(delta)


def test_an_ended_epoch_is_not_unfenced(delta):
    delta.fence(FenceBrokerRecord(1, 5, FenceReason.SESSION_EXPIRED))

    with pytest.raises(AssertionError):
        delta.unfence(UnfenceBrokerRecord(1, 5))


def test_an_untouched_map_stays_the_same_object():
    brokers = PersistentMap()

    assert BrokersDelta(brokers).finish() is brokers
