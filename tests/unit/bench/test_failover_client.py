"""The client that waits for partitions: what it sends to whom, until each has taken a record."""

import threading

import pytest

from bench import failover_client
from bench.failover_client import FailoverClient
from bench.failover_wire import Appended, Leaders

TOPIC = "topic"
ADDRESSES = {2: ("b2", 1), 3: ("b3", 1)}
NOT_LEADER = 6


class Brokers:
    """Brokers 2 and 3, which take over the partitions of broker 1 one after the other."""

    def __init__(self):
        self.leaders = [
            {0: 1, 1: 1},
            {0: 2, 1: 1},
            {0: 2, 1: 3},
        ]  # as one request after another finds them
        self.errors = {0: [NOT_LEADER]}  # of the first requests to a partition
        self.appended = []  # (broker, partition)
        self.lock = threading.Lock()

    def connection(self, address):
        return Connection(self, address[0])


class Connection:
    def __init__(self, brokers, host):
        self.brokers = brokers
        self.host = host

    def ask(self, request):
        return self, request

    def close(self):
        pass


@pytest.fixture
def brokers(monkeypatch):
    found = Brokers()

    def leaders_of(_answer):
        return Leaders({}, found.leaders.pop(0) if len(found.leaders) > 1 else found.leaders[0])

    def appended(answer):
        connection, partitions = answer
        answers = []
        for partition in partitions:
            errors = found.errors.get(partition)
            error = errors.pop() if errors else 0
            with found.lock:
                found.appended.append((connection.host, partition, error))
            answers.append(Appended(partition, error, 7 + partition))
        return answers

    monkeypatch.setattr(failover_client, "Connection", found.connection)
    monkeypatch.setattr(failover_client, "leaders_of", leaders_of)
    monkeypatch.setattr(failover_client, "appended", appended)
    monkeypatch.setattr(
        failover_client, "produce_request", lambda _topic, partitions, _batch, **_: partitions
    )
    monkeypatch.setattr(failover_client, "PAUSE_S", 0.001)
    return found


def test_each_partition_gets_one_record_from_its_new_leader(brokers):
    client = FailoverClient(TOPIC, ADDRESSES)
    client.start()
    client.wait(60)

    taken = [(host, partition) for host, partition, error in brokers.appended if not error]
    assert sorted(taken) == [("b2", 0), ("b3", 1)]
    assert client.base_offsets == {0: 7, 1: 8}
    for partition in (0, 1):
        assert client.named_ns[partition] <= client.acknowledged_ns[partition]


def test_a_partition_that_stays_with_the_dead_broker_is_told(brokers):
    brokers.leaders = [{0: 1}]
    client = FailoverClient(TOPIC, ADDRESSES)
    client.start()
    with pytest.raises(TimeoutError, match="1 partitions"):
        client.wait(0)


def test_a_failure_in_a_thread_is_raised(brokers):
    client = FailoverClient(TOPIC, ADDRESSES)
    brokers.leaders = []
    client.start()
    with pytest.raises(IndexError):
        client.wait(60)
