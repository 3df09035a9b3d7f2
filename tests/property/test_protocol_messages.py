"""Every message in every version, against two independent codecs.

kafka-python and kio must read what we write and write the same bytes again. Messages are made from the tables by seed.
"""

import io
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kio.index import load_payload_module
from kio.schema.index import api_key_map, schema_name_map
from kio.serial import entity_reader, entity_writer
from kio.static.constants import EntityType

from headrace.protocol import messages
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import VERSIONS, accepts
from headrace.protocol.errors import ProtocolError
from headrace.protocol.headers import RequestHeader, parse_request_header, parse_response_header
from headrace.protocol.messages.registry import REQUESTS, RESPONSES
from tests.environment.kafka_python import kafka_python_class
from tests.fuzz.random_messages import MessageMaker

SPOKEN = [
    (key, version)
    for key, row in VERSIONS.items()
    for version in range(row.min_version, row.max_version + 1)
    if accepts(key, version)
]
# `tests/integration/test_messages_by_java.py` compares them with Apache Kafka's descriptions.
NEWER_THAN_KIO = {
    (ApiKey.API_VERSIONS, 5),
    (ApiKey.DELETE_GROUPS, 3),
    (ApiKey.TXN_OFFSET_COMMIT, 6),
    (ApiKey.UNREGISTER_CONTROLLER, 0),
}
SEEDS = st.integers(0, 2**32)


def rewritten(theirs: Any, body: bytes, version: int) -> bytes:
    """What kafka-python writes of what it has read."""
    message = theirs.decode(body, version=version)
    for slot in (
        "_header",
        "_min_version",
        "_max_version",
    ):  # which it sets in messages that are sent
        setattr(message, slot, None)
    return bytes(message.encode(version=version))


def encoded_request(key: ApiKey, version: int, request: messages.KafkaMessage) -> memoryview:
    header = RequestHeader(key, version, 7, "client")
    encoded = memoryview(messages.encode_request(request, header))
    parsed, position = parse_request_header(encoded)
    assert parsed == header
    return encoded[position:]


def encoded_response(key: ApiKey, version: int, response: messages.KafkaMessage) -> memoryview:
    encoded = memoryview(messages.encode_response(response, version, 9))
    correlation_id, position = parse_response_header(key, version, encoded)
    assert correlation_id == 9
    return encoded[position:]


@given(st.sampled_from(SPOKEN), SEEDS)
@settings(max_examples=200, deadline=None)
def test_kafka_python_reads_and_writes_the_same_requests(
    spoken: tuple[ApiKey, int], seed: int
) -> None:
    key, version = spoken
    request = MessageMaker(random.Random(seed)).make(REQUESTS[key], version)
    body = encoded_request(key, version, request)
    decoded = messages.decode_request(key, version, body)
    assert decoded == request
    theirs = kafka_python_class(type(request).__name__)
    if theirs is not None and version <= theirs.valid_versions[1]:
        assert rewritten(theirs, bytes(body), version) == body


@given(st.sampled_from(SPOKEN), SEEDS)
@settings(max_examples=200, deadline=None)
def test_kafka_python_reads_and_writes_the_same_responses(
    spoken: tuple[ApiKey, int], seed: int
) -> None:
    key, version = spoken
    response = MessageMaker(random.Random(seed), plausible=True).make(RESPONSES[key], version)
    if key is ApiKey.API_VERSIONS:
        response.error_code = 0  # any other is decoded as version 0 there
    body = encoded_response(key, version, response)
    payload = memoryview(messages.encode_response(response, version, 9))
    _, decoded = messages.decode_response(key, version, payload)
    assert decoded == response
    theirs = kafka_python_class(type(response).__name__)
    if theirs is not None and version <= theirs.valid_versions[1]:
        assert rewritten(theirs, bytes(body), version) == body


@pytest.mark.parametrize("kind", [EntityType.request, EntityType.response])
def test_kio_reads_and_writes_the_same_bytes(kind: EntityType) -> None:
    maker = MessageMaker(random.Random(1), plausible=True)
    for key, version in SPOKEN:
        if key not in api_key_map or version > max(schema_name_map[api_key_map[key]]):
            assert (key, version) in NEWER_THAN_KIO
            continue
        is_request = kind is EntityType.request
        message_class = (REQUESTS if is_request else RESPONSES)[key]
        encode = encoded_request if is_request else encoded_response
        entity = getattr(load_payload_module(key, version, kind), message_class.__name__)
        read, write = entity_reader(entity), entity_writer(entity)
        for _ in range(5):
            body = bytes(encode(key, version, maker.make(message_class, version)))
            written = io.BytesIO()
            write(written, read(body, 0)[0])
            assert written.getvalue() == body, (key, version)


@given(st.sampled_from(SPOKEN), SEEDS)
@settings(max_examples=100, deadline=None)
def test_truncated_requests_are_refused_and_bytes_behind_passed_over(
    spoken: tuple[ApiKey, int], seed: int
) -> None:
    key, version = spoken
    rng = random.Random(seed)
    body = encoded_request(key, version, MessageMaker(rng).make(REQUESTS[key], version))
    cuts = range(len(body)) if len(body) < 200 else rng.sample(range(len(body)), 200)
    for cut in cuts:
        with pytest.raises(ProtocolError):
            messages.decode_request(key, version, body[:cut])
    longer = memoryview(bytes(body) + rng.randbytes(3))
    assert messages.decode_request(key, version, longer) == messages.decode_request(
        key, version, body
    )
