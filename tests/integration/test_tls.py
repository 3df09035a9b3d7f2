"""A node that is given a certificate serves a Kafka client over TLS, by the same sessions as without."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
import uvloop
from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from headrace.broker.network.listener import Listener
from headrace.broker.network.session import Dispatcher
from tests.environment.certificates import ADDRESS, make_certificate
from tests.integration.test_hostile_clients import Victim, victim
from tests.integration.test_node import TOPIC

RECORDS = 500
VALUE_BYTES = 2_000  # in all more than the socket and TLS hold at once


def produce_and_consume(port: int, **security: Any) -> list[bytes]:
    """What kafka-python reads of what it has written."""
    client = {"bootstrap_servers": f"{ADDRESS}:{port}", **security}
    producer = KafkaProducer(**client, acks="all", linger_ms=5)
    try:
        sent = [
            producer.send(TOPIC, b"%d" % number + bytes(VALUE_BYTES), partition=0)
            for number in range(RECORDS)
        ]
        first = sent[0].get(timeout=30).offset
        for each in sent:
            each.get(timeout=30)
    finally:
        producer.close()
    consumer = KafkaConsumer(**client, consumer_timeout_ms=30_000)
    try:
        partition = TopicPartition(TOPIC, 0)
        consumer.assign([partition])
        consumer.seek(partition, first)
        return [next(consumer).value.rstrip(b"\0") for _ in range(RECORDS)]
    finally:
        consumer.close()


def test_kafka_python_writes_and_reads_over_tls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = make_certificate(tmp_path / "tls")
    serve = Listener.serve

    async def serve_over_tls(listener: Listener, dispatcher: Dispatcher) -> None:
        await serve(listener, dispatcher, {"PLAINTEXT": certificate.server()})

    async def connect(node: Victim) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        streams = await asyncio.open_connection(ADDRESS, node.port, ssl=certificate.client())
        node.streams.append(streams)
        return streams

    monkeypatch.setattr(Listener, "serve", serve_over_tls)
    monkeypatch.setattr(Victim, "connect", connect)

    async def run() -> list[bytes]:
        async with victim(tmp_path / "node") as node:
            return await asyncio.to_thread(
                produce_and_consume,
                node.port,
                security_protocol="SSL",
                ssl_cafile=str(certificate.certificate),
            )

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:  # as in production
        found = runner.run(run())
    assert found == [b"%d" % number for number in range(RECORDS)]
