"""MetadataRequest, MetadataResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from itertools import islice
from struct import Struct, pack
from typing import ClassVar, Final
from uuid import UUID

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, batches, read_c_count, read_c_null_count, read_c_null_string, read_c_numbers, read_c_string, read_count, read_null_count, read_null_string, read_numbers, read_string, skip_tags, uuid_of
from headrace.protocol.message_writing import EncodedElement, Output, Runs, uuid_bytes, write_c_count, write_c_null_string, write_c_string, write_count, write_null_string, write_string
from headrace.protocol.primitives import Reader

class MetadataRequest(KafkaMessage):
    """Key 3, versions 0 to 13, flexible from 9 on."""

    class MetadataRequestTopic(MessageStruct):
        """Versions 0+."""

        topic_id: UUID | None = None
        name: str | None = ""

    API_KEY: ClassVar[int] = 3
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 9
    topics: list[MetadataRequest.MetadataRequestTopic] | None = []
    allow_auto_topic_creation: bool = True
    include_cluster_authorized_operations: bool = False
    include_topic_authorized_operations: bool = False


class MetadataResponse(KafkaMessage):
    """Key 3, versions 0 to 13, flexible from 9 on."""

    class MetadataResponseBroker(MessageStruct):
        """Versions 0+."""

        node_id: int = 0
        host: str = ""
        port: int = 0
        rack: str | None = None

    class MetadataResponseTopic(MessageStruct):
        """Versions 0+."""

        class MetadataResponsePartition(MessageStruct):
            """Versions 0+."""

            error_code: int = 0
            partition_index: int = 0
            leader_id: int = 0
            leader_epoch: int = -1
            replica_nodes: Collection[int] = []
            isr_nodes: Collection[int] = []
            offline_replicas: Collection[int] = []

        error_code: int = 0
        name: str | None = ""
        topic_id: UUID | None = None
        is_internal: bool = False
        partitions: Collection[MetadataResponse.MetadataResponseTopic.MetadataResponsePartition] = []
        topic_authorized_operations: int = -2147483648

    API_KEY: ClassVar[int] = 3
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 9
    throttle_time_ms: int = 0
    brokers: Collection[MetadataResponse.MetadataResponseBroker] = []
    cluster_id: str | None = None
    controller_id: int = -1
    topics: Collection[MetadataResponse.MetadataResponseTopic | EncodedElement] = []
    cluster_authorized_operations: int = -2147483648
    error_code: int = 0


_MetadataRequestTopic = MetadataRequest.MetadataRequestTopic
_MetadataResponseBroker = MetadataResponse.MetadataResponseBroker
_MetadataResponsePartition = MetadataResponse.MetadataResponseTopic.MetadataResponsePartition
_MetadataResponseTopic = MetadataResponse.MetadataResponseTopic
_P_h: Final = Struct(">h").pack
_P_hx: Final = Struct(">hx").pack
_P_i: Final = Struct(">i").pack
_P_ix: Final = Struct(">ix").pack
_P_t: Final = Struct(">?").pack
_P_ttt: Final = Struct(">???").pack
_P_tttx: Final = Struct(">???x").pack
_P_ttx: Final = Struct(">??x").pack
_P_u: Final = Struct(">16s").pack
_P_ut: Final = Struct(">16s?").pack
_R_hii_ii_ii: Final = Runs("hii", "ii", "ii", is_array=(False, True, True))
_R_hii_ii_ii_ii: Final = Runs("hii", "ii", "ii", "ii", is_array=(False, True, True, True))
_R_hiii_Bi_Bi_Bi_x: Final = Runs("hiii", "Bi", "Bi", "Bi", "x", is_array=(False, True, True, True, False))
_R_hiii_ii_ii_ii: Final = Runs("hiii", "ii", "ii", "ii", is_array=(False, True, True, True))
_S_h: Final = Struct(">h")
_S_hii: Final = Struct(">hii")
_S_hiii: Final = Struct(">hiii")
_S_i: Final = Struct(">i")
_S_t: Final = Struct(">?")
_S_tt: Final = Struct(">??")
_S_ttt: Final = Struct(">???")
_S_u: Final = Struct(">16s")
_S_ut: Final = Struct(">16s?")


def _read_MetadataRequestTopic_0(r: Reader) -> _MetadataRequestTopic:
    name = read_string(r)
    return _MetadataRequestTopic(None, name)


def _read_MetadataRequest_0(r: Reader) -> MetadataRequest:
    n = read_count(r, 2)
    topics = [_read_MetadataRequestTopic_0(r) for _ in range(n)]
    return MetadataRequest(topics)


def _read_MetadataRequest_1(r: Reader) -> MetadataRequest:
    n = read_null_count(r, 2)
    topics = None if n < 0 else [_read_MetadataRequestTopic_0(r) for _ in range(n)]
    return MetadataRequest(topics)


def _read_MetadataRequest_4(r: Reader) -> MetadataRequest:
    n = read_null_count(r, 2)
    topics = None if n < 0 else [_read_MetadataRequestTopic_0(r) for _ in range(n)]
    allow_auto_topic_creation, = r.fixed(_S_t)
    return MetadataRequest(topics, allow_auto_topic_creation)


def _read_MetadataRequest_8(r: Reader) -> MetadataRequest:
    n = read_null_count(r, 2)
    topics = None if n < 0 else [_read_MetadataRequestTopic_0(r) for _ in range(n)]
    allow_auto_topic_creation, include_cluster_authorized_operations, include_topic_authorized_operations = r.fixed(_S_ttt)
    return MetadataRequest(topics, allow_auto_topic_creation, include_cluster_authorized_operations, include_topic_authorized_operations)


def _read_MetadataRequestTopic_9(r: Reader) -> _MetadataRequestTopic:
    name = read_c_string(r)
    skip_tags(r)
    return _MetadataRequestTopic(None, name)


def _read_MetadataRequest_9(r: Reader) -> MetadataRequest:
    n = read_c_null_count(r, 2)
    topics = None if n < 0 else [_read_MetadataRequestTopic_9(r) for _ in range(n)]
    allow_auto_topic_creation, include_cluster_authorized_operations, include_topic_authorized_operations = r.fixed(_S_ttt)
    skip_tags(r)
    return MetadataRequest(topics, allow_auto_topic_creation, include_cluster_authorized_operations, include_topic_authorized_operations)


def _read_MetadataRequestTopic_10(r: Reader) -> _MetadataRequestTopic:
    topic_id, = r.fixed(_S_u)
    name = read_c_null_string(r)
    skip_tags(r)
    return _MetadataRequestTopic(uuid_of(topic_id), name)


def _read_MetadataRequest_10(r: Reader) -> MetadataRequest:
    n = read_c_null_count(r, 18)
    topics = None if n < 0 else [_read_MetadataRequestTopic_10(r) for _ in range(n)]
    allow_auto_topic_creation, include_cluster_authorized_operations, include_topic_authorized_operations = r.fixed(_S_ttt)
    skip_tags(r)
    return MetadataRequest(topics, allow_auto_topic_creation, include_cluster_authorized_operations, include_topic_authorized_operations)


def _read_MetadataRequest_11(r: Reader) -> MetadataRequest:
    n = read_c_null_count(r, 18)
    topics = None if n < 0 else [_read_MetadataRequestTopic_10(r) for _ in range(n)]
    allow_auto_topic_creation, include_topic_authorized_operations = r.fixed(_S_tt)
    skip_tags(r)
    return MetadataRequest(topics, allow_auto_topic_creation, False, include_topic_authorized_operations)


def _read_steps_MetadataRequest_0(r: Reader) -> Generator[None, None, MetadataRequest]:
    n = read_count(r, 2)
    topics: list[MetadataRequest.MetadataRequestTopic] = []
    if n <= FLAT_ELEMENTS:
        topics = [_read_MetadataRequestTopic_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            topics.append(_read_MetadataRequestTopic_0(r))
            if r.elements_ended(1):
                yield
    return MetadataRequest(topics)


def _read_steps_MetadataRequest_1(r: Reader) -> Generator[None, None, MetadataRequest]:
    n = read_null_count(r, 2)
    topics: list[MetadataRequest.MetadataRequestTopic] | None = None
    if n >= 0:
        topics_: list[MetadataRequest.MetadataRequestTopic] = []
        if n <= FLAT_ELEMENTS:
            topics_ = [_read_MetadataRequestTopic_0(r) for _ in range(n)]
            r.elements_of_step += n
        else:
            for _ in range(n):
                topics_.append(_read_MetadataRequestTopic_0(r))
                if r.elements_ended(1):
                    yield
        topics = topics_
    return MetadataRequest(topics)


def _read_steps_MetadataRequest_4(r: Reader) -> Generator[None, None, MetadataRequest]:
    n = read_null_count(r, 2)
    topics: list[MetadataRequest.MetadataRequestTopic] | None = None
    if n >= 0:
        topics_: list[MetadataRequest.MetadataRequestTopic] = []
        if n <= FLAT_ELEMENTS:
            topics_ = [_read_MetadataRequestTopic_0(r) for _ in range(n)]
            r.elements_of_step += n
        else:
            for _ in range(n):
                topics_.append(_read_MetadataRequestTopic_0(r))
                if r.elements_ended(1):
                    yield
        topics = topics_
    allow_auto_topic_creation, = r.fixed(_S_t)
    return MetadataRequest(topics, allow_auto_topic_creation)


def _read_steps_MetadataRequest_8(r: Reader) -> Generator[None, None, MetadataRequest]:
    n = read_null_count(r, 2)
    topics: list[MetadataRequest.MetadataRequestTopic] | None = None
    if n >= 0:
        topics_: list[MetadataRequest.MetadataRequestTopic] = []
        if n <= FLAT_ELEMENTS:
            topics_ = [_read_MetadataRequestTopic_0(r) for _ in range(n)]
            r.elements_of_step += n
        else:
            for _ in range(n):
                topics_.append(_read_MetadataRequestTopic_0(r))
                if r.elements_ended(1):
                    yield
        topics = topics_
    allow_auto_topic_creation, include_cluster_authorized_operations, include_topic_authorized_operations = r.fixed(_S_ttt)
    return MetadataRequest(topics, allow_auto_topic_creation, include_cluster_authorized_operations, include_topic_authorized_operations)


def _read_steps_MetadataRequest_9(r: Reader) -> Generator[None, None, MetadataRequest]:
    n = read_c_null_count(r, 2)
    topics: list[MetadataRequest.MetadataRequestTopic] | None = None
    if n >= 0:
        topics_: list[MetadataRequest.MetadataRequestTopic] = []
        if n <= FLAT_ELEMENTS:
            topics_ = [_read_MetadataRequestTopic_9(r) for _ in range(n)]
            r.elements_of_step += n
        else:
            for _ in range(n):
                topics_.append(_read_MetadataRequestTopic_9(r))
                if r.elements_ended(1):
                    yield
        topics = topics_
    allow_auto_topic_creation, include_cluster_authorized_operations, include_topic_authorized_operations = r.fixed(_S_ttt)
    skip_tags(r)
    return MetadataRequest(topics, allow_auto_topic_creation, include_cluster_authorized_operations, include_topic_authorized_operations)


def _read_steps_MetadataRequest_10(r: Reader) -> Generator[None, None, MetadataRequest]:
    n = read_c_null_count(r, 18)
    topics: list[MetadataRequest.MetadataRequestTopic] | None = None
    if n >= 0:
        topics_: list[MetadataRequest.MetadataRequestTopic] = []
        if n <= FLAT_ELEMENTS:
            topics_ = [_read_MetadataRequestTopic_10(r) for _ in range(n)]
            r.elements_of_step += n
        else:
            for _ in range(n):
                topics_.append(_read_MetadataRequestTopic_10(r))
                if r.elements_ended(1):
                    yield
        topics = topics_
    allow_auto_topic_creation, include_cluster_authorized_operations, include_topic_authorized_operations = r.fixed(_S_ttt)
    skip_tags(r)
    return MetadataRequest(topics, allow_auto_topic_creation, include_cluster_authorized_operations, include_topic_authorized_operations)


def _read_steps_MetadataRequest_11(r: Reader) -> Generator[None, None, MetadataRequest]:
    n = read_c_null_count(r, 18)
    topics: list[MetadataRequest.MetadataRequestTopic] | None = None
    if n >= 0:
        topics_: list[MetadataRequest.MetadataRequestTopic] = []
        if n <= FLAT_ELEMENTS:
            topics_ = [_read_MetadataRequestTopic_10(r) for _ in range(n)]
            r.elements_of_step += n
        else:
            for _ in range(n):
                topics_.append(_read_MetadataRequestTopic_10(r))
                if r.elements_ended(1):
                    yield
        topics = topics_
    allow_auto_topic_creation, include_topic_authorized_operations = r.fixed(_S_tt)
    skip_tags(r)
    return MetadataRequest(topics, allow_auto_topic_creation, False, include_topic_authorized_operations)


def _write_MetadataRequestTopic_0(out: bytearray, m: _MetadataRequestTopic) -> None:
    assert m.name is not None
    write_string(out, m.name)


def _write_MetadataRequest_0(out: bytearray, m: MetadataRequest) -> None:
    assert m.topics is not None
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_MetadataRequestTopic_0(out, it_topics)


def _write_MetadataRequest_1(out: bytearray, m: MetadataRequest) -> None:
    if m.topics is None:
        write_count(out, -1)
    else:
        write_count(out, len(m.topics))
        for it_topics in m.topics:
            _write_MetadataRequestTopic_0(out, it_topics)


def _write_MetadataRequest_4(out: bytearray, m: MetadataRequest) -> None:
    if m.topics is None:
        write_count(out, -1)
    else:
        write_count(out, len(m.topics))
        for it_topics in m.topics:
            _write_MetadataRequestTopic_0(out, it_topics)
    out += _P_t(m.allow_auto_topic_creation)


def _write_MetadataRequest_8(out: bytearray, m: MetadataRequest) -> None:
    if m.topics is None:
        write_count(out, -1)
    else:
        write_count(out, len(m.topics))
        for it_topics in m.topics:
            _write_MetadataRequestTopic_0(out, it_topics)
    out += _P_ttt(m.allow_auto_topic_creation, m.include_cluster_authorized_operations, m.include_topic_authorized_operations)


def _write_MetadataRequestTopic_9(out: bytearray, m: _MetadataRequestTopic) -> None:
    assert m.name is not None
    write_c_string(out, m.name)
    out.append(0)


def _write_MetadataRequest_9(out: bytearray, m: MetadataRequest) -> None:
    if m.topics is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.topics))
        for it_topics in m.topics:
            _write_MetadataRequestTopic_9(out, it_topics)
    out += _P_tttx(m.allow_auto_topic_creation, m.include_cluster_authorized_operations, m.include_topic_authorized_operations)


def _write_MetadataRequestTopic_10(out: bytearray, m: _MetadataRequestTopic) -> None:
    out += _P_u(uuid_bytes(m.topic_id))
    write_c_null_string(out, m.name)
    out.append(0)


def _write_MetadataRequest_10(out: bytearray, m: MetadataRequest) -> None:
    if m.topics is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.topics))
        for it_topics in m.topics:
            _write_MetadataRequestTopic_10(out, it_topics)
    out += _P_tttx(m.allow_auto_topic_creation, m.include_cluster_authorized_operations, m.include_topic_authorized_operations)


def _write_MetadataRequest_11(out: bytearray, m: MetadataRequest) -> None:
    if m.topics is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.topics))
        for it_topics in m.topics:
            _write_MetadataRequestTopic_10(out, it_topics)
    out += _P_ttx(m.allow_auto_topic_creation, m.include_topic_authorized_operations)


def _write_steps_MetadataRequest_0(o: Output, m: MetadataRequest) -> Generator[None, None, None]:
    out = o.buffer
    assert m.topics is not None
    write_count(out, len(m.topics))
    if len(m.topics) <= FLAT_ELEMENTS:
        for it_topics in m.topics:
            _write_MetadataRequestTopic_0(out, it_topics)
        if o.elements_ended(len(m.topics)):
            yield
    else:
        for it_topics in m.topics:
            _write_MetadataRequestTopic_0(out, it_topics)
            if o.elements_ended(1):
                yield


def _write_steps_MetadataRequest_1(o: Output, m: MetadataRequest) -> Generator[None, None, None]:
    out = o.buffer
    if m.topics is None:
        write_count(out, -1)
    else:
        write_count(out, len(m.topics))
        if len(m.topics) <= FLAT_ELEMENTS:
            for it_topics in m.topics:
                _write_MetadataRequestTopic_0(out, it_topics)
            if o.elements_ended(len(m.topics)):
                yield
        else:
            for it_topics in m.topics:
                _write_MetadataRequestTopic_0(out, it_topics)
                if o.elements_ended(1):
                    yield


def _write_steps_MetadataRequest_4(o: Output, m: MetadataRequest) -> Generator[None, None, None]:
    out = o.buffer
    if m.topics is None:
        write_count(out, -1)
    else:
        write_count(out, len(m.topics))
        if len(m.topics) <= FLAT_ELEMENTS:
            for it_topics in m.topics:
                _write_MetadataRequestTopic_0(out, it_topics)
            if o.elements_ended(len(m.topics)):
                yield
        else:
            for it_topics in m.topics:
                _write_MetadataRequestTopic_0(out, it_topics)
                if o.elements_ended(1):
                    yield
    out += _P_t(m.allow_auto_topic_creation)


def _write_steps_MetadataRequest_8(o: Output, m: MetadataRequest) -> Generator[None, None, None]:
    out = o.buffer
    if m.topics is None:
        write_count(out, -1)
    else:
        write_count(out, len(m.topics))
        if len(m.topics) <= FLAT_ELEMENTS:
            for it_topics in m.topics:
                _write_MetadataRequestTopic_0(out, it_topics)
            if o.elements_ended(len(m.topics)):
                yield
        else:
            for it_topics in m.topics:
                _write_MetadataRequestTopic_0(out, it_topics)
                if o.elements_ended(1):
                    yield
    out += _P_ttt(m.allow_auto_topic_creation, m.include_cluster_authorized_operations, m.include_topic_authorized_operations)


def _write_steps_MetadataRequest_9(o: Output, m: MetadataRequest) -> Generator[None, None, None]:
    out = o.buffer
    if m.topics is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.topics))
        if len(m.topics) <= FLAT_ELEMENTS:
            for it_topics in m.topics:
                _write_MetadataRequestTopic_9(out, it_topics)
            if o.elements_ended(len(m.topics)):
                yield
        else:
            for it_topics in m.topics:
                _write_MetadataRequestTopic_9(out, it_topics)
                if o.elements_ended(1):
                    yield
    out += _P_tttx(m.allow_auto_topic_creation, m.include_cluster_authorized_operations, m.include_topic_authorized_operations)


def _write_steps_MetadataRequest_10(o: Output, m: MetadataRequest) -> Generator[None, None, None]:
    out = o.buffer
    if m.topics is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.topics))
        if len(m.topics) <= FLAT_ELEMENTS:
            for it_topics in m.topics:
                _write_MetadataRequestTopic_10(out, it_topics)
            if o.elements_ended(len(m.topics)):
                yield
        else:
            for it_topics in m.topics:
                _write_MetadataRequestTopic_10(out, it_topics)
                if o.elements_ended(1):
                    yield
    out += _P_tttx(m.allow_auto_topic_creation, m.include_cluster_authorized_operations, m.include_topic_authorized_operations)


def _write_steps_MetadataRequest_11(o: Output, m: MetadataRequest) -> Generator[None, None, None]:
    out = o.buffer
    if m.topics is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.topics))
        if len(m.topics) <= FLAT_ELEMENTS:
            for it_topics in m.topics:
                _write_MetadataRequestTopic_10(out, it_topics)
            if o.elements_ended(len(m.topics)):
                yield
        else:
            for it_topics in m.topics:
                _write_MetadataRequestTopic_10(out, it_topics)
                if o.elements_ended(1):
                    yield
    out += _P_ttx(m.allow_auto_topic_creation, m.include_topic_authorized_operations)


def _read_MetadataResponseBroker_0(r: Reader) -> _MetadataResponseBroker:
    node_id, = r.fixed(_S_i)
    host = read_string(r)
    port, = r.fixed(_S_i)
    return _MetadataResponseBroker(node_id, host, port)


def _read_MetadataResponsePartition_0(r: Reader) -> _MetadataResponsePartition:
    error_code, partition_index, leader_id = r.fixed(_S_hii)
    replica_nodes = read_numbers(r, "i", 4)
    isr_nodes = read_numbers(r, "i", 4)
    return _MetadataResponsePartition(error_code, partition_index, leader_id, -1, replica_nodes, isr_nodes)


def _read_MetadataResponseTopic_0(r: Reader) -> _MetadataResponseTopic:
    error_code, = r.fixed(_S_h)
    name = read_string(r)
    n = read_count(r, 18)
    partitions = [_read_MetadataResponsePartition_0(r) for _ in range(n)]
    return _MetadataResponseTopic(error_code, name, None, False, partitions)


def _read_MetadataResponse_0(r: Reader) -> MetadataResponse:
    n = read_count(r, 10)
    brokers = [_read_MetadataResponseBroker_0(r) for _ in range(n)]
    n = read_count(r, 8)
    topics = [_read_MetadataResponseTopic_0(r) for _ in range(n)]
    return MetadataResponse(0, brokers, None, -1, topics)


def _read_MetadataResponseBroker_1(r: Reader) -> _MetadataResponseBroker:
    node_id, = r.fixed(_S_i)
    host = read_string(r)
    port, = r.fixed(_S_i)
    rack = read_null_string(r)
    return _MetadataResponseBroker(node_id, host, port, rack)


def _read_MetadataResponseTopic_1(r: Reader) -> _MetadataResponseTopic:
    error_code, = r.fixed(_S_h)
    name = read_string(r)
    is_internal, = r.fixed(_S_t)
    n = read_count(r, 18)
    partitions = [_read_MetadataResponsePartition_0(r) for _ in range(n)]
    return _MetadataResponseTopic(error_code, name, None, is_internal, partitions)


def _read_MetadataResponse_1(r: Reader) -> MetadataResponse:
    n = read_count(r, 12)
    brokers = [_read_MetadataResponseBroker_1(r) for _ in range(n)]
    controller_id, = r.fixed(_S_i)
    n = read_count(r, 9)
    topics = [_read_MetadataResponseTopic_1(r) for _ in range(n)]
    return MetadataResponse(0, brokers, None, controller_id, topics)


def _read_MetadataResponse_2(r: Reader) -> MetadataResponse:
    n = read_count(r, 12)
    brokers = [_read_MetadataResponseBroker_1(r) for _ in range(n)]
    cluster_id = read_null_string(r)
    controller_id, = r.fixed(_S_i)
    n = read_count(r, 9)
    topics = [_read_MetadataResponseTopic_1(r) for _ in range(n)]
    return MetadataResponse(0, brokers, cluster_id, controller_id, topics)


def _read_MetadataResponse_3(r: Reader) -> MetadataResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 12)
    brokers = [_read_MetadataResponseBroker_1(r) for _ in range(n)]
    cluster_id = read_null_string(r)
    controller_id, = r.fixed(_S_i)
    n = read_count(r, 9)
    topics = [_read_MetadataResponseTopic_1(r) for _ in range(n)]
    return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics)


def _read_MetadataResponsePartition_5(r: Reader) -> _MetadataResponsePartition:
    error_code, partition_index, leader_id = r.fixed(_S_hii)
    replica_nodes = read_numbers(r, "i", 4)
    isr_nodes = read_numbers(r, "i", 4)
    offline_replicas = read_numbers(r, "i", 4)
    return _MetadataResponsePartition(error_code, partition_index, leader_id, -1, replica_nodes, isr_nodes, offline_replicas)


def _read_MetadataResponseTopic_5(r: Reader) -> _MetadataResponseTopic:
    error_code, = r.fixed(_S_h)
    name = read_string(r)
    is_internal, = r.fixed(_S_t)
    n = read_count(r, 22)
    partitions = [_read_MetadataResponsePartition_5(r) for _ in range(n)]
    return _MetadataResponseTopic(error_code, name, None, is_internal, partitions)


def _read_MetadataResponse_5(r: Reader) -> MetadataResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 12)
    brokers = [_read_MetadataResponseBroker_1(r) for _ in range(n)]
    cluster_id = read_null_string(r)
    controller_id, = r.fixed(_S_i)
    n = read_count(r, 9)
    topics = [_read_MetadataResponseTopic_5(r) for _ in range(n)]
    return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics)


def _read_MetadataResponsePartition_7(r: Reader) -> _MetadataResponsePartition:
    error_code, partition_index, leader_id, leader_epoch = r.fixed(_S_hiii)
    replica_nodes = read_numbers(r, "i", 4)
    isr_nodes = read_numbers(r, "i", 4)
    offline_replicas = read_numbers(r, "i", 4)
    return _MetadataResponsePartition(error_code, partition_index, leader_id, leader_epoch, replica_nodes, isr_nodes, offline_replicas)


def _read_MetadataResponseTopic_7(r: Reader) -> _MetadataResponseTopic:
    error_code, = r.fixed(_S_h)
    name = read_string(r)
    is_internal, = r.fixed(_S_t)
    n = read_count(r, 26)
    partitions = [_read_MetadataResponsePartition_7(r) for _ in range(n)]
    return _MetadataResponseTopic(error_code, name, None, is_internal, partitions)


def _read_MetadataResponse_7(r: Reader) -> MetadataResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 12)
    brokers = [_read_MetadataResponseBroker_1(r) for _ in range(n)]
    cluster_id = read_null_string(r)
    controller_id, = r.fixed(_S_i)
    n = read_count(r, 9)
    topics = [_read_MetadataResponseTopic_7(r) for _ in range(n)]
    return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics)


def _read_MetadataResponseTopic_8(r: Reader) -> _MetadataResponseTopic:
    error_code, = r.fixed(_S_h)
    name = read_string(r)
    is_internal, = r.fixed(_S_t)
    n = read_count(r, 26)
    partitions = [_read_MetadataResponsePartition_7(r) for _ in range(n)]
    topic_authorized_operations, = r.fixed(_S_i)
    return _MetadataResponseTopic(error_code, name, None, is_internal, partitions, topic_authorized_operations)


def _read_MetadataResponse_8(r: Reader) -> MetadataResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 12)
    brokers = [_read_MetadataResponseBroker_1(r) for _ in range(n)]
    cluster_id = read_null_string(r)
    controller_id, = r.fixed(_S_i)
    n = read_count(r, 13)
    topics = [_read_MetadataResponseTopic_8(r) for _ in range(n)]
    cluster_authorized_operations, = r.fixed(_S_i)
    return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics, cluster_authorized_operations)


def _read_MetadataResponseBroker_9(r: Reader) -> _MetadataResponseBroker:
    node_id, = r.fixed(_S_i)
    host = read_c_string(r)
    port, = r.fixed(_S_i)
    rack = read_c_null_string(r)
    skip_tags(r)
    return _MetadataResponseBroker(node_id, host, port, rack)


def _read_MetadataResponsePartition_9(r: Reader) -> _MetadataResponsePartition:
    error_code, partition_index, leader_id, leader_epoch = r.fixed(_S_hiii)
    replica_nodes = read_c_numbers(r, "i", 4)
    isr_nodes = read_c_numbers(r, "i", 4)
    offline_replicas = read_c_numbers(r, "i", 4)
    skip_tags(r)
    return _MetadataResponsePartition(error_code, partition_index, leader_id, leader_epoch, replica_nodes, isr_nodes, offline_replicas)


def _read_MetadataResponseTopic_9(r: Reader) -> _MetadataResponseTopic:
    error_code, = r.fixed(_S_h)
    name = read_c_string(r)
    is_internal, = r.fixed(_S_t)
    n = read_c_count(r, 18)
    partitions = [_read_MetadataResponsePartition_9(r) for _ in range(n)]
    topic_authorized_operations, = r.fixed(_S_i)
    skip_tags(r)
    return _MetadataResponseTopic(error_code, name, None, is_internal, partitions, topic_authorized_operations)


def _read_MetadataResponse_9(r: Reader) -> MetadataResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 11)
    brokers = [_read_MetadataResponseBroker_9(r) for _ in range(n)]
    cluster_id = read_c_null_string(r)
    controller_id, = r.fixed(_S_i)
    n = read_c_count(r, 10)
    topics = [_read_MetadataResponseTopic_9(r) for _ in range(n)]
    cluster_authorized_operations, = r.fixed(_S_i)
    skip_tags(r)
    return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics, cluster_authorized_operations)


def _read_MetadataResponseTopic_10(r: Reader) -> _MetadataResponseTopic:
    error_code, = r.fixed(_S_h)
    name = read_c_string(r)
    topic_id, is_internal = r.fixed(_S_ut)
    n = read_c_count(r, 18)
    partitions = [_read_MetadataResponsePartition_9(r) for _ in range(n)]
    topic_authorized_operations, = r.fixed(_S_i)
    skip_tags(r)
    return _MetadataResponseTopic(error_code, name, uuid_of(topic_id), is_internal, partitions, topic_authorized_operations)


def _read_MetadataResponse_10(r: Reader) -> MetadataResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 11)
    brokers = [_read_MetadataResponseBroker_9(r) for _ in range(n)]
    cluster_id = read_c_null_string(r)
    controller_id, = r.fixed(_S_i)
    n = read_c_count(r, 26)
    topics = [_read_MetadataResponseTopic_10(r) for _ in range(n)]
    cluster_authorized_operations, = r.fixed(_S_i)
    skip_tags(r)
    return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics, cluster_authorized_operations)


def _read_MetadataResponse_11(r: Reader) -> MetadataResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 11)
    brokers = [_read_MetadataResponseBroker_9(r) for _ in range(n)]
    cluster_id = read_c_null_string(r)
    controller_id, = r.fixed(_S_i)
    n = read_c_count(r, 26)
    topics = [_read_MetadataResponseTopic_10(r) for _ in range(n)]
    skip_tags(r)
    return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics)


def _read_MetadataResponseTopic_12(r: Reader) -> _MetadataResponseTopic:
    error_code, = r.fixed(_S_h)
    name = read_c_null_string(r)
    topic_id, is_internal = r.fixed(_S_ut)
    n = read_c_count(r, 18)
    partitions = [_read_MetadataResponsePartition_9(r) for _ in range(n)]
    topic_authorized_operations, = r.fixed(_S_i)
    skip_tags(r)
    return _MetadataResponseTopic(error_code, name, uuid_of(topic_id), is_internal, partitions, topic_authorized_operations)


def _read_MetadataResponse_12(r: Reader) -> MetadataResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 11)
    brokers = [_read_MetadataResponseBroker_9(r) for _ in range(n)]
    cluster_id = read_c_null_string(r)
    controller_id, = r.fixed(_S_i)
    n = read_c_count(r, 26)
    topics = [_read_MetadataResponseTopic_12(r) for _ in range(n)]
    skip_tags(r)
    return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics)


def _read_MetadataResponse_13(r: Reader) -> MetadataResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 11)
    brokers = [_read_MetadataResponseBroker_9(r) for _ in range(n)]
    cluster_id = read_c_null_string(r)
    controller_id, = r.fixed(_S_i)
    n = read_c_count(r, 26)
    topics = [_read_MetadataResponseTopic_12(r) for _ in range(n)]
    error_code, = r.fixed(_S_h)
    skip_tags(r)
    return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics, -2147483648, error_code)


def _read_steps_MetadataResponseTopic_0(r: Reader) -> Generator[None, None, _MetadataResponseTopic]:
    error_code, = r.fixed(_S_h)
    name = read_string(r)
    n = read_count(r, 18)
    partitions: list[MetadataResponse.MetadataResponseTopic.MetadataResponsePartition] = []
    for some in batches(n):
        partitions += [_read_MetadataResponsePartition_0(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    return _MetadataResponseTopic(error_code, name, None, False, partitions)


def _read_steps_MetadataResponse_0(r: Reader) -> Generator[None, None, MetadataResponse]:
    n = read_count(r, 10)
    brokers: list[MetadataResponse.MetadataResponseBroker] = []
    if n <= FLAT_ELEMENTS:
        brokers = [_read_MetadataResponseBroker_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            brokers.append(_read_MetadataResponseBroker_0(r))
            if r.elements_ended(1):
                yield
    n = read_count(r, 8)
    topics: list[MetadataResponse.MetadataResponseTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_MetadataResponseTopic_0(r)))
        if r.elements_ended(1):
            yield
    return MetadataResponse(0, brokers, None, -1, topics)


def _read_steps_MetadataResponseTopic_1(r: Reader) -> Generator[None, None, _MetadataResponseTopic]:
    error_code, = r.fixed(_S_h)
    name = read_string(r)
    is_internal, = r.fixed(_S_t)
    n = read_count(r, 18)
    partitions: list[MetadataResponse.MetadataResponseTopic.MetadataResponsePartition] = []
    for some in batches(n):
        partitions += [_read_MetadataResponsePartition_0(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    return _MetadataResponseTopic(error_code, name, None, is_internal, partitions)


def _read_steps_MetadataResponse_1(r: Reader) -> Generator[None, None, MetadataResponse]:
    n = read_count(r, 12)
    brokers: list[MetadataResponse.MetadataResponseBroker] = []
    if n <= FLAT_ELEMENTS:
        brokers = [_read_MetadataResponseBroker_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            brokers.append(_read_MetadataResponseBroker_1(r))
            if r.elements_ended(1):
                yield
    controller_id, = r.fixed(_S_i)
    n = read_count(r, 9)
    topics: list[MetadataResponse.MetadataResponseTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_MetadataResponseTopic_1(r)))
        if r.elements_ended(1):
            yield
    return MetadataResponse(0, brokers, None, controller_id, topics)


def _read_steps_MetadataResponse_2(r: Reader) -> Generator[None, None, MetadataResponse]:
    n = read_count(r, 12)
    brokers: list[MetadataResponse.MetadataResponseBroker] = []
    if n <= FLAT_ELEMENTS:
        brokers = [_read_MetadataResponseBroker_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            brokers.append(_read_MetadataResponseBroker_1(r))
            if r.elements_ended(1):
                yield
    cluster_id = read_null_string(r)
    controller_id, = r.fixed(_S_i)
    n = read_count(r, 9)
    topics: list[MetadataResponse.MetadataResponseTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_MetadataResponseTopic_1(r)))
        if r.elements_ended(1):
            yield
    return MetadataResponse(0, brokers, cluster_id, controller_id, topics)


def _read_steps_MetadataResponse_3(r: Reader) -> Generator[None, None, MetadataResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 12)
    brokers: list[MetadataResponse.MetadataResponseBroker] = []
    if n <= FLAT_ELEMENTS:
        brokers = [_read_MetadataResponseBroker_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            brokers.append(_read_MetadataResponseBroker_1(r))
            if r.elements_ended(1):
                yield
    cluster_id = read_null_string(r)
    controller_id, = r.fixed(_S_i)
    n = read_count(r, 9)
    topics: list[MetadataResponse.MetadataResponseTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_MetadataResponseTopic_1(r)))
        if r.elements_ended(1):
            yield
    return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics)


def _read_steps_MetadataResponseTopic_5(r: Reader) -> Generator[None, None, _MetadataResponseTopic]:
    error_code, = r.fixed(_S_h)
    name = read_string(r)
    is_internal, = r.fixed(_S_t)
    n = read_count(r, 22)
    partitions: list[MetadataResponse.MetadataResponseTopic.MetadataResponsePartition] = []
    for some in batches(n):
        partitions += [_read_MetadataResponsePartition_5(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    return _MetadataResponseTopic(error_code, name, None, is_internal, partitions)


def _read_steps_MetadataResponse_5(r: Reader) -> Generator[None, None, MetadataResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 12)
    brokers: list[MetadataResponse.MetadataResponseBroker] = []
    if n <= FLAT_ELEMENTS:
        brokers = [_read_MetadataResponseBroker_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            brokers.append(_read_MetadataResponseBroker_1(r))
            if r.elements_ended(1):
                yield
    cluster_id = read_null_string(r)
    controller_id, = r.fixed(_S_i)
    n = read_count(r, 9)
    topics: list[MetadataResponse.MetadataResponseTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_MetadataResponseTopic_5(r)))
        if r.elements_ended(1):
            yield
    return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics)


def _read_steps_MetadataResponseTopic_7(r: Reader) -> Generator[None, None, _MetadataResponseTopic]:
    error_code, = r.fixed(_S_h)
    name = read_string(r)
    is_internal, = r.fixed(_S_t)
    n = read_count(r, 26)
    partitions: list[MetadataResponse.MetadataResponseTopic.MetadataResponsePartition] = []
    for some in batches(n):
        partitions += [_read_MetadataResponsePartition_7(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    return _MetadataResponseTopic(error_code, name, None, is_internal, partitions)


def _read_steps_MetadataResponse_7(r: Reader) -> Generator[None, None, MetadataResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 12)
    brokers: list[MetadataResponse.MetadataResponseBroker] = []
    if n <= FLAT_ELEMENTS:
        brokers = [_read_MetadataResponseBroker_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            brokers.append(_read_MetadataResponseBroker_1(r))
            if r.elements_ended(1):
                yield
    cluster_id = read_null_string(r)
    controller_id, = r.fixed(_S_i)
    n = read_count(r, 9)
    topics: list[MetadataResponse.MetadataResponseTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_MetadataResponseTopic_7(r)))
        if r.elements_ended(1):
            yield
    return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics)


def _read_steps_MetadataResponseTopic_8(r: Reader) -> Generator[None, None, _MetadataResponseTopic]:
    error_code, = r.fixed(_S_h)
    name = read_string(r)
    is_internal, = r.fixed(_S_t)
    n = read_count(r, 26)
    partitions: list[MetadataResponse.MetadataResponseTopic.MetadataResponsePartition] = []
    for some in batches(n):
        partitions += [_read_MetadataResponsePartition_7(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    topic_authorized_operations, = r.fixed(_S_i)
    return _MetadataResponseTopic(error_code, name, None, is_internal, partitions, topic_authorized_operations)


def _read_steps_MetadataResponse_8(r: Reader) -> Generator[None, None, MetadataResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 12)
    brokers: list[MetadataResponse.MetadataResponseBroker] = []
    if n <= FLAT_ELEMENTS:
        brokers = [_read_MetadataResponseBroker_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            brokers.append(_read_MetadataResponseBroker_1(r))
            if r.elements_ended(1):
                yield
    cluster_id = read_null_string(r)
    controller_id, = r.fixed(_S_i)
    n = read_count(r, 13)
    topics: list[MetadataResponse.MetadataResponseTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_MetadataResponseTopic_8(r)))
        if r.elements_ended(1):
            yield
    cluster_authorized_operations, = r.fixed(_S_i)
    return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics, cluster_authorized_operations)


def _read_steps_MetadataResponseTopic_9(r: Reader) -> Generator[None, None, _MetadataResponseTopic]:
    error_code, = r.fixed(_S_h)
    name = read_c_string(r)
    is_internal, = r.fixed(_S_t)
    n = read_c_count(r, 18)
    partitions: list[MetadataResponse.MetadataResponseTopic.MetadataResponsePartition] = []
    for some in batches(n):
        partitions += [_read_MetadataResponsePartition_9(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    topic_authorized_operations, = r.fixed(_S_i)
    skip_tags(r)
    return _MetadataResponseTopic(error_code, name, None, is_internal, partitions, topic_authorized_operations)


def _read_steps_MetadataResponse_9(r: Reader) -> Generator[None, None, MetadataResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 11)
    brokers: list[MetadataResponse.MetadataResponseBroker] = []
    if n <= FLAT_ELEMENTS:
        brokers = [_read_MetadataResponseBroker_9(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            brokers.append(_read_MetadataResponseBroker_9(r))
            if r.elements_ended(1):
                yield
    cluster_id = read_c_null_string(r)
    controller_id, = r.fixed(_S_i)
    n = read_c_count(r, 10)
    topics: list[MetadataResponse.MetadataResponseTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_MetadataResponseTopic_9(r)))
        if r.elements_ended(1):
            yield
    cluster_authorized_operations, = r.fixed(_S_i)
    skip_tags(r)
    return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics, cluster_authorized_operations)


def _read_steps_MetadataResponseTopic_10(r: Reader) -> Generator[None, None, _MetadataResponseTopic]:
    error_code, = r.fixed(_S_h)
    name = read_c_string(r)
    topic_id, is_internal = r.fixed(_S_ut)
    n = read_c_count(r, 18)
    partitions: list[MetadataResponse.MetadataResponseTopic.MetadataResponsePartition] = []
    for some in batches(n):
        partitions += [_read_MetadataResponsePartition_9(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    topic_authorized_operations, = r.fixed(_S_i)
    skip_tags(r)
    return _MetadataResponseTopic(error_code, name, uuid_of(topic_id), is_internal, partitions, topic_authorized_operations)


def _read_steps_MetadataResponse_10(r: Reader) -> Generator[None, None, MetadataResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 11)
    brokers: list[MetadataResponse.MetadataResponseBroker] = []
    if n <= FLAT_ELEMENTS:
        brokers = [_read_MetadataResponseBroker_9(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            brokers.append(_read_MetadataResponseBroker_9(r))
            if r.elements_ended(1):
                yield
    cluster_id = read_c_null_string(r)
    controller_id, = r.fixed(_S_i)
    n = read_c_count(r, 26)
    topics: list[MetadataResponse.MetadataResponseTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_MetadataResponseTopic_10(r)))
        if r.elements_ended(1):
            yield
    cluster_authorized_operations, = r.fixed(_S_i)
    skip_tags(r)
    return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics, cluster_authorized_operations)


def _read_steps_MetadataResponse_11(r: Reader) -> Generator[None, None, MetadataResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 11)
    brokers: list[MetadataResponse.MetadataResponseBroker] = []
    if n <= FLAT_ELEMENTS:
        brokers = [_read_MetadataResponseBroker_9(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            brokers.append(_read_MetadataResponseBroker_9(r))
            if r.elements_ended(1):
                yield
    cluster_id = read_c_null_string(r)
    controller_id, = r.fixed(_S_i)
    n = read_c_count(r, 26)
    topics: list[MetadataResponse.MetadataResponseTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_MetadataResponseTopic_10(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics)


def _read_steps_MetadataResponseTopic_12(r: Reader) -> Generator[None, None, _MetadataResponseTopic]:
    error_code, = r.fixed(_S_h)
    name = read_c_null_string(r)
    topic_id, is_internal = r.fixed(_S_ut)
    n = read_c_count(r, 18)
    partitions: list[MetadataResponse.MetadataResponseTopic.MetadataResponsePartition] = []
    for some in batches(n):
        partitions += [_read_MetadataResponsePartition_9(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    topic_authorized_operations, = r.fixed(_S_i)
    skip_tags(r)
    return _MetadataResponseTopic(error_code, name, uuid_of(topic_id), is_internal, partitions, topic_authorized_operations)


def _read_steps_MetadataResponse_12(r: Reader) -> Generator[None, None, MetadataResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 11)
    brokers: list[MetadataResponse.MetadataResponseBroker] = []
    if n <= FLAT_ELEMENTS:
        brokers = [_read_MetadataResponseBroker_9(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            brokers.append(_read_MetadataResponseBroker_9(r))
            if r.elements_ended(1):
                yield
    cluster_id = read_c_null_string(r)
    controller_id, = r.fixed(_S_i)
    n = read_c_count(r, 26)
    topics: list[MetadataResponse.MetadataResponseTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_MetadataResponseTopic_12(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics)


def _read_steps_MetadataResponse_13(r: Reader) -> Generator[None, None, MetadataResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 11)
    brokers: list[MetadataResponse.MetadataResponseBroker] = []
    if n <= FLAT_ELEMENTS:
        brokers = [_read_MetadataResponseBroker_9(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            brokers.append(_read_MetadataResponseBroker_9(r))
            if r.elements_ended(1):
                yield
    cluster_id = read_c_null_string(r)
    controller_id, = r.fixed(_S_i)
    n = read_c_count(r, 26)
    topics: list[MetadataResponse.MetadataResponseTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_MetadataResponseTopic_12(r)))
        if r.elements_ended(1):
            yield
    error_code, = r.fixed(_S_h)
    skip_tags(r)
    return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics, -2147483648, error_code)


def _write_MetadataResponseBroker_0(out: bytearray, m: _MetadataResponseBroker) -> None:
    out += _P_i(m.node_id)
    write_string(out, m.host)
    out += _P_i(m.port)


def _write_MetadataResponsePartition_0(out: bytearray, m: _MetadataResponsePartition) -> None:
    n1 = len(m.replica_nodes)
    n2 = len(m.isr_nodes)
    out += _R_hii_ii_ii[n1, n2](m.error_code, m.partition_index, m.leader_id, n1, *m.replica_nodes, n2, *m.isr_nodes)


def _write_MetadataResponseTopic_0(out: bytearray, m: _MetadataResponseTopic) -> None:
    out += _P_h(m.error_code)
    assert m.name is not None
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_MetadataResponsePartition_0(out, it_partitions)


def _write_MetadataResponse_0(out: bytearray, m: MetadataResponse) -> None:
    write_count(out, len(m.brokers))
    for it_brokers in m.brokers:
        _write_MetadataResponseBroker_0(out, it_brokers)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        if isinstance(it_topics, EncodedElement):
            out += it_topics
            continue
        _write_MetadataResponseTopic_0(out, it_topics)


def _write_MetadataResponseBroker_1(out: bytearray, m: _MetadataResponseBroker) -> None:
    out += _P_i(m.node_id)
    write_string(out, m.host)
    out += _P_i(m.port)
    write_null_string(out, m.rack)


def _write_MetadataResponseTopic_1(out: bytearray, m: _MetadataResponseTopic) -> None:
    out += _P_h(m.error_code)
    assert m.name is not None
    write_string(out, m.name)
    out += _P_t(m.is_internal)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_MetadataResponsePartition_0(out, it_partitions)


def _write_MetadataResponse_1(out: bytearray, m: MetadataResponse) -> None:
    write_count(out, len(m.brokers))
    for it_brokers in m.brokers:
        _write_MetadataResponseBroker_1(out, it_brokers)
    out += _P_i(m.controller_id)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        if isinstance(it_topics, EncodedElement):
            out += it_topics
            continue
        _write_MetadataResponseTopic_1(out, it_topics)


def _write_MetadataResponse_2(out: bytearray, m: MetadataResponse) -> None:
    write_count(out, len(m.brokers))
    for it_brokers in m.brokers:
        _write_MetadataResponseBroker_1(out, it_brokers)
    write_null_string(out, m.cluster_id)
    out += _P_i(m.controller_id)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        if isinstance(it_topics, EncodedElement):
            out += it_topics
            continue
        _write_MetadataResponseTopic_1(out, it_topics)


def _write_MetadataResponse_3(out: bytearray, m: MetadataResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.brokers))
    for it_brokers in m.brokers:
        _write_MetadataResponseBroker_1(out, it_brokers)
    write_null_string(out, m.cluster_id)
    out += _P_i(m.controller_id)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        if isinstance(it_topics, EncodedElement):
            out += it_topics
            continue
        _write_MetadataResponseTopic_1(out, it_topics)


def _write_MetadataResponsePartition_5(out: bytearray, m: _MetadataResponsePartition) -> None:
    n1 = len(m.replica_nodes)
    n2 = len(m.isr_nodes)
    n3 = len(m.offline_replicas)
    out += _R_hii_ii_ii_ii[n1, n2, n3](m.error_code, m.partition_index, m.leader_id, n1, *m.replica_nodes, n2, *m.isr_nodes, n3, *m.offline_replicas)


def _write_MetadataResponseTopic_5(out: bytearray, m: _MetadataResponseTopic) -> None:
    out += _P_h(m.error_code)
    assert m.name is not None
    write_string(out, m.name)
    out += _P_t(m.is_internal)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_MetadataResponsePartition_5(out, it_partitions)


def _write_MetadataResponse_5(out: bytearray, m: MetadataResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.brokers))
    for it_brokers in m.brokers:
        _write_MetadataResponseBroker_1(out, it_brokers)
    write_null_string(out, m.cluster_id)
    out += _P_i(m.controller_id)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        if isinstance(it_topics, EncodedElement):
            out += it_topics
            continue
        _write_MetadataResponseTopic_5(out, it_topics)


def _write_MetadataResponsePartition_7(out: bytearray, m: _MetadataResponsePartition) -> None:
    n1 = len(m.replica_nodes)
    n2 = len(m.isr_nodes)
    n3 = len(m.offline_replicas)
    out += _R_hiii_ii_ii_ii[n1, n2, n3](m.error_code, m.partition_index, m.leader_id, m.leader_epoch, n1, *m.replica_nodes, n2, *m.isr_nodes, n3, *m.offline_replicas)


def _write_MetadataResponseTopic_7(out: bytearray, m: _MetadataResponseTopic) -> None:
    out += _P_h(m.error_code)
    assert m.name is not None
    write_string(out, m.name)
    out += _P_t(m.is_internal)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_MetadataResponsePartition_7(out, it_partitions)


def _write_MetadataResponse_7(out: bytearray, m: MetadataResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.brokers))
    for it_brokers in m.brokers:
        _write_MetadataResponseBroker_1(out, it_brokers)
    write_null_string(out, m.cluster_id)
    out += _P_i(m.controller_id)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        if isinstance(it_topics, EncodedElement):
            out += it_topics
            continue
        _write_MetadataResponseTopic_7(out, it_topics)


def _write_MetadataResponseTopic_8(out: bytearray, m: _MetadataResponseTopic) -> None:
    out += _P_h(m.error_code)
    assert m.name is not None
    write_string(out, m.name)
    out += _P_t(m.is_internal)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_MetadataResponsePartition_7(out, it_partitions)
    out += _P_i(m.topic_authorized_operations)


def _write_MetadataResponse_8(out: bytearray, m: MetadataResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.brokers))
    for it_brokers in m.brokers:
        _write_MetadataResponseBroker_1(out, it_brokers)
    write_null_string(out, m.cluster_id)
    out += _P_i(m.controller_id)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        if isinstance(it_topics, EncodedElement):
            out += it_topics
            continue
        _write_MetadataResponseTopic_8(out, it_topics)
    out += _P_i(m.cluster_authorized_operations)


def _write_MetadataResponseBroker_9(out: bytearray, m: _MetadataResponseBroker) -> None:
    out += _P_i(m.node_id)
    write_c_string(out, m.host)
    out += _P_i(m.port)
    write_c_null_string(out, m.rack)
    out.append(0)


def _write_MetadataResponsePartition_9(out: bytearray, m: _MetadataResponsePartition) -> None:
    n1 = len(m.replica_nodes)
    n2 = len(m.isr_nodes)
    n3 = len(m.offline_replicas)
    out += _R_hiii_Bi_Bi_Bi_x[n1, n2, n3](m.error_code, m.partition_index, m.leader_id, m.leader_epoch, n1 + 1, *m.replica_nodes, n2 + 1, *m.isr_nodes, n3 + 1, *m.offline_replicas)


def _write_MetadataResponseTopic_9(out: bytearray, m: _MetadataResponseTopic) -> None:
    out += _P_h(m.error_code)
    assert m.name is not None
    write_c_string(out, m.name)
    out += _P_t(m.is_internal)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_MetadataResponsePartition_9(out, it_partitions)
    out += _P_ix(m.topic_authorized_operations)


def _write_MetadataResponse_9(out: bytearray, m: MetadataResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.brokers))
    for it_brokers in m.brokers:
        _write_MetadataResponseBroker_9(out, it_brokers)
    write_c_null_string(out, m.cluster_id)
    out += _P_i(m.controller_id)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        if isinstance(it_topics, EncodedElement):
            out += it_topics
            continue
        _write_MetadataResponseTopic_9(out, it_topics)
    out += _P_ix(m.cluster_authorized_operations)


def _write_MetadataResponseTopic_10(out: bytearray, m: _MetadataResponseTopic) -> None:
    out += _P_h(m.error_code)
    assert m.name is not None
    write_c_string(out, m.name)
    out += _P_ut(uuid_bytes(m.topic_id), m.is_internal)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_MetadataResponsePartition_9(out, it_partitions)
    out += _P_ix(m.topic_authorized_operations)


def _write_MetadataResponse_10(out: bytearray, m: MetadataResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.brokers))
    for it_brokers in m.brokers:
        _write_MetadataResponseBroker_9(out, it_brokers)
    write_c_null_string(out, m.cluster_id)
    out += _P_i(m.controller_id)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        if isinstance(it_topics, EncodedElement):
            out += it_topics
            continue
        _write_MetadataResponseTopic_10(out, it_topics)
    out += _P_ix(m.cluster_authorized_operations)


def _write_MetadataResponse_11(out: bytearray, m: MetadataResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.brokers))
    for it_brokers in m.brokers:
        _write_MetadataResponseBroker_9(out, it_brokers)
    write_c_null_string(out, m.cluster_id)
    out += _P_i(m.controller_id)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        if isinstance(it_topics, EncodedElement):
            out += it_topics
            continue
        _write_MetadataResponseTopic_10(out, it_topics)
    out.append(0)


def _write_MetadataResponseTopic_12(out: bytearray, m: _MetadataResponseTopic) -> None:
    out += _P_h(m.error_code)
    write_c_null_string(out, m.name)
    out += _P_ut(uuid_bytes(m.topic_id), m.is_internal)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_MetadataResponsePartition_9(out, it_partitions)
    out += _P_ix(m.topic_authorized_operations)


def _write_MetadataResponse_12(out: bytearray, m: MetadataResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.brokers))
    for it_brokers in m.brokers:
        _write_MetadataResponseBroker_9(out, it_brokers)
    write_c_null_string(out, m.cluster_id)
    out += _P_i(m.controller_id)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        if isinstance(it_topics, EncodedElement):
            out += it_topics
            continue
        _write_MetadataResponseTopic_12(out, it_topics)
    out.append(0)


def _write_MetadataResponse_13(out: bytearray, m: MetadataResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.brokers))
    for it_brokers in m.brokers:
        _write_MetadataResponseBroker_9(out, it_brokers)
    write_c_null_string(out, m.cluster_id)
    out += _P_i(m.controller_id)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        if isinstance(it_topics, EncodedElement):
            out += it_topics
            continue
        _write_MetadataResponseTopic_12(out, it_topics)
    out += _P_hx(m.error_code)


def _write_steps_MetadataResponseTopic_0(o: Output, m: _MetadataResponseTopic) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    assert m.name is not None
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_MetadataResponsePartition_0(out, it_partitions)
        if o.elements_ended(some):
            yield


def _write_steps_MetadataResponse_0(o: Output, m: MetadataResponse) -> Generator[None, None, None]:
    out = o.buffer
    write_count(out, len(m.brokers))
    if len(m.brokers) <= FLAT_ELEMENTS:
        for it_brokers in m.brokers:
            _write_MetadataResponseBroker_0(out, it_brokers)
        if o.elements_ended(len(m.brokers)):
            yield
    else:
        for it_brokers in m.brokers:
            _write_MetadataResponseBroker_0(out, it_brokers)
            if o.elements_ended(1):
                yield
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        if isinstance(it_topics, EncodedElement):
            o.add(it_topics)
        else:
            yield from _write_steps_MetadataResponseTopic_0(o, it_topics)
        if o.elements_ended(1):
            yield


def _write_steps_MetadataResponseTopic_1(o: Output, m: _MetadataResponseTopic) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    assert m.name is not None
    write_string(out, m.name)
    out += _P_t(m.is_internal)
    write_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_MetadataResponsePartition_0(out, it_partitions)
        if o.elements_ended(some):
            yield


def _write_steps_MetadataResponse_1(o: Output, m: MetadataResponse) -> Generator[None, None, None]:
    out = o.buffer
    write_count(out, len(m.brokers))
    if len(m.brokers) <= FLAT_ELEMENTS:
        for it_brokers in m.brokers:
            _write_MetadataResponseBroker_1(out, it_brokers)
        if o.elements_ended(len(m.brokers)):
            yield
    else:
        for it_brokers in m.brokers:
            _write_MetadataResponseBroker_1(out, it_brokers)
            if o.elements_ended(1):
                yield
    out += _P_i(m.controller_id)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        if isinstance(it_topics, EncodedElement):
            o.add(it_topics)
        else:
            yield from _write_steps_MetadataResponseTopic_1(o, it_topics)
        if o.elements_ended(1):
            yield


def _write_steps_MetadataResponse_2(o: Output, m: MetadataResponse) -> Generator[None, None, None]:
    out = o.buffer
    write_count(out, len(m.brokers))
    if len(m.brokers) <= FLAT_ELEMENTS:
        for it_brokers in m.brokers:
            _write_MetadataResponseBroker_1(out, it_brokers)
        if o.elements_ended(len(m.brokers)):
            yield
    else:
        for it_brokers in m.brokers:
            _write_MetadataResponseBroker_1(out, it_brokers)
            if o.elements_ended(1):
                yield
    write_null_string(out, m.cluster_id)
    out += _P_i(m.controller_id)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        if isinstance(it_topics, EncodedElement):
            o.add(it_topics)
        else:
            yield from _write_steps_MetadataResponseTopic_1(o, it_topics)
        if o.elements_ended(1):
            yield


def _write_steps_MetadataResponse_3(o: Output, m: MetadataResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.brokers))
    if len(m.brokers) <= FLAT_ELEMENTS:
        for it_brokers in m.brokers:
            _write_MetadataResponseBroker_1(out, it_brokers)
        if o.elements_ended(len(m.brokers)):
            yield
    else:
        for it_brokers in m.brokers:
            _write_MetadataResponseBroker_1(out, it_brokers)
            if o.elements_ended(1):
                yield
    write_null_string(out, m.cluster_id)
    out += _P_i(m.controller_id)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        if isinstance(it_topics, EncodedElement):
            o.add(it_topics)
        else:
            yield from _write_steps_MetadataResponseTopic_1(o, it_topics)
        if o.elements_ended(1):
            yield


def _write_steps_MetadataResponseTopic_5(o: Output, m: _MetadataResponseTopic) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    assert m.name is not None
    write_string(out, m.name)
    out += _P_t(m.is_internal)
    write_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_MetadataResponsePartition_5(out, it_partitions)
        if o.elements_ended(some):
            yield


def _write_steps_MetadataResponse_5(o: Output, m: MetadataResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.brokers))
    if len(m.brokers) <= FLAT_ELEMENTS:
        for it_brokers in m.brokers:
            _write_MetadataResponseBroker_1(out, it_brokers)
        if o.elements_ended(len(m.brokers)):
            yield
    else:
        for it_brokers in m.brokers:
            _write_MetadataResponseBroker_1(out, it_brokers)
            if o.elements_ended(1):
                yield
    write_null_string(out, m.cluster_id)
    out += _P_i(m.controller_id)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        if isinstance(it_topics, EncodedElement):
            o.add(it_topics)
        else:
            yield from _write_steps_MetadataResponseTopic_5(o, it_topics)
        if o.elements_ended(1):
            yield


def _write_steps_MetadataResponseTopic_7(o: Output, m: _MetadataResponseTopic) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    assert m.name is not None
    write_string(out, m.name)
    out += _P_t(m.is_internal)
    write_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_MetadataResponsePartition_7(out, it_partitions)
        if o.elements_ended(some):
            yield


def _write_steps_MetadataResponse_7(o: Output, m: MetadataResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.brokers))
    if len(m.brokers) <= FLAT_ELEMENTS:
        for it_brokers in m.brokers:
            _write_MetadataResponseBroker_1(out, it_brokers)
        if o.elements_ended(len(m.brokers)):
            yield
    else:
        for it_brokers in m.brokers:
            _write_MetadataResponseBroker_1(out, it_brokers)
            if o.elements_ended(1):
                yield
    write_null_string(out, m.cluster_id)
    out += _P_i(m.controller_id)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        if isinstance(it_topics, EncodedElement):
            o.add(it_topics)
        else:
            yield from _write_steps_MetadataResponseTopic_7(o, it_topics)
        if o.elements_ended(1):
            yield


def _write_steps_MetadataResponseTopic_8(o: Output, m: _MetadataResponseTopic) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    assert m.name is not None
    write_string(out, m.name)
    out += _P_t(m.is_internal)
    write_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_MetadataResponsePartition_7(out, it_partitions)
        if o.elements_ended(some):
            yield
    out += _P_i(m.topic_authorized_operations)


def _write_steps_MetadataResponse_8(o: Output, m: MetadataResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.brokers))
    if len(m.brokers) <= FLAT_ELEMENTS:
        for it_brokers in m.brokers:
            _write_MetadataResponseBroker_1(out, it_brokers)
        if o.elements_ended(len(m.brokers)):
            yield
    else:
        for it_brokers in m.brokers:
            _write_MetadataResponseBroker_1(out, it_brokers)
            if o.elements_ended(1):
                yield
    write_null_string(out, m.cluster_id)
    out += _P_i(m.controller_id)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        if isinstance(it_topics, EncodedElement):
            o.add(it_topics)
        else:
            yield from _write_steps_MetadataResponseTopic_8(o, it_topics)
        if o.elements_ended(1):
            yield
    out += _P_i(m.cluster_authorized_operations)


def _write_steps_MetadataResponseTopic_9(o: Output, m: _MetadataResponseTopic) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    assert m.name is not None
    write_c_string(out, m.name)
    out += _P_t(m.is_internal)
    write_c_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_MetadataResponsePartition_9(out, it_partitions)
        if o.elements_ended(some):
            yield
    out += _P_ix(m.topic_authorized_operations)


def _write_steps_MetadataResponse_9(o: Output, m: MetadataResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.brokers))
    if len(m.brokers) <= FLAT_ELEMENTS:
        for it_brokers in m.brokers:
            _write_MetadataResponseBroker_9(out, it_brokers)
        if o.elements_ended(len(m.brokers)):
            yield
    else:
        for it_brokers in m.brokers:
            _write_MetadataResponseBroker_9(out, it_brokers)
            if o.elements_ended(1):
                yield
    write_c_null_string(out, m.cluster_id)
    out += _P_i(m.controller_id)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        if isinstance(it_topics, EncodedElement):
            o.add(it_topics)
        else:
            yield from _write_steps_MetadataResponseTopic_9(o, it_topics)
        if o.elements_ended(1):
            yield
    out += _P_ix(m.cluster_authorized_operations)


def _write_steps_MetadataResponseTopic_10(o: Output, m: _MetadataResponseTopic) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    assert m.name is not None
    write_c_string(out, m.name)
    out += _P_ut(uuid_bytes(m.topic_id), m.is_internal)
    write_c_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_MetadataResponsePartition_9(out, it_partitions)
        if o.elements_ended(some):
            yield
    out += _P_ix(m.topic_authorized_operations)


def _write_steps_MetadataResponse_10(o: Output, m: MetadataResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.brokers))
    if len(m.brokers) <= FLAT_ELEMENTS:
        for it_brokers in m.brokers:
            _write_MetadataResponseBroker_9(out, it_brokers)
        if o.elements_ended(len(m.brokers)):
            yield
    else:
        for it_brokers in m.brokers:
            _write_MetadataResponseBroker_9(out, it_brokers)
            if o.elements_ended(1):
                yield
    write_c_null_string(out, m.cluster_id)
    out += _P_i(m.controller_id)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        if isinstance(it_topics, EncodedElement):
            o.add(it_topics)
        else:
            yield from _write_steps_MetadataResponseTopic_10(o, it_topics)
        if o.elements_ended(1):
            yield
    out += _P_ix(m.cluster_authorized_operations)


def _write_steps_MetadataResponse_11(o: Output, m: MetadataResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.brokers))
    if len(m.brokers) <= FLAT_ELEMENTS:
        for it_brokers in m.brokers:
            _write_MetadataResponseBroker_9(out, it_brokers)
        if o.elements_ended(len(m.brokers)):
            yield
    else:
        for it_brokers in m.brokers:
            _write_MetadataResponseBroker_9(out, it_brokers)
            if o.elements_ended(1):
                yield
    write_c_null_string(out, m.cluster_id)
    out += _P_i(m.controller_id)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        if isinstance(it_topics, EncodedElement):
            o.add(it_topics)
        else:
            yield from _write_steps_MetadataResponseTopic_10(o, it_topics)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_MetadataResponseTopic_12(o: Output, m: _MetadataResponseTopic) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    write_c_null_string(out, m.name)
    out += _P_ut(uuid_bytes(m.topic_id), m.is_internal)
    write_c_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_MetadataResponsePartition_9(out, it_partitions)
        if o.elements_ended(some):
            yield
    out += _P_ix(m.topic_authorized_operations)


def _write_steps_MetadataResponse_12(o: Output, m: MetadataResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.brokers))
    if len(m.brokers) <= FLAT_ELEMENTS:
        for it_brokers in m.brokers:
            _write_MetadataResponseBroker_9(out, it_brokers)
        if o.elements_ended(len(m.brokers)):
            yield
    else:
        for it_brokers in m.brokers:
            _write_MetadataResponseBroker_9(out, it_brokers)
            if o.elements_ended(1):
                yield
    write_c_null_string(out, m.cluster_id)
    out += _P_i(m.controller_id)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        if isinstance(it_topics, EncodedElement):
            o.add(it_topics)
        else:
            yield from _write_steps_MetadataResponseTopic_12(o, it_topics)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_MetadataResponse_13(o: Output, m: MetadataResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.brokers))
    if len(m.brokers) <= FLAT_ELEMENTS:
        for it_brokers in m.brokers:
            _write_MetadataResponseBroker_9(out, it_brokers)
        if o.elements_ended(len(m.brokers)):
            yield
    else:
        for it_brokers in m.brokers:
            _write_MetadataResponseBroker_9(out, it_brokers)
            if o.elements_ended(1):
                yield
    write_c_null_string(out, m.cluster_id)
    out += _P_i(m.controller_id)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        if isinstance(it_topics, EncodedElement):
            o.add(it_topics)
        else:
            yield from _write_steps_MetadataResponseTopic_12(o, it_topics)
        if o.elements_ended(1):
            yield
    out += _P_hx(m.error_code)


def _error_for(m: MetadataRequest, code: int) -> MetadataResponse:
    return MetadataResponse(topics=[_MetadataResponseTopic(error_code=code, name=it0.name or "", topic_id=it0.topic_id) for it0 in m.topics or ()], error_code=code)


MetadataRequest.READ = (_read_MetadataRequest_0, _read_MetadataRequest_1, _read_MetadataRequest_1, _read_MetadataRequest_1, _read_MetadataRequest_4, _read_MetadataRequest_4, _read_MetadataRequest_4, _read_MetadataRequest_4, _read_MetadataRequest_8, _read_MetadataRequest_9, _read_MetadataRequest_10, _read_MetadataRequest_11, _read_MetadataRequest_11, _read_MetadataRequest_11,)
MetadataRequest.READ_STEPS = (_read_steps_MetadataRequest_0, _read_steps_MetadataRequest_1, _read_steps_MetadataRequest_1, _read_steps_MetadataRequest_1, _read_steps_MetadataRequest_4, _read_steps_MetadataRequest_4, _read_steps_MetadataRequest_4, _read_steps_MetadataRequest_4, _read_steps_MetadataRequest_8, _read_steps_MetadataRequest_9, _read_steps_MetadataRequest_10, _read_steps_MetadataRequest_11, _read_steps_MetadataRequest_11, _read_steps_MetadataRequest_11,)
MetadataRequest.WRITE = (_write_MetadataRequest_0, _write_MetadataRequest_1, _write_MetadataRequest_1, _write_MetadataRequest_1, _write_MetadataRequest_4, _write_MetadataRequest_4, _write_MetadataRequest_4, _write_MetadataRequest_4, _write_MetadataRequest_8, _write_MetadataRequest_9, _write_MetadataRequest_10, _write_MetadataRequest_11, _write_MetadataRequest_11, _write_MetadataRequest_11,)
MetadataRequest.WRITE_STEPS = (_write_steps_MetadataRequest_0, _write_steps_MetadataRequest_1, _write_steps_MetadataRequest_1, _write_steps_MetadataRequest_1, _write_steps_MetadataRequest_4, _write_steps_MetadataRequest_4, _write_steps_MetadataRequest_4, _write_steps_MetadataRequest_4, _write_steps_MetadataRequest_8, _write_steps_MetadataRequest_9, _write_steps_MetadataRequest_10, _write_steps_MetadataRequest_11, _write_steps_MetadataRequest_11, _write_steps_MetadataRequest_11,)
MetadataResponse.READ = (_read_MetadataResponse_0, _read_MetadataResponse_1, _read_MetadataResponse_2, _read_MetadataResponse_3, _read_MetadataResponse_3, _read_MetadataResponse_5, _read_MetadataResponse_5, _read_MetadataResponse_7, _read_MetadataResponse_8, _read_MetadataResponse_9, _read_MetadataResponse_10, _read_MetadataResponse_11, _read_MetadataResponse_12, _read_MetadataResponse_13,)
MetadataResponse.READ_STEPS = (_read_steps_MetadataResponse_0, _read_steps_MetadataResponse_1, _read_steps_MetadataResponse_2, _read_steps_MetadataResponse_3, _read_steps_MetadataResponse_3, _read_steps_MetadataResponse_5, _read_steps_MetadataResponse_5, _read_steps_MetadataResponse_7, _read_steps_MetadataResponse_8, _read_steps_MetadataResponse_9, _read_steps_MetadataResponse_10, _read_steps_MetadataResponse_11, _read_steps_MetadataResponse_12, _read_steps_MetadataResponse_13,)
MetadataResponse.WRITE = (_write_MetadataResponse_0, _write_MetadataResponse_1, _write_MetadataResponse_2, _write_MetadataResponse_3, _write_MetadataResponse_3, _write_MetadataResponse_5, _write_MetadataResponse_5, _write_MetadataResponse_7, _write_MetadataResponse_8, _write_MetadataResponse_9, _write_MetadataResponse_10, _write_MetadataResponse_11, _write_MetadataResponse_12, _write_MetadataResponse_13,)
MetadataResponse.WRITE_STEPS = (_write_steps_MetadataResponse_0, _write_steps_MetadataResponse_1, _write_steps_MetadataResponse_2, _write_steps_MetadataResponse_3, _write_steps_MetadataResponse_3, _write_steps_MetadataResponse_5, _write_steps_MetadataResponse_5, _write_steps_MetadataResponse_7, _write_steps_MetadataResponse_8, _write_steps_MetadataResponse_9, _write_steps_MetadataResponse_10, _write_steps_MetadataResponse_11, _write_steps_MetadataResponse_12, _write_steps_MetadataResponse_13,)
MetadataResponse.ELEMENT_STEPS = {"topics": (_write_steps_MetadataResponseTopic_0, _write_steps_MetadataResponseTopic_1, _write_steps_MetadataResponseTopic_1, _write_steps_MetadataResponseTopic_1, _write_steps_MetadataResponseTopic_1, _write_steps_MetadataResponseTopic_5, _write_steps_MetadataResponseTopic_5, _write_steps_MetadataResponseTopic_7, _write_steps_MetadataResponseTopic_8, _write_steps_MetadataResponseTopic_9, _write_steps_MetadataResponseTopic_10, _write_steps_MetadataResponseTopic_10, _write_steps_MetadataResponseTopic_12, _write_steps_MetadataResponseTopic_12,)}
MetadataRequest.ERROR_FOR = _error_for
