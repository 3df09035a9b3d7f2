"""Clients that fill the memory of a broker: wide topics, fetch sessions, groups with many offsets, large answers.

All of it goes away again: the connections are closed, the groups and topics deleted.
"""

import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Self

from headrace.protocol.api_keys import ApiKey

TIMEOUT_S = 300
CREATED_AT_ONCE = 10_000  # partitions, as many as one request may create
COMMITTED_AT_ONCE = 10_000
NO_ERROR = b"\0\0"


@dataclass(frozen=True)
class Size:
    """How large the floods are. A session, a group and a wide topic have `partitions` each."""

    partitions: int = 20_000
    sessions: int = 20
    groups: int = 20
    answers: int = 100  # at once, of all offsets of a group
    wide_topics: int = 10  # of which one group has all offsets
    wide_answers: int = 10


def text(value: str) -> bytes:
    """A string of the versions that are not flexible."""
    return struct.pack(">h", len(value)) + value.encode()


def array(elements: list[bytes]) -> bytes:
    """An array of elements that are encoded already."""
    return struct.pack(">i", len(elements)) + b"".join(elements)


class Client:
    """A connection that reads nothing of an answer but its bytes."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), TIMEOUT_S)

    def __enter__(self) -> Self:
        """Be used once."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self._socket.close()

    def send(self, key: ApiKey, version: int, body: bytes) -> None:
        """Send a request."""
        frame = struct.pack(">hhih", key, version, 1, -1) + body
        self._socket.sendall(struct.pack(">i", len(frame)) + frame)

    def receive(self) -> bytes:
        """Return the body of the next answer."""
        (size,) = struct.unpack(">i", self._exactly(4))
        return self._exactly(size)[4:]

    def ask(self, key: ApiKey, version: int, body: bytes) -> bytes:
        """Send a request, and return the body of its answer."""
        self.send(key, version, body)
        return self.receive()

    def _exactly(self, size: int) -> bytes:
        received = bytearray()
        while len(received) < size:
            data = self._socket.recv(min(size - len(received), 1 << 20))
            assert data, "the broker closed the connection"
            received += data
        return bytes(received)


class Floods:
    """The floods, one after the other, on a broker of its own."""

    def __init__(self, port: int, size: Size) -> None:
        self._port = port
        self._size = size
        self._open = ExitStack()
        self.answer_bytes = 0  # of the largest answer

    def steps(self) -> Iterator[str]:
        """Do one flood after the other; yield what was done."""
        size = self._size
        with self._client() as client:
            self._create(client, "narrow")
            client.ask(ApiKey.FIND_COORDINATOR, 1, text("unused") + b"\0")
            yield f"a topic of {size.partitions} partitions"
            self._open_sessions()
            yield f"{size.sessions} fetch sessions of it"
            for number in range(size.groups):
                self._commit(client, f"group{number}", "narrow")
            yield f"{size.groups} groups with offsets of it"
            names = [f"group{it % size.groups}" for it in range(size.answers)]
            self._fetch_offsets(names)
            yield f"{size.answers} answers of {self.answer_bytes} bytes with them"
            if not size.wide_topics:
                return
            for number in range(size.wide_topics):
                self._create(client, f"wide{number}")
            yield f"{size.wide_topics} topics of as many partitions"
            for number in range(size.wide_topics):
                self._commit(client, "wide", f"wide{number}")
            yield "a group with the offsets of all of them"
            self._fetch_offsets(["wide"] * size.wide_answers)
            yield f"{size.wide_answers} answers of {self.answer_bytes} bytes with them"

    def withdraw(self) -> None:
        """Close the connections, and delete the groups and the topics."""
        self._open.close()
        size = self._size
        groups = ["wide"] if size.wide_topics else []
        groups += [f"group{it}" for it in range(size.groups)]
        topics = ["narrow", *(f"wide{it}" for it in range(size.wide_topics))]
        with self._client() as client:
            for group in groups:
                answer = client.ask(ApiKey.DELETE_GROUPS, 1, array([text(group)]))
                assert answer.endswith(NO_ERROR), group
            for topic in topics:
                body = array([text(topic)]) + struct.pack(">i", 120_000)
                assert client.ask(ApiKey.DELETE_TOPICS, 3, body).endswith(NO_ERROR), topic

    def _client(self) -> Client:
        return Client(self._port)

    def _create(self, client: Client, topic: str) -> None:
        last = self._size.partitions
        first = min(last, CREATED_AT_ONCE)
        body = array([text(topic) + struct.pack(">ihii", first, 1, 0, 0)])
        answer = client.ask(ApiKey.CREATE_TOPICS, 3, body + struct.pack(">ib", 120_000, 0))
        assert answer.endswith(NO_ERROR + b"\xff\xff"), answer
        for count in range(first + CREATED_AT_ONCE, last + 1, CREATED_AT_ONCE):
            body = array([text(topic) + struct.pack(">ii", count, -1)])
            answer = client.ask(ApiKey.CREATE_PARTITIONS, 1, body + struct.pack(">ib", 120_000, 0))
            assert answer.endswith(NO_ERROR + b"\xff\xff"), answer

    def _open_sessions(self) -> None:
        each = [struct.pack(">iiqqi", n, -1, 0, -1, 1024) for n in range(self._size.partitions)]
        body = struct.pack(">iiiibii", -1, 0, 0, 1 << 20, 0, 0, 0)
        body += array([text("narrow") + array(each)]) + array([]) + text("")
        for _ in range(self._size.sessions):
            client = self._open.enter_context(self._client())
            client.ask(ApiKey.FETCH, 11, body)

    def _commit(self, client: Client, group: str, topic: str) -> None:
        count = self._size.partitions
        for first in range(0, count, COMMITTED_AT_ONCE):
            numbers = range(first, min(count, first + COMMITTED_AT_ONCE))
            each = [struct.pack(">iqi", n, 5, -1) + text("") for n in numbers]
            body = text(group) + struct.pack(">i", -1) + text("")
            body += array([text(topic) + array(each)])
            wait_until(
                lambda body=body: client.ask(ApiKey.OFFSET_COMMIT, 6, body).endswith(NO_ERROR),
                f"offsets of {topic} are not committed",
            )

    def _fetch_offsets(self, groups: list[str]) -> None:
        """One connection for each, all of which ask before the first answer is read."""
        with ExitStack() as opened:
            clients = [opened.enter_context(self._client()) for _ in groups]
            for client, group in zip(clients, groups, strict=True):
                client.send(ApiKey.OFFSET_FETCH, 5, text(group) + struct.pack(">i", -1))
            for client in clients:
                answer = client.receive()
                assert answer.endswith(NO_ERROR)
                self.answer_bytes = max(self.answer_bytes, len(answer))


def wait_until(is_so: Callable[[], bool], otherwise: str, timeout_s: float = 60) -> None:
    """Ask again and again."""
    deadline = time.monotonic() + timeout_s
    while not is_so():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.1)
