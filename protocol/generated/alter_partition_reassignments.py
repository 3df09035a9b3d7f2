"""AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from itertools import islice
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, batches, read_c_count, read_c_null_numbers, read_c_null_string, read_c_string, skip_tags
from headrace.protocol.message_writing import Output, write_c_count, write_c_null_string, write_c_string
from headrace.protocol.primitives import Reader

class AlterPartitionReassignmentsRequest(KafkaMessage):
    """Key 45, versions 0 to 1, flexible from 0 on."""

    class ReassignableTopic(MessageStruct):
        """Versions 0+."""

        class ReassignablePartition(MessageStruct):
            """Versions 0+."""

            partition_index: int = 0
            replicas: list[int] | None = None

        name: str = ""
        partitions: list[AlterPartitionReassignmentsRequest.ReassignableTopic.ReassignablePartition] = []

    API_KEY: ClassVar[int] = 45
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    timeout_ms: int = 60000
    allow_replication_factor_change: bool = True
    topics: list[AlterPartitionReassignmentsRequest.ReassignableTopic] = []


class AlterPartitionReassignmentsResponse(KafkaMessage):
    """Key 45, versions 0 to 1, flexible from 0 on."""

    class ReassignableTopicResponse(MessageStruct):
        """Versions 0+."""

        class ReassignablePartitionResponse(MessageStruct):
            """Versions 0+."""

            partition_index: int = 0
            error_code: int = 0
            error_message: str | None = ""

        name: str = ""
        partitions: Collection[AlterPartitionReassignmentsResponse.ReassignableTopicResponse.ReassignablePartitionResponse] = []

    API_KEY: ClassVar[int] = 45
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    throttle_time_ms: int = 0
    allow_replication_factor_change: bool = True
    error_code: int = 0
    error_message: str | None = ""
    responses: Collection[AlterPartitionReassignmentsResponse.ReassignableTopicResponse] = []


_ReassignablePartition = AlterPartitionReassignmentsRequest.ReassignableTopic.ReassignablePartition
_ReassignableTopic = AlterPartitionReassignmentsRequest.ReassignableTopic
_ReassignablePartitionResponse = AlterPartitionReassignmentsResponse.ReassignableTopicResponse.ReassignablePartitionResponse
_ReassignableTopicResponse = AlterPartitionReassignmentsResponse.ReassignableTopicResponse
_P_i: Final = Struct(">i").pack
_P_ih: Final = Struct(">ih").pack
_P_it: Final = Struct(">i?").pack
_P_ith: Final = Struct(">i?h").pack
_S_i: Final = Struct(">i")
_S_ih: Final = Struct(">ih")
_S_it: Final = Struct(">i?")
_S_ith: Final = Struct(">i?h")


def _read_ReassignablePartition_0(r: Reader) -> _ReassignablePartition:
    partition_index, = r.fixed(_S_i)
    replicas = read_c_null_numbers(r, "i", 4)
    skip_tags(r)
    return _ReassignablePartition(partition_index, replicas)


def _read_ReassignableTopic_0(r: Reader) -> _ReassignableTopic:
    name = read_c_string(r)
    n = read_c_count(r, 6)
    partitions = [_read_ReassignablePartition_0(r) for _ in range(n)]
    skip_tags(r)
    return _ReassignableTopic(name, partitions)


def _read_AlterPartitionReassignmentsRequest_0(r: Reader) -> AlterPartitionReassignmentsRequest:
    timeout_ms, = r.fixed(_S_i)
    n = read_c_count(r, 3)
    topics = [_read_ReassignableTopic_0(r) for _ in range(n)]
    skip_tags(r)
    return AlterPartitionReassignmentsRequest(timeout_ms, True, topics)


def _read_AlterPartitionReassignmentsRequest_1(r: Reader) -> AlterPartitionReassignmentsRequest:
    timeout_ms, allow_replication_factor_change = r.fixed(_S_it)
    n = read_c_count(r, 3)
    topics = [_read_ReassignableTopic_0(r) for _ in range(n)]
    skip_tags(r)
    return AlterPartitionReassignmentsRequest(timeout_ms, allow_replication_factor_change, topics)


def _read_steps_ReassignableTopic_0(r: Reader) -> Generator[None, None, _ReassignableTopic]:
    name = read_c_string(r)
    n = read_c_count(r, 6)
    partitions: list[AlterPartitionReassignmentsRequest.ReassignableTopic.ReassignablePartition] = []
    for some in batches(n):
        partitions += [_read_ReassignablePartition_0(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    skip_tags(r)
    return _ReassignableTopic(name, partitions)


def _read_steps_AlterPartitionReassignmentsRequest_0(r: Reader) -> Generator[None, None, AlterPartitionReassignmentsRequest]:
    timeout_ms, = r.fixed(_S_i)
    n = read_c_count(r, 3)
    topics: list[AlterPartitionReassignmentsRequest.ReassignableTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_ReassignableTopic_0(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return AlterPartitionReassignmentsRequest(timeout_ms, True, topics)


def _read_steps_AlterPartitionReassignmentsRequest_1(r: Reader) -> Generator[None, None, AlterPartitionReassignmentsRequest]:
    timeout_ms, allow_replication_factor_change = r.fixed(_S_it)
    n = read_c_count(r, 3)
    topics: list[AlterPartitionReassignmentsRequest.ReassignableTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_ReassignableTopic_0(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return AlterPartitionReassignmentsRequest(timeout_ms, allow_replication_factor_change, topics)


def _write_ReassignablePartition_0(out: bytearray, m: _ReassignablePartition) -> None:
    out += _P_i(m.partition_index)
    if m.replicas is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.replicas))
        out += pack(f">{len(m.replicas)}i", *m.replicas)
    out.append(0)


def _write_ReassignableTopic_0(out: bytearray, m: _ReassignableTopic) -> None:
    write_c_string(out, m.name)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_ReassignablePartition_0(out, it_partitions)
    out.append(0)


def _write_AlterPartitionReassignmentsRequest_0(out: bytearray, m: AlterPartitionReassignmentsRequest) -> None:
    out += _P_i(m.timeout_ms)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_ReassignableTopic_0(out, it_topics)
    out.append(0)


def _write_AlterPartitionReassignmentsRequest_1(out: bytearray, m: AlterPartitionReassignmentsRequest) -> None:
    out += _P_it(m.timeout_ms, m.allow_replication_factor_change)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_ReassignableTopic_0(out, it_topics)
    out.append(0)


def _write_steps_ReassignableTopic_0(o: Output, m: _ReassignableTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.name)
    write_c_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_ReassignablePartition_0(out, it_partitions)
        if o.elements_ended(some):
            yield
    out.append(0)


def _write_steps_AlterPartitionReassignmentsRequest_0(o: Output, m: AlterPartitionReassignmentsRequest) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.timeout_ms)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_ReassignableTopic_0(o, it_topics)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_AlterPartitionReassignmentsRequest_1(o: Output, m: AlterPartitionReassignmentsRequest) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_it(m.timeout_ms, m.allow_replication_factor_change)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_ReassignableTopic_0(o, it_topics)
        if o.elements_ended(1):
            yield
    out.append(0)


def _read_ReassignablePartitionResponse_0(r: Reader) -> _ReassignablePartitionResponse:
    partition_index, error_code = r.fixed(_S_ih)
    error_message = read_c_null_string(r)
    skip_tags(r)
    return _ReassignablePartitionResponse(partition_index, error_code, error_message)


def _read_ReassignableTopicResponse_0(r: Reader) -> _ReassignableTopicResponse:
    name = read_c_string(r)
    n = read_c_count(r, 8)
    partitions = [_read_ReassignablePartitionResponse_0(r) for _ in range(n)]
    skip_tags(r)
    return _ReassignableTopicResponse(name, partitions)


def _read_AlterPartitionReassignmentsResponse_0(r: Reader) -> AlterPartitionReassignmentsResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    error_message = read_c_null_string(r)
    n = read_c_count(r, 3)
    responses = [_read_ReassignableTopicResponse_0(r) for _ in range(n)]
    skip_tags(r)
    return AlterPartitionReassignmentsResponse(throttle_time_ms, True, error_code, error_message, responses)


def _read_AlterPartitionReassignmentsResponse_1(r: Reader) -> AlterPartitionReassignmentsResponse:
    throttle_time_ms, allow_replication_factor_change, error_code = r.fixed(_S_ith)
    error_message = read_c_null_string(r)
    n = read_c_count(r, 3)
    responses = [_read_ReassignableTopicResponse_0(r) for _ in range(n)]
    skip_tags(r)
    return AlterPartitionReassignmentsResponse(throttle_time_ms, allow_replication_factor_change, error_code, error_message, responses)


def _read_steps_ReassignableTopicResponse_0(r: Reader) -> Generator[None, None, _ReassignableTopicResponse]:
    name = read_c_string(r)
    n = read_c_count(r, 8)
    partitions: list[AlterPartitionReassignmentsResponse.ReassignableTopicResponse.ReassignablePartitionResponse] = []
    if n <= FLAT_ELEMENTS:
        partitions = [_read_ReassignablePartitionResponse_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            partitions.append(_read_ReassignablePartitionResponse_0(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return _ReassignableTopicResponse(name, partitions)


def _read_steps_AlterPartitionReassignmentsResponse_0(r: Reader) -> Generator[None, None, AlterPartitionReassignmentsResponse]:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    error_message = read_c_null_string(r)
    n = read_c_count(r, 3)
    responses: list[AlterPartitionReassignmentsResponse.ReassignableTopicResponse] = []
    for _ in range(n):
        responses.append((yield from _read_steps_ReassignableTopicResponse_0(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return AlterPartitionReassignmentsResponse(throttle_time_ms, True, error_code, error_message, responses)


def _read_steps_AlterPartitionReassignmentsResponse_1(r: Reader) -> Generator[None, None, AlterPartitionReassignmentsResponse]:
    throttle_time_ms, allow_replication_factor_change, error_code = r.fixed(_S_ith)
    error_message = read_c_null_string(r)
    n = read_c_count(r, 3)
    responses: list[AlterPartitionReassignmentsResponse.ReassignableTopicResponse] = []
    for _ in range(n):
        responses.append((yield from _read_steps_ReassignableTopicResponse_0(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return AlterPartitionReassignmentsResponse(throttle_time_ms, allow_replication_factor_change, error_code, error_message, responses)


def _write_ReassignablePartitionResponse_0(out: bytearray, m: _ReassignablePartitionResponse) -> None:
    out += _P_ih(m.partition_index, m.error_code)
    write_c_null_string(out, m.error_message)
    out.append(0)


def _write_ReassignableTopicResponse_0(out: bytearray, m: _ReassignableTopicResponse) -> None:
    write_c_string(out, m.name)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_ReassignablePartitionResponse_0(out, it_partitions)
    out.append(0)


def _write_AlterPartitionReassignmentsResponse_0(out: bytearray, m: AlterPartitionReassignmentsResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_null_string(out, m.error_message)
    write_c_count(out, len(m.responses))
    for it_responses in m.responses:
        _write_ReassignableTopicResponse_0(out, it_responses)
    out.append(0)


def _write_AlterPartitionReassignmentsResponse_1(out: bytearray, m: AlterPartitionReassignmentsResponse) -> None:
    out += _P_ith(m.throttle_time_ms, m.allow_replication_factor_change, m.error_code)
    write_c_null_string(out, m.error_message)
    write_c_count(out, len(m.responses))
    for it_responses in m.responses:
        _write_ReassignableTopicResponse_0(out, it_responses)
    out.append(0)


def _write_steps_ReassignableTopicResponse_0(o: Output, m: _ReassignableTopicResponse) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.name)
    write_c_count(out, len(m.partitions))
    if len(m.partitions) <= FLAT_ELEMENTS:
        for it_partitions in m.partitions:
            _write_ReassignablePartitionResponse_0(out, it_partitions)
        if o.elements_ended(len(m.partitions)):
            yield
    else:
        for it_partitions in m.partitions:
            _write_ReassignablePartitionResponse_0(out, it_partitions)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_AlterPartitionReassignmentsResponse_0(o: Output, m: AlterPartitionReassignmentsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_null_string(out, m.error_message)
    write_c_count(out, len(m.responses))
    for it_responses in m.responses:
        yield from _write_steps_ReassignableTopicResponse_0(o, it_responses)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_AlterPartitionReassignmentsResponse_1(o: Output, m: AlterPartitionReassignmentsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ith(m.throttle_time_ms, m.allow_replication_factor_change, m.error_code)
    write_c_null_string(out, m.error_message)
    write_c_count(out, len(m.responses))
    for it_responses in m.responses:
        yield from _write_steps_ReassignableTopicResponse_0(o, it_responses)
        if o.elements_ended(1):
            yield
    out.append(0)


def _error_for(m: AlterPartitionReassignmentsRequest, code: int) -> AlterPartitionReassignmentsResponse:
    return AlterPartitionReassignmentsResponse(error_code=code, error_message=None)


AlterPartitionReassignmentsRequest.READ = (_read_AlterPartitionReassignmentsRequest_0, _read_AlterPartitionReassignmentsRequest_1,)
AlterPartitionReassignmentsRequest.READ_STEPS = (_read_steps_AlterPartitionReassignmentsRequest_0, _read_steps_AlterPartitionReassignmentsRequest_1,)
AlterPartitionReassignmentsRequest.WRITE = (_write_AlterPartitionReassignmentsRequest_0, _write_AlterPartitionReassignmentsRequest_1,)
AlterPartitionReassignmentsRequest.WRITE_STEPS = (_write_steps_AlterPartitionReassignmentsRequest_0, _write_steps_AlterPartitionReassignmentsRequest_1,)
AlterPartitionReassignmentsResponse.READ = (_read_AlterPartitionReassignmentsResponse_0, _read_AlterPartitionReassignmentsResponse_1,)
AlterPartitionReassignmentsResponse.READ_STEPS = (_read_steps_AlterPartitionReassignmentsResponse_0, _read_steps_AlterPartitionReassignmentsResponse_1,)
AlterPartitionReassignmentsResponse.WRITE = (_write_AlterPartitionReassignmentsResponse_0, _write_AlterPartitionReassignmentsResponse_1,)
AlterPartitionReassignmentsResponse.WRITE_STEPS = (_write_steps_AlterPartitionReassignmentsResponse_0, _write_steps_AlterPartitionReassignmentsResponse_1,)
AlterPartitionReassignmentsRequest.ERROR_FOR = _error_for
