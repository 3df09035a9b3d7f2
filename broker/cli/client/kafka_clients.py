"""Clients of a Kafka cluster for the commands: made late, closed always, their errors explained.

kafka-python is imported when a client is made, after a quick look whether anything listens there.
"""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from headrace.broker.cli.failures import explained, require_reachable

BOOTSTRAP_TIMEOUT_MS = 10_000
CLIENT_ID = "headrace-cli"
COORDINATOR_WAIT_S = 15.0
COORDINATOR_RETRY_S = 0.25


def _prepare(bootstrap: str) -> dict[str, object]:
    """Check that a server listens, silence the client's logger, and return the common settings."""
    require_reachable(bootstrap)
    logging.getLogger("kafka").setLevel(logging.CRITICAL)
    return {
        "bootstrap_servers": bootstrap.split(","),
        "client_id": CLIENT_ID,
        "bootstrap_timeout_ms": BOOTSTRAP_TIMEOUT_MS,
    }


@contextmanager
def admin_client(bootstrap: str, *, about: str = "") -> Iterator[Any]:
    """Lend a KafkaAdminClient.

    Raises:
        CommandFailedError: the cluster cannot be reached, or refuses what is asked.
    """
    settings = _prepare(bootstrap)
    from headrace.broker.cli.client.foreign_bytes import Admin

    with explained(bootstrap, about=about):
        client = Admin(**settings)
        try:
            yield client
        finally:
            client.close()


def ask(admin: Any, request: Any) -> Any:
    """Send a request for which kafka-python's admin client has no method, or none that gives the whole answer."""

    async def send() -> Any:
        return await admin._manager.send(request)  # noqa: SLF001 - as its own methods do

    return admin._manager.run(send)  # noqa: SLF001


@contextmanager
def producer_client(bootstrap: str, *, about: str = "", **settings: object) -> Iterator[Any]:
    """Lend a KafkaProducer.

    Raises:
        CommandFailedError: the cluster cannot be reached, or refuses what is asked.
    """
    common = _prepare(bootstrap)
    from kafka import KafkaProducer

    with explained(bootstrap, about=about):
        producer = KafkaProducer(**common, metrics_enabled=False, **settings)
        try:
            yield producer
        finally:
            producer.close(timeout=5)


@contextmanager
def consumer_client(bootstrap: str, *, about: str = "", **settings: object) -> Iterator[Any]:
    """Lend a KafkaConsumer.

    Raises:
        CommandFailedError: the cluster cannot be reached, or refuses what is asked.
    """
    common = _prepare(bootstrap)
    from kafka import KafkaConsumer

    from headrace.broker.cli.client.foreign_bytes import read_all_records

    read_all_records()
    with explained(bootstrap, about=about):
        consumer = KafkaConsumer(**common, metrics_enabled=False, **settings)
        try:
            yield consumer
        finally:
            consumer.close()


def patiently(call: Callable[[Any], Any], argument: object) -> Any:
    """Call again while a group's coordinator is not there yet, as in a cluster's first seconds.

    Raises:
        KafkaError: what the call raises, once it has been tried for COORDINATOR_WAIT_S.
    """
    from kafka import errors

    passing = (
        errors.CoordinatorNotAvailableError,
        errors.CoordinatorLoadInProgressError,
        errors.NotCoordinatorError,
    )
    deadline = time.monotonic() + COORDINATOR_WAIT_S
    while True:
        try:
            return call(argument)
        except passing:
            if time.monotonic() >= deadline:
                raise
            time.sleep(COORDINATOR_RETRY_S)
