"""DeleteRecordsRequest, DeleteRecordsResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from itertools import islice
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import batches, read_c_count, read_c_string, read_count, read_string, skip_tags
from headrace.protocol.message_writing import Output, write_c_count, write_c_string, write_count, write_string
from headrace.protocol.primitives import Reader

class DeleteRecordsRequest(KafkaMessage):
    """Key 21, versions 0 to 2, flexible from 2 on."""

    class DeleteRecordsTopic(MessageStruct):
        """Versions 0+."""

        class DeleteRecordsPartition(MessageStruct):
            """Versions 0+."""

            partition_index: int = 0
            offset: int = 0

        name: str = ""
        partitions: list[DeleteRecordsRequest.DeleteRecordsTopic.DeleteRecordsPartition] = []

    API_KEY: ClassVar[int] = 21
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 2
    topics: list[DeleteRecordsRequest.DeleteRecordsTopic] = []
    timeout_ms: int = 0


class DeleteRecordsResponse(KafkaMessage):
    """Key 21, versions 0 to 2, flexible from 2 on."""

    class DeleteRecordsTopicResult(MessageStruct):
        """Versions 0+."""

        class DeleteRecordsPartitionResult(MessageStruct):
            """Versions 0+."""

            partition_index: int = 0
            low_watermark: int = 0
            error_code: int = 0

        name: str = ""
        partitions: Collection[DeleteRecordsResponse.DeleteRecordsTopicResult.DeleteRecordsPartitionResult] = []

    API_KEY: ClassVar[int] = 21
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 2
    throttle_time_ms: int = 0
    topics: Collection[DeleteRecordsResponse.DeleteRecordsTopicResult] = []


_DeleteRecordsPartition = DeleteRecordsRequest.DeleteRecordsTopic.DeleteRecordsPartition
_DeleteRecordsTopic = DeleteRecordsRequest.DeleteRecordsTopic
_DeleteRecordsPartitionResult = DeleteRecordsResponse.DeleteRecordsTopicResult.DeleteRecordsPartitionResult
_DeleteRecordsTopicResult = DeleteRecordsResponse.DeleteRecordsTopicResult
_P_i: Final = Struct(">i").pack
_P_iq: Final = Struct(">iq").pack
_P_iqh: Final = Struct(">iqh").pack
_P_iqhx: Final = Struct(">iqhx").pack
_P_iqx: Final = Struct(">iqx").pack
_P_ix: Final = Struct(">ix").pack
_S_i: Final = Struct(">i")
_S_iq: Final = Struct(">iq")
_S_iqh: Final = Struct(">iqh")


def _read_DeleteRecordsPartition_0(r: Reader) -> _DeleteRecordsPartition:
    partition_index, offset = r.fixed(_S_iq)
    return _DeleteRecordsPartition(partition_index, offset)


def _read_DeleteRecordsTopic_0(r: Reader) -> _DeleteRecordsTopic:
    name = read_string(r)
    n = read_count(r, 12)
    partitions = [_read_DeleteRecordsPartition_0(r) for _ in range(n)]
    return _DeleteRecordsTopic(name, partitions)


def _read_DeleteRecordsRequest_0(r: Reader) -> DeleteRecordsRequest:
    n = read_count(r, 6)
    topics = [_read_DeleteRecordsTopic_0(r) for _ in range(n)]
    timeout_ms, = r.fixed(_S_i)
    return DeleteRecordsRequest(topics, timeout_ms)


def _read_DeleteRecordsPartition_2(r: Reader) -> _DeleteRecordsPartition:
    partition_index, offset = r.fixed(_S_iq)
    skip_tags(r)
    return _DeleteRecordsPartition(partition_index, offset)


def _read_DeleteRecordsTopic_2(r: Reader) -> _DeleteRecordsTopic:
    name = read_c_string(r)
    n = read_c_count(r, 13)
    partitions = [_read_DeleteRecordsPartition_2(r) for _ in range(n)]
    skip_tags(r)
    return _DeleteRecordsTopic(name, partitions)


def _read_DeleteRecordsRequest_2(r: Reader) -> DeleteRecordsRequest:
    n = read_c_count(r, 3)
    topics = [_read_DeleteRecordsTopic_2(r) for _ in range(n)]
    timeout_ms, = r.fixed(_S_i)
    skip_tags(r)
    return DeleteRecordsRequest(topics, timeout_ms)


def _read_steps_DeleteRecordsTopic_0(r: Reader) -> Generator[None, None, _DeleteRecordsTopic]:
    name = read_string(r)
    n = read_count(r, 12)
    partitions: list[DeleteRecordsRequest.DeleteRecordsTopic.DeleteRecordsPartition] = []
    for some in batches(n):
        partitions += [_read_DeleteRecordsPartition_0(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    return _DeleteRecordsTopic(name, partitions)


def _read_steps_DeleteRecordsRequest_0(r: Reader) -> Generator[None, None, DeleteRecordsRequest]:
    n = read_count(r, 6)
    topics: list[DeleteRecordsRequest.DeleteRecordsTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_DeleteRecordsTopic_0(r)))
        if r.elements_ended(1):
            yield
    timeout_ms, = r.fixed(_S_i)
    return DeleteRecordsRequest(topics, timeout_ms)


def _read_steps_DeleteRecordsTopic_2(r: Reader) -> Generator[None, None, _DeleteRecordsTopic]:
    name = read_c_string(r)
    n = read_c_count(r, 13)
    partitions: list[DeleteRecordsRequest.DeleteRecordsTopic.DeleteRecordsPartition] = []
    for some in batches(n):
        partitions += [_read_DeleteRecordsPartition_2(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    skip_tags(r)
    return _DeleteRecordsTopic(name, partitions)


def _read_steps_DeleteRecordsRequest_2(r: Reader) -> Generator[None, None, DeleteRecordsRequest]:
    n = read_c_count(r, 3)
    topics: list[DeleteRecordsRequest.DeleteRecordsTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_DeleteRecordsTopic_2(r)))
        if r.elements_ended(1):
            yield
    timeout_ms, = r.fixed(_S_i)
    skip_tags(r)
    return DeleteRecordsRequest(topics, timeout_ms)


def _write_DeleteRecordsPartition_0(out: bytearray, m: _DeleteRecordsPartition) -> None:
    out += _P_iq(m.partition_index, m.offset)


def _write_DeleteRecordsTopic_0(out: bytearray, m: _DeleteRecordsTopic) -> None:
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_DeleteRecordsPartition_0(out, it_partitions)


def _write_DeleteRecordsRequest_0(out: bytearray, m: DeleteRecordsRequest) -> None:
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_DeleteRecordsTopic_0(out, it_topics)
    out += _P_i(m.timeout_ms)


def _write_DeleteRecordsPartition_2(out: bytearray, m: _DeleteRecordsPartition) -> None:
    out += _P_iqx(m.partition_index, m.offset)


def _write_DeleteRecordsTopic_2(out: bytearray, m: _DeleteRecordsTopic) -> None:
    write_c_string(out, m.name)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_DeleteRecordsPartition_2(out, it_partitions)
    out.append(0)


def _write_DeleteRecordsRequest_2(out: bytearray, m: DeleteRecordsRequest) -> None:
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_DeleteRecordsTopic_2(out, it_topics)
    out += _P_ix(m.timeout_ms)


def _write_steps_DeleteRecordsTopic_0(o: Output, m: _DeleteRecordsTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_DeleteRecordsPartition_0(out, it_partitions)
        if o.elements_ended(some):
            yield


def _write_steps_DeleteRecordsRequest_0(o: Output, m: DeleteRecordsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_DeleteRecordsTopic_0(o, it_topics)
        if o.elements_ended(1):
            yield
    out += _P_i(m.timeout_ms)


def _write_steps_DeleteRecordsTopic_2(o: Output, m: _DeleteRecordsTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.name)
    write_c_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_DeleteRecordsPartition_2(out, it_partitions)
        if o.elements_ended(some):
            yield
    out.append(0)


def _write_steps_DeleteRecordsRequest_2(o: Output, m: DeleteRecordsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_DeleteRecordsTopic_2(o, it_topics)
        if o.elements_ended(1):
            yield
    out += _P_ix(m.timeout_ms)


def _read_DeleteRecordsPartitionResult_0(r: Reader) -> _DeleteRecordsPartitionResult:
    partition_index, low_watermark, error_code = r.fixed(_S_iqh)
    return _DeleteRecordsPartitionResult(partition_index, low_watermark, error_code)


def _read_DeleteRecordsTopicResult_0(r: Reader) -> _DeleteRecordsTopicResult:
    name = read_string(r)
    n = read_count(r, 14)
    partitions = [_read_DeleteRecordsPartitionResult_0(r) for _ in range(n)]
    return _DeleteRecordsTopicResult(name, partitions)


def _read_DeleteRecordsResponse_0(r: Reader) -> DeleteRecordsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 6)
    topics = [_read_DeleteRecordsTopicResult_0(r) for _ in range(n)]
    return DeleteRecordsResponse(throttle_time_ms, topics)


def _read_DeleteRecordsPartitionResult_2(r: Reader) -> _DeleteRecordsPartitionResult:
    partition_index, low_watermark, error_code = r.fixed(_S_iqh)
    skip_tags(r)
    return _DeleteRecordsPartitionResult(partition_index, low_watermark, error_code)


def _read_DeleteRecordsTopicResult_2(r: Reader) -> _DeleteRecordsTopicResult:
    name = read_c_string(r)
    n = read_c_count(r, 15)
    partitions = [_read_DeleteRecordsPartitionResult_2(r) for _ in range(n)]
    skip_tags(r)
    return _DeleteRecordsTopicResult(name, partitions)


def _read_DeleteRecordsResponse_2(r: Reader) -> DeleteRecordsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 3)
    topics = [_read_DeleteRecordsTopicResult_2(r) for _ in range(n)]
    skip_tags(r)
    return DeleteRecordsResponse(throttle_time_ms, topics)


def _read_steps_DeleteRecordsTopicResult_0(r: Reader) -> Generator[None, None, _DeleteRecordsTopicResult]:
    name = read_string(r)
    n = read_count(r, 14)
    partitions: list[DeleteRecordsResponse.DeleteRecordsTopicResult.DeleteRecordsPartitionResult] = []
    for some in batches(n):
        partitions += [_read_DeleteRecordsPartitionResult_0(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    return _DeleteRecordsTopicResult(name, partitions)


def _read_steps_DeleteRecordsResponse_0(r: Reader) -> Generator[None, None, DeleteRecordsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 6)
    topics: list[DeleteRecordsResponse.DeleteRecordsTopicResult] = []
    for _ in range(n):
        topics.append((yield from _read_steps_DeleteRecordsTopicResult_0(r)))
        if r.elements_ended(1):
            yield
    return DeleteRecordsResponse(throttle_time_ms, topics)


def _read_steps_DeleteRecordsTopicResult_2(r: Reader) -> Generator[None, None, _DeleteRecordsTopicResult]:
    name = read_c_string(r)
    n = read_c_count(r, 15)
    partitions: list[DeleteRecordsResponse.DeleteRecordsTopicResult.DeleteRecordsPartitionResult] = []
    for some in batches(n):
        partitions += [_read_DeleteRecordsPartitionResult_2(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    skip_tags(r)
    return _DeleteRecordsTopicResult(name, partitions)


def _read_steps_DeleteRecordsResponse_2(r: Reader) -> Generator[None, None, DeleteRecordsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 3)
    topics: list[DeleteRecordsResponse.DeleteRecordsTopicResult] = []
    for _ in range(n):
        topics.append((yield from _read_steps_DeleteRecordsTopicResult_2(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return DeleteRecordsResponse(throttle_time_ms, topics)


def _write_DeleteRecordsPartitionResult_0(out: bytearray, m: _DeleteRecordsPartitionResult) -> None:
    out += _P_iqh(m.partition_index, m.low_watermark, m.error_code)


def _write_DeleteRecordsTopicResult_0(out: bytearray, m: _DeleteRecordsTopicResult) -> None:
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_DeleteRecordsPartitionResult_0(out, it_partitions)


def _write_DeleteRecordsResponse_0(out: bytearray, m: DeleteRecordsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_DeleteRecordsTopicResult_0(out, it_topics)


def _write_DeleteRecordsPartitionResult_2(out: bytearray, m: _DeleteRecordsPartitionResult) -> None:
    out += _P_iqhx(m.partition_index, m.low_watermark, m.error_code)


def _write_DeleteRecordsTopicResult_2(out: bytearray, m: _DeleteRecordsTopicResult) -> None:
    write_c_string(out, m.name)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_DeleteRecordsPartitionResult_2(out, it_partitions)
    out.append(0)


def _write_DeleteRecordsResponse_2(out: bytearray, m: DeleteRecordsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_DeleteRecordsTopicResult_2(out, it_topics)
    out.append(0)


def _write_steps_DeleteRecordsTopicResult_0(o: Output, m: _DeleteRecordsTopicResult) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_DeleteRecordsPartitionResult_0(out, it_partitions)
        if o.elements_ended(some):
            yield


def _write_steps_DeleteRecordsResponse_0(o: Output, m: DeleteRecordsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_DeleteRecordsTopicResult_0(o, it_topics)
        if o.elements_ended(1):
            yield


def _write_steps_DeleteRecordsTopicResult_2(o: Output, m: _DeleteRecordsTopicResult) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.name)
    write_c_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_DeleteRecordsPartitionResult_2(out, it_partitions)
        if o.elements_ended(some):
            yield
    out.append(0)


def _write_steps_DeleteRecordsResponse_2(o: Output, m: DeleteRecordsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_DeleteRecordsTopicResult_2(o, it_topics)
        if o.elements_ended(1):
            yield
    out.append(0)


def _error_for(m: DeleteRecordsRequest, code: int) -> DeleteRecordsResponse:
    return DeleteRecordsResponse(topics=[_DeleteRecordsTopicResult(name=it0.name, partitions=[_DeleteRecordsPartitionResult(partition_index=it1.partition_index, error_code=code) for it1 in it0.partitions]) for it0 in m.topics])


DeleteRecordsRequest.READ = (_read_DeleteRecordsRequest_0, _read_DeleteRecordsRequest_0, _read_DeleteRecordsRequest_2,)
DeleteRecordsRequest.READ_STEPS = (_read_steps_DeleteRecordsRequest_0, _read_steps_DeleteRecordsRequest_0, _read_steps_DeleteRecordsRequest_2,)
DeleteRecordsRequest.WRITE = (_write_DeleteRecordsRequest_0, _write_DeleteRecordsRequest_0, _write_DeleteRecordsRequest_2,)
DeleteRecordsRequest.WRITE_STEPS = (_write_steps_DeleteRecordsRequest_0, _write_steps_DeleteRecordsRequest_0, _write_steps_DeleteRecordsRequest_2,)
DeleteRecordsResponse.READ = (_read_DeleteRecordsResponse_0, _read_DeleteRecordsResponse_0, _read_DeleteRecordsResponse_2,)
DeleteRecordsResponse.READ_STEPS = (_read_steps_DeleteRecordsResponse_0, _read_steps_DeleteRecordsResponse_0, _read_steps_DeleteRecordsResponse_2,)
DeleteRecordsResponse.WRITE = (_write_DeleteRecordsResponse_0, _write_DeleteRecordsResponse_0, _write_DeleteRecordsResponse_2,)
DeleteRecordsResponse.WRITE_STEPS = (_write_steps_DeleteRecordsResponse_0, _write_steps_DeleteRecordsResponse_0, _write_steps_DeleteRecordsResponse_2,)
DeleteRecordsRequest.ERROR_FOR = _error_for
