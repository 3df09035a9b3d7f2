"""What is fed with damaged bytes. Each target makes an input from a seed, and may only refuse it.

A target returns whether it accepted the input, so that a run can tell that both happen. Any exception
that it does not expect is a finding.
"""

import random
from collections.abc import Callable
from typing import Any

from headrace.protocol import fetch, messages, produce
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import VERSIONS, accepts
from headrace.protocol.errors import ProtocolError
from headrace.protocol.frames import frame
from headrace.protocol.headers import RequestHeader, encode_request_header, parse_request_header
from headrace.protocol.messages.registry import REQUESTS, RESPONSES
from headrace.protocol.records.batch import split_batches
from headrace.protocol.records.compression import Compression, compress, decompress
from headrace.protocol.records.errors import RecordsError
from headrace.protocol.records.record import BatchOptions, Record, decode_records, encode_batch
from headrace.protocol.server_connection import (
    CLAIM_BYTES,
    GROWTH_FACTOR,
    ClaimedMemory,
    ServerConnection,
)
from tests.fuzz.mutations import mutate
from tests.fuzz.random_messages import MessageMaker

SPOKEN = [
    (key, version)
    for key, row in VERSIONS.items()
    for version in range(row.min_version, row.max_version + 1)
    if accepts(key, version)
]
MAX_REQUEST_BYTES = 1 << 20
MAX_DECOMPRESSED_BYTES = 1 << 18


def fuzz_request(rng: random.Random) -> bool:
    """Feed the body of any request to its decoder."""
    key, version = rng.choice(SPOKEN)
    body = mutate(rng, _request_body(rng, key, version))
    return _decoded(lambda: messages.decode_request(key, version, memoryview(body))) is not None


def fuzz_response(rng: random.Random) -> bool:
    """Feed the payload of any response to its decoder."""
    key, version = rng.choice(SPOKEN)
    response = MessageMaker(rng).make(RESPONSES[key], version)
    payload = mutate(rng, messages.encode_response(response, version, 7))
    decoded = _decoded(lambda: messages.decode_response(key, version, memoryview(payload)))
    return decoded is not None


def fuzz_produce(rng: random.Random) -> bool:
    """Produce by hand accepts what the strict decoder accepts, nothing else, and reads the same."""
    version = rng.randint(3, 13)
    body = memoryview(mutate(rng, _request_body(rng, ApiKey.PRODUCE, version)))
    request = _decoded(lambda: produce.decode_produce(version, body))
    expected = _decoded(lambda: messages.decode_request(ApiKey.PRODUCE, version, body))
    assert (request is None) == (expected is None)
    if request is not None:
        assert request[:3] == (expected.transactional_id, expected.acks, expected.timeout_ms)
        assert [tuple(topic) for topic in request.topics] == [
            (topic.name, topic.topic_id, [(p.index, p.records) for p in topic.partition_data])
            for topic in expected.topic_data
        ]
    return request is not None


def fuzz_fetch(rng: random.Random) -> bool:
    """Likewise Fetch, which skips the followers' tags of a partition without looking inside."""
    version = rng.randint(4, 18)
    body = memoryview(mutate(rng, _request_body(rng, ApiKey.FETCH, version)))
    request = _decoded(lambda: fetch.decode_fetch(version, body))
    expected = _decoded(lambda: messages.decode_request(ApiKey.FETCH, version, body))
    if version < 17:
        assert (request is None) == (expected is None)
    if expected is not None:
        assert request is not None
        assert [tuple(topic)[:2] for topic in request.topics] == [
            (topic.topic, topic.topic_id) for topic in expected.topics
        ]
        assert [p.fetch_offset for topic in request.topics for p in topic.partitions] == [
            p.fetch_offset for topic in expected.topics for p in topic.partitions
        ]
        assert (request.rack_id, request.cluster_id) == (expected.rack_id, expected.cluster_id)
    return request is not None


def fuzz_server_connection(rng: random.Random) -> bool:
    """Feed a damaged stream of requests in any split; what is allocated follows what has come."""
    stream = b"".join(frame(_request(rng)) for _ in range(rng.randrange(1, 6)))
    data = mutate(rng, stream)
    claimed = rng.choice((0, 1 << 16, 1 << 20))
    server = ServerConnection(
        rng.choice((256, 4_096, 65_536)), MAX_REQUEST_BYTES, ClaimedMemory(claimed)
    )
    position = 0
    try:
        while position < len(data):
            room = server.get_buffer(-1)
            assert len(room.obj) <= max(
                65_536, CLAIM_BYTES, GROWTH_FACTOR * position, position + claimed
            )
            count = min(len(room), len(data) - position, rng.randint(1, 5_000))
            room[:count] = data[position : position + count]
            del room
            position += count
            for received in server.buffer_updated(count):
                assert received.body.nbytes <= received.size_bytes <= MAX_REQUEST_BYTES
    except ProtocolError:
        return False
    return True


def fuzz_records(rng: random.Random) -> bool:
    """Feed damaged batches, their CRCs unchecked, to the splitter and the record decoder."""
    batch = bytes(encode_batch(_records(rng), _options(rng)))
    data = memoryview(bytearray(mutate(rng, batch * rng.choice((1, 1, 2)))))
    try:
        for _, found in split_batches(data):
            list(decode_records(found, MAX_DECOMPRESSED_BYTES))
    except RecordsError:
        return False
    return True


def fuzz_compression(rng: random.Random) -> bool:
    """Feed damaged compressed data; no output is longer than allowed."""
    codec = rng.choice(list(Compression))
    content = rng.choice((rng.randbytes(300), b"text " * 2_000, bytes(MAX_DECOMPRESSED_BYTES + 1)))
    data = b"".join(compress(codec, content) for _ in range(rng.choice((1, 1, 3))))
    data = mutate(rng, data + bytes(rng.choice((0, 0, 7))))
    try:
        output = decompress(codec, memoryview(data), MAX_DECOMPRESSED_BYTES)
    except RecordsError:
        return False
    assert len(output) <= MAX_DECOMPRESSED_BYTES
    return True


TARGETS: dict[str, Callable[[random.Random], bool]] = {
    "request": fuzz_request,
    "response": fuzz_response,
    "produce": fuzz_produce,
    "fetch": fuzz_fetch,
    "server_connection": fuzz_server_connection,
    "records": fuzz_records,
    "compression": fuzz_compression,
}


def _decoded(decode: Callable[[], Any]) -> Any:
    try:
        return decode()
    except ProtocolError:
        return None


def _request(rng: random.Random) -> bytes:
    key, version = rng.choice(SPOKEN)
    request = MessageMaker(rng).make(REQUESTS[key], version)
    return messages.encode_request(request, RequestHeader(key, version, 7, "client"))


def _request_body(rng: random.Random, key: ApiKey, version: int) -> bytes:
    header = RequestHeader(key, version, 7, None)
    encoded = messages.encode_request(MessageMaker(rng).make(REQUESTS[key], version), header)
    assert parse_request_header(memoryview(encoded))[0] == header
    return encoded[len(encode_request_header(header)) :]


def _records(rng: random.Random) -> list[Record]:
    return [
        Record(
            offset,
            rng.randrange(2**41),
            rng.choice((None, b"", b"key")),
            rng.choice((None, b"", rng.randbytes(rng.randrange(300)))),
            rng.choice(((), (("header", b"value"), ("", None)))),
        )
        for offset in range(rng.randrange(1, 10))
    ]


def _options(rng: random.Random) -> BatchOptions:
    return BatchOptions(
        compression=rng.choice(list(Compression)),
        producer_id=rng.choice((-1, 5)),
        log_append_time_ms=rng.choice((None, 7)),
    )
