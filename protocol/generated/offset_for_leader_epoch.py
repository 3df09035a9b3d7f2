"""OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from itertools import islice
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import batches, read_c_count, read_c_string, read_count, read_string, skip_tags
from headrace.protocol.message_writing import Output, write_c_count, write_c_string, write_count, write_string
from headrace.protocol.primitives import Reader

class OffsetForLeaderEpochRequest(KafkaMessage):
    """Key 23, versions 2 to 4, flexible from 4 on."""

    class OffsetForLeaderTopic(MessageStruct):
        """Versions 0+."""

        class OffsetForLeaderPartition(MessageStruct):
            """Versions 0+."""

            partition: int = 0
            current_leader_epoch: int = -1
            leader_epoch: int = 0

        topic: str = ""
        partitions: list[OffsetForLeaderEpochRequest.OffsetForLeaderTopic.OffsetForLeaderPartition] = []

    API_KEY: ClassVar[int] = 23
    MIN_VERSION: ClassVar[int] = 2
    FLEXIBLE_SINCE: ClassVar[int] = 4
    replica_id: int = -2
    topics: list[OffsetForLeaderEpochRequest.OffsetForLeaderTopic] = []


class OffsetForLeaderEpochResponse(KafkaMessage):
    """Key 23, versions 2 to 4, flexible from 4 on."""

    class OffsetForLeaderTopicResult(MessageStruct):
        """Versions 0+."""

        class EpochEndOffset(MessageStruct):
            """Versions 0+."""

            error_code: int = 0
            partition: int = 0
            leader_epoch: int = -1
            end_offset: int = -1

        topic: str = ""
        partitions: Collection[OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult.EpochEndOffset] = []

    API_KEY: ClassVar[int] = 23
    MIN_VERSION: ClassVar[int] = 2
    FLEXIBLE_SINCE: ClassVar[int] = 4
    throttle_time_ms: int = 0
    topics: Collection[OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult] = []


_OffsetForLeaderPartition = OffsetForLeaderEpochRequest.OffsetForLeaderTopic.OffsetForLeaderPartition
_OffsetForLeaderTopic = OffsetForLeaderEpochRequest.OffsetForLeaderTopic
_EpochEndOffset = OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult.EpochEndOffset
_OffsetForLeaderTopicResult = OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult
_P_hiiq: Final = Struct(">hiiq").pack
_P_hiiqx: Final = Struct(">hiiqx").pack
_P_i: Final = Struct(">i").pack
_P_iii: Final = Struct(">iii").pack
_P_iiix: Final = Struct(">iiix").pack
_S_hiiq: Final = Struct(">hiiq")
_S_i: Final = Struct(">i")
_S_iii: Final = Struct(">iii")


def _read_OffsetForLeaderPartition_2(r: Reader) -> _OffsetForLeaderPartition:
    partition, current_leader_epoch, leader_epoch = r.fixed(_S_iii)
    return _OffsetForLeaderPartition(partition, current_leader_epoch, leader_epoch)


def _read_OffsetForLeaderTopic_2(r: Reader) -> _OffsetForLeaderTopic:
    topic = read_string(r)
    n = read_count(r, 12)
    partitions = [_read_OffsetForLeaderPartition_2(r) for _ in range(n)]
    return _OffsetForLeaderTopic(topic, partitions)


def _read_OffsetForLeaderEpochRequest_2(r: Reader) -> OffsetForLeaderEpochRequest:
    n = read_count(r, 6)
    topics = [_read_OffsetForLeaderTopic_2(r) for _ in range(n)]
    return OffsetForLeaderEpochRequest(-2, topics)


def _read_OffsetForLeaderEpochRequest_3(r: Reader) -> OffsetForLeaderEpochRequest:
    replica_id, = r.fixed(_S_i)
    n = read_count(r, 6)
    topics = [_read_OffsetForLeaderTopic_2(r) for _ in range(n)]
    return OffsetForLeaderEpochRequest(replica_id, topics)


def _read_OffsetForLeaderPartition_4(r: Reader) -> _OffsetForLeaderPartition:
    partition, current_leader_epoch, leader_epoch = r.fixed(_S_iii)
    skip_tags(r)
    return _OffsetForLeaderPartition(partition, current_leader_epoch, leader_epoch)


def _read_OffsetForLeaderTopic_4(r: Reader) -> _OffsetForLeaderTopic:
    topic = read_c_string(r)
    n = read_c_count(r, 13)
    partitions = [_read_OffsetForLeaderPartition_4(r) for _ in range(n)]
    skip_tags(r)
    return _OffsetForLeaderTopic(topic, partitions)


def _read_OffsetForLeaderEpochRequest_4(r: Reader) -> OffsetForLeaderEpochRequest:
    replica_id, = r.fixed(_S_i)
    n = read_c_count(r, 3)
    topics = [_read_OffsetForLeaderTopic_4(r) for _ in range(n)]
    skip_tags(r)
    return OffsetForLeaderEpochRequest(replica_id, topics)


def _read_steps_OffsetForLeaderTopic_2(r: Reader) -> Generator[None, None, _OffsetForLeaderTopic]:
    topic = read_string(r)
    n = read_count(r, 12)
    partitions: list[OffsetForLeaderEpochRequest.OffsetForLeaderTopic.OffsetForLeaderPartition] = []
    for some in batches(n):
        partitions += [_read_OffsetForLeaderPartition_2(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    return _OffsetForLeaderTopic(topic, partitions)


def _read_steps_OffsetForLeaderEpochRequest_2(r: Reader) -> Generator[None, None, OffsetForLeaderEpochRequest]:
    n = read_count(r, 6)
    topics: list[OffsetForLeaderEpochRequest.OffsetForLeaderTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_OffsetForLeaderTopic_2(r)))
        if r.elements_ended(1):
            yield
    return OffsetForLeaderEpochRequest(-2, topics)


def _read_steps_OffsetForLeaderEpochRequest_3(r: Reader) -> Generator[None, None, OffsetForLeaderEpochRequest]:
    replica_id, = r.fixed(_S_i)
    n = read_count(r, 6)
    topics: list[OffsetForLeaderEpochRequest.OffsetForLeaderTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_OffsetForLeaderTopic_2(r)))
        if r.elements_ended(1):
            yield
    return OffsetForLeaderEpochRequest(replica_id, topics)


def _read_steps_OffsetForLeaderTopic_4(r: Reader) -> Generator[None, None, _OffsetForLeaderTopic]:
    topic = read_c_string(r)
    n = read_c_count(r, 13)
    partitions: list[OffsetForLeaderEpochRequest.OffsetForLeaderTopic.OffsetForLeaderPartition] = []
    for some in batches(n):
        partitions += [_read_OffsetForLeaderPartition_4(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    skip_tags(r)
    return _OffsetForLeaderTopic(topic, partitions)


def _read_steps_OffsetForLeaderEpochRequest_4(r: Reader) -> Generator[None, None, OffsetForLeaderEpochRequest]:
    replica_id, = r.fixed(_S_i)
    n = read_c_count(r, 3)
    topics: list[OffsetForLeaderEpochRequest.OffsetForLeaderTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_OffsetForLeaderTopic_4(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return OffsetForLeaderEpochRequest(replica_id, topics)


def _write_OffsetForLeaderPartition_2(out: bytearray, m: _OffsetForLeaderPartition) -> None:
    out += _P_iii(m.partition, m.current_leader_epoch, m.leader_epoch)


def _write_OffsetForLeaderTopic_2(out: bytearray, m: _OffsetForLeaderTopic) -> None:
    write_string(out, m.topic)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_OffsetForLeaderPartition_2(out, it_partitions)


def _write_OffsetForLeaderEpochRequest_2(out: bytearray, m: OffsetForLeaderEpochRequest) -> None:
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_OffsetForLeaderTopic_2(out, it_topics)


def _write_OffsetForLeaderEpochRequest_3(out: bytearray, m: OffsetForLeaderEpochRequest) -> None:
    out += _P_i(m.replica_id)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_OffsetForLeaderTopic_2(out, it_topics)


def _write_OffsetForLeaderPartition_4(out: bytearray, m: _OffsetForLeaderPartition) -> None:
    out += _P_iiix(m.partition, m.current_leader_epoch, m.leader_epoch)


def _write_OffsetForLeaderTopic_4(out: bytearray, m: _OffsetForLeaderTopic) -> None:
    write_c_string(out, m.topic)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_OffsetForLeaderPartition_4(out, it_partitions)
    out.append(0)


def _write_OffsetForLeaderEpochRequest_4(out: bytearray, m: OffsetForLeaderEpochRequest) -> None:
    out += _P_i(m.replica_id)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_OffsetForLeaderTopic_4(out, it_topics)
    out.append(0)


def _write_steps_OffsetForLeaderTopic_2(o: Output, m: _OffsetForLeaderTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.topic)
    write_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_OffsetForLeaderPartition_2(out, it_partitions)
        if o.elements_ended(some):
            yield


def _write_steps_OffsetForLeaderEpochRequest_2(o: Output, m: OffsetForLeaderEpochRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_OffsetForLeaderTopic_2(o, it_topics)
        if o.elements_ended(1):
            yield


def _write_steps_OffsetForLeaderEpochRequest_3(o: Output, m: OffsetForLeaderEpochRequest) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.replica_id)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_OffsetForLeaderTopic_2(o, it_topics)
        if o.elements_ended(1):
            yield


def _write_steps_OffsetForLeaderTopic_4(o: Output, m: _OffsetForLeaderTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.topic)
    write_c_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_OffsetForLeaderPartition_4(out, it_partitions)
        if o.elements_ended(some):
            yield
    out.append(0)


def _write_steps_OffsetForLeaderEpochRequest_4(o: Output, m: OffsetForLeaderEpochRequest) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.replica_id)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_OffsetForLeaderTopic_4(o, it_topics)
        if o.elements_ended(1):
            yield
    out.append(0)


def _read_EpochEndOffset_2(r: Reader) -> _EpochEndOffset:
    error_code, partition, leader_epoch, end_offset = r.fixed(_S_hiiq)
    return _EpochEndOffset(error_code, partition, leader_epoch, end_offset)


def _read_OffsetForLeaderTopicResult_2(r: Reader) -> _OffsetForLeaderTopicResult:
    topic = read_string(r)
    n = read_count(r, 18)
    partitions = [_read_EpochEndOffset_2(r) for _ in range(n)]
    return _OffsetForLeaderTopicResult(topic, partitions)


def _read_OffsetForLeaderEpochResponse_2(r: Reader) -> OffsetForLeaderEpochResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 6)
    topics = [_read_OffsetForLeaderTopicResult_2(r) for _ in range(n)]
    return OffsetForLeaderEpochResponse(throttle_time_ms, topics)


def _read_EpochEndOffset_4(r: Reader) -> _EpochEndOffset:
    error_code, partition, leader_epoch, end_offset = r.fixed(_S_hiiq)
    skip_tags(r)
    return _EpochEndOffset(error_code, partition, leader_epoch, end_offset)


def _read_OffsetForLeaderTopicResult_4(r: Reader) -> _OffsetForLeaderTopicResult:
    topic = read_c_string(r)
    n = read_c_count(r, 19)
    partitions = [_read_EpochEndOffset_4(r) for _ in range(n)]
    skip_tags(r)
    return _OffsetForLeaderTopicResult(topic, partitions)


def _read_OffsetForLeaderEpochResponse_4(r: Reader) -> OffsetForLeaderEpochResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 3)
    topics = [_read_OffsetForLeaderTopicResult_4(r) for _ in range(n)]
    skip_tags(r)
    return OffsetForLeaderEpochResponse(throttle_time_ms, topics)


def _read_steps_OffsetForLeaderTopicResult_2(r: Reader) -> Generator[None, None, _OffsetForLeaderTopicResult]:
    topic = read_string(r)
    n = read_count(r, 18)
    partitions: list[OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult.EpochEndOffset] = []
    for some in batches(n):
        partitions += [_read_EpochEndOffset_2(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    return _OffsetForLeaderTopicResult(topic, partitions)


def _read_steps_OffsetForLeaderEpochResponse_2(r: Reader) -> Generator[None, None, OffsetForLeaderEpochResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 6)
    topics: list[OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult] = []
    for _ in range(n):
        topics.append((yield from _read_steps_OffsetForLeaderTopicResult_2(r)))
        if r.elements_ended(1):
            yield
    return OffsetForLeaderEpochResponse(throttle_time_ms, topics)


def _read_steps_OffsetForLeaderTopicResult_4(r: Reader) -> Generator[None, None, _OffsetForLeaderTopicResult]:
    topic = read_c_string(r)
    n = read_c_count(r, 19)
    partitions: list[OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult.EpochEndOffset] = []
    for some in batches(n):
        partitions += [_read_EpochEndOffset_4(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    skip_tags(r)
    return _OffsetForLeaderTopicResult(topic, partitions)


def _read_steps_OffsetForLeaderEpochResponse_4(r: Reader) -> Generator[None, None, OffsetForLeaderEpochResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 3)
    topics: list[OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult] = []
    for _ in range(n):
        topics.append((yield from _read_steps_OffsetForLeaderTopicResult_4(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return OffsetForLeaderEpochResponse(throttle_time_ms, topics)


def _write_EpochEndOffset_2(out: bytearray, m: _EpochEndOffset) -> None:
    out += _P_hiiq(m.error_code, m.partition, m.leader_epoch, m.end_offset)


def _write_OffsetForLeaderTopicResult_2(out: bytearray, m: _OffsetForLeaderTopicResult) -> None:
    write_string(out, m.topic)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_EpochEndOffset_2(out, it_partitions)


def _write_OffsetForLeaderEpochResponse_2(out: bytearray, m: OffsetForLeaderEpochResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_OffsetForLeaderTopicResult_2(out, it_topics)


def _write_EpochEndOffset_4(out: bytearray, m: _EpochEndOffset) -> None:
    out += _P_hiiqx(m.error_code, m.partition, m.leader_epoch, m.end_offset)


def _write_OffsetForLeaderTopicResult_4(out: bytearray, m: _OffsetForLeaderTopicResult) -> None:
    write_c_string(out, m.topic)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_EpochEndOffset_4(out, it_partitions)
    out.append(0)


def _write_OffsetForLeaderEpochResponse_4(out: bytearray, m: OffsetForLeaderEpochResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_OffsetForLeaderTopicResult_4(out, it_topics)
    out.append(0)


def _write_steps_OffsetForLeaderTopicResult_2(o: Output, m: _OffsetForLeaderTopicResult) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.topic)
    write_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_EpochEndOffset_2(out, it_partitions)
        if o.elements_ended(some):
            yield


def _write_steps_OffsetForLeaderEpochResponse_2(o: Output, m: OffsetForLeaderEpochResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_OffsetForLeaderTopicResult_2(o, it_topics)
        if o.elements_ended(1):
            yield


def _write_steps_OffsetForLeaderTopicResult_4(o: Output, m: _OffsetForLeaderTopicResult) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.topic)
    write_c_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_EpochEndOffset_4(out, it_partitions)
        if o.elements_ended(some):
            yield
    out.append(0)


def _write_steps_OffsetForLeaderEpochResponse_4(o: Output, m: OffsetForLeaderEpochResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_OffsetForLeaderTopicResult_4(o, it_topics)
        if o.elements_ended(1):
            yield
    out.append(0)


def _error_for(m: OffsetForLeaderEpochRequest, code: int) -> OffsetForLeaderEpochResponse:
    return OffsetForLeaderEpochResponse(topics=[_OffsetForLeaderTopicResult(topic=it0.topic, partitions=[_EpochEndOffset(error_code=code, partition=it1.partition, leader_epoch=it1.leader_epoch) for it1 in it0.partitions]) for it0 in m.topics])


OffsetForLeaderEpochRequest.READ = (_read_OffsetForLeaderEpochRequest_2, _read_OffsetForLeaderEpochRequest_3, _read_OffsetForLeaderEpochRequest_4,)
OffsetForLeaderEpochRequest.READ_STEPS = (_read_steps_OffsetForLeaderEpochRequest_2, _read_steps_OffsetForLeaderEpochRequest_3, _read_steps_OffsetForLeaderEpochRequest_4,)
OffsetForLeaderEpochRequest.WRITE = (_write_OffsetForLeaderEpochRequest_2, _write_OffsetForLeaderEpochRequest_3, _write_OffsetForLeaderEpochRequest_4,)
OffsetForLeaderEpochRequest.WRITE_STEPS = (_write_steps_OffsetForLeaderEpochRequest_2, _write_steps_OffsetForLeaderEpochRequest_3, _write_steps_OffsetForLeaderEpochRequest_4,)
OffsetForLeaderEpochResponse.READ = (_read_OffsetForLeaderEpochResponse_2, _read_OffsetForLeaderEpochResponse_2, _read_OffsetForLeaderEpochResponse_4,)
OffsetForLeaderEpochResponse.READ_STEPS = (_read_steps_OffsetForLeaderEpochResponse_2, _read_steps_OffsetForLeaderEpochResponse_2, _read_steps_OffsetForLeaderEpochResponse_4,)
OffsetForLeaderEpochResponse.WRITE = (_write_OffsetForLeaderEpochResponse_2, _write_OffsetForLeaderEpochResponse_2, _write_OffsetForLeaderEpochResponse_4,)
OffsetForLeaderEpochResponse.WRITE_STEPS = (_write_steps_OffsetForLeaderEpochResponse_2, _write_steps_OffsetForLeaderEpochResponse_2, _write_steps_OffsetForLeaderEpochResponse_4,)
OffsetForLeaderEpochRequest.ERROR_FOR = _error_for
