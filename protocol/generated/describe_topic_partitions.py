"""DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from itertools import islice
from struct import Struct, pack
from typing import ClassVar, Final
from uuid import UUID

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, batches, read_c_count, read_c_null_numbers, read_c_null_string, read_c_numbers, read_c_string, read_is_null, skip_tags, uuid_of
from headrace.protocol.message_writing import Output, Runs, uuid_bytes, write_c_count, write_c_null_string, write_c_string
from headrace.protocol.primitives import Reader

class DescribeTopicPartitionsRequest(KafkaMessage):
    """Key 75, version 0, flexible from 0 on."""

    class TopicRequest(MessageStruct):
        """Versions 0+."""

        name: str = ""

    class Cursor(MessageStruct):
        """Versions 0+."""

        topic_name: str = ""
        partition_index: int = 0

    API_KEY: ClassVar[int] = 75
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    topics: list[DescribeTopicPartitionsRequest.TopicRequest] = []
    response_partition_limit: int = 2000
    cursor: DescribeTopicPartitionsRequest.Cursor | None = None


class DescribeTopicPartitionsResponse(KafkaMessage):
    """Key 75, version 0, flexible from 0 on."""

    class DescribeTopicPartitionsResponseTopic(MessageStruct):
        """Versions 0+."""

        class DescribeTopicPartitionsResponsePartition(MessageStruct):
            """Versions 0+."""

            error_code: int = 0
            partition_index: int = 0
            leader_id: int = 0
            leader_epoch: int = -1
            replica_nodes: Collection[int] = []
            isr_nodes: Collection[int] = []
            eligible_leader_replicas: Collection[int] | None = None
            last_known_elr: Collection[int] | None = None
            offline_replicas: Collection[int] = []

        error_code: int = 0
        name: str | None = ""
        topic_id: UUID | None = None
        is_internal: bool = False
        partitions: Collection[DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic.DescribeTopicPartitionsResponsePartition] = []
        topic_authorized_operations: int = -2147483648

    class Cursor(MessageStruct):
        """Versions 0+."""

        topic_name: str = ""
        partition_index: int = 0

    API_KEY: ClassVar[int] = 75
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    throttle_time_ms: int = 0
    topics: Collection[DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic] = []
    next_cursor: DescribeTopicPartitionsResponse.Cursor | None = None


_DescribeTopicPartitionsRequestTopicRequest = DescribeTopicPartitionsRequest.TopicRequest
_DescribeTopicPartitionsRequestCursor = DescribeTopicPartitionsRequest.Cursor
_DescribeTopicPartitionsResponseDescribeTopicPartitionsResponsePartition = DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic.DescribeTopicPartitionsResponsePartition
_DescribeTopicPartitionsResponseDescribeTopicPartitionsResponseTopic = DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic
_DescribeTopicPartitionsResponseCursor = DescribeTopicPartitionsResponse.Cursor
_P_h: Final = Struct(">h").pack
_P_i: Final = Struct(">i").pack
_P_ix: Final = Struct(">ix").pack
_P_ut: Final = Struct(">16s?").pack
_R_Bi_x: Final = Runs("Bi", "x", is_array=(True, False))
_R_hiii_Bi_Bi: Final = Runs("hiii", "Bi", "Bi", is_array=(False, True, True))
_S_h: Final = Struct(">h")
_S_hiii: Final = Struct(">hiii")
_S_i: Final = Struct(">i")
_S_ut: Final = Struct(">16s?")


def _read_DescribeTopicPartitionsRequestTopicRequest_0(r: Reader) -> _DescribeTopicPartitionsRequestTopicRequest:
    name = read_c_string(r)
    skip_tags(r)
    return _DescribeTopicPartitionsRequestTopicRequest(name)


def _read_DescribeTopicPartitionsRequestCursor_0(r: Reader) -> _DescribeTopicPartitionsRequestCursor:
    topic_name = read_c_string(r)
    partition_index, = r.fixed(_S_i)
    skip_tags(r)
    return _DescribeTopicPartitionsRequestCursor(topic_name, partition_index)


def _read_DescribeTopicPartitionsRequest_0(r: Reader) -> DescribeTopicPartitionsRequest:
    n = read_c_count(r, 2)
    topics = [_read_DescribeTopicPartitionsRequestTopicRequest_0(r) for _ in range(n)]
    response_partition_limit, = r.fixed(_S_i)
    cursor = None if read_is_null(r) else _read_DescribeTopicPartitionsRequestCursor_0(r)
    skip_tags(r)
    return DescribeTopicPartitionsRequest(topics, response_partition_limit, cursor)


def _read_steps_DescribeTopicPartitionsRequest_0(r: Reader) -> Generator[None, None, DescribeTopicPartitionsRequest]:
    n = read_c_count(r, 2)
    topics: list[DescribeTopicPartitionsRequest.TopicRequest] = []
    if n <= FLAT_ELEMENTS:
        topics = [_read_DescribeTopicPartitionsRequestTopicRequest_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            topics.append(_read_DescribeTopicPartitionsRequestTopicRequest_0(r))
            if r.elements_ended(1):
                yield
    response_partition_limit, = r.fixed(_S_i)
    cursor = None if read_is_null(r) else _read_DescribeTopicPartitionsRequestCursor_0(r)
    skip_tags(r)
    return DescribeTopicPartitionsRequest(topics, response_partition_limit, cursor)


def _write_DescribeTopicPartitionsRequestTopicRequest_0(out: bytearray, m: _DescribeTopicPartitionsRequestTopicRequest) -> None:
    write_c_string(out, m.name)
    out.append(0)


def _write_DescribeTopicPartitionsRequestCursor_0(out: bytearray, m: _DescribeTopicPartitionsRequestCursor) -> None:
    write_c_string(out, m.topic_name)
    out += _P_ix(m.partition_index)


def _write_DescribeTopicPartitionsRequest_0(out: bytearray, m: DescribeTopicPartitionsRequest) -> None:
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_DescribeTopicPartitionsRequestTopicRequest_0(out, it_topics)
    out += _P_i(m.response_partition_limit)
    if m.cursor is None:
        out.append(255)
    else:
        out.append(1)
        _write_DescribeTopicPartitionsRequestCursor_0(out, m.cursor)
    out.append(0)


def _write_steps_DescribeTopicPartitionsRequest_0(o: Output, m: DescribeTopicPartitionsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.topics))
    if len(m.topics) <= FLAT_ELEMENTS:
        for it_topics in m.topics:
            _write_DescribeTopicPartitionsRequestTopicRequest_0(out, it_topics)
        if o.elements_ended(len(m.topics)):
            yield
    else:
        for it_topics in m.topics:
            _write_DescribeTopicPartitionsRequestTopicRequest_0(out, it_topics)
            if o.elements_ended(1):
                yield
    out += _P_i(m.response_partition_limit)
    if m.cursor is None:
        out.append(255)
    else:
        out.append(1)
        _write_DescribeTopicPartitionsRequestCursor_0(out, m.cursor)
    out.append(0)


def _read_DescribeTopicPartitionsResponseDescribeTopicPartitionsResponsePartition_0(r: Reader) -> _DescribeTopicPartitionsResponseDescribeTopicPartitionsResponsePartition:
    error_code, partition_index, leader_id, leader_epoch = r.fixed(_S_hiii)
    replica_nodes = read_c_numbers(r, "i", 4)
    isr_nodes = read_c_numbers(r, "i", 4)
    eligible_leader_replicas = read_c_null_numbers(r, "i", 4)
    last_known_elr = read_c_null_numbers(r, "i", 4)
    offline_replicas = read_c_numbers(r, "i", 4)
    skip_tags(r)
    return _DescribeTopicPartitionsResponseDescribeTopicPartitionsResponsePartition(error_code, partition_index, leader_id, leader_epoch, replica_nodes, isr_nodes, eligible_leader_replicas, last_known_elr, offline_replicas)


def _read_DescribeTopicPartitionsResponseDescribeTopicPartitionsResponseTopic_0(r: Reader) -> _DescribeTopicPartitionsResponseDescribeTopicPartitionsResponseTopic:
    error_code, = r.fixed(_S_h)
    name = read_c_null_string(r)
    topic_id, is_internal = r.fixed(_S_ut)
    n = read_c_count(r, 20)
    partitions = [_read_DescribeTopicPartitionsResponseDescribeTopicPartitionsResponsePartition_0(r) for _ in range(n)]
    topic_authorized_operations, = r.fixed(_S_i)
    skip_tags(r)
    return _DescribeTopicPartitionsResponseDescribeTopicPartitionsResponseTopic(error_code, name, uuid_of(topic_id), is_internal, partitions, topic_authorized_operations)


def _read_DescribeTopicPartitionsResponseCursor_0(r: Reader) -> _DescribeTopicPartitionsResponseCursor:
    topic_name = read_c_string(r)
    partition_index, = r.fixed(_S_i)
    skip_tags(r)
    return _DescribeTopicPartitionsResponseCursor(topic_name, partition_index)


def _read_DescribeTopicPartitionsResponse_0(r: Reader) -> DescribeTopicPartitionsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 26)
    topics = [_read_DescribeTopicPartitionsResponseDescribeTopicPartitionsResponseTopic_0(r) for _ in range(n)]
    next_cursor = None if read_is_null(r) else _read_DescribeTopicPartitionsResponseCursor_0(r)
    skip_tags(r)
    return DescribeTopicPartitionsResponse(throttle_time_ms, topics, next_cursor)


def _read_steps_DescribeTopicPartitionsResponseDescribeTopicPartitionsResponseTopic_0(r: Reader) -> Generator[None, None, _DescribeTopicPartitionsResponseDescribeTopicPartitionsResponseTopic]:
    error_code, = r.fixed(_S_h)
    name = read_c_null_string(r)
    topic_id, is_internal = r.fixed(_S_ut)
    n = read_c_count(r, 20)
    partitions: list[DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic.DescribeTopicPartitionsResponsePartition] = []
    for some in batches(n):
        partitions += [_read_DescribeTopicPartitionsResponseDescribeTopicPartitionsResponsePartition_0(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    topic_authorized_operations, = r.fixed(_S_i)
    skip_tags(r)
    return _DescribeTopicPartitionsResponseDescribeTopicPartitionsResponseTopic(error_code, name, uuid_of(topic_id), is_internal, partitions, topic_authorized_operations)


def _read_steps_DescribeTopicPartitionsResponse_0(r: Reader) -> Generator[None, None, DescribeTopicPartitionsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 26)
    topics: list[DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_DescribeTopicPartitionsResponseDescribeTopicPartitionsResponseTopic_0(r)))
        if r.elements_ended(1):
            yield
    next_cursor = None if read_is_null(r) else _read_DescribeTopicPartitionsResponseCursor_0(r)
    skip_tags(r)
    return DescribeTopicPartitionsResponse(throttle_time_ms, topics, next_cursor)


def _write_DescribeTopicPartitionsResponseDescribeTopicPartitionsResponsePartition_0(out: bytearray, m: _DescribeTopicPartitionsResponseDescribeTopicPartitionsResponsePartition) -> None:
    n1 = len(m.replica_nodes)
    n2 = len(m.isr_nodes)
    out += _R_hiii_Bi_Bi[n1, n2](m.error_code, m.partition_index, m.leader_id, m.leader_epoch, n1 + 1, *m.replica_nodes, n2 + 1, *m.isr_nodes)
    if m.eligible_leader_replicas is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.eligible_leader_replicas))
        out += pack(f">{len(m.eligible_leader_replicas)}i", *m.eligible_leader_replicas)
    if m.last_known_elr is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.last_known_elr))
        out += pack(f">{len(m.last_known_elr)}i", *m.last_known_elr)
    n1 = len(m.offline_replicas)
    out += _R_Bi_x[n1,](n1 + 1, *m.offline_replicas)


def _write_DescribeTopicPartitionsResponseDescribeTopicPartitionsResponseTopic_0(out: bytearray, m: _DescribeTopicPartitionsResponseDescribeTopicPartitionsResponseTopic) -> None:
    out += _P_h(m.error_code)
    write_c_null_string(out, m.name)
    out += _P_ut(uuid_bytes(m.topic_id), m.is_internal)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_DescribeTopicPartitionsResponseDescribeTopicPartitionsResponsePartition_0(out, it_partitions)
    out += _P_ix(m.topic_authorized_operations)


def _write_DescribeTopicPartitionsResponseCursor_0(out: bytearray, m: _DescribeTopicPartitionsResponseCursor) -> None:
    write_c_string(out, m.topic_name)
    out += _P_ix(m.partition_index)


def _write_DescribeTopicPartitionsResponse_0(out: bytearray, m: DescribeTopicPartitionsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_DescribeTopicPartitionsResponseDescribeTopicPartitionsResponseTopic_0(out, it_topics)
    if m.next_cursor is None:
        out.append(255)
    else:
        out.append(1)
        _write_DescribeTopicPartitionsResponseCursor_0(out, m.next_cursor)
    out.append(0)


def _write_steps_DescribeTopicPartitionsResponseDescribeTopicPartitionsResponseTopic_0(o: Output, m: _DescribeTopicPartitionsResponseDescribeTopicPartitionsResponseTopic) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    write_c_null_string(out, m.name)
    out += _P_ut(uuid_bytes(m.topic_id), m.is_internal)
    write_c_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_DescribeTopicPartitionsResponseDescribeTopicPartitionsResponsePartition_0(out, it_partitions)
        if o.elements_ended(some):
            yield
    out += _P_ix(m.topic_authorized_operations)


def _write_steps_DescribeTopicPartitionsResponse_0(o: Output, m: DescribeTopicPartitionsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_DescribeTopicPartitionsResponseDescribeTopicPartitionsResponseTopic_0(o, it_topics)
        if o.elements_ended(1):
            yield
    if m.next_cursor is None:
        out.append(255)
    else:
        out.append(1)
        _write_DescribeTopicPartitionsResponseCursor_0(out, m.next_cursor)
    out.append(0)


def _error_for(m: DescribeTopicPartitionsRequest, code: int) -> DescribeTopicPartitionsResponse:
    return DescribeTopicPartitionsResponse(topics=[_DescribeTopicPartitionsResponseDescribeTopicPartitionsResponseTopic(error_code=code, name=it0.name) for it0 in m.topics])


DescribeTopicPartitionsRequest.READ = (_read_DescribeTopicPartitionsRequest_0,)
DescribeTopicPartitionsRequest.READ_STEPS = (_read_steps_DescribeTopicPartitionsRequest_0,)
DescribeTopicPartitionsRequest.WRITE = (_write_DescribeTopicPartitionsRequest_0,)
DescribeTopicPartitionsRequest.WRITE_STEPS = (_write_steps_DescribeTopicPartitionsRequest_0,)
DescribeTopicPartitionsResponse.READ = (_read_DescribeTopicPartitionsResponse_0,)
DescribeTopicPartitionsResponse.READ_STEPS = (_read_steps_DescribeTopicPartitionsResponse_0,)
DescribeTopicPartitionsResponse.WRITE = (_write_DescribeTopicPartitionsResponse_0,)
DescribeTopicPartitionsResponse.WRITE_STEPS = (_write_steps_DescribeTopicPartitionsResponse_0,)
DescribeTopicPartitionsRequest.ERROR_FOR = _error_for
