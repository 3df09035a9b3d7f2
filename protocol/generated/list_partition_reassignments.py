"""ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from itertools import islice
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, batches, read_c_count, read_c_null_count, read_c_null_string, read_c_numbers, read_c_string, skip_tags
from headrace.protocol.message_writing import Output, Runs, write_c_count, write_c_null_string, write_c_string
from headrace.protocol.primitives import Reader

class ListPartitionReassignmentsRequest(KafkaMessage):
    """Key 46, version 0, flexible from 0 on."""

    class ListPartitionReassignmentsTopics(MessageStruct):
        """Versions 0+."""

        name: str = ""
        partition_indexes: list[int] = []

    API_KEY: ClassVar[int] = 46
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    timeout_ms: int = 60000
    topics: list[ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics] | None = None


class ListPartitionReassignmentsResponse(KafkaMessage):
    """Key 46, version 0, flexible from 0 on."""

    class OngoingTopicReassignment(MessageStruct):
        """Versions 0+."""

        class OngoingPartitionReassignment(MessageStruct):
            """Versions 0+."""

            partition_index: int = 0
            replicas: Collection[int] = []
            adding_replicas: Collection[int] = []
            removing_replicas: Collection[int] = []

        name: str = ""
        partitions: Collection[ListPartitionReassignmentsResponse.OngoingTopicReassignment.OngoingPartitionReassignment] = []

    API_KEY: ClassVar[int] = 46
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ""
    topics: Collection[ListPartitionReassignmentsResponse.OngoingTopicReassignment] = []


_ListPartitionReassignmentsTopics = ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics
_OngoingPartitionReassignment = ListPartitionReassignmentsResponse.OngoingTopicReassignment.OngoingPartitionReassignment
_OngoingTopicReassignment = ListPartitionReassignmentsResponse.OngoingTopicReassignment
_P_i: Final = Struct(">i").pack
_P_ih: Final = Struct(">ih").pack
_R_Bi_x: Final = Runs("Bi", "x", is_array=(True, False))
_R_i_Bi_Bi_Bi_x: Final = Runs("i", "Bi", "Bi", "Bi", "x", is_array=(False, True, True, True, False))
_S_i: Final = Struct(">i")
_S_ih: Final = Struct(">ih")


def _read_ListPartitionReassignmentsTopics_0(r: Reader) -> _ListPartitionReassignmentsTopics:
    name = read_c_string(r)
    partition_indexes = read_c_numbers(r, "i", 4)
    skip_tags(r)
    return _ListPartitionReassignmentsTopics(name, partition_indexes)


def _read_ListPartitionReassignmentsRequest_0(r: Reader) -> ListPartitionReassignmentsRequest:
    timeout_ms, = r.fixed(_S_i)
    n = read_c_null_count(r, 3)
    topics = None if n < 0 else [_read_ListPartitionReassignmentsTopics_0(r) for _ in range(n)]
    skip_tags(r)
    return ListPartitionReassignmentsRequest(timeout_ms, topics)


def _read_steps_ListPartitionReassignmentsRequest_0(r: Reader) -> Generator[None, None, ListPartitionReassignmentsRequest]:
    timeout_ms, = r.fixed(_S_i)
    n = read_c_null_count(r, 3)
    topics: list[ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics] | None = None
    if n >= 0:
        topics_: list[ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics] = []
        if n <= FLAT_ELEMENTS:
            topics_ = [_read_ListPartitionReassignmentsTopics_0(r) for _ in range(n)]
            r.elements_of_step += n
        else:
            for _ in range(n):
                topics_.append(_read_ListPartitionReassignmentsTopics_0(r))
                if r.elements_ended(1):
                    yield
        topics = topics_
    skip_tags(r)
    return ListPartitionReassignmentsRequest(timeout_ms, topics)


def _write_ListPartitionReassignmentsTopics_0(out: bytearray, m: _ListPartitionReassignmentsTopics) -> None:
    write_c_string(out, m.name)
    n1 = len(m.partition_indexes)
    out += _R_Bi_x[n1,](n1 + 1, *m.partition_indexes)


def _write_ListPartitionReassignmentsRequest_0(out: bytearray, m: ListPartitionReassignmentsRequest) -> None:
    out += _P_i(m.timeout_ms)
    if m.topics is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.topics))
        for it_topics in m.topics:
            _write_ListPartitionReassignmentsTopics_0(out, it_topics)
    out.append(0)


def _write_steps_ListPartitionReassignmentsRequest_0(o: Output, m: ListPartitionReassignmentsRequest) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.timeout_ms)
    if m.topics is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.topics))
        if len(m.topics) <= FLAT_ELEMENTS:
            for it_topics in m.topics:
                _write_ListPartitionReassignmentsTopics_0(out, it_topics)
            if o.elements_ended(len(m.topics)):
                yield
        else:
            for it_topics in m.topics:
                _write_ListPartitionReassignmentsTopics_0(out, it_topics)
                if o.elements_ended(1):
                    yield
    out.append(0)


def _read_OngoingPartitionReassignment_0(r: Reader) -> _OngoingPartitionReassignment:
    partition_index, = r.fixed(_S_i)
    replicas = read_c_numbers(r, "i", 4)
    adding_replicas = read_c_numbers(r, "i", 4)
    removing_replicas = read_c_numbers(r, "i", 4)
    skip_tags(r)
    return _OngoingPartitionReassignment(partition_index, replicas, adding_replicas, removing_replicas)


def _read_OngoingTopicReassignment_0(r: Reader) -> _OngoingTopicReassignment:
    name = read_c_string(r)
    n = read_c_count(r, 8)
    partitions = [_read_OngoingPartitionReassignment_0(r) for _ in range(n)]
    skip_tags(r)
    return _OngoingTopicReassignment(name, partitions)


def _read_ListPartitionReassignmentsResponse_0(r: Reader) -> ListPartitionReassignmentsResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    error_message = read_c_null_string(r)
    n = read_c_count(r, 3)
    topics = [_read_OngoingTopicReassignment_0(r) for _ in range(n)]
    skip_tags(r)
    return ListPartitionReassignmentsResponse(throttle_time_ms, error_code, error_message, topics)


def _read_steps_OngoingTopicReassignment_0(r: Reader) -> Generator[None, None, _OngoingTopicReassignment]:
    name = read_c_string(r)
    n = read_c_count(r, 8)
    partitions: list[ListPartitionReassignmentsResponse.OngoingTopicReassignment.OngoingPartitionReassignment] = []
    for some in batches(n):
        partitions += [_read_OngoingPartitionReassignment_0(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    skip_tags(r)
    return _OngoingTopicReassignment(name, partitions)


def _read_steps_ListPartitionReassignmentsResponse_0(r: Reader) -> Generator[None, None, ListPartitionReassignmentsResponse]:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    error_message = read_c_null_string(r)
    n = read_c_count(r, 3)
    topics: list[ListPartitionReassignmentsResponse.OngoingTopicReassignment] = []
    for _ in range(n):
        topics.append((yield from _read_steps_OngoingTopicReassignment_0(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return ListPartitionReassignmentsResponse(throttle_time_ms, error_code, error_message, topics)


def _write_OngoingPartitionReassignment_0(out: bytearray, m: _OngoingPartitionReassignment) -> None:
    n1 = len(m.replicas)
    n2 = len(m.adding_replicas)
    n3 = len(m.removing_replicas)
    out += _R_i_Bi_Bi_Bi_x[n1, n2, n3](m.partition_index, n1 + 1, *m.replicas, n2 + 1, *m.adding_replicas, n3 + 1, *m.removing_replicas)


def _write_OngoingTopicReassignment_0(out: bytearray, m: _OngoingTopicReassignment) -> None:
    write_c_string(out, m.name)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_OngoingPartitionReassignment_0(out, it_partitions)
    out.append(0)


def _write_ListPartitionReassignmentsResponse_0(out: bytearray, m: ListPartitionReassignmentsResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_null_string(out, m.error_message)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_OngoingTopicReassignment_0(out, it_topics)
    out.append(0)


def _write_steps_OngoingTopicReassignment_0(o: Output, m: _OngoingTopicReassignment) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.name)
    write_c_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_OngoingPartitionReassignment_0(out, it_partitions)
        if o.elements_ended(some):
            yield
    out.append(0)


def _write_steps_ListPartitionReassignmentsResponse_0(o: Output, m: ListPartitionReassignmentsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_null_string(out, m.error_message)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_OngoingTopicReassignment_0(o, it_topics)
        if o.elements_ended(1):
            yield
    out.append(0)


def _error_for(m: ListPartitionReassignmentsRequest, code: int) -> ListPartitionReassignmentsResponse:
    return ListPartitionReassignmentsResponse(error_code=code, error_message=None)


ListPartitionReassignmentsRequest.READ = (_read_ListPartitionReassignmentsRequest_0,)
ListPartitionReassignmentsRequest.READ_STEPS = (_read_steps_ListPartitionReassignmentsRequest_0,)
ListPartitionReassignmentsRequest.WRITE = (_write_ListPartitionReassignmentsRequest_0,)
ListPartitionReassignmentsRequest.WRITE_STEPS = (_write_steps_ListPartitionReassignmentsRequest_0,)
ListPartitionReassignmentsResponse.READ = (_read_ListPartitionReassignmentsResponse_0,)
ListPartitionReassignmentsResponse.READ_STEPS = (_read_steps_ListPartitionReassignmentsResponse_0,)
ListPartitionReassignmentsResponse.WRITE = (_write_ListPartitionReassignmentsResponse_0,)
ListPartitionReassignmentsResponse.WRITE_STEPS = (_write_steps_ListPartitionReassignmentsResponse_0,)
ListPartitionReassignmentsRequest.ERROR_FOR = _error_for
