"""OffsetDeleteRequest, OffsetDeleteResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from itertools import islice
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import batches, read_count, read_string
from headrace.protocol.message_writing import Output, write_count, write_string
from headrace.protocol.primitives import Reader

class OffsetDeleteRequest(KafkaMessage):
    """Key 47, version 0, none flexible."""

    class OffsetDeleteRequestTopic(MessageStruct):
        """Versions 0+."""

        class OffsetDeleteRequestPartition(MessageStruct):
            """Versions 0+."""

            partition_index: int = 0

        name: str = ""
        partitions: list[OffsetDeleteRequest.OffsetDeleteRequestTopic.OffsetDeleteRequestPartition] = []

    API_KEY: ClassVar[int] = 47
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 32768
    group_id: str = ""
    topics: list[OffsetDeleteRequest.OffsetDeleteRequestTopic] = []


class OffsetDeleteResponse(KafkaMessage):
    """Key 47, version 0, none flexible."""

    class OffsetDeleteResponseTopic(MessageStruct):
        """Versions 0+."""

        class OffsetDeleteResponsePartition(MessageStruct):
            """Versions 0+."""

            partition_index: int = 0
            error_code: int = 0

        name: str = ""
        partitions: Collection[OffsetDeleteResponse.OffsetDeleteResponseTopic.OffsetDeleteResponsePartition] = []

    API_KEY: ClassVar[int] = 47
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 32768
    error_code: int = 0
    throttle_time_ms: int = 0
    topics: Collection[OffsetDeleteResponse.OffsetDeleteResponseTopic] = []


_OffsetDeleteRequestPartition = OffsetDeleteRequest.OffsetDeleteRequestTopic.OffsetDeleteRequestPartition
_OffsetDeleteRequestTopic = OffsetDeleteRequest.OffsetDeleteRequestTopic
_OffsetDeleteResponsePartition = OffsetDeleteResponse.OffsetDeleteResponseTopic.OffsetDeleteResponsePartition
_OffsetDeleteResponseTopic = OffsetDeleteResponse.OffsetDeleteResponseTopic
_P_hi: Final = Struct(">hi").pack
_P_i: Final = Struct(">i").pack
_P_ih: Final = Struct(">ih").pack
_S_hi: Final = Struct(">hi")
_S_i: Final = Struct(">i")
_S_ih: Final = Struct(">ih")


def _read_OffsetDeleteRequestPartition_0(r: Reader) -> _OffsetDeleteRequestPartition:
    partition_index, = r.fixed(_S_i)
    return _OffsetDeleteRequestPartition(partition_index)


def _read_OffsetDeleteRequestTopic_0(r: Reader) -> _OffsetDeleteRequestTopic:
    name = read_string(r)
    n = read_count(r, 4)
    partitions = [_read_OffsetDeleteRequestPartition_0(r) for _ in range(n)]
    return _OffsetDeleteRequestTopic(name, partitions)


def _read_OffsetDeleteRequest_0(r: Reader) -> OffsetDeleteRequest:
    group_id = read_string(r)
    n = read_count(r, 6)
    topics = [_read_OffsetDeleteRequestTopic_0(r) for _ in range(n)]
    return OffsetDeleteRequest(group_id, topics)


def _read_steps_OffsetDeleteRequestTopic_0(r: Reader) -> Generator[None, None, _OffsetDeleteRequestTopic]:
    name = read_string(r)
    n = read_count(r, 4)
    partitions: list[OffsetDeleteRequest.OffsetDeleteRequestTopic.OffsetDeleteRequestPartition] = []
    for some in batches(n):
        partitions += [_read_OffsetDeleteRequestPartition_0(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    return _OffsetDeleteRequestTopic(name, partitions)


def _read_steps_OffsetDeleteRequest_0(r: Reader) -> Generator[None, None, OffsetDeleteRequest]:
    group_id = read_string(r)
    n = read_count(r, 6)
    topics: list[OffsetDeleteRequest.OffsetDeleteRequestTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_OffsetDeleteRequestTopic_0(r)))
        if r.elements_ended(1):
            yield
    return OffsetDeleteRequest(group_id, topics)


def _write_OffsetDeleteRequestPartition_0(out: bytearray, m: _OffsetDeleteRequestPartition) -> None:
    out += _P_i(m.partition_index)


def _write_OffsetDeleteRequestTopic_0(out: bytearray, m: _OffsetDeleteRequestTopic) -> None:
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_OffsetDeleteRequestPartition_0(out, it_partitions)


def _write_OffsetDeleteRequest_0(out: bytearray, m: OffsetDeleteRequest) -> None:
    write_string(out, m.group_id)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_OffsetDeleteRequestTopic_0(out, it_topics)


def _write_steps_OffsetDeleteRequestTopic_0(o: Output, m: _OffsetDeleteRequestTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_OffsetDeleteRequestPartition_0(out, it_partitions)
        if o.elements_ended(some):
            yield


def _write_steps_OffsetDeleteRequest_0(o: Output, m: OffsetDeleteRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.group_id)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_OffsetDeleteRequestTopic_0(o, it_topics)
        if o.elements_ended(1):
            yield


def _read_OffsetDeleteResponsePartition_0(r: Reader) -> _OffsetDeleteResponsePartition:
    partition_index, error_code = r.fixed(_S_ih)
    return _OffsetDeleteResponsePartition(partition_index, error_code)


def _read_OffsetDeleteResponseTopic_0(r: Reader) -> _OffsetDeleteResponseTopic:
    name = read_string(r)
    n = read_count(r, 6)
    partitions = [_read_OffsetDeleteResponsePartition_0(r) for _ in range(n)]
    return _OffsetDeleteResponseTopic(name, partitions)


def _read_OffsetDeleteResponse_0(r: Reader) -> OffsetDeleteResponse:
    error_code, throttle_time_ms = r.fixed(_S_hi)
    n = read_count(r, 6)
    topics = [_read_OffsetDeleteResponseTopic_0(r) for _ in range(n)]
    return OffsetDeleteResponse(error_code, throttle_time_ms, topics)


def _read_steps_OffsetDeleteResponseTopic_0(r: Reader) -> Generator[None, None, _OffsetDeleteResponseTopic]:
    name = read_string(r)
    n = read_count(r, 6)
    partitions: list[OffsetDeleteResponse.OffsetDeleteResponseTopic.OffsetDeleteResponsePartition] = []
    for some in batches(n):
        partitions += [_read_OffsetDeleteResponsePartition_0(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    return _OffsetDeleteResponseTopic(name, partitions)


def _read_steps_OffsetDeleteResponse_0(r: Reader) -> Generator[None, None, OffsetDeleteResponse]:
    error_code, throttle_time_ms = r.fixed(_S_hi)
    n = read_count(r, 6)
    topics: list[OffsetDeleteResponse.OffsetDeleteResponseTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_OffsetDeleteResponseTopic_0(r)))
        if r.elements_ended(1):
            yield
    return OffsetDeleteResponse(error_code, throttle_time_ms, topics)


def _write_OffsetDeleteResponsePartition_0(out: bytearray, m: _OffsetDeleteResponsePartition) -> None:
    out += _P_ih(m.partition_index, m.error_code)


def _write_OffsetDeleteResponseTopic_0(out: bytearray, m: _OffsetDeleteResponseTopic) -> None:
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_OffsetDeleteResponsePartition_0(out, it_partitions)


def _write_OffsetDeleteResponse_0(out: bytearray, m: OffsetDeleteResponse) -> None:
    out += _P_hi(m.error_code, m.throttle_time_ms)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_OffsetDeleteResponseTopic_0(out, it_topics)


def _write_steps_OffsetDeleteResponseTopic_0(o: Output, m: _OffsetDeleteResponseTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_OffsetDeleteResponsePartition_0(out, it_partitions)
        if o.elements_ended(some):
            yield


def _write_steps_OffsetDeleteResponse_0(o: Output, m: OffsetDeleteResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_hi(m.error_code, m.throttle_time_ms)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_OffsetDeleteResponseTopic_0(o, it_topics)
        if o.elements_ended(1):
            yield


def _error_for(m: OffsetDeleteRequest, code: int) -> OffsetDeleteResponse:
    return OffsetDeleteResponse(error_code=code)


OffsetDeleteRequest.READ = (_read_OffsetDeleteRequest_0,)
OffsetDeleteRequest.READ_STEPS = (_read_steps_OffsetDeleteRequest_0,)
OffsetDeleteRequest.WRITE = (_write_OffsetDeleteRequest_0,)
OffsetDeleteRequest.WRITE_STEPS = (_write_steps_OffsetDeleteRequest_0,)
OffsetDeleteResponse.READ = (_read_OffsetDeleteResponse_0,)
OffsetDeleteResponse.READ_STEPS = (_read_steps_OffsetDeleteResponse_0,)
OffsetDeleteResponse.WRITE = (_write_OffsetDeleteResponse_0,)
OffsetDeleteResponse.WRITE_STEPS = (_write_steps_OffsetDeleteResponse_0,)
OffsetDeleteRequest.ERROR_FOR = _error_for
