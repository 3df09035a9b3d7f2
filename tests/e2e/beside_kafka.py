"""Asks two brokers the same, and says in which fields their answers differ."""

import socket
import struct
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple

import msgspec

from headrace.protocol.headers import RequestHeader
from headrace.protocol.messages import decode_response, encode_request
from tests.e2e.raw_requests import RawRequest

_KEYS: Final = (
    "api_key", "name", "topic", "topic_name", "resource_name", "group_id", "transactional_id", "user", "key",
    "partition_index", "partition", "partition_id", "index", "node_id", "broker_id", "log_dir", "entity_type",
)  # fmt: skip
ANSWER_S: Final = 10
ABSENT: Final = "absent"

# What an answer says, by the path of its fields. Elements of arrays that have one name are taken together, so that
# neither their order nor how often one is repeated counts.
Answer = dict[str, set[Any]]


class Difference(NamedTuple):
    """What may differ, and why: in requests and fields with such names, with these values where they are given."""

    requests: str
    field: str
    reason: str
    ours: Any = ...
    kafkas: Any = ...

    def allows(self, request: str, field: str, ours: Any, kafkas: Any) -> bool:
        """Whether it is this difference."""
        return (
            fnmatchcase(request, self.requests)
            and fnmatchcase(field, self.field)
            and self.ours in (..., ours)
            and self.kafkas in (..., kafkas)
        )


def ask(bootstrap: str, request: RawRequest) -> Answer:
    """Send a request on a connection of its own; what its answer says in each field, or that there is none."""
    host, port = bootstrap.rsplit(":", 1)
    header = RequestHeader(request.message.API_KEY, request.version, 1, "judge")
    data = encode_request(request.message, header)
    with socket.create_connection((host, int(port)), ANSWER_S) as connection:
        connection.sendall(struct.pack(">i", len(data)) + data)
        try:
            (size,) = struct.unpack(">i", _exactly(connection, 4))
            answer = _exactly(connection, size)
        except (EOFError, ConnectionResetError):
            return {"answer": {"the connection is closed"}}
        except TimeoutError:
            return {"answer": {"none"}}
    _, decoded = decode_response(request.message.API_KEY, request.version, memoryview(answer))
    found: Answer = {"answer": {"one"}}
    for field, value in _fields("", decoded):
        found.setdefault(field, set()).add(value)
    return found


def _exactly(connection: socket.socket, size: int) -> bytes:
    received = bytearray()
    while len(received) < size:
        data = connection.recv(size - len(received))
        if not data:
            raise EOFError
        received += data
    return bytes(received)


def _fields(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Every field of an answer with its path, elements of arrays by what they are called."""
    if isinstance(value, msgspec.Struct):
        for field in msgspec.structs.fields(type(value)):
            below = f"{path}.{field.name}" if path else field.name
            yield from _fields(below, getattr(value, field.name))
    elif not isinstance(value, list):
        yield path, value
    elif any(isinstance(it, msgspec.Struct) for it in value):
        for it in value:
            name = next((str(getattr(it, key)) for key in _KEYS if hasattr(it, key)), "")
            yield from _fields(f"{path}[{name}]", it)
    else:
        yield path, tuple(sorted(value))


def differing(ours: Answer, kafkas: Answer) -> list[tuple[str, Any, Any]]:
    """The highest fields that are in one answer only, and those that have other values."""
    if ours["answer"] != kafkas["answer"]:
        return [("answer", *(min(it["answer"]) for it in (ours, kafkas)))]
    found: list[tuple[str, Any, Any]] = []
    for field in sorted(ours.keys() | kafkas.keys()):
        told = tuple(_shown(it.get(field, {ABSENT})) for it in (ours, kafkas))
        if told[0] != told[1]:
            found.append((field, *told))
    return found


def _shown(values: set[Any]) -> Any:
    """The one value of a field, or all that were told of things with one name."""
    if len(values) == 1:
        return next(iter(values))
    return sorted(map(str, values))
