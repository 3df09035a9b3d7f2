"""Dead letters that are too large for the client, for a batch or for the topic: each is written all the same."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer

from headrace.pipeline.tables import dead_letters
from headrace.pipeline.tables.dead_letters import DeadLetterTopic, Letter
from headrace.pipeline.tables.errors import TableError
from headrace.pipeline.tables.rows import BadRecord

TOO_LARGE = KafkaError(KafkaError.MSG_SIZE_TOO_LARGE)
OTHER = KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED)


@dataclass
class Brokers:
    """They take batches up to a size; the client refuses records above another one."""

    max_batch_bytes: int = 1 << 20
    max_record_bytes: int = 1 << 40
    error: KafkaError | None = None
    settings: list[dict[str, Any]] = field(default_factory=list)
    written: list[tuple[str, bytes | None, dict[str, bytes]]] = field(default_factory=list)

    def producer(self, settings: dict[str, Any]) -> "Client":
        self.settings.append(settings)
        return Client(self, is_single=settings.get("batch.num.messages") == 1)


class Client:
    def __init__(self, brokers: Brokers, *, is_single: bool) -> None:
        self._brokers = brokers
        self._is_single = is_single
        self._sent: list[tuple[tuple[str, bytes | None, dict[str, bytes]], int, Any]] = []

    def produce(
        self,
        topic: str,
        *,
        key: str,
        value: bytes | None,
        headers: Any,
        on_delivery: Callable[..., None],
    ) -> None:
        assert topic == "dead"
        size = len(value or b"") + sum(len(it or b"") for _, it in headers)
        if size > self._brokers.max_record_bytes:
            raise KafkaException(TOO_LARGE)
        self._sent.append(((key, value, dict(headers)), size, on_delivery))

    def flush(self, timeout_s: float) -> int:
        del timeout_s
        together = sum(size for _, size, _ in self._sent)
        for letter, size, on_delivery in self._sent:
            is_large = (size if self._is_single else together) > self._brokers.max_batch_bytes
            error = self._brokers.error or (TOO_LARGE if is_large else None)
            if error is None:
                self._brokers.written.append(letter)
            on_delivery(error, None)
        return 0


def write(brokers: Brokers, monkeypatch: pytest.MonkeyPatch, *found: BadRecord) -> None:
    monkeypatch.setattr(dead_letters, "Producer", brokers.producer)
    topic = DeadLetterTopic("127.0.0.1:9", "dead", {"acks": "all"})
    monkeypatch.setattr(topic, "_written", lambda _: set())
    topic.write([Letter(it, "id") for it in found], None)


def record(offset: int, value_bytes: int, key: bytes | None = b"k") -> BadRecord:
    return BadRecord("t", 0, offset, 0, key, b"x" * value_bytes, "why")


def test_letters_are_as_large_as_the_topic_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    brokers = Brokers(max_batch_bytes=1 << 30)
    write(brokers, monkeypatch, record(0, 2_000_000), record(1, 5))
    (settings,) = brokers.settings
    Producer({"message.max.bytes": settings["message.max.bytes"]})  # librdkafka takes it
    assert settings["message.max.bytes"] >= 2_000_000
    assert settings["acks"] == "all"
    assert [len(value or b"") for _, value, _ in brokers.written] == [2_000_000, 5]


@pytest.mark.parametrize("is_client", [True, False])
def test_a_letter_that_is_too_large_goes_without_its_value(
    monkeypatch: pytest.MonkeyPatch, is_client: bool
) -> None:
    limits = {"max_record_bytes": 10_000} if is_client else {"max_batch_bytes": 10_000}
    brokers = Brokers(**limits)
    write(brokers, monkeypatch, record(0, 20_000), record(1, 5), record(2, 20_000, b"k" * 9_990))
    found = {key: (value, headers) for key, value, headers in brokers.written}
    assert sorted(found) == ["t-0-0-id", "t-0-1-id", "t-0-2-id"]
    value, headers = found["t-0-0-id"]
    assert value == b""  # null would be a tombstone
    assert (headers["headrace.value-bytes"], headers["headrace.key"]) == (b"20000", b"k")
    assert headers["headrace.reason"] == b"why"
    assert found["t-0-1-id"][0] == b"xxxxx"  # though it was in a batch that was refused
    assert "headrace.value-bytes" not in found["t-0-1-id"][1]
    _, headers = found["t-0-2-id"]
    assert headers["headrace.key-bytes"] == b"9990"
    assert "headrace.key" not in headers


def test_letters_that_are_refused_stop_their_table(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TableError, match="topic dead: Broker: Topic auth"):
        write(Brokers(error=OTHER), monkeypatch, record(0, 5))
    with pytest.raises(TableError, match="does not even take t-0-0-id without its value"):
        write(Brokers(max_batch_bytes=1), monkeypatch, record(0, 5))
