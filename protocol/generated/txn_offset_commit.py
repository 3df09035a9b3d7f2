"""TxnOffsetCommitRequest, TxnOffsetCommitResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from itertools import islice
from struct import Struct, pack
from typing import ClassVar, Final
from uuid import UUID

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, batches, read_c_count, read_c_null_string, read_c_string, read_count, read_null_string, read_string, skip_tags, uuid_of
from headrace.protocol.message_writing import Output, uuid_bytes, write_c_count, write_c_null_string, write_c_string, write_count, write_null_string, write_string
from headrace.protocol.primitives import Reader

class TxnOffsetCommitRequest(KafkaMessage):
    """Key 28, versions 0 to 6, flexible from 3 on."""

    class TxnOffsetCommitRequestTopic(MessageStruct):
        """Versions 0+."""

        class TxnOffsetCommitRequestPartition(MessageStruct):
            """Versions 0+."""

            partition_index: int = 0
            committed_offset: int = 0
            committed_leader_epoch: int = -1
            committed_metadata: str | None = ""

        name: str = ""
        topic_id: UUID | None = None
        partitions: list[TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic.TxnOffsetCommitRequestPartition] = []

    API_KEY: ClassVar[int] = 28
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 3
    transactional_id: str = ""
    group_id: str = ""
    producer_id: int = 0
    producer_epoch: int = 0
    generation_id_or_member_epoch: int = -1
    member_id: str = ""
    group_instance_id: str | None = None
    topics: list[TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic] = []


class TxnOffsetCommitResponse(KafkaMessage):
    """Key 28, versions 0 to 6, flexible from 3 on."""

    class TxnOffsetCommitResponseTopic(MessageStruct):
        """Versions 0+."""

        class TxnOffsetCommitResponsePartition(MessageStruct):
            """Versions 0+."""

            partition_index: int = 0
            error_code: int = 0

        name: str = ""
        topic_id: UUID | None = None
        partitions: Collection[TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic.TxnOffsetCommitResponsePartition] = []

    API_KEY: ClassVar[int] = 28
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 3
    throttle_time_ms: int = 0
    topics: Collection[TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic] = []


_TxnOffsetCommitRequestPartition = TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic.TxnOffsetCommitRequestPartition
_TxnOffsetCommitRequestTopic = TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic
_TxnOffsetCommitResponsePartition = TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic.TxnOffsetCommitResponsePartition
_TxnOffsetCommitResponseTopic = TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic
_P_i: Final = Struct(">i").pack
_P_ih: Final = Struct(">ih").pack
_P_ihx: Final = Struct(">ihx").pack
_P_iq: Final = Struct(">iq").pack
_P_iqi: Final = Struct(">iqi").pack
_P_qh: Final = Struct(">qh").pack
_P_qhi: Final = Struct(">qhi").pack
_P_u: Final = Struct(">16s").pack
_S_i: Final = Struct(">i")
_S_ih: Final = Struct(">ih")
_S_iq: Final = Struct(">iq")
_S_iqi: Final = Struct(">iqi")
_S_qh: Final = Struct(">qh")
_S_qhi: Final = Struct(">qhi")
_S_u: Final = Struct(">16s")


def _read_TxnOffsetCommitRequestPartition_0(r: Reader) -> _TxnOffsetCommitRequestPartition:
    partition_index, committed_offset = r.fixed(_S_iq)
    committed_metadata = read_null_string(r)
    return _TxnOffsetCommitRequestPartition(partition_index, committed_offset, -1, committed_metadata)


def _read_TxnOffsetCommitRequestTopic_0(r: Reader) -> _TxnOffsetCommitRequestTopic:
    name = read_string(r)
    n = read_count(r, 14)
    partitions = [_read_TxnOffsetCommitRequestPartition_0(r) for _ in range(n)]
    return _TxnOffsetCommitRequestTopic(name, None, partitions)


def _read_TxnOffsetCommitRequest_0(r: Reader) -> TxnOffsetCommitRequest:
    transactional_id = read_string(r)
    group_id = read_string(r)
    producer_id, producer_epoch = r.fixed(_S_qh)
    n = read_count(r, 6)
    topics = [_read_TxnOffsetCommitRequestTopic_0(r) for _ in range(n)]
    return TxnOffsetCommitRequest(transactional_id, group_id, producer_id, producer_epoch, -1, "", None, topics)


def _read_TxnOffsetCommitRequestPartition_2(r: Reader) -> _TxnOffsetCommitRequestPartition:
    partition_index, committed_offset, committed_leader_epoch = r.fixed(_S_iqi)
    committed_metadata = read_null_string(r)
    return _TxnOffsetCommitRequestPartition(partition_index, committed_offset, committed_leader_epoch, committed_metadata)


def _read_TxnOffsetCommitRequestTopic_2(r: Reader) -> _TxnOffsetCommitRequestTopic:
    name = read_string(r)
    n = read_count(r, 18)
    partitions = [_read_TxnOffsetCommitRequestPartition_2(r) for _ in range(n)]
    return _TxnOffsetCommitRequestTopic(name, None, partitions)


def _read_TxnOffsetCommitRequest_2(r: Reader) -> TxnOffsetCommitRequest:
    transactional_id = read_string(r)
    group_id = read_string(r)
    producer_id, producer_epoch = r.fixed(_S_qh)
    n = read_count(r, 6)
    topics = [_read_TxnOffsetCommitRequestTopic_2(r) for _ in range(n)]
    return TxnOffsetCommitRequest(transactional_id, group_id, producer_id, producer_epoch, -1, "", None, topics)


def _read_TxnOffsetCommitRequestPartition_3(r: Reader) -> _TxnOffsetCommitRequestPartition:
    partition_index, committed_offset, committed_leader_epoch = r.fixed(_S_iqi)
    committed_metadata = read_c_null_string(r)
    skip_tags(r)
    return _TxnOffsetCommitRequestPartition(partition_index, committed_offset, committed_leader_epoch, committed_metadata)


def _read_TxnOffsetCommitRequestTopic_3(r: Reader) -> _TxnOffsetCommitRequestTopic:
    name = read_c_string(r)
    n = read_c_count(r, 18)
    partitions = [_read_TxnOffsetCommitRequestPartition_3(r) for _ in range(n)]
    skip_tags(r)
    return _TxnOffsetCommitRequestTopic(name, None, partitions)


def _read_TxnOffsetCommitRequest_3(r: Reader) -> TxnOffsetCommitRequest:
    transactional_id = read_c_string(r)
    group_id = read_c_string(r)
    producer_id, producer_epoch, generation_id_or_member_epoch = r.fixed(_S_qhi)
    member_id = read_c_string(r)
    group_instance_id = read_c_null_string(r)
    n = read_c_count(r, 3)
    topics = [_read_TxnOffsetCommitRequestTopic_3(r) for _ in range(n)]
    skip_tags(r)
    return TxnOffsetCommitRequest(transactional_id, group_id, producer_id, producer_epoch, generation_id_or_member_epoch, member_id, group_instance_id, topics)


def _read_TxnOffsetCommitRequestTopic_6(r: Reader) -> _TxnOffsetCommitRequestTopic:
    topic_id, = r.fixed(_S_u)
    n = read_c_count(r, 18)
    partitions = [_read_TxnOffsetCommitRequestPartition_3(r) for _ in range(n)]
    skip_tags(r)
    return _TxnOffsetCommitRequestTopic("", uuid_of(topic_id), partitions)


def _read_TxnOffsetCommitRequest_6(r: Reader) -> TxnOffsetCommitRequest:
    transactional_id = read_c_string(r)
    group_id = read_c_string(r)
    producer_id, producer_epoch, generation_id_or_member_epoch = r.fixed(_S_qhi)
    member_id = read_c_string(r)
    group_instance_id = read_c_null_string(r)
    n = read_c_count(r, 18)
    topics = [_read_TxnOffsetCommitRequestTopic_6(r) for _ in range(n)]
    skip_tags(r)
    return TxnOffsetCommitRequest(transactional_id, group_id, producer_id, producer_epoch, generation_id_or_member_epoch, member_id, group_instance_id, topics)


def _read_steps_TxnOffsetCommitRequestTopic_0(r: Reader) -> Generator[None, None, _TxnOffsetCommitRequestTopic]:
    name = read_string(r)
    n = read_count(r, 14)
    partitions: list[TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic.TxnOffsetCommitRequestPartition] = []
    if n <= FLAT_ELEMENTS:
        partitions = [_read_TxnOffsetCommitRequestPartition_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            partitions.append(_read_TxnOffsetCommitRequestPartition_0(r))
            if r.elements_ended(1):
                yield
    return _TxnOffsetCommitRequestTopic(name, None, partitions)


def _read_steps_TxnOffsetCommitRequest_0(r: Reader) -> Generator[None, None, TxnOffsetCommitRequest]:
    transactional_id = read_string(r)
    group_id = read_string(r)
    producer_id, producer_epoch = r.fixed(_S_qh)
    n = read_count(r, 6)
    topics: list[TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_TxnOffsetCommitRequestTopic_0(r)))
        if r.elements_ended(1):
            yield
    return TxnOffsetCommitRequest(transactional_id, group_id, producer_id, producer_epoch, -1, "", None, topics)


def _read_steps_TxnOffsetCommitRequestTopic_2(r: Reader) -> Generator[None, None, _TxnOffsetCommitRequestTopic]:
    name = read_string(r)
    n = read_count(r, 18)
    partitions: list[TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic.TxnOffsetCommitRequestPartition] = []
    if n <= FLAT_ELEMENTS:
        partitions = [_read_TxnOffsetCommitRequestPartition_2(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            partitions.append(_read_TxnOffsetCommitRequestPartition_2(r))
            if r.elements_ended(1):
                yield
    return _TxnOffsetCommitRequestTopic(name, None, partitions)


def _read_steps_TxnOffsetCommitRequest_2(r: Reader) -> Generator[None, None, TxnOffsetCommitRequest]:
    transactional_id = read_string(r)
    group_id = read_string(r)
    producer_id, producer_epoch = r.fixed(_S_qh)
    n = read_count(r, 6)
    topics: list[TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_TxnOffsetCommitRequestTopic_2(r)))
        if r.elements_ended(1):
            yield
    return TxnOffsetCommitRequest(transactional_id, group_id, producer_id, producer_epoch, -1, "", None, topics)


def _read_steps_TxnOffsetCommitRequestTopic_3(r: Reader) -> Generator[None, None, _TxnOffsetCommitRequestTopic]:
    name = read_c_string(r)
    n = read_c_count(r, 18)
    partitions: list[TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic.TxnOffsetCommitRequestPartition] = []
    if n <= FLAT_ELEMENTS:
        partitions = [_read_TxnOffsetCommitRequestPartition_3(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            partitions.append(_read_TxnOffsetCommitRequestPartition_3(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return _TxnOffsetCommitRequestTopic(name, None, partitions)


def _read_steps_TxnOffsetCommitRequest_3(r: Reader) -> Generator[None, None, TxnOffsetCommitRequest]:
    transactional_id = read_c_string(r)
    group_id = read_c_string(r)
    producer_id, producer_epoch, generation_id_or_member_epoch = r.fixed(_S_qhi)
    member_id = read_c_string(r)
    group_instance_id = read_c_null_string(r)
    n = read_c_count(r, 3)
    topics: list[TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_TxnOffsetCommitRequestTopic_3(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return TxnOffsetCommitRequest(transactional_id, group_id, producer_id, producer_epoch, generation_id_or_member_epoch, member_id, group_instance_id, topics)


def _read_steps_TxnOffsetCommitRequestTopic_6(r: Reader) -> Generator[None, None, _TxnOffsetCommitRequestTopic]:
    topic_id, = r.fixed(_S_u)
    n = read_c_count(r, 18)
    partitions: list[TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic.TxnOffsetCommitRequestPartition] = []
    if n <= FLAT_ELEMENTS:
        partitions = [_read_TxnOffsetCommitRequestPartition_3(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            partitions.append(_read_TxnOffsetCommitRequestPartition_3(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return _TxnOffsetCommitRequestTopic("", uuid_of(topic_id), partitions)


def _read_steps_TxnOffsetCommitRequest_6(r: Reader) -> Generator[None, None, TxnOffsetCommitRequest]:
    transactional_id = read_c_string(r)
    group_id = read_c_string(r)
    producer_id, producer_epoch, generation_id_or_member_epoch = r.fixed(_S_qhi)
    member_id = read_c_string(r)
    group_instance_id = read_c_null_string(r)
    n = read_c_count(r, 18)
    topics: list[TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_TxnOffsetCommitRequestTopic_6(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return TxnOffsetCommitRequest(transactional_id, group_id, producer_id, producer_epoch, generation_id_or_member_epoch, member_id, group_instance_id, topics)


def _write_TxnOffsetCommitRequestPartition_0(out: bytearray, m: _TxnOffsetCommitRequestPartition) -> None:
    out += _P_iq(m.partition_index, m.committed_offset)
    write_null_string(out, m.committed_metadata)


def _write_TxnOffsetCommitRequestTopic_0(out: bytearray, m: _TxnOffsetCommitRequestTopic) -> None:
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_TxnOffsetCommitRequestPartition_0(out, it_partitions)


def _write_TxnOffsetCommitRequest_0(out: bytearray, m: TxnOffsetCommitRequest) -> None:
    write_string(out, m.transactional_id)
    write_string(out, m.group_id)
    out += _P_qh(m.producer_id, m.producer_epoch)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_TxnOffsetCommitRequestTopic_0(out, it_topics)


def _write_TxnOffsetCommitRequestPartition_2(out: bytearray, m: _TxnOffsetCommitRequestPartition) -> None:
    out += _P_iqi(m.partition_index, m.committed_offset, m.committed_leader_epoch)
    write_null_string(out, m.committed_metadata)


def _write_TxnOffsetCommitRequestTopic_2(out: bytearray, m: _TxnOffsetCommitRequestTopic) -> None:
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_TxnOffsetCommitRequestPartition_2(out, it_partitions)


def _write_TxnOffsetCommitRequest_2(out: bytearray, m: TxnOffsetCommitRequest) -> None:
    write_string(out, m.transactional_id)
    write_string(out, m.group_id)
    out += _P_qh(m.producer_id, m.producer_epoch)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_TxnOffsetCommitRequestTopic_2(out, it_topics)


def _write_TxnOffsetCommitRequestPartition_3(out: bytearray, m: _TxnOffsetCommitRequestPartition) -> None:
    out += _P_iqi(m.partition_index, m.committed_offset, m.committed_leader_epoch)
    write_c_null_string(out, m.committed_metadata)
    out.append(0)


def _write_TxnOffsetCommitRequestTopic_3(out: bytearray, m: _TxnOffsetCommitRequestTopic) -> None:
    write_c_string(out, m.name)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_TxnOffsetCommitRequestPartition_3(out, it_partitions)
    out.append(0)


def _write_TxnOffsetCommitRequest_3(out: bytearray, m: TxnOffsetCommitRequest) -> None:
    write_c_string(out, m.transactional_id)
    write_c_string(out, m.group_id)
    out += _P_qhi(m.producer_id, m.producer_epoch, m.generation_id_or_member_epoch)
    write_c_string(out, m.member_id)
    write_c_null_string(out, m.group_instance_id)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_TxnOffsetCommitRequestTopic_3(out, it_topics)
    out.append(0)


def _write_TxnOffsetCommitRequestTopic_6(out: bytearray, m: _TxnOffsetCommitRequestTopic) -> None:
    out += _P_u(uuid_bytes(m.topic_id))
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_TxnOffsetCommitRequestPartition_3(out, it_partitions)
    out.append(0)


def _write_TxnOffsetCommitRequest_6(out: bytearray, m: TxnOffsetCommitRequest) -> None:
    write_c_string(out, m.transactional_id)
    write_c_string(out, m.group_id)
    out += _P_qhi(m.producer_id, m.producer_epoch, m.generation_id_or_member_epoch)
    write_c_string(out, m.member_id)
    write_c_null_string(out, m.group_instance_id)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_TxnOffsetCommitRequestTopic_6(out, it_topics)
    out.append(0)


def _write_steps_TxnOffsetCommitRequestTopic_0(o: Output, m: _TxnOffsetCommitRequestTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    if len(m.partitions) <= FLAT_ELEMENTS:
        for it_partitions in m.partitions:
            _write_TxnOffsetCommitRequestPartition_0(out, it_partitions)
        if o.elements_ended(len(m.partitions)):
            yield
    else:
        for it_partitions in m.partitions:
            _write_TxnOffsetCommitRequestPartition_0(out, it_partitions)
            if o.elements_ended(1):
                yield


def _write_steps_TxnOffsetCommitRequest_0(o: Output, m: TxnOffsetCommitRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.transactional_id)
    write_string(out, m.group_id)
    out += _P_qh(m.producer_id, m.producer_epoch)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_TxnOffsetCommitRequestTopic_0(o, it_topics)
        if o.elements_ended(1):
            yield


def _write_steps_TxnOffsetCommitRequestTopic_2(o: Output, m: _TxnOffsetCommitRequestTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    if len(m.partitions) <= FLAT_ELEMENTS:
        for it_partitions in m.partitions:
            _write_TxnOffsetCommitRequestPartition_2(out, it_partitions)
        if o.elements_ended(len(m.partitions)):
            yield
    else:
        for it_partitions in m.partitions:
            _write_TxnOffsetCommitRequestPartition_2(out, it_partitions)
            if o.elements_ended(1):
                yield


def _write_steps_TxnOffsetCommitRequest_2(o: Output, m: TxnOffsetCommitRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.transactional_id)
    write_string(out, m.group_id)
    out += _P_qh(m.producer_id, m.producer_epoch)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_TxnOffsetCommitRequestTopic_2(o, it_topics)
        if o.elements_ended(1):
            yield


def _write_steps_TxnOffsetCommitRequestTopic_3(o: Output, m: _TxnOffsetCommitRequestTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.name)
    write_c_count(out, len(m.partitions))
    if len(m.partitions) <= FLAT_ELEMENTS:
        for it_partitions in m.partitions:
            _write_TxnOffsetCommitRequestPartition_3(out, it_partitions)
        if o.elements_ended(len(m.partitions)):
            yield
    else:
        for it_partitions in m.partitions:
            _write_TxnOffsetCommitRequestPartition_3(out, it_partitions)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_TxnOffsetCommitRequest_3(o: Output, m: TxnOffsetCommitRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.transactional_id)
    write_c_string(out, m.group_id)
    out += _P_qhi(m.producer_id, m.producer_epoch, m.generation_id_or_member_epoch)
    write_c_string(out, m.member_id)
    write_c_null_string(out, m.group_instance_id)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_TxnOffsetCommitRequestTopic_3(o, it_topics)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_TxnOffsetCommitRequestTopic_6(o: Output, m: _TxnOffsetCommitRequestTopic) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_u(uuid_bytes(m.topic_id))
    write_c_count(out, len(m.partitions))
    if len(m.partitions) <= FLAT_ELEMENTS:
        for it_partitions in m.partitions:
            _write_TxnOffsetCommitRequestPartition_3(out, it_partitions)
        if o.elements_ended(len(m.partitions)):
            yield
    else:
        for it_partitions in m.partitions:
            _write_TxnOffsetCommitRequestPartition_3(out, it_partitions)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_TxnOffsetCommitRequest_6(o: Output, m: TxnOffsetCommitRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.transactional_id)
    write_c_string(out, m.group_id)
    out += _P_qhi(m.producer_id, m.producer_epoch, m.generation_id_or_member_epoch)
    write_c_string(out, m.member_id)
    write_c_null_string(out, m.group_instance_id)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_TxnOffsetCommitRequestTopic_6(o, it_topics)
        if o.elements_ended(1):
            yield
    out.append(0)


def _read_TxnOffsetCommitResponsePartition_0(r: Reader) -> _TxnOffsetCommitResponsePartition:
    partition_index, error_code = r.fixed(_S_ih)
    return _TxnOffsetCommitResponsePartition(partition_index, error_code)


def _read_TxnOffsetCommitResponseTopic_0(r: Reader) -> _TxnOffsetCommitResponseTopic:
    name = read_string(r)
    n = read_count(r, 6)
    partitions = [_read_TxnOffsetCommitResponsePartition_0(r) for _ in range(n)]
    return _TxnOffsetCommitResponseTopic(name, None, partitions)


def _read_TxnOffsetCommitResponse_0(r: Reader) -> TxnOffsetCommitResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 6)
    topics = [_read_TxnOffsetCommitResponseTopic_0(r) for _ in range(n)]
    return TxnOffsetCommitResponse(throttle_time_ms, topics)


def _read_TxnOffsetCommitResponsePartition_3(r: Reader) -> _TxnOffsetCommitResponsePartition:
    partition_index, error_code = r.fixed(_S_ih)
    skip_tags(r)
    return _TxnOffsetCommitResponsePartition(partition_index, error_code)


def _read_TxnOffsetCommitResponseTopic_3(r: Reader) -> _TxnOffsetCommitResponseTopic:
    name = read_c_string(r)
    n = read_c_count(r, 7)
    partitions = [_read_TxnOffsetCommitResponsePartition_3(r) for _ in range(n)]
    skip_tags(r)
    return _TxnOffsetCommitResponseTopic(name, None, partitions)


def _read_TxnOffsetCommitResponse_3(r: Reader) -> TxnOffsetCommitResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 3)
    topics = [_read_TxnOffsetCommitResponseTopic_3(r) for _ in range(n)]
    skip_tags(r)
    return TxnOffsetCommitResponse(throttle_time_ms, topics)


def _read_TxnOffsetCommitResponseTopic_6(r: Reader) -> _TxnOffsetCommitResponseTopic:
    topic_id, = r.fixed(_S_u)
    n = read_c_count(r, 7)
    partitions = [_read_TxnOffsetCommitResponsePartition_3(r) for _ in range(n)]
    skip_tags(r)
    return _TxnOffsetCommitResponseTopic("", uuid_of(topic_id), partitions)


def _read_TxnOffsetCommitResponse_6(r: Reader) -> TxnOffsetCommitResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 18)
    topics = [_read_TxnOffsetCommitResponseTopic_6(r) for _ in range(n)]
    skip_tags(r)
    return TxnOffsetCommitResponse(throttle_time_ms, topics)


def _read_steps_TxnOffsetCommitResponseTopic_0(r: Reader) -> Generator[None, None, _TxnOffsetCommitResponseTopic]:
    name = read_string(r)
    n = read_count(r, 6)
    partitions: list[TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic.TxnOffsetCommitResponsePartition] = []
    for some in batches(n):
        partitions += [_read_TxnOffsetCommitResponsePartition_0(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    return _TxnOffsetCommitResponseTopic(name, None, partitions)


def _read_steps_TxnOffsetCommitResponse_0(r: Reader) -> Generator[None, None, TxnOffsetCommitResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 6)
    topics: list[TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_TxnOffsetCommitResponseTopic_0(r)))
        if r.elements_ended(1):
            yield
    return TxnOffsetCommitResponse(throttle_time_ms, topics)


def _read_steps_TxnOffsetCommitResponseTopic_3(r: Reader) -> Generator[None, None, _TxnOffsetCommitResponseTopic]:
    name = read_c_string(r)
    n = read_c_count(r, 7)
    partitions: list[TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic.TxnOffsetCommitResponsePartition] = []
    for some in batches(n):
        partitions += [_read_TxnOffsetCommitResponsePartition_3(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    skip_tags(r)
    return _TxnOffsetCommitResponseTopic(name, None, partitions)


def _read_steps_TxnOffsetCommitResponse_3(r: Reader) -> Generator[None, None, TxnOffsetCommitResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 3)
    topics: list[TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_TxnOffsetCommitResponseTopic_3(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return TxnOffsetCommitResponse(throttle_time_ms, topics)


def _read_steps_TxnOffsetCommitResponseTopic_6(r: Reader) -> Generator[None, None, _TxnOffsetCommitResponseTopic]:
    topic_id, = r.fixed(_S_u)
    n = read_c_count(r, 7)
    partitions: list[TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic.TxnOffsetCommitResponsePartition] = []
    for some in batches(n):
        partitions += [_read_TxnOffsetCommitResponsePartition_3(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    skip_tags(r)
    return _TxnOffsetCommitResponseTopic("", uuid_of(topic_id), partitions)


def _read_steps_TxnOffsetCommitResponse_6(r: Reader) -> Generator[None, None, TxnOffsetCommitResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 18)
    topics: list[TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_TxnOffsetCommitResponseTopic_6(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return TxnOffsetCommitResponse(throttle_time_ms, topics)


def _write_TxnOffsetCommitResponsePartition_0(out: bytearray, m: _TxnOffsetCommitResponsePartition) -> None:
    out += _P_ih(m.partition_index, m.error_code)


def _write_TxnOffsetCommitResponseTopic_0(out: bytearray, m: _TxnOffsetCommitResponseTopic) -> None:
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_TxnOffsetCommitResponsePartition_0(out, it_partitions)


def _write_TxnOffsetCommitResponse_0(out: bytearray, m: TxnOffsetCommitResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_TxnOffsetCommitResponseTopic_0(out, it_topics)


def _write_TxnOffsetCommitResponsePartition_3(out: bytearray, m: _TxnOffsetCommitResponsePartition) -> None:
    out += _P_ihx(m.partition_index, m.error_code)


def _write_TxnOffsetCommitResponseTopic_3(out: bytearray, m: _TxnOffsetCommitResponseTopic) -> None:
    write_c_string(out, m.name)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_TxnOffsetCommitResponsePartition_3(out, it_partitions)
    out.append(0)


def _write_TxnOffsetCommitResponse_3(out: bytearray, m: TxnOffsetCommitResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_TxnOffsetCommitResponseTopic_3(out, it_topics)
    out.append(0)


def _write_TxnOffsetCommitResponseTopic_6(out: bytearray, m: _TxnOffsetCommitResponseTopic) -> None:
    out += _P_u(uuid_bytes(m.topic_id))
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_TxnOffsetCommitResponsePartition_3(out, it_partitions)
    out.append(0)


def _write_TxnOffsetCommitResponse_6(out: bytearray, m: TxnOffsetCommitResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_TxnOffsetCommitResponseTopic_6(out, it_topics)
    out.append(0)


def _write_steps_TxnOffsetCommitResponseTopic_0(o: Output, m: _TxnOffsetCommitResponseTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_TxnOffsetCommitResponsePartition_0(out, it_partitions)
        if o.elements_ended(some):
            yield


def _write_steps_TxnOffsetCommitResponse_0(o: Output, m: TxnOffsetCommitResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_TxnOffsetCommitResponseTopic_0(o, it_topics)
        if o.elements_ended(1):
            yield


def _write_steps_TxnOffsetCommitResponseTopic_3(o: Output, m: _TxnOffsetCommitResponseTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.name)
    write_c_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_TxnOffsetCommitResponsePartition_3(out, it_partitions)
        if o.elements_ended(some):
            yield
    out.append(0)


def _write_steps_TxnOffsetCommitResponse_3(o: Output, m: TxnOffsetCommitResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_TxnOffsetCommitResponseTopic_3(o, it_topics)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_TxnOffsetCommitResponseTopic_6(o: Output, m: _TxnOffsetCommitResponseTopic) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_u(uuid_bytes(m.topic_id))
    write_c_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_TxnOffsetCommitResponsePartition_3(out, it_partitions)
        if o.elements_ended(some):
            yield
    out.append(0)


def _write_steps_TxnOffsetCommitResponse_6(o: Output, m: TxnOffsetCommitResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_TxnOffsetCommitResponseTopic_6(o, it_topics)
        if o.elements_ended(1):
            yield
    out.append(0)


def _error_for(m: TxnOffsetCommitRequest, code: int) -> TxnOffsetCommitResponse:
    return TxnOffsetCommitResponse(topics=[_TxnOffsetCommitResponseTopic(name=it0.name, topic_id=it0.topic_id, partitions=[_TxnOffsetCommitResponsePartition(partition_index=it1.partition_index, error_code=code) for it1 in it0.partitions]) for it0 in m.topics])


TxnOffsetCommitRequest.READ = (_read_TxnOffsetCommitRequest_0, _read_TxnOffsetCommitRequest_0, _read_TxnOffsetCommitRequest_2, _read_TxnOffsetCommitRequest_3, _read_TxnOffsetCommitRequest_3, _read_TxnOffsetCommitRequest_3, _read_TxnOffsetCommitRequest_6,)
TxnOffsetCommitRequest.READ_STEPS = (_read_steps_TxnOffsetCommitRequest_0, _read_steps_TxnOffsetCommitRequest_0, _read_steps_TxnOffsetCommitRequest_2, _read_steps_TxnOffsetCommitRequest_3, _read_steps_TxnOffsetCommitRequest_3, _read_steps_TxnOffsetCommitRequest_3, _read_steps_TxnOffsetCommitRequest_6,)
TxnOffsetCommitRequest.WRITE = (_write_TxnOffsetCommitRequest_0, _write_TxnOffsetCommitRequest_0, _write_TxnOffsetCommitRequest_2, _write_TxnOffsetCommitRequest_3, _write_TxnOffsetCommitRequest_3, _write_TxnOffsetCommitRequest_3, _write_TxnOffsetCommitRequest_6,)
TxnOffsetCommitRequest.WRITE_STEPS = (_write_steps_TxnOffsetCommitRequest_0, _write_steps_TxnOffsetCommitRequest_0, _write_steps_TxnOffsetCommitRequest_2, _write_steps_TxnOffsetCommitRequest_3, _write_steps_TxnOffsetCommitRequest_3, _write_steps_TxnOffsetCommitRequest_3, _write_steps_TxnOffsetCommitRequest_6,)
TxnOffsetCommitResponse.READ = (_read_TxnOffsetCommitResponse_0, _read_TxnOffsetCommitResponse_0, _read_TxnOffsetCommitResponse_0, _read_TxnOffsetCommitResponse_3, _read_TxnOffsetCommitResponse_3, _read_TxnOffsetCommitResponse_3, _read_TxnOffsetCommitResponse_6,)
TxnOffsetCommitResponse.READ_STEPS = (_read_steps_TxnOffsetCommitResponse_0, _read_steps_TxnOffsetCommitResponse_0, _read_steps_TxnOffsetCommitResponse_0, _read_steps_TxnOffsetCommitResponse_3, _read_steps_TxnOffsetCommitResponse_3, _read_steps_TxnOffsetCommitResponse_3, _read_steps_TxnOffsetCommitResponse_6,)
TxnOffsetCommitResponse.WRITE = (_write_TxnOffsetCommitResponse_0, _write_TxnOffsetCommitResponse_0, _write_TxnOffsetCommitResponse_0, _write_TxnOffsetCommitResponse_3, _write_TxnOffsetCommitResponse_3, _write_TxnOffsetCommitResponse_3, _write_TxnOffsetCommitResponse_6,)
TxnOffsetCommitResponse.WRITE_STEPS = (_write_steps_TxnOffsetCommitResponse_0, _write_steps_TxnOffsetCommitResponse_0, _write_steps_TxnOffsetCommitResponse_0, _write_steps_TxnOffsetCommitResponse_3, _write_steps_TxnOffsetCommitResponse_3, _write_steps_TxnOffsetCommitResponse_3, _write_steps_TxnOffsetCommitResponse_6,)
TxnOffsetCommitRequest.ERROR_FOR = _error_for
