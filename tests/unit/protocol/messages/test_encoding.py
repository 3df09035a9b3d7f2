"""Encoding in steps: the same bytes as at once, in pieces, bounded."""

import sys
from collections import deque
from copy import copy
from typing import Any

import pytest

from headrace.protocol import messages
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import VERSIONS
from headrace.protocol.message_reading import FLAT_ELEMENTS
from headrace.protocol.message_writing import PIECE_BYTES
from headrace.protocol.messages import (
    AnswerTooLargeError,
    MadeWhenEncoded,
    MetadataResponse,
    decode_response,
    encode_element_steps,
    encode_response_steps,
)
from headrace.protocol.messages.codec import FREED_AT_ONCE, free_steps
from headrace.protocol.messages.registry import RESPONSES
from headrace.protocol.primitives import STEP_ELEMENTS
from headrace.steps import completed
from tests.unit.counted_steps import counted

TOPIC = MetadataResponse.MetadataResponseTopic
PARTITION = TOPIC.MetadataResponsePartition


def metadata(topics: int, partitions: int) -> Any:
    return MetadataResponse(
        throttle_time_ms=0,
        brokers=[],
        cluster_id="c",
        controller_id=1,
        topics=[
            TOPIC(
                error_code=0,
                name=f"topic-{number}",
                partitions=[
                    PARTITION(
                        error_code=0,
                        partition_index=index,
                        leader_id=1,
                        replica_nodes=[1],
                        isr_nodes=[1],
                        offline_replicas=[],
                    )
                    for index in range(partitions)
                ],
            )
            for number in range(topics)
        ],
    )


@pytest.mark.parametrize("version", [0, 8, 9, 13])
@pytest.mark.parametrize(("topics", "partitions"), [(0, 0), (3, 0), (1, 9_000), (4_000, 2)])
def test_steps_give_the_message_in_pieces(version: int, topics: int, partitions: int) -> None:
    pieces, stops = counted(encode_response_steps(metadata(topics, partitions), version, 7))
    _, decoded = decode_response(ApiKey.METADATA, version, memoryview(b"".join(pieces)))
    assert [(it.name, len(it.partitions)) for it in decoded.topics] == [
        (f"topic-{number}", partitions) for number in range(topics)
    ]
    assert stops == topics * (1 + partitions) // STEP_ELEMENTS
    assert all(len(piece) < PIECE_BYTES + FLAT_ELEMENTS * 50 for piece in pieces)


@pytest.mark.parametrize("version", [0, 8, 9, 13])
@pytest.mark.parametrize("partitions", [0, 1, 9_000])
def test_an_element_may_have_been_encoded_before(version: int, partitions: int) -> None:
    response = metadata(3, partitions)
    pieces, _ = counted(encode_response_steps(response, version, 7))
    for number in (0, 2):
        response.topics[number] = completed(
            encode_element_steps(MetadataResponse, "topics", response.topics[number], version)
        )
    again, _ = counted(encode_response_steps(response, version, 7))
    assert b"".join(again) == b"".join(pieces)
    with pytest.raises(AnswerTooLargeError):
        counted(encode_response_steps(response, version, 7, max_bytes=len(b"".join(pieces)) - 30))


@pytest.mark.parametrize("version", [0, 8, 9, 13])
@pytest.mark.parametrize("partitions", [0, 1, 9_000])
def test_elements_that_are_made_when_they_are_encoded_give_the_same_bytes(
    version: int, partitions: int
) -> None:
    response = metadata(3, partitions)
    pieces, stops = counted(encode_response_steps(response, version, 7))
    recent: deque[Any] = deque(maxlen=2)

    def made(leader: int, index: int) -> Any:
        if len(recent) == 2:
            references = sys.getrefcount(recent[0])
            assert references == 2, "it is freed at once"
        partition = copy(response.topics[0].partitions[index])
        assert partition.leader_id == leader
        recent.append(partition)
        return partition

    lazy = metadata(3, 0)
    for topic in lazy.topics:
        topic.partitions = MadeWhenEncoded(made, [1] * partitions, range(partitions))
    assert counted(encode_response_steps(lazy, version, 7)) == (pieces, stops)


def test_an_answer_beyond_its_bound_is_given_up() -> None:
    response = metadata(1, 1_000)
    whole = len(messages.encode_response(response, 12, 7))
    pieces, _ = counted(encode_response_steps(response, 12, 7, max_bytes=whole))
    assert sum(map(len, pieces)) == whole
    with pytest.raises(AnswerTooLargeError, match=f"exceeds {whole - 100} bytes"):
        counted(encode_response_steps(response, 12, 7, max_bytes=whole - 100))


def test_a_large_message_is_freed_in_steps() -> None:
    result = messages.DeleteGroupsResponse.DeletableGroupResult
    many = [result(group_id="g", error_code=0) for _ in range(STEP_ELEMENTS + 1)]
    left = [len(many) for _ in free_steps(messages.DeleteGroupsResponse(results=many))]
    assert left == [*list(range(STEP_ELEMENTS + 1 - FREED_AT_ONCE, 0, -FREED_AT_ONCE)), 0]
    few = [result(group_id="g", error_code=0)] * STEP_ELEMENTS
    assert list(free_steps(messages.DeleteGroupsResponse(results=few))) == []
    assert len(few) == STEP_ELEMENTS


@pytest.mark.parametrize("key", VERSIONS, ids=lambda it: it.name)
def test_a_client_is_told_to_wait_where_the_answer_has_a_field_for_it(key: ApiKey) -> None:
    """In every version of every answer as if the field had been set in the message."""
    response_class = RESPONSES[key]
    has_field = "throttle_time_ms" in response_class.__struct_fields__
    row = VERSIONS[key]
    for version in range(max(row.min_version, response_class.MIN_VERSION), row.max_version + 1):
        told = completed(encode_response_steps(response_class(), version, 7, throttle_ms=250))
        message = response_class(throttle_time_ms=250) if has_field else response_class()
        assert told == completed(encode_response_steps(message, version, 7))


def test_answers_that_tell_nobody_to_wait_are_known() -> None:
    without = {key.name for key in VERSIONS if not hasattr(RESPONSES[key](), "throttle_time_ms")}
    assert without == {
        "DESCRIBE_QUORUM",
        "SASL_AUTHENTICATE",
        "SASL_HANDSHAKE",
        "WRITE_TXN_MARKERS",
    }
