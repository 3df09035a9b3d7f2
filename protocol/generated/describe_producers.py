"""DescribeProducersRequest, DescribeProducersResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from itertools import islice
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, batches, read_c_count, read_c_null_string, read_c_numbers, read_c_string, skip_tags
from headrace.protocol.message_writing import Output, Runs, write_c_count, write_c_null_string, write_c_string
from headrace.protocol.primitives import Reader

class DescribeProducersRequest(KafkaMessage):
    """Key 61, version 0, flexible from 0 on."""

    class TopicRequest(MessageStruct):
        """Versions 0+."""

        name: str = ""
        partition_indexes: list[int] = []

    API_KEY: ClassVar[int] = 61
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    topics: list[DescribeProducersRequest.TopicRequest] = []


class DescribeProducersResponse(KafkaMessage):
    """Key 61, version 0, flexible from 0 on."""

    class TopicResponse(MessageStruct):
        """Versions 0+."""

        class PartitionResponse(MessageStruct):
            """Versions 0+."""

            class ProducerState(MessageStruct):
                """Versions 0+."""

                producer_id: int = 0
                producer_epoch: int = 0
                last_sequence: int = -1
                last_timestamp: int = -1
                coordinator_epoch: int = 0
                current_txn_start_offset: int = -1

            partition_index: int = 0
            error_code: int = 0
            error_message: str | None = None
            active_producers: Collection[DescribeProducersResponse.TopicResponse.PartitionResponse.ProducerState] = []

        name: str = ""
        partitions: Collection[DescribeProducersResponse.TopicResponse.PartitionResponse] = []

    API_KEY: ClassVar[int] = 61
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    throttle_time_ms: int = 0
    topics: Collection[DescribeProducersResponse.TopicResponse] = []


_TopicRequest = DescribeProducersRequest.TopicRequest
_ProducerState = DescribeProducersResponse.TopicResponse.PartitionResponse.ProducerState
_PartitionResponse = DescribeProducersResponse.TopicResponse.PartitionResponse
_TopicResponse = DescribeProducersResponse.TopicResponse
_P_i: Final = Struct(">i").pack
_P_ih: Final = Struct(">ih").pack
_P_qiiqiqx: Final = Struct(">qiiqiqx").pack
_R_Bi_x: Final = Runs("Bi", "x", is_array=(True, False))
_S_i: Final = Struct(">i")
_S_ih: Final = Struct(">ih")
_S_qiiqiq: Final = Struct(">qiiqiq")


def _read_TopicRequest_0(r: Reader) -> _TopicRequest:
    name = read_c_string(r)
    partition_indexes = read_c_numbers(r, "i", 4)
    skip_tags(r)
    return _TopicRequest(name, partition_indexes)


def _read_DescribeProducersRequest_0(r: Reader) -> DescribeProducersRequest:
    n = read_c_count(r, 3)
    topics = [_read_TopicRequest_0(r) for _ in range(n)]
    skip_tags(r)
    return DescribeProducersRequest(topics)


def _read_steps_DescribeProducersRequest_0(r: Reader) -> Generator[None, None, DescribeProducersRequest]:
    n = read_c_count(r, 3)
    topics: list[DescribeProducersRequest.TopicRequest] = []
    if n <= FLAT_ELEMENTS:
        topics = [_read_TopicRequest_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            topics.append(_read_TopicRequest_0(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return DescribeProducersRequest(topics)


def _write_TopicRequest_0(out: bytearray, m: _TopicRequest) -> None:
    write_c_string(out, m.name)
    n1 = len(m.partition_indexes)
    out += _R_Bi_x[n1,](n1 + 1, *m.partition_indexes)


def _write_DescribeProducersRequest_0(out: bytearray, m: DescribeProducersRequest) -> None:
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_TopicRequest_0(out, it_topics)
    out.append(0)


def _write_steps_DescribeProducersRequest_0(o: Output, m: DescribeProducersRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.topics))
    if len(m.topics) <= FLAT_ELEMENTS:
        for it_topics in m.topics:
            _write_TopicRequest_0(out, it_topics)
        if o.elements_ended(len(m.topics)):
            yield
    else:
        for it_topics in m.topics:
            _write_TopicRequest_0(out, it_topics)
            if o.elements_ended(1):
                yield
    out.append(0)


def _read_ProducerState_0(r: Reader) -> _ProducerState:
    producer_id, producer_epoch, last_sequence, last_timestamp, coordinator_epoch, current_txn_start_offset = r.fixed(_S_qiiqiq)
    skip_tags(r)
    return _ProducerState(producer_id, producer_epoch, last_sequence, last_timestamp, coordinator_epoch, current_txn_start_offset)


def _read_PartitionResponse_0(r: Reader) -> _PartitionResponse:
    partition_index, error_code = r.fixed(_S_ih)
    error_message = read_c_null_string(r)
    n = read_c_count(r, 37)
    active_producers = [_read_ProducerState_0(r) for _ in range(n)]
    skip_tags(r)
    return _PartitionResponse(partition_index, error_code, error_message, active_producers)


def _read_TopicResponse_0(r: Reader) -> _TopicResponse:
    name = read_c_string(r)
    n = read_c_count(r, 9)
    partitions = [_read_PartitionResponse_0(r) for _ in range(n)]
    skip_tags(r)
    return _TopicResponse(name, partitions)


def _read_DescribeProducersResponse_0(r: Reader) -> DescribeProducersResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 3)
    topics = [_read_TopicResponse_0(r) for _ in range(n)]
    skip_tags(r)
    return DescribeProducersResponse(throttle_time_ms, topics)


def _read_steps_PartitionResponse_0(r: Reader) -> Generator[None, None, _PartitionResponse]:
    partition_index, error_code = r.fixed(_S_ih)
    error_message = read_c_null_string(r)
    n = read_c_count(r, 37)
    active_producers: list[DescribeProducersResponse.TopicResponse.PartitionResponse.ProducerState] = []
    for some in batches(n):
        active_producers += [_read_ProducerState_0(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    skip_tags(r)
    return _PartitionResponse(partition_index, error_code, error_message, active_producers)


def _read_steps_TopicResponse_0(r: Reader) -> Generator[None, None, _TopicResponse]:
    name = read_c_string(r)
    n = read_c_count(r, 9)
    partitions: list[DescribeProducersResponse.TopicResponse.PartitionResponse] = []
    for _ in range(n):
        partitions.append((yield from _read_steps_PartitionResponse_0(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return _TopicResponse(name, partitions)


def _read_steps_DescribeProducersResponse_0(r: Reader) -> Generator[None, None, DescribeProducersResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 3)
    topics: list[DescribeProducersResponse.TopicResponse] = []
    for _ in range(n):
        topics.append((yield from _read_steps_TopicResponse_0(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return DescribeProducersResponse(throttle_time_ms, topics)


def _write_ProducerState_0(out: bytearray, m: _ProducerState) -> None:
    out += _P_qiiqiqx(m.producer_id, m.producer_epoch, m.last_sequence, m.last_timestamp, m.coordinator_epoch, m.current_txn_start_offset)


def _write_PartitionResponse_0(out: bytearray, m: _PartitionResponse) -> None:
    out += _P_ih(m.partition_index, m.error_code)
    write_c_null_string(out, m.error_message)
    write_c_count(out, len(m.active_producers))
    for it_active_producers in m.active_producers:
        _write_ProducerState_0(out, it_active_producers)
    out.append(0)


def _write_TopicResponse_0(out: bytearray, m: _TopicResponse) -> None:
    write_c_string(out, m.name)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_PartitionResponse_0(out, it_partitions)
    out.append(0)


def _write_DescribeProducersResponse_0(out: bytearray, m: DescribeProducersResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_TopicResponse_0(out, it_topics)
    out.append(0)


def _write_steps_PartitionResponse_0(o: Output, m: _PartitionResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ih(m.partition_index, m.error_code)
    write_c_null_string(out, m.error_message)
    write_c_count(out, len(m.active_producers))
    left_active_producers = iter(m.active_producers)
    for some in batches(len(m.active_producers)):
        for it_active_producers in islice(left_active_producers, some):
            _write_ProducerState_0(out, it_active_producers)
        if o.elements_ended(some):
            yield
    out.append(0)


def _write_steps_TopicResponse_0(o: Output, m: _TopicResponse) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.name)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        yield from _write_steps_PartitionResponse_0(o, it_partitions)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_DescribeProducersResponse_0(o: Output, m: DescribeProducersResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_TopicResponse_0(o, it_topics)
        if o.elements_ended(1):
            yield
    out.append(0)


def _error_for(m: DescribeProducersRequest, code: int) -> DescribeProducersResponse:
    return DescribeProducersResponse(topics=[_TopicResponse(name=it0.name, partitions=[_PartitionResponse(partition_index=it1, error_code=code) for it1 in it0.partition_indexes]) for it0 in m.topics])


DescribeProducersRequest.READ = (_read_DescribeProducersRequest_0,)
DescribeProducersRequest.READ_STEPS = (_read_steps_DescribeProducersRequest_0,)
DescribeProducersRequest.WRITE = (_write_DescribeProducersRequest_0,)
DescribeProducersRequest.WRITE_STEPS = (_write_steps_DescribeProducersRequest_0,)
DescribeProducersResponse.READ = (_read_DescribeProducersResponse_0,)
DescribeProducersResponse.READ_STEPS = (_read_steps_DescribeProducersResponse_0,)
DescribeProducersResponse.WRITE = (_write_DescribeProducersResponse_0,)
DescribeProducersResponse.WRITE_STEPS = (_write_steps_DescribeProducersResponse_0,)
DescribeProducersRequest.ERROR_FOR = _error_for
