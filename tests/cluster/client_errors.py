"""Which errors a client may see while a cluster loses nodes and links: those that a repetition answers.

The table is kafka-python's, which knows nothing of the broker under test.
"""

from collections import Counter
from threading import Lock

import kafka.errors
from confluent_kafka import KafkaError

RETRIABLE = frozenset(
    kind.errno
    for kind in vars(kafka.errors).values()
    if isinstance(kind, type)
    and issubclass(kind, kafka.errors.BrokerResponseError)
    and kind.retriable
    and kind.errno > 0
)
# A member that was away for too long joins again: the protocol of groups is made of these.
REJOIN = frozenset({22, 25, 27})  # ILLEGAL_GENERATION, UNKNOWN_MEMBER_ID, REBALANCE_IN_PROGRESS
NOT_CONTROLLER = 41
UNKNOWN_TOPIC_OR_PARTITION = 3
TOPIC_ALREADY_EXISTS = 36
# What librdkafka says of its own: it has lost a connection, or waits for something that is not there yet.
_LOCAL = frozenset(
    {
        KafkaError._ALL_BROKERS_DOWN,
        KafkaError._TRANSPORT,
        KafkaError._RESOLVE,
        KafkaError._TIMED_OUT,
        KafkaError._TIMED_OUT_QUEUE,
        KafkaError._WAIT_COORD,
        KafkaError._NO_OFFSET,
        KafkaError._PARTITION_EOF,
        KafkaError._ASSIGNMENT_LOST,
        KafkaError._MAX_POLL_EXCEEDED,
    }
)


class SeenErrors:
    """Counts what clients saw, by name, and keeps apart what they should not have seen. Thread-safe."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []
        self._lock = Lock()

    def note_code(self, where: str, code: int) -> None:
        """Note a code of Kafka's protocol."""
        with self._lock:
            self.counts[f"{where}: {_name(code)}"] += 1
            if code not in RETRIABLE:
                self.faults.append(f"{where}: {_name(code)}")

    def note_librdkafka(self, where: str, error: KafkaError, *, in_group: bool = False) -> None:
        """Note what librdkafka told its application; `in_group`: of a member of a group."""
        code = error.code()
        allowed = code in _LOCAL or code in RETRIABLE or (in_group and code in REJOIN)
        with self._lock:
            self.counts[f"{where}: {error.name()}"] += 1
            if error.fatal() or not allowed:
                self.faults.append(f"{where}: {error.name()} {error.str()}")

    def note_kafka_python(self, where: str, error: kafka.errors.KafkaError) -> None:
        """Note what kafka-python told the application of a member of a group."""
        rejoins = isinstance(error, kafka.errors.CommitFailedError)
        rejoins |= getattr(error, "errno", None) in REJOIN
        with self._lock:
            self.counts[f"{where}: {type(error).__name__}"] += 1
            if not (error.retriable or rejoins):
                self.faults.append(f"{where}: {error!r}")

    def note_connection(self, where: str, error: Exception) -> None:
        """Note a connection that was refused, lost, or silent for too long."""
        with self._lock:
            self.counts[f"{where}: {type(error).__name__}"] += 1

    def fault(self, what: str) -> None:
        """Note what must never happen."""
        with self._lock:
            self.faults.append(what)

    def check(self) -> None:
        """Fail if a client saw what it should not have seen."""
        with self._lock:
            faults = list(self.faults)
        assert not faults, "\n".join(faults[:20])


def _name(code: int) -> str:
    kind = kafka.errors.for_code(code)
    return f"{kind.__name__} ({code})"
