"""ListOffsetsRequest, ListOffsetsResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from itertools import islice
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import batches, read_c_count, read_c_string, read_count, read_string, skip_tags
from headrace.protocol.message_writing import Output, write_c_count, write_c_string, write_count, write_string
from headrace.protocol.primitives import Reader

class ListOffsetsRequest(KafkaMessage):
    """Key 2, versions 1 to 11, flexible from 6 on."""

    class ListOffsetsTopic(MessageStruct):
        """Versions 0+."""

        class ListOffsetsPartition(MessageStruct):
            """Versions 0+."""

            partition_index: int = 0
            current_leader_epoch: int = -1
            timestamp: int = 0

        name: str = ""
        partitions: list[ListOffsetsRequest.ListOffsetsTopic.ListOffsetsPartition] = []

    API_KEY: ClassVar[int] = 2
    MIN_VERSION: ClassVar[int] = 1
    FLEXIBLE_SINCE: ClassVar[int] = 6
    replica_id: int = 0
    isolation_level: int = 0
    topics: list[ListOffsetsRequest.ListOffsetsTopic] = []
    timeout_ms: int = 0


class ListOffsetsResponse(KafkaMessage):
    """Key 2, versions 1 to 11, flexible from 6 on."""

    class ListOffsetsTopicResponse(MessageStruct):
        """Versions 0+."""

        class ListOffsetsPartitionResponse(MessageStruct):
            """Versions 0+."""

            partition_index: int = 0
            error_code: int = 0
            timestamp: int = -1
            offset: int = -1
            leader_epoch: int = -1

        name: str = ""
        partitions: Collection[ListOffsetsResponse.ListOffsetsTopicResponse.ListOffsetsPartitionResponse] = []

    API_KEY: ClassVar[int] = 2
    MIN_VERSION: ClassVar[int] = 1
    FLEXIBLE_SINCE: ClassVar[int] = 6
    throttle_time_ms: int = 0
    topics: Collection[ListOffsetsResponse.ListOffsetsTopicResponse] = []


_ListOffsetsPartition = ListOffsetsRequest.ListOffsetsTopic.ListOffsetsPartition
_ListOffsetsTopic = ListOffsetsRequest.ListOffsetsTopic
_ListOffsetsPartitionResponse = ListOffsetsResponse.ListOffsetsTopicResponse.ListOffsetsPartitionResponse
_ListOffsetsTopicResponse = ListOffsetsResponse.ListOffsetsTopicResponse
_P_i: Final = Struct(">i").pack
_P_ib: Final = Struct(">ib").pack
_P_ihqq: Final = Struct(">ihqq").pack
_P_ihqqi: Final = Struct(">ihqqi").pack
_P_ihqqix: Final = Struct(">ihqqix").pack
_P_iiq: Final = Struct(">iiq").pack
_P_iiqx: Final = Struct(">iiqx").pack
_P_iq: Final = Struct(">iq").pack
_P_ix: Final = Struct(">ix").pack
_S_i: Final = Struct(">i")
_S_ib: Final = Struct(">ib")
_S_ihqq: Final = Struct(">ihqq")
_S_ihqqi: Final = Struct(">ihqqi")
_S_iiq: Final = Struct(">iiq")
_S_iq: Final = Struct(">iq")


def _read_ListOffsetsPartition_1(r: Reader) -> _ListOffsetsPartition:
    partition_index, timestamp = r.fixed(_S_iq)
    return _ListOffsetsPartition(partition_index, -1, timestamp)


def _read_ListOffsetsTopic_1(r: Reader) -> _ListOffsetsTopic:
    name = read_string(r)
    n = read_count(r, 12)
    partitions = [_read_ListOffsetsPartition_1(r) for _ in range(n)]
    return _ListOffsetsTopic(name, partitions)


def _read_ListOffsetsRequest_1(r: Reader) -> ListOffsetsRequest:
    replica_id, = r.fixed(_S_i)
    n = read_count(r, 6)
    topics = [_read_ListOffsetsTopic_1(r) for _ in range(n)]
    return ListOffsetsRequest(replica_id, 0, topics)


def _read_ListOffsetsRequest_2(r: Reader) -> ListOffsetsRequest:
    replica_id, isolation_level = r.fixed(_S_ib)
    n = read_count(r, 6)
    topics = [_read_ListOffsetsTopic_1(r) for _ in range(n)]
    return ListOffsetsRequest(replica_id, isolation_level, topics)


def _read_ListOffsetsPartition_4(r: Reader) -> _ListOffsetsPartition:
    partition_index, current_leader_epoch, timestamp = r.fixed(_S_iiq)
    return _ListOffsetsPartition(partition_index, current_leader_epoch, timestamp)


def _read_ListOffsetsTopic_4(r: Reader) -> _ListOffsetsTopic:
    name = read_string(r)
    n = read_count(r, 16)
    partitions = [_read_ListOffsetsPartition_4(r) for _ in range(n)]
    return _ListOffsetsTopic(name, partitions)


def _read_ListOffsetsRequest_4(r: Reader) -> ListOffsetsRequest:
    replica_id, isolation_level = r.fixed(_S_ib)
    n = read_count(r, 6)
    topics = [_read_ListOffsetsTopic_4(r) for _ in range(n)]
    return ListOffsetsRequest(replica_id, isolation_level, topics)


def _read_ListOffsetsPartition_6(r: Reader) -> _ListOffsetsPartition:
    partition_index, current_leader_epoch, timestamp = r.fixed(_S_iiq)
    skip_tags(r)
    return _ListOffsetsPartition(partition_index, current_leader_epoch, timestamp)


def _read_ListOffsetsTopic_6(r: Reader) -> _ListOffsetsTopic:
    name = read_c_string(r)
    n = read_c_count(r, 17)
    partitions = [_read_ListOffsetsPartition_6(r) for _ in range(n)]
    skip_tags(r)
    return _ListOffsetsTopic(name, partitions)


def _read_ListOffsetsRequest_6(r: Reader) -> ListOffsetsRequest:
    replica_id, isolation_level = r.fixed(_S_ib)
    n = read_c_count(r, 3)
    topics = [_read_ListOffsetsTopic_6(r) for _ in range(n)]
    skip_tags(r)
    return ListOffsetsRequest(replica_id, isolation_level, topics)


def _read_ListOffsetsRequest_10(r: Reader) -> ListOffsetsRequest:
    replica_id, isolation_level = r.fixed(_S_ib)
    n = read_c_count(r, 3)
    topics = [_read_ListOffsetsTopic_6(r) for _ in range(n)]
    timeout_ms, = r.fixed(_S_i)
    skip_tags(r)
    return ListOffsetsRequest(replica_id, isolation_level, topics, timeout_ms)


def _read_steps_ListOffsetsTopic_1(r: Reader) -> Generator[None, None, _ListOffsetsTopic]:
    name = read_string(r)
    n = read_count(r, 12)
    partitions: list[ListOffsetsRequest.ListOffsetsTopic.ListOffsetsPartition] = []
    for some in batches(n):
        partitions += [_read_ListOffsetsPartition_1(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    return _ListOffsetsTopic(name, partitions)


def _read_steps_ListOffsetsRequest_1(r: Reader) -> Generator[None, None, ListOffsetsRequest]:
    replica_id, = r.fixed(_S_i)
    n = read_count(r, 6)
    topics: list[ListOffsetsRequest.ListOffsetsTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_ListOffsetsTopic_1(r)))
        if r.elements_ended(1):
            yield
    return ListOffsetsRequest(replica_id, 0, topics)


def _read_steps_ListOffsetsRequest_2(r: Reader) -> Generator[None, None, ListOffsetsRequest]:
    replica_id, isolation_level = r.fixed(_S_ib)
    n = read_count(r, 6)
    topics: list[ListOffsetsRequest.ListOffsetsTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_ListOffsetsTopic_1(r)))
        if r.elements_ended(1):
            yield
    return ListOffsetsRequest(replica_id, isolation_level, topics)


def _read_steps_ListOffsetsTopic_4(r: Reader) -> Generator[None, None, _ListOffsetsTopic]:
    name = read_string(r)
    n = read_count(r, 16)
    partitions: list[ListOffsetsRequest.ListOffsetsTopic.ListOffsetsPartition] = []
    for some in batches(n):
        partitions += [_read_ListOffsetsPartition_4(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    return _ListOffsetsTopic(name, partitions)


def _read_steps_ListOffsetsRequest_4(r: Reader) -> Generator[None, None, ListOffsetsRequest]:
    replica_id, isolation_level = r.fixed(_S_ib)
    n = read_count(r, 6)
    topics: list[ListOffsetsRequest.ListOffsetsTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_ListOffsetsTopic_4(r)))
        if r.elements_ended(1):
            yield
    return ListOffsetsRequest(replica_id, isolation_level, topics)


def _read_steps_ListOffsetsTopic_6(r: Reader) -> Generator[None, None, _ListOffsetsTopic]:
    name = read_c_string(r)
    n = read_c_count(r, 17)
    partitions: list[ListOffsetsRequest.ListOffsetsTopic.ListOffsetsPartition] = []
    for some in batches(n):
        partitions += [_read_ListOffsetsPartition_6(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    skip_tags(r)
    return _ListOffsetsTopic(name, partitions)


def _read_steps_ListOffsetsRequest_6(r: Reader) -> Generator[None, None, ListOffsetsRequest]:
    replica_id, isolation_level = r.fixed(_S_ib)
    n = read_c_count(r, 3)
    topics: list[ListOffsetsRequest.ListOffsetsTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_ListOffsetsTopic_6(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return ListOffsetsRequest(replica_id, isolation_level, topics)


def _read_steps_ListOffsetsRequest_10(r: Reader) -> Generator[None, None, ListOffsetsRequest]:
    replica_id, isolation_level = r.fixed(_S_ib)
    n = read_c_count(r, 3)
    topics: list[ListOffsetsRequest.ListOffsetsTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_ListOffsetsTopic_6(r)))
        if r.elements_ended(1):
            yield
    timeout_ms, = r.fixed(_S_i)
    skip_tags(r)
    return ListOffsetsRequest(replica_id, isolation_level, topics, timeout_ms)


def _write_ListOffsetsPartition_1(out: bytearray, m: _ListOffsetsPartition) -> None:
    out += _P_iq(m.partition_index, m.timestamp)


def _write_ListOffsetsTopic_1(out: bytearray, m: _ListOffsetsTopic) -> None:
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_ListOffsetsPartition_1(out, it_partitions)


def _write_ListOffsetsRequest_1(out: bytearray, m: ListOffsetsRequest) -> None:
    out += _P_i(m.replica_id)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_ListOffsetsTopic_1(out, it_topics)


def _write_ListOffsetsRequest_2(out: bytearray, m: ListOffsetsRequest) -> None:
    out += _P_ib(m.replica_id, m.isolation_level)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_ListOffsetsTopic_1(out, it_topics)


def _write_ListOffsetsPartition_4(out: bytearray, m: _ListOffsetsPartition) -> None:
    out += _P_iiq(m.partition_index, m.current_leader_epoch, m.timestamp)


def _write_ListOffsetsTopic_4(out: bytearray, m: _ListOffsetsTopic) -> None:
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_ListOffsetsPartition_4(out, it_partitions)


def _write_ListOffsetsRequest_4(out: bytearray, m: ListOffsetsRequest) -> None:
    out += _P_ib(m.replica_id, m.isolation_level)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_ListOffsetsTopic_4(out, it_topics)


def _write_ListOffsetsPartition_6(out: bytearray, m: _ListOffsetsPartition) -> None:
    out += _P_iiqx(m.partition_index, m.current_leader_epoch, m.timestamp)


def _write_ListOffsetsTopic_6(out: bytearray, m: _ListOffsetsTopic) -> None:
    write_c_string(out, m.name)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_ListOffsetsPartition_6(out, it_partitions)
    out.append(0)


def _write_ListOffsetsRequest_6(out: bytearray, m: ListOffsetsRequest) -> None:
    out += _P_ib(m.replica_id, m.isolation_level)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_ListOffsetsTopic_6(out, it_topics)
    out.append(0)


def _write_ListOffsetsRequest_10(out: bytearray, m: ListOffsetsRequest) -> None:
    out += _P_ib(m.replica_id, m.isolation_level)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_ListOffsetsTopic_6(out, it_topics)
    out += _P_ix(m.timeout_ms)


def _write_steps_ListOffsetsTopic_1(o: Output, m: _ListOffsetsTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_ListOffsetsPartition_1(out, it_partitions)
        if o.elements_ended(some):
            yield


def _write_steps_ListOffsetsRequest_1(o: Output, m: ListOffsetsRequest) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.replica_id)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_ListOffsetsTopic_1(o, it_topics)
        if o.elements_ended(1):
            yield


def _write_steps_ListOffsetsRequest_2(o: Output, m: ListOffsetsRequest) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ib(m.replica_id, m.isolation_level)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_ListOffsetsTopic_1(o, it_topics)
        if o.elements_ended(1):
            yield


def _write_steps_ListOffsetsTopic_4(o: Output, m: _ListOffsetsTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_ListOffsetsPartition_4(out, it_partitions)
        if o.elements_ended(some):
            yield


def _write_steps_ListOffsetsRequest_4(o: Output, m: ListOffsetsRequest) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ib(m.replica_id, m.isolation_level)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_ListOffsetsTopic_4(o, it_topics)
        if o.elements_ended(1):
            yield


def _write_steps_ListOffsetsTopic_6(o: Output, m: _ListOffsetsTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.name)
    write_c_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_ListOffsetsPartition_6(out, it_partitions)
        if o.elements_ended(some):
            yield
    out.append(0)


def _write_steps_ListOffsetsRequest_6(o: Output, m: ListOffsetsRequest) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ib(m.replica_id, m.isolation_level)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_ListOffsetsTopic_6(o, it_topics)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_ListOffsetsRequest_10(o: Output, m: ListOffsetsRequest) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ib(m.replica_id, m.isolation_level)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_ListOffsetsTopic_6(o, it_topics)
        if o.elements_ended(1):
            yield
    out += _P_ix(m.timeout_ms)


def _read_ListOffsetsPartitionResponse_1(r: Reader) -> _ListOffsetsPartitionResponse:
    partition_index, error_code, timestamp, offset = r.fixed(_S_ihqq)
    return _ListOffsetsPartitionResponse(partition_index, error_code, timestamp, offset)


def _read_ListOffsetsTopicResponse_1(r: Reader) -> _ListOffsetsTopicResponse:
    name = read_string(r)
    n = read_count(r, 22)
    partitions = [_read_ListOffsetsPartitionResponse_1(r) for _ in range(n)]
    return _ListOffsetsTopicResponse(name, partitions)


def _read_ListOffsetsResponse_1(r: Reader) -> ListOffsetsResponse:
    n = read_count(r, 6)
    topics = [_read_ListOffsetsTopicResponse_1(r) for _ in range(n)]
    return ListOffsetsResponse(0, topics)


def _read_ListOffsetsResponse_2(r: Reader) -> ListOffsetsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 6)
    topics = [_read_ListOffsetsTopicResponse_1(r) for _ in range(n)]
    return ListOffsetsResponse(throttle_time_ms, topics)


def _read_ListOffsetsPartitionResponse_4(r: Reader) -> _ListOffsetsPartitionResponse:
    partition_index, error_code, timestamp, offset, leader_epoch = r.fixed(_S_ihqqi)
    return _ListOffsetsPartitionResponse(partition_index, error_code, timestamp, offset, leader_epoch)


def _read_ListOffsetsTopicResponse_4(r: Reader) -> _ListOffsetsTopicResponse:
    name = read_string(r)
    n = read_count(r, 26)
    partitions = [_read_ListOffsetsPartitionResponse_4(r) for _ in range(n)]
    return _ListOffsetsTopicResponse(name, partitions)


def _read_ListOffsetsResponse_4(r: Reader) -> ListOffsetsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 6)
    topics = [_read_ListOffsetsTopicResponse_4(r) for _ in range(n)]
    return ListOffsetsResponse(throttle_time_ms, topics)


def _read_ListOffsetsPartitionResponse_6(r: Reader) -> _ListOffsetsPartitionResponse:
    partition_index, error_code, timestamp, offset, leader_epoch = r.fixed(_S_ihqqi)
    skip_tags(r)
    return _ListOffsetsPartitionResponse(partition_index, error_code, timestamp, offset, leader_epoch)


def _read_ListOffsetsTopicResponse_6(r: Reader) -> _ListOffsetsTopicResponse:
    name = read_c_string(r)
    n = read_c_count(r, 27)
    partitions = [_read_ListOffsetsPartitionResponse_6(r) for _ in range(n)]
    skip_tags(r)
    return _ListOffsetsTopicResponse(name, partitions)


def _read_ListOffsetsResponse_6(r: Reader) -> ListOffsetsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 3)
    topics = [_read_ListOffsetsTopicResponse_6(r) for _ in range(n)]
    skip_tags(r)
    return ListOffsetsResponse(throttle_time_ms, topics)


def _read_steps_ListOffsetsTopicResponse_1(r: Reader) -> Generator[None, None, _ListOffsetsTopicResponse]:
    name = read_string(r)
    n = read_count(r, 22)
    partitions: list[ListOffsetsResponse.ListOffsetsTopicResponse.ListOffsetsPartitionResponse] = []
    for some in batches(n):
        partitions += [_read_ListOffsetsPartitionResponse_1(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    return _ListOffsetsTopicResponse(name, partitions)


def _read_steps_ListOffsetsResponse_1(r: Reader) -> Generator[None, None, ListOffsetsResponse]:
    n = read_count(r, 6)
    topics: list[ListOffsetsResponse.ListOffsetsTopicResponse] = []
    for _ in range(n):
        topics.append((yield from _read_steps_ListOffsetsTopicResponse_1(r)))
        if r.elements_ended(1):
            yield
    return ListOffsetsResponse(0, topics)


def _read_steps_ListOffsetsResponse_2(r: Reader) -> Generator[None, None, ListOffsetsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 6)
    topics: list[ListOffsetsResponse.ListOffsetsTopicResponse] = []
    for _ in range(n):
        topics.append((yield from _read_steps_ListOffsetsTopicResponse_1(r)))
        if r.elements_ended(1):
            yield
    return ListOffsetsResponse(throttle_time_ms, topics)


def _read_steps_ListOffsetsTopicResponse_4(r: Reader) -> Generator[None, None, _ListOffsetsTopicResponse]:
    name = read_string(r)
    n = read_count(r, 26)
    partitions: list[ListOffsetsResponse.ListOffsetsTopicResponse.ListOffsetsPartitionResponse] = []
    for some in batches(n):
        partitions += [_read_ListOffsetsPartitionResponse_4(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    return _ListOffsetsTopicResponse(name, partitions)


def _read_steps_ListOffsetsResponse_4(r: Reader) -> Generator[None, None, ListOffsetsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 6)
    topics: list[ListOffsetsResponse.ListOffsetsTopicResponse] = []
    for _ in range(n):
        topics.append((yield from _read_steps_ListOffsetsTopicResponse_4(r)))
        if r.elements_ended(1):
            yield
    return ListOffsetsResponse(throttle_time_ms, topics)


def _read_steps_ListOffsetsTopicResponse_6(r: Reader) -> Generator[None, None, _ListOffsetsTopicResponse]:
    name = read_c_string(r)
    n = read_c_count(r, 27)
    partitions: list[ListOffsetsResponse.ListOffsetsTopicResponse.ListOffsetsPartitionResponse] = []
    for some in batches(n):
        partitions += [_read_ListOffsetsPartitionResponse_6(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    skip_tags(r)
    return _ListOffsetsTopicResponse(name, partitions)


def _read_steps_ListOffsetsResponse_6(r: Reader) -> Generator[None, None, ListOffsetsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 3)
    topics: list[ListOffsetsResponse.ListOffsetsTopicResponse] = []
    for _ in range(n):
        topics.append((yield from _read_steps_ListOffsetsTopicResponse_6(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return ListOffsetsResponse(throttle_time_ms, topics)


def _write_ListOffsetsPartitionResponse_1(out: bytearray, m: _ListOffsetsPartitionResponse) -> None:
    out += _P_ihqq(m.partition_index, m.error_code, m.timestamp, m.offset)


def _write_ListOffsetsTopicResponse_1(out: bytearray, m: _ListOffsetsTopicResponse) -> None:
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_ListOffsetsPartitionResponse_1(out, it_partitions)


def _write_ListOffsetsResponse_1(out: bytearray, m: ListOffsetsResponse) -> None:
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_ListOffsetsTopicResponse_1(out, it_topics)


def _write_ListOffsetsResponse_2(out: bytearray, m: ListOffsetsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_ListOffsetsTopicResponse_1(out, it_topics)


def _write_ListOffsetsPartitionResponse_4(out: bytearray, m: _ListOffsetsPartitionResponse) -> None:
    out += _P_ihqqi(m.partition_index, m.error_code, m.timestamp, m.offset, m.leader_epoch)


def _write_ListOffsetsTopicResponse_4(out: bytearray, m: _ListOffsetsTopicResponse) -> None:
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_ListOffsetsPartitionResponse_4(out, it_partitions)


def _write_ListOffsetsResponse_4(out: bytearray, m: ListOffsetsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_ListOffsetsTopicResponse_4(out, it_topics)


def _write_ListOffsetsPartitionResponse_6(out: bytearray, m: _ListOffsetsPartitionResponse) -> None:
    out += _P_ihqqix(m.partition_index, m.error_code, m.timestamp, m.offset, m.leader_epoch)


def _write_ListOffsetsTopicResponse_6(out: bytearray, m: _ListOffsetsTopicResponse) -> None:
    write_c_string(out, m.name)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_ListOffsetsPartitionResponse_6(out, it_partitions)
    out.append(0)


def _write_ListOffsetsResponse_6(out: bytearray, m: ListOffsetsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_ListOffsetsTopicResponse_6(out, it_topics)
    out.append(0)


def _write_steps_ListOffsetsTopicResponse_1(o: Output, m: _ListOffsetsTopicResponse) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_ListOffsetsPartitionResponse_1(out, it_partitions)
        if o.elements_ended(some):
            yield


def _write_steps_ListOffsetsResponse_1(o: Output, m: ListOffsetsResponse) -> Generator[None, None, None]:
    out = o.buffer
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_ListOffsetsTopicResponse_1(o, it_topics)
        if o.elements_ended(1):
            yield


def _write_steps_ListOffsetsResponse_2(o: Output, m: ListOffsetsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_ListOffsetsTopicResponse_1(o, it_topics)
        if o.elements_ended(1):
            yield


def _write_steps_ListOffsetsTopicResponse_4(o: Output, m: _ListOffsetsTopicResponse) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_ListOffsetsPartitionResponse_4(out, it_partitions)
        if o.elements_ended(some):
            yield


def _write_steps_ListOffsetsResponse_4(o: Output, m: ListOffsetsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_ListOffsetsTopicResponse_4(o, it_topics)
        if o.elements_ended(1):
            yield


def _write_steps_ListOffsetsTopicResponse_6(o: Output, m: _ListOffsetsTopicResponse) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.name)
    write_c_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_ListOffsetsPartitionResponse_6(out, it_partitions)
        if o.elements_ended(some):
            yield
    out.append(0)


def _write_steps_ListOffsetsResponse_6(o: Output, m: ListOffsetsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_ListOffsetsTopicResponse_6(o, it_topics)
        if o.elements_ended(1):
            yield
    out.append(0)


def _error_for(m: ListOffsetsRequest, code: int) -> ListOffsetsResponse:
    return ListOffsetsResponse(topics=[_ListOffsetsTopicResponse(name=it0.name, partitions=[_ListOffsetsPartitionResponse(partition_index=it1.partition_index, error_code=code, timestamp=it1.timestamp) for it1 in it0.partitions]) for it0 in m.topics])


ListOffsetsRequest.READ = (_read_ListOffsetsRequest_1, _read_ListOffsetsRequest_2, _read_ListOffsetsRequest_2, _read_ListOffsetsRequest_4, _read_ListOffsetsRequest_4, _read_ListOffsetsRequest_6, _read_ListOffsetsRequest_6, _read_ListOffsetsRequest_6, _read_ListOffsetsRequest_6, _read_ListOffsetsRequest_10, _read_ListOffsetsRequest_10,)
ListOffsetsRequest.READ_STEPS = (_read_steps_ListOffsetsRequest_1, _read_steps_ListOffsetsRequest_2, _read_steps_ListOffsetsRequest_2, _read_steps_ListOffsetsRequest_4, _read_steps_ListOffsetsRequest_4, _read_steps_ListOffsetsRequest_6, _read_steps_ListOffsetsRequest_6, _read_steps_ListOffsetsRequest_6, _read_steps_ListOffsetsRequest_6, _read_steps_ListOffsetsRequest_10, _read_steps_ListOffsetsRequest_10,)
ListOffsetsRequest.WRITE = (_write_ListOffsetsRequest_1, _write_ListOffsetsRequest_2, _write_ListOffsetsRequest_2, _write_ListOffsetsRequest_4, _write_ListOffsetsRequest_4, _write_ListOffsetsRequest_6, _write_ListOffsetsRequest_6, _write_ListOffsetsRequest_6, _write_ListOffsetsRequest_6, _write_ListOffsetsRequest_10, _write_ListOffsetsRequest_10,)
ListOffsetsRequest.WRITE_STEPS = (_write_steps_ListOffsetsRequest_1, _write_steps_ListOffsetsRequest_2, _write_steps_ListOffsetsRequest_2, _write_steps_ListOffsetsRequest_4, _write_steps_ListOffsetsRequest_4, _write_steps_ListOffsetsRequest_6, _write_steps_ListOffsetsRequest_6, _write_steps_ListOffsetsRequest_6, _write_steps_ListOffsetsRequest_6, _write_steps_ListOffsetsRequest_10, _write_steps_ListOffsetsRequest_10,)
ListOffsetsResponse.READ = (_read_ListOffsetsResponse_1, _read_ListOffsetsResponse_2, _read_ListOffsetsResponse_2, _read_ListOffsetsResponse_4, _read_ListOffsetsResponse_4, _read_ListOffsetsResponse_6, _read_ListOffsetsResponse_6, _read_ListOffsetsResponse_6, _read_ListOffsetsResponse_6, _read_ListOffsetsResponse_6, _read_ListOffsetsResponse_6,)
ListOffsetsResponse.READ_STEPS = (_read_steps_ListOffsetsResponse_1, _read_steps_ListOffsetsResponse_2, _read_steps_ListOffsetsResponse_2, _read_steps_ListOffsetsResponse_4, _read_steps_ListOffsetsResponse_4, _read_steps_ListOffsetsResponse_6, _read_steps_ListOffsetsResponse_6, _read_steps_ListOffsetsResponse_6, _read_steps_ListOffsetsResponse_6, _read_steps_ListOffsetsResponse_6, _read_steps_ListOffsetsResponse_6,)
ListOffsetsResponse.WRITE = (_write_ListOffsetsResponse_1, _write_ListOffsetsResponse_2, _write_ListOffsetsResponse_2, _write_ListOffsetsResponse_4, _write_ListOffsetsResponse_4, _write_ListOffsetsResponse_6, _write_ListOffsetsResponse_6, _write_ListOffsetsResponse_6, _write_ListOffsetsResponse_6, _write_ListOffsetsResponse_6, _write_ListOffsetsResponse_6,)
ListOffsetsResponse.WRITE_STEPS = (_write_steps_ListOffsetsResponse_1, _write_steps_ListOffsetsResponse_2, _write_steps_ListOffsetsResponse_2, _write_steps_ListOffsetsResponse_4, _write_steps_ListOffsetsResponse_4, _write_steps_ListOffsetsResponse_6, _write_steps_ListOffsetsResponse_6, _write_steps_ListOffsetsResponse_6, _write_steps_ListOffsetsResponse_6, _write_steps_ListOffsetsResponse_6, _write_steps_ListOffsetsResponse_6,)
ListOffsetsRequest.ERROR_FOR = _error_for
