"""Making clients."""

import pytest
from kafka import errors

from headrace.broker.cli.client import kafka_clients as clients
from headrace.broker.cli.client.kafka_clients import (
    admin_client,
    consumer_client,
    patiently,
    producer_client,
)
from headrace.broker.cli.failures import CommandFailedError


@pytest.mark.parametrize("make", [admin_client, producer_client, consumer_client])
def test_a_client_is_not_made_where_nobody_listens(make):
    with pytest.raises(CommandFailedError, match="no broker answers"), make("127.0.0.1:1"):
        pass


def test_a_coordinator_that_is_coming_is_waited_for(monkeypatch):
    monkeypatch.setattr(clients, "COORDINATOR_RETRY_S", 0)
    answers = [errors.CoordinatorNotAvailableError(), errors.NotCoordinatorError(), "done"]

    def call(argument):
        assert argument == "g"
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    assert patiently(call, "g") == "done"


def test_a_coordinator_that_does_not_come_is_given_up(monkeypatch):
    monkeypatch.setattr(clients, "COORDINATOR_WAIT_S", 0)

    def call(_):
        raise errors.CoordinatorNotAvailableError

    with pytest.raises(errors.CoordinatorNotAvailableError):
        patiently(call, "g")


def test_another_error_is_not_waited_for():
    def call(_):
        raise errors.GroupAuthorizationFailedError

    with pytest.raises(errors.GroupAuthorizationFailedError):
        patiently(call, "g")
