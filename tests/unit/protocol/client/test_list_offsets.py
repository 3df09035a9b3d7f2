"""A client's ListOffsets, against the message classes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.protocol import messages
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.client.list_offsets import (
    LIST_OFFSETS_VERSION,
    ListedOffset,
    decode_list_offsets_response,
    encode_list_offsets_request,
)
from headrace.protocol.errors import ProtocolError
from headrace.protocol.headers import parse_response_header

NAMES = st.text(max_size=8)
PARTITIONS = st.integers(0, 99)
NUMBERS = st.integers(-(2**63), 2**63 - 1)


def answer(found: dict[str, dict[int, ListedOffset]]) -> memoryview:
    topic = messages.ListOffsetsResponse.ListOffsetsTopicResponse
    partition = topic.ListOffsetsPartitionResponse
    sent = messages.ListOffsetsResponse(
        throttle_time_ms=0,
        topics=[
            topic(
                name=name,
                partitions=[
                    partition(
                        partition_index=index,
                        error_code=it.error_code,
                        timestamp=-1,
                        offset=it.offset,
                        leader_epoch=2,
                    )
                    for index, it in partitions.items()
                ],
            )
            for name, partitions in found.items()
        ],
    )
    payload = memoryview(messages.encode_response(sent, LIST_OFFSETS_VERSION, 7))
    return payload[parse_response_header(ApiKey.LIST_OFFSETS, LIST_OFFSETS_VERSION, payload)[1] :]


@given(
    st.dictionaries(NAMES, st.dictionaries(PARTITIONS, NUMBERS, max_size=3), max_size=3),
    st.integers(0, 1),
)
def test_a_broker_reads_the_request(wanted: dict[str, dict[int, int]], isolation: int) -> None:
    body = memoryview(encode_list_offsets_request(wanted, isolation))
    found = messages.decode_request(ApiKey.LIST_OFFSETS, LIST_OFFSETS_VERSION, body)
    assert (found.replica_id, found.isolation_level) == (-1, isolation)
    read = {
        it.name: {each.partition_index: each.timestamp for each in it.partitions}
        for it in found.topics
    }
    assert read == wanted


LISTED = st.builds(ListedOffset, st.integers(-1, 99), NUMBERS)


@given(st.dictionaries(NAMES, st.dictionaries(PARTITIONS, LISTED, max_size=3), max_size=3))
def test_the_answer_of_a_broker_is_read(found: dict[str, dict[int, ListedOffset]]) -> None:
    read = decode_list_offsets_response(answer(found))
    assert read == {(name, index): it for name, of in found.items() for index, it in of.items()}


def test_bytes_that_are_cut_off_are_refused() -> None:
    whole = answer({"t": {0: ListedOffset(0, 5)}})
    for size in range(len(whole)):
        with pytest.raises(ProtocolError):
            decode_list_offsets_response(whole[:size])
