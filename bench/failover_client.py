"""A producer that waits for partitions to have a leader again: one record for each, as soon as it is taken.

It asks a living broker for the leaders over and over, and sends to each of them one request at a time, with all of
its partitions that have not acknowledged yet. Its connections are open before the fault, so what it measures
is the cluster: a client library adds its own pauses, of 100 ms and more.
"""

import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from bench.failover_wire import (
    Appended,
    Leaders,
    appended,
    leaders_of,
    metadata_request,
    produce_request,
)
from tests.e2e.wire import batch

PAUSE_S: Final = 0.02  # before the leaders are asked for again, and after an answer with errors
_IDLE_S: Final = 0.002
_ANSWER_S: Final = 60.0
_PRODUCE_TIMEOUT_MS: Final = 10_000


class Connection:
    """One request at a time, answered as bytes."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._socket = socket.create_connection(address, _ANSWER_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._answers = self._socket.makefile("rb")

    def ask(self, request: bytes) -> bytes:
        """Return the answer, from its correlation id on.

        Raises:
            OSError: the connection has ended.
        """
        self._socket.sendall(request)
        size = self._answers.read(4)
        if len(size) < 4:
            raise ConnectionError("the broker has closed the connection")
        (length,) = struct.unpack(">i", size)
        return self._answers.read(length)

    def close(self) -> None:
        """End it."""
        self._answers.close()
        self._socket.close()


class FailoverClient:
    """Waits for every partition of a topic; threads of its own do the asking."""

    def __init__(self, topic: str, living: Mapping[int, tuple[str, int]]) -> None:
        """Connect to the brokers that will stay."""
        self._topic = topic
        self._asking = Connection(next(iter(living.values())))
        self._sending = {node_id: Connection(it) for node_id, it in living.items()}
        self._batch = batch([b"probe"])
        self._found = Leaders({}, {})
        self._waiting: set[int] = set(self._ask().leaders)
        self._ended = threading.Event()
        self._failures: list[BaseException] = []
        self._threads: list[threading.Thread] = []
        self.named_ns: dict[int, int] = {}  # when a living leader was first seen, by partition
        self.acknowledged_ns: dict[int, int] = {}  # by partition
        self.base_offsets: dict[int, int] = {}  # of the acknowledged records

    def start(self) -> None:
        """Begin to ask, and to send where there is a living leader."""
        sending = [partial(self._send, *it) for it in self._sending.items()]
        for call in (self._follow, *sending):
            thread = threading.Thread(target=self._run, args=(call,), daemon=True)
            thread.start()
            self._threads.append(thread)

    def wait(self, within_s: float) -> None:
        """Wait until every partition has acknowledged a record.

        Raises:
            TimeoutError: that took too long.
        """
        self._ended.wait(within_s)
        self._ended.set()
        for thread in self._threads:
            thread.join()
        for connection in (self._asking, *self._sending.values()):
            connection.close()
        if self._failures:
            raise self._failures[0]
        if self._waiting:
            msg = f"{len(self._waiting)} partitions take no record after {within_s} s"
            raise TimeoutError(msg)

    def _run(self, call: Callable[[], None]) -> None:
        try:
            call()
        except BaseException as error:  # noqa: BLE001 - raised by `wait`
            self._failures.append(error)
            self._ended.set()

    def _ask(self) -> Leaders:
        return leaders_of(self._asking.ask(metadata_request(self._topic)))

    def _follow(self) -> None:
        while not self._ended.wait(PAUSE_S):
            self._found = self._ask()
            now_ns = time.time_ns()
            for partition, leader in self._found.leaders.items():
                if leader in self._sending:
                    self.named_ns.setdefault(partition, now_ns)

    def _send(self, node_id: int, connection: Connection) -> None:
        while not self._ended.is_set():
            leaders = self._found.leaders
            mine = [it for it in list(self._waiting) if leaders.get(it) == node_id]
            if not mine:
                time.sleep(_IDLE_S)
                continue
            request = produce_request(
                self._topic, mine, self._batch, timeout_ms=_PRODUCE_TIMEOUT_MS
            )
            answers = appended(connection.ask(request))
            self._note(answers, time.time_ns())
            if any(it.error for it in answers):
                self._ended.wait(PAUSE_S)

    def _note(self, answers: list[Appended], now_ns: int) -> None:
        for it in answers:
            if not it.error:
                self.acknowledged_ns[it.partition] = now_ns
                self.base_offsets[it.partition] = it.base_offset
                self._waiting.discard(it.partition)
        if not self._waiting:
            self._ended.set()
