"""DescribeQuorumRequest, DescribeQuorumResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from itertools import islice
from struct import Struct, pack
from typing import ClassVar, Final
from uuid import UUID

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, batches, read_c_count, read_c_null_string, read_c_string, skip_tags, uuid_of
from headrace.protocol.message_writing import Output, uuid_bytes, write_c_count, write_c_null_string, write_c_string
from headrace.protocol.primitives import Reader

class DescribeQuorumRequest(KafkaMessage):
    """Key 55, versions 0 to 2, flexible from 0 on."""

    class TopicData(MessageStruct):
        """Versions 0+."""

        class PartitionData(MessageStruct):
            """Versions 0+."""

            partition_index: int = 0

        topic_name: str = ""
        partitions: list[DescribeQuorumRequest.TopicData.PartitionData] = []

    API_KEY: ClassVar[int] = 55
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    topics: list[DescribeQuorumRequest.TopicData] = []


class DescribeQuorumResponse(KafkaMessage):
    """Key 55, versions 0 to 2, flexible from 0 on."""

    class ReplicaState(MessageStruct):
        """Versions 0+."""

        replica_id: int = 0
        replica_directory_id: UUID | None = None
        log_end_offset: int = 0
        last_fetch_timestamp: int = -1
        last_caught_up_timestamp: int = -1

    class TopicData(MessageStruct):
        """Versions 0+."""

        class PartitionData(MessageStruct):
            """Versions 0+."""

            partition_index: int = 0
            error_code: int = 0
            error_message: str | None = ""
            leader_id: int = 0
            leader_epoch: int = 0
            high_watermark: int = 0
            current_voters: Collection[DescribeQuorumResponse.ReplicaState] = []
            observers: Collection[DescribeQuorumResponse.ReplicaState] = []

        topic_name: str = ""
        partitions: Collection[DescribeQuorumResponse.TopicData.PartitionData] = []

    class Node(MessageStruct):
        """Versions 2+."""

        class Listener(MessageStruct):
            """Versions 2+."""

            name: str = ""
            host: str = ""
            port: int = 0

        node_id: int = 0
        listeners: Collection[DescribeQuorumResponse.Node.Listener] = []

    API_KEY: ClassVar[int] = 55
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    error_code: int = 0
    error_message: str | None = ""
    topics: Collection[DescribeQuorumResponse.TopicData] = []
    nodes: Collection[DescribeQuorumResponse.Node] = []


_DescribeQuorumRequestPartitionData = DescribeQuorumRequest.TopicData.PartitionData
_DescribeQuorumRequestTopicData = DescribeQuorumRequest.TopicData
_DescribeQuorumResponseReplicaState = DescribeQuorumResponse.ReplicaState
_DescribeQuorumResponsePartitionData = DescribeQuorumResponse.TopicData.PartitionData
_DescribeQuorumResponseTopicData = DescribeQuorumResponse.TopicData
_DescribeQuorumResponseListener = DescribeQuorumResponse.Node.Listener
_DescribeQuorumResponseNode = DescribeQuorumResponse.Node
_P_Hx: Final = Struct(">Hx").pack
_P_h: Final = Struct(">h").pack
_P_i: Final = Struct(">i").pack
_P_ih: Final = Struct(">ih").pack
_P_ihiiq: Final = Struct(">ihiiq").pack
_P_iiq: Final = Struct(">iiq").pack
_P_iqqqx: Final = Struct(">iqqqx").pack
_P_iqx: Final = Struct(">iqx").pack
_P_iuqqqx: Final = Struct(">i16sqqqx").pack
_P_ix: Final = Struct(">ix").pack
_S_H: Final = Struct(">H")
_S_h: Final = Struct(">h")
_S_i: Final = Struct(">i")
_S_ih: Final = Struct(">ih")
_S_ihiiq: Final = Struct(">ihiiq")
_S_iiq: Final = Struct(">iiq")
_S_iq: Final = Struct(">iq")
_S_iqqq: Final = Struct(">iqqq")
_S_iuqqq: Final = Struct(">i16sqqq")


def _read_DescribeQuorumRequestPartitionData_0(r: Reader) -> _DescribeQuorumRequestPartitionData:
    partition_index, = r.fixed(_S_i)
    skip_tags(r)
    return _DescribeQuorumRequestPartitionData(partition_index)


def _read_DescribeQuorumRequestTopicData_0(r: Reader) -> _DescribeQuorumRequestTopicData:
    topic_name = read_c_string(r)
    n = read_c_count(r, 5)
    partitions = [_read_DescribeQuorumRequestPartitionData_0(r) for _ in range(n)]
    skip_tags(r)
    return _DescribeQuorumRequestTopicData(topic_name, partitions)


def _read_DescribeQuorumRequest_0(r: Reader) -> DescribeQuorumRequest:
    n = read_c_count(r, 3)
    topics = [_read_DescribeQuorumRequestTopicData_0(r) for _ in range(n)]
    skip_tags(r)
    return DescribeQuorumRequest(topics)


def _read_steps_DescribeQuorumRequestTopicData_0(r: Reader) -> Generator[None, None, _DescribeQuorumRequestTopicData]:
    topic_name = read_c_string(r)
    n = read_c_count(r, 5)
    partitions: list[DescribeQuorumRequest.TopicData.PartitionData] = []
    for some in batches(n):
        partitions += [_read_DescribeQuorumRequestPartitionData_0(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    skip_tags(r)
    return _DescribeQuorumRequestTopicData(topic_name, partitions)


def _read_steps_DescribeQuorumRequest_0(r: Reader) -> Generator[None, None, DescribeQuorumRequest]:
    n = read_c_count(r, 3)
    topics: list[DescribeQuorumRequest.TopicData] = []
    for _ in range(n):
        topics.append((yield from _read_steps_DescribeQuorumRequestTopicData_0(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return DescribeQuorumRequest(topics)


def _write_DescribeQuorumRequestPartitionData_0(out: bytearray, m: _DescribeQuorumRequestPartitionData) -> None:
    out += _P_ix(m.partition_index)


def _write_DescribeQuorumRequestTopicData_0(out: bytearray, m: _DescribeQuorumRequestTopicData) -> None:
    write_c_string(out, m.topic_name)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_DescribeQuorumRequestPartitionData_0(out, it_partitions)
    out.append(0)


def _write_DescribeQuorumRequest_0(out: bytearray, m: DescribeQuorumRequest) -> None:
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_DescribeQuorumRequestTopicData_0(out, it_topics)
    out.append(0)


def _write_steps_DescribeQuorumRequestTopicData_0(o: Output, m: _DescribeQuorumRequestTopicData) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.topic_name)
    write_c_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_DescribeQuorumRequestPartitionData_0(out, it_partitions)
        if o.elements_ended(some):
            yield
    out.append(0)


def _write_steps_DescribeQuorumRequest_0(o: Output, m: DescribeQuorumRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_DescribeQuorumRequestTopicData_0(o, it_topics)
        if o.elements_ended(1):
            yield
    out.append(0)


def _read_DescribeQuorumResponseReplicaState_0(r: Reader) -> _DescribeQuorumResponseReplicaState:
    replica_id, log_end_offset = r.fixed(_S_iq)
    skip_tags(r)
    return _DescribeQuorumResponseReplicaState(replica_id, None, log_end_offset)


def _read_DescribeQuorumResponsePartitionData_0(r: Reader) -> _DescribeQuorumResponsePartitionData:
    partition_index, error_code, leader_id, leader_epoch, high_watermark = r.fixed(_S_ihiiq)
    n = read_c_count(r, 13)
    current_voters = [_read_DescribeQuorumResponseReplicaState_0(r) for _ in range(n)]
    n = read_c_count(r, 13)
    observers = [_read_DescribeQuorumResponseReplicaState_0(r) for _ in range(n)]
    skip_tags(r)
    return _DescribeQuorumResponsePartitionData(partition_index, error_code, "", leader_id, leader_epoch, high_watermark, current_voters, observers)


def _read_DescribeQuorumResponseTopicData_0(r: Reader) -> _DescribeQuorumResponseTopicData:
    topic_name = read_c_string(r)
    n = read_c_count(r, 25)
    partitions = [_read_DescribeQuorumResponsePartitionData_0(r) for _ in range(n)]
    skip_tags(r)
    return _DescribeQuorumResponseTopicData(topic_name, partitions)


def _read_DescribeQuorumResponse_0(r: Reader) -> DescribeQuorumResponse:
    error_code, = r.fixed(_S_h)
    n = read_c_count(r, 3)
    topics = [_read_DescribeQuorumResponseTopicData_0(r) for _ in range(n)]
    skip_tags(r)
    return DescribeQuorumResponse(error_code, "", topics)


def _read_DescribeQuorumResponseReplicaState_1(r: Reader) -> _DescribeQuorumResponseReplicaState:
    replica_id, log_end_offset, last_fetch_timestamp, last_caught_up_timestamp = r.fixed(_S_iqqq)
    skip_tags(r)
    return _DescribeQuorumResponseReplicaState(replica_id, None, log_end_offset, last_fetch_timestamp, last_caught_up_timestamp)


def _read_DescribeQuorumResponsePartitionData_1(r: Reader) -> _DescribeQuorumResponsePartitionData:
    partition_index, error_code, leader_id, leader_epoch, high_watermark = r.fixed(_S_ihiiq)
    n = read_c_count(r, 29)
    current_voters = [_read_DescribeQuorumResponseReplicaState_1(r) for _ in range(n)]
    n = read_c_count(r, 29)
    observers = [_read_DescribeQuorumResponseReplicaState_1(r) for _ in range(n)]
    skip_tags(r)
    return _DescribeQuorumResponsePartitionData(partition_index, error_code, "", leader_id, leader_epoch, high_watermark, current_voters, observers)


def _read_DescribeQuorumResponseTopicData_1(r: Reader) -> _DescribeQuorumResponseTopicData:
    topic_name = read_c_string(r)
    n = read_c_count(r, 25)
    partitions = [_read_DescribeQuorumResponsePartitionData_1(r) for _ in range(n)]
    skip_tags(r)
    return _DescribeQuorumResponseTopicData(topic_name, partitions)


def _read_DescribeQuorumResponse_1(r: Reader) -> DescribeQuorumResponse:
    error_code, = r.fixed(_S_h)
    n = read_c_count(r, 3)
    topics = [_read_DescribeQuorumResponseTopicData_1(r) for _ in range(n)]
    skip_tags(r)
    return DescribeQuorumResponse(error_code, "", topics)


def _read_DescribeQuorumResponseReplicaState_2(r: Reader) -> _DescribeQuorumResponseReplicaState:
    replica_id, replica_directory_id, log_end_offset, last_fetch_timestamp, last_caught_up_timestamp = r.fixed(_S_iuqqq)
    skip_tags(r)
    return _DescribeQuorumResponseReplicaState(replica_id, uuid_of(replica_directory_id), log_end_offset, last_fetch_timestamp, last_caught_up_timestamp)


def _read_DescribeQuorumResponsePartitionData_2(r: Reader) -> _DescribeQuorumResponsePartitionData:
    partition_index, error_code = r.fixed(_S_ih)
    error_message = read_c_null_string(r)
    leader_id, leader_epoch, high_watermark = r.fixed(_S_iiq)
    n = read_c_count(r, 45)
    current_voters = [_read_DescribeQuorumResponseReplicaState_2(r) for _ in range(n)]
    n = read_c_count(r, 45)
    observers = [_read_DescribeQuorumResponseReplicaState_2(r) for _ in range(n)]
    skip_tags(r)
    return _DescribeQuorumResponsePartitionData(partition_index, error_code, error_message, leader_id, leader_epoch, high_watermark, current_voters, observers)


def _read_DescribeQuorumResponseTopicData_2(r: Reader) -> _DescribeQuorumResponseTopicData:
    topic_name = read_c_string(r)
    n = read_c_count(r, 26)
    partitions = [_read_DescribeQuorumResponsePartitionData_2(r) for _ in range(n)]
    skip_tags(r)
    return _DescribeQuorumResponseTopicData(topic_name, partitions)


def _read_DescribeQuorumResponseListener_2(r: Reader) -> _DescribeQuorumResponseListener:
    name = read_c_string(r)
    host = read_c_string(r)
    port, = r.fixed(_S_H)
    skip_tags(r)
    return _DescribeQuorumResponseListener(name, host, port)


def _read_DescribeQuorumResponseNode_2(r: Reader) -> _DescribeQuorumResponseNode:
    node_id, = r.fixed(_S_i)
    n = read_c_count(r, 5)
    listeners = [_read_DescribeQuorumResponseListener_2(r) for _ in range(n)]
    skip_tags(r)
    return _DescribeQuorumResponseNode(node_id, listeners)


def _read_DescribeQuorumResponse_2(r: Reader) -> DescribeQuorumResponse:
    error_code, = r.fixed(_S_h)
    error_message = read_c_null_string(r)
    n = read_c_count(r, 3)
    topics = [_read_DescribeQuorumResponseTopicData_2(r) for _ in range(n)]
    n = read_c_count(r, 6)
    nodes = [_read_DescribeQuorumResponseNode_2(r) for _ in range(n)]
    skip_tags(r)
    return DescribeQuorumResponse(error_code, error_message, topics, nodes)


def _read_steps_DescribeQuorumResponsePartitionData_0(r: Reader) -> Generator[None, None, _DescribeQuorumResponsePartitionData]:
    partition_index, error_code, leader_id, leader_epoch, high_watermark = r.fixed(_S_ihiiq)
    n = read_c_count(r, 13)
    current_voters: list[DescribeQuorumResponse.ReplicaState] = []
    for some in batches(n):
        current_voters += [_read_DescribeQuorumResponseReplicaState_0(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    n = read_c_count(r, 13)
    observers: list[DescribeQuorumResponse.ReplicaState] = []
    for some in batches(n):
        observers += [_read_DescribeQuorumResponseReplicaState_0(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    skip_tags(r)
    return _DescribeQuorumResponsePartitionData(partition_index, error_code, "", leader_id, leader_epoch, high_watermark, current_voters, observers)


def _read_steps_DescribeQuorumResponseTopicData_0(r: Reader) -> Generator[None, None, _DescribeQuorumResponseTopicData]:
    topic_name = read_c_string(r)
    n = read_c_count(r, 25)
    partitions: list[DescribeQuorumResponse.TopicData.PartitionData] = []
    for _ in range(n):
        partitions.append((yield from _read_steps_DescribeQuorumResponsePartitionData_0(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return _DescribeQuorumResponseTopicData(topic_name, partitions)


def _read_steps_DescribeQuorumResponse_0(r: Reader) -> Generator[None, None, DescribeQuorumResponse]:
    error_code, = r.fixed(_S_h)
    n = read_c_count(r, 3)
    topics: list[DescribeQuorumResponse.TopicData] = []
    for _ in range(n):
        topics.append((yield from _read_steps_DescribeQuorumResponseTopicData_0(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return DescribeQuorumResponse(error_code, "", topics)


def _read_steps_DescribeQuorumResponsePartitionData_1(r: Reader) -> Generator[None, None, _DescribeQuorumResponsePartitionData]:
    partition_index, error_code, leader_id, leader_epoch, high_watermark = r.fixed(_S_ihiiq)
    n = read_c_count(r, 29)
    current_voters: list[DescribeQuorumResponse.ReplicaState] = []
    for some in batches(n):
        current_voters += [_read_DescribeQuorumResponseReplicaState_1(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    n = read_c_count(r, 29)
    observers: list[DescribeQuorumResponse.ReplicaState] = []
    for some in batches(n):
        observers += [_read_DescribeQuorumResponseReplicaState_1(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    skip_tags(r)
    return _DescribeQuorumResponsePartitionData(partition_index, error_code, "", leader_id, leader_epoch, high_watermark, current_voters, observers)


def _read_steps_DescribeQuorumResponseTopicData_1(r: Reader) -> Generator[None, None, _DescribeQuorumResponseTopicData]:
    topic_name = read_c_string(r)
    n = read_c_count(r, 25)
    partitions: list[DescribeQuorumResponse.TopicData.PartitionData] = []
    for _ in range(n):
        partitions.append((yield from _read_steps_DescribeQuorumResponsePartitionData_1(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return _DescribeQuorumResponseTopicData(topic_name, partitions)


def _read_steps_DescribeQuorumResponse_1(r: Reader) -> Generator[None, None, DescribeQuorumResponse]:
    error_code, = r.fixed(_S_h)
    n = read_c_count(r, 3)
    topics: list[DescribeQuorumResponse.TopicData] = []
    for _ in range(n):
        topics.append((yield from _read_steps_DescribeQuorumResponseTopicData_1(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return DescribeQuorumResponse(error_code, "", topics)


def _read_steps_DescribeQuorumResponsePartitionData_2(r: Reader) -> Generator[None, None, _DescribeQuorumResponsePartitionData]:
    partition_index, error_code = r.fixed(_S_ih)
    error_message = read_c_null_string(r)
    leader_id, leader_epoch, high_watermark = r.fixed(_S_iiq)
    n = read_c_count(r, 45)
    current_voters: list[DescribeQuorumResponse.ReplicaState] = []
    for some in batches(n):
        current_voters += [_read_DescribeQuorumResponseReplicaState_2(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    n = read_c_count(r, 45)
    observers: list[DescribeQuorumResponse.ReplicaState] = []
    for some in batches(n):
        observers += [_read_DescribeQuorumResponseReplicaState_2(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    skip_tags(r)
    return _DescribeQuorumResponsePartitionData(partition_index, error_code, error_message, leader_id, leader_epoch, high_watermark, current_voters, observers)


def _read_steps_DescribeQuorumResponseTopicData_2(r: Reader) -> Generator[None, None, _DescribeQuorumResponseTopicData]:
    topic_name = read_c_string(r)
    n = read_c_count(r, 26)
    partitions: list[DescribeQuorumResponse.TopicData.PartitionData] = []
    for _ in range(n):
        partitions.append((yield from _read_steps_DescribeQuorumResponsePartitionData_2(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return _DescribeQuorumResponseTopicData(topic_name, partitions)


def _read_steps_DescribeQuorumResponseNode_2(r: Reader) -> Generator[None, None, _DescribeQuorumResponseNode]:
    node_id, = r.fixed(_S_i)
    n = read_c_count(r, 5)
    listeners: list[DescribeQuorumResponse.Node.Listener] = []
    if n <= FLAT_ELEMENTS:
        listeners = [_read_DescribeQuorumResponseListener_2(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            listeners.append(_read_DescribeQuorumResponseListener_2(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return _DescribeQuorumResponseNode(node_id, listeners)


def _read_steps_DescribeQuorumResponse_2(r: Reader) -> Generator[None, None, DescribeQuorumResponse]:
    error_code, = r.fixed(_S_h)
    error_message = read_c_null_string(r)
    n = read_c_count(r, 3)
    topics: list[DescribeQuorumResponse.TopicData] = []
    for _ in range(n):
        topics.append((yield from _read_steps_DescribeQuorumResponseTopicData_2(r)))
        if r.elements_ended(1):
            yield
    n = read_c_count(r, 6)
    nodes: list[DescribeQuorumResponse.Node] = []
    for _ in range(n):
        nodes.append((yield from _read_steps_DescribeQuorumResponseNode_2(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return DescribeQuorumResponse(error_code, error_message, topics, nodes)


def _write_DescribeQuorumResponseReplicaState_0(out: bytearray, m: _DescribeQuorumResponseReplicaState) -> None:
    out += _P_iqx(m.replica_id, m.log_end_offset)


def _write_DescribeQuorumResponsePartitionData_0(out: bytearray, m: _DescribeQuorumResponsePartitionData) -> None:
    out += _P_ihiiq(m.partition_index, m.error_code, m.leader_id, m.leader_epoch, m.high_watermark)
    write_c_count(out, len(m.current_voters))
    for it_current_voters in m.current_voters:
        _write_DescribeQuorumResponseReplicaState_0(out, it_current_voters)
    write_c_count(out, len(m.observers))
    for it_observers in m.observers:
        _write_DescribeQuorumResponseReplicaState_0(out, it_observers)
    out.append(0)


def _write_DescribeQuorumResponseTopicData_0(out: bytearray, m: _DescribeQuorumResponseTopicData) -> None:
    write_c_string(out, m.topic_name)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_DescribeQuorumResponsePartitionData_0(out, it_partitions)
    out.append(0)


def _write_DescribeQuorumResponse_0(out: bytearray, m: DescribeQuorumResponse) -> None:
    out += _P_h(m.error_code)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_DescribeQuorumResponseTopicData_0(out, it_topics)
    out.append(0)


def _write_DescribeQuorumResponseReplicaState_1(out: bytearray, m: _DescribeQuorumResponseReplicaState) -> None:
    out += _P_iqqqx(m.replica_id, m.log_end_offset, m.last_fetch_timestamp, m.last_caught_up_timestamp)


def _write_DescribeQuorumResponsePartitionData_1(out: bytearray, m: _DescribeQuorumResponsePartitionData) -> None:
    out += _P_ihiiq(m.partition_index, m.error_code, m.leader_id, m.leader_epoch, m.high_watermark)
    write_c_count(out, len(m.current_voters))
    for it_current_voters in m.current_voters:
        _write_DescribeQuorumResponseReplicaState_1(out, it_current_voters)
    write_c_count(out, len(m.observers))
    for it_observers in m.observers:
        _write_DescribeQuorumResponseReplicaState_1(out, it_observers)
    out.append(0)


def _write_DescribeQuorumResponseTopicData_1(out: bytearray, m: _DescribeQuorumResponseTopicData) -> None:
    write_c_string(out, m.topic_name)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_DescribeQuorumResponsePartitionData_1(out, it_partitions)
    out.append(0)


def _write_DescribeQuorumResponse_1(out: bytearray, m: DescribeQuorumResponse) -> None:
    out += _P_h(m.error_code)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_DescribeQuorumResponseTopicData_1(out, it_topics)
    out.append(0)


def _write_DescribeQuorumResponseReplicaState_2(out: bytearray, m: _DescribeQuorumResponseReplicaState) -> None:
    out += _P_iuqqqx(m.replica_id, uuid_bytes(m.replica_directory_id), m.log_end_offset, m.last_fetch_timestamp, m.last_caught_up_timestamp)


def _write_DescribeQuorumResponsePartitionData_2(out: bytearray, m: _DescribeQuorumResponsePartitionData) -> None:
    out += _P_ih(m.partition_index, m.error_code)
    write_c_null_string(out, m.error_message)
    out += _P_iiq(m.leader_id, m.leader_epoch, m.high_watermark)
    write_c_count(out, len(m.current_voters))
    for it_current_voters in m.current_voters:
        _write_DescribeQuorumResponseReplicaState_2(out, it_current_voters)
    write_c_count(out, len(m.observers))
    for it_observers in m.observers:
        _write_DescribeQuorumResponseReplicaState_2(out, it_observers)
    out.append(0)


def _write_DescribeQuorumResponseTopicData_2(out: bytearray, m: _DescribeQuorumResponseTopicData) -> None:
    write_c_string(out, m.topic_name)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_DescribeQuorumResponsePartitionData_2(out, it_partitions)
    out.append(0)


def _write_DescribeQuorumResponseListener_2(out: bytearray, m: _DescribeQuorumResponseListener) -> None:
    write_c_string(out, m.name)
    write_c_string(out, m.host)
    out += _P_Hx(m.port)


def _write_DescribeQuorumResponseNode_2(out: bytearray, m: _DescribeQuorumResponseNode) -> None:
    out += _P_i(m.node_id)
    write_c_count(out, len(m.listeners))
    for it_listeners in m.listeners:
        _write_DescribeQuorumResponseListener_2(out, it_listeners)
    out.append(0)


def _write_DescribeQuorumResponse_2(out: bytearray, m: DescribeQuorumResponse) -> None:
    out += _P_h(m.error_code)
    write_c_null_string(out, m.error_message)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_DescribeQuorumResponseTopicData_2(out, it_topics)
    write_c_count(out, len(m.nodes))
    for it_nodes in m.nodes:
        _write_DescribeQuorumResponseNode_2(out, it_nodes)
    out.append(0)


def _write_steps_DescribeQuorumResponsePartitionData_0(o: Output, m: _DescribeQuorumResponsePartitionData) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ihiiq(m.partition_index, m.error_code, m.leader_id, m.leader_epoch, m.high_watermark)
    write_c_count(out, len(m.current_voters))
    left_current_voters = iter(m.current_voters)
    for some in batches(len(m.current_voters)):
        for it_current_voters in islice(left_current_voters, some):
            _write_DescribeQuorumResponseReplicaState_0(out, it_current_voters)
        if o.elements_ended(some):
            yield
    write_c_count(out, len(m.observers))
    left_observers = iter(m.observers)
    for some in batches(len(m.observers)):
        for it_observers in islice(left_observers, some):
            _write_DescribeQuorumResponseReplicaState_0(out, it_observers)
        if o.elements_ended(some):
            yield
    out.append(0)


def _write_steps_DescribeQuorumResponseTopicData_0(o: Output, m: _DescribeQuorumResponseTopicData) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.topic_name)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        yield from _write_steps_DescribeQuorumResponsePartitionData_0(o, it_partitions)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_DescribeQuorumResponse_0(o: Output, m: DescribeQuorumResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_DescribeQuorumResponseTopicData_0(o, it_topics)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_DescribeQuorumResponsePartitionData_1(o: Output, m: _DescribeQuorumResponsePartitionData) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ihiiq(m.partition_index, m.error_code, m.leader_id, m.leader_epoch, m.high_watermark)
    write_c_count(out, len(m.current_voters))
    left_current_voters = iter(m.current_voters)
    for some in batches(len(m.current_voters)):
        for it_current_voters in islice(left_current_voters, some):
            _write_DescribeQuorumResponseReplicaState_1(out, it_current_voters)
        if o.elements_ended(some):
            yield
    write_c_count(out, len(m.observers))
    left_observers = iter(m.observers)
    for some in batches(len(m.observers)):
        for it_observers in islice(left_observers, some):
            _write_DescribeQuorumResponseReplicaState_1(out, it_observers)
        if o.elements_ended(some):
            yield
    out.append(0)


def _write_steps_DescribeQuorumResponseTopicData_1(o: Output, m: _DescribeQuorumResponseTopicData) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.topic_name)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        yield from _write_steps_DescribeQuorumResponsePartitionData_1(o, it_partitions)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_DescribeQuorumResponse_1(o: Output, m: DescribeQuorumResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_DescribeQuorumResponseTopicData_1(o, it_topics)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_DescribeQuorumResponsePartitionData_2(o: Output, m: _DescribeQuorumResponsePartitionData) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ih(m.partition_index, m.error_code)
    write_c_null_string(out, m.error_message)
    out += _P_iiq(m.leader_id, m.leader_epoch, m.high_watermark)
    write_c_count(out, len(m.current_voters))
    left_current_voters = iter(m.current_voters)
    for some in batches(len(m.current_voters)):
        for it_current_voters in islice(left_current_voters, some):
            _write_DescribeQuorumResponseReplicaState_2(out, it_current_voters)
        if o.elements_ended(some):
            yield
    write_c_count(out, len(m.observers))
    left_observers = iter(m.observers)
    for some in batches(len(m.observers)):
        for it_observers in islice(left_observers, some):
            _write_DescribeQuorumResponseReplicaState_2(out, it_observers)
        if o.elements_ended(some):
            yield
    out.append(0)


def _write_steps_DescribeQuorumResponseTopicData_2(o: Output, m: _DescribeQuorumResponseTopicData) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.topic_name)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        yield from _write_steps_DescribeQuorumResponsePartitionData_2(o, it_partitions)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_DescribeQuorumResponseNode_2(o: Output, m: _DescribeQuorumResponseNode) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.node_id)
    write_c_count(out, len(m.listeners))
    if len(m.listeners) <= FLAT_ELEMENTS:
        for it_listeners in m.listeners:
            _write_DescribeQuorumResponseListener_2(out, it_listeners)
        if o.elements_ended(len(m.listeners)):
            yield
    else:
        for it_listeners in m.listeners:
            _write_DescribeQuorumResponseListener_2(out, it_listeners)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_DescribeQuorumResponse_2(o: Output, m: DescribeQuorumResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    write_c_null_string(out, m.error_message)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_DescribeQuorumResponseTopicData_2(o, it_topics)
        if o.elements_ended(1):
            yield
    write_c_count(out, len(m.nodes))
    for it_nodes in m.nodes:
        yield from _write_steps_DescribeQuorumResponseNode_2(o, it_nodes)
        if o.elements_ended(1):
            yield
    out.append(0)


def _error_for(m: DescribeQuorumRequest, code: int) -> DescribeQuorumResponse:
    return DescribeQuorumResponse(error_code=code, error_message=None)


DescribeQuorumRequest.READ = (_read_DescribeQuorumRequest_0, _read_DescribeQuorumRequest_0, _read_DescribeQuorumRequest_0,)
DescribeQuorumRequest.READ_STEPS = (_read_steps_DescribeQuorumRequest_0, _read_steps_DescribeQuorumRequest_0, _read_steps_DescribeQuorumRequest_0,)
DescribeQuorumRequest.WRITE = (_write_DescribeQuorumRequest_0, _write_DescribeQuorumRequest_0, _write_DescribeQuorumRequest_0,)
DescribeQuorumRequest.WRITE_STEPS = (_write_steps_DescribeQuorumRequest_0, _write_steps_DescribeQuorumRequest_0, _write_steps_DescribeQuorumRequest_0,)
DescribeQuorumResponse.READ = (_read_DescribeQuorumResponse_0, _read_DescribeQuorumResponse_1, _read_DescribeQuorumResponse_2,)
DescribeQuorumResponse.READ_STEPS = (_read_steps_DescribeQuorumResponse_0, _read_steps_DescribeQuorumResponse_1, _read_steps_DescribeQuorumResponse_2,)
DescribeQuorumResponse.WRITE = (_write_DescribeQuorumResponse_0, _write_DescribeQuorumResponse_1, _write_DescribeQuorumResponse_2,)
DescribeQuorumResponse.WRITE_STEPS = (_write_steps_DescribeQuorumResponse_0, _write_steps_DescribeQuorumResponse_1, _write_steps_DescribeQuorumResponse_2,)
DescribeQuorumRequest.ERROR_FOR = _error_for
