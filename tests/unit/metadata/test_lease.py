from headrace.metadata.follower.lease import BrokerLease
from tests.unit.metadata.running_cluster import Clock


def test_nothing_is_held_before_the_first_answer():
    assert not BrokerLease(8_000, Clock()).is_lease_valid()


def test_a_lease_runs_from_the_sending_of_the_heartbeat():
    clock = Clock(1_000)
    lease = BrokerLease(8_000, clock)
    clock.now_ms = 3_000  # the answer took two seconds
    lease.extend(1_000)

    clock.now_ms = 8_999
    assert lease.is_lease_valid()
    clock.now_ms = 9_000
    assert not lease.is_lease_valid()


def test_an_answer_that_overtook_another_shortens_nothing():
    clock = Clock(1_000)
    lease = BrokerLease(8_000, clock)
    lease.extend(5_000)
    lease.extend(1_000)
    clock.now_ms = 12_999

    assert lease.is_lease_valid()


def test_a_lease_that_ran_out_comes_back_with_the_next_answer():
    clock = Clock(1_000)
    lease = BrokerLease(8_000, clock)
    lease.extend(1_000)
    clock.now_ms = 60_000
    assert not lease.is_lease_valid()

    lease.extend(59_000)

    assert lease.is_lease_valid()


def test_a_lease_that_was_ended_never_comes_back():
    clock = Clock(1_000)
    lease = BrokerLease(8_000, clock)
    lease.extend(1_000)
    lease.end()
    lease.extend(1_000)

    assert lease.ended
    assert not lease.is_lease_valid()
