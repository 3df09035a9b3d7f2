import pytest

from headrace.metadata.controller.sessions import (
    BrokerSessions,
    Registered,
    tick_interval_ms,
)
from headrace.metadata.follower.lease import lease_length_ms

TIMEOUT = 9_000
TICK = tick_interval_ms(TIMEOUT)


@pytest.fixture
def sessions():
    return BrokerSessions(TIMEOUT, [Registered(1, 10, TIMEOUT)], 0)


def run(sessions, start, end):
    """Tick regularly in [start, end]; return what expired, with when."""
    return [(now, it) for now in range(start, end + 1, TICK) for it in sessions.tick(now)]


def test_a_silent_broker_expires_after_the_timeout(sessions):
    assert run(sessions, 0, TIMEOUT + TICK) == [(TIMEOUT, (1, 10))]
    assert not sessions.renew(1, 10, TIMEOUT + 1)
    assert not sessions.is_open(1, 10)


def test_heartbeats_keep_a_session(sessions):
    for now in range(0, 60_000, TICK):
        assert sessions.tick(now) == []
        assert sessions.renew(1, 10, now)


def test_a_lease_ends_before_its_session_however_long_the_heartbeat_took(sessions):
    """The broker counts from sending, the controller from receiving."""
    sent_ms, received_ms = 1_000, 1_400
    run(sessions, 0, 1_000)
    sessions.renew(1, 10, received_ms)

    ((expired_ms, _),) = run(sessions, 1_500, 20_000)

    assert sent_ms + lease_length_ms(TIMEOUT) < expired_ms
    assert lease_length_ms(TIMEOUT) == 8_000


def test_a_late_heartbeat_does_not_shorten_a_session(sessions):
    sessions.renew(1, 10, 5_000)
    sessions.renew(1, 10, 4_000)

    run(sessions, 0, 13_500)

    assert sessions.is_open(1, 10)


def test_a_new_epoch_replaces_the_old(sessions):
    sessions.begin(Registered(1, 20, TIMEOUT), 100)

    assert not sessions.renew(1, 10, 200)
    assert sessions.renew(1, 20, 200)
    sessions.end(1, 10)
    assert sessions.is_open(1, 20)


def test_a_controller_that_was_paused_gives_the_time_back(sessions):
    """Heartbeats sent meanwhile wait in its sockets; suspending a machine must not fence it."""
    run(sessions, 0, 5_000)

    paused_until = 3_600_000
    assert sessions.tick(paused_until) == []
    assert run(sessions, paused_until + TICK, paused_until + 20_000) != []


def test_a_small_delay_is_not_given_back(sessions):
    now = 0
    while sessions.is_open(1, 10):
        now += 2 * TICK
        sessions.tick(now)

    assert now == TIMEOUT


def test_a_new_leader_gives_every_broker_a_whole_session():
    brokers = [Registered(1, 10, TIMEOUT), Registered(2, 11, 0)]
    sessions = BrokerSessions(TIMEOUT, brokers, 500_000)

    expired = run(sessions, 500_000, 500_000 + TIMEOUT)

    assert expired == [(500_000 + TIMEOUT, (1, 10)), (500_000 + TIMEOUT, (2, 11))]


@pytest.mark.parametrize("configured_ms", [TIMEOUT // 3, 2 * TIMEOUT])
def test_a_session_is_as_long_as_the_leases_of_its_broker_rely_on(configured_ms):
    """Settings of nodes differ, at the latest while they are changed from one to the next."""
    sessions = BrokerSessions(configured_ms, [Registered(1, 10, TIMEOUT)], 0)
    longest = max(configured_ms, TIMEOUT)
    step = tick_interval_ms(configured_ms)
    for now in range(0, longest, step):
        assert sessions.tick(now) == []
    assert sessions.renew(1, 10, now)

    ends = next(it for it in range(now, 5 * longest, step) if sessions.tick(it))

    assert longest <= ends - now < longest + step
    assert lease_length_ms(TIMEOUT) < ends - now
