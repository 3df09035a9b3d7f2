"""A producer without a client library: it sends on one connection to one broker, whoever leads, and repeats nothing."""

import threading
from collections import deque
from dataclasses import dataclass

from kafka.protocol.producer import ProduceResponse

from tests.cluster.clock import now_ns
from tests.e2e.wire import PRODUCE_VERSION, WireConnection, batch, produce_request

_MAX_OUTSTANDING = 20


@dataclass(frozen=True, slots=True)
class Answered:
    """What one batch of one record was answered, and when."""

    number: int
    at_ns: int
    error: int
    offset: int


class RawWriter:
    """Sends records with the values 0, 1, ... to partition 0 of a topic, several at once, until the connection ends."""

    def __init__(self, connection: WireConnection, topic: str) -> None:
        self.answered: list[Answered] = []
        self.sent = 0
        self._connection = connection
        self._topic = topic
        self._due: deque[int] = deque()
        self._room = threading.Semaphore(_MAX_OUTSTANDING)
        self._ended = threading.Event()
        self._threads = [
            threading.Thread(target=run, daemon=True) for run in (self._send, self._receive)
        ]

    @property
    def acknowledged(self) -> list[Answered]:
        """What was answered without an error."""
        return [it for it in self.answered if it.error == 0]

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def send_more(self, count: int) -> None:
        """Send further records without waiting for answers to those before: a stopped broker will find them."""
        for _ in range(count):
            self._room.release()

    def wait_for_end(self, timeout_s: float) -> None:
        """Wait until the broker has closed the connection."""
        assert self._ended.wait(timeout_s), "the connection is still open"
        self._room.release()

    @staticmethod
    def value(number: int) -> bytes:
        """Return the value of a record."""
        return b"%d" % number

    def _send(self) -> None:
        try:
            while self._room.acquire() and not self._ended.is_set():
                number = self.sent
                self.sent += 1  # first: whoever looks must see all that the broker may have seen
                self._due.append(number)
                records = batch([self.value(number)])
                self._connection.send(produce_request(self._topic, records), PRODUCE_VERSION)
        except OSError:
            return

    def _receive(self) -> None:
        try:
            while True:
                answer = self._connection.receive(ProduceResponse, PRODUCE_VERSION)
                part = answer.responses[0].partition_responses[0]
                number = self._due.popleft()
                self.answered.append(Answered(number, now_ns(), part.error_code, part.base_offset))
                self._room.release()
        except (OSError, TimeoutError):
            self._ended.set()
