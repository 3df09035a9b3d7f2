"""Requests and answers of the failover client, packed by hand: with 1,000 partitions a general codec would be what is measured. Pure.

Metadata version 5 and Produce version 7, the last ones before fields of a variable size.
"""

import struct
from collections.abc import Iterable
from typing import Final, NamedTuple

_PRODUCE: Final = 0
_PRODUCE_VERSION: Final = 7
_METADATA: Final = 3
_METADATA_VERSION: Final = 5
_HEAD: Final = struct.Struct(">ihhih")  # size, key, version, correlation id, no client id
_PARTITION_ANSWER: Final = struct.Struct(">ihqqq")
_CORRELATION_BYTES: Final = 4


class Appended(NamedTuple):
    """What one partition answered to a Produce."""

    partition: int
    error: int
    base_offset: int


class Leaders(NamedTuple):
    """What a broker knows of a topic."""

    addresses: dict[int, tuple[str, int]]  # of the brokers that are not fenced
    leaders: dict[int, int]  # by partition


def metadata_request(topic: str) -> bytes:
    """Ask who leads the partitions of a topic."""
    return _framed(_METADATA, _METADATA_VERSION, struct.pack(">i", 1) + _string(topic) + b"\0")


def leaders_of(answer: bytes) -> Leaders:
    """Read the answer to `metadata_request`, from its correlation id on."""
    at = _CORRELATION_BYTES + 4  # throttle time
    count, at = _int32(answer, at)
    addresses = {}
    for _ in range(count):
        node_id, at = _int32(answer, at)
        host, at = _text(answer, at)
        port, at = _int32(answer, at)
        _, at = _text(answer, at)
        addresses[node_id] = (host, port)
    _, at = _text(answer, at)  # cluster id
    _, at = _int32(answer, at)  # controller
    topics, at = _int32(answer, at)
    leaders: dict[int, int] = {}
    for _ in range(topics):
        _, at = _text(answer, at + 2)
        partitions, at = _int32(answer, at + 1)
        for _ in range(partitions):
            partition, leader = struct.unpack_from(">ii", answer, at + 2)
            leaders[partition] = leader
            at += 10
            for _ in range(3):  # replicas, those in sync, those offline
                nodes, at = _int32(answer, at)
                at += 4 * nodes
    return Leaders(addresses, leaders)


def produce_request(
    topic: str, partitions: Iterable[int], batch: bytes, *, timeout_ms: int
) -> bytes:
    """Append the same batch to partitions of a topic, acknowledged by all replicas."""
    sized = struct.pack(">i", len(batch)) + batch
    parts = [struct.pack(">i", partition) + sized for partition in partitions]
    begin = struct.pack(">hhii", -1, -1, timeout_ms, 1) + _string(topic)
    body = begin + struct.pack(">i", len(parts)) + b"".join(parts)
    return _framed(_PRODUCE, _PRODUCE_VERSION, body)


def appended(answer: bytes) -> list[Appended]:
    """Read the answer to `produce_request`, from its correlation id on."""
    _, at = _text(answer, _CORRELATION_BYTES + 4)
    count, at = _int32(answer, at)
    end = at + count * _PARTITION_ANSWER.size
    return [Appended(*it[:3]) for it in _PARTITION_ANSWER.iter_unpack(answer[at:end])]


def _framed(key: int, version: int, body: bytes) -> bytes:
    return _HEAD.pack(_HEAD.size - 4 + len(body), key, version, 0, -1) + body


def _string(text: str) -> bytes:
    return struct.pack(">h", len(text)) + text.encode()


def _int32(data: bytes, at: int) -> tuple[int, int]:
    (value,) = struct.unpack_from(">i", data, at)
    return value, at + 4


def _text(data: bytes, at: int) -> tuple[str, int]:
    (size,) = struct.unpack_from(">h", data, at)
    end = at + 2 + max(size, 0)
    return data[at + 2 : end].decode(), end
