"""OffsetCommitRequest, OffsetCommitResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

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

class OffsetCommitRequest(KafkaMessage):
    """Key 8, versions 2 to 10, flexible from 8 on."""

    class OffsetCommitRequestTopic(MessageStruct):
        """Versions 0+."""

        class OffsetCommitRequestPartition(MessageStruct):
            """Versions 0+."""

            partition_index: int = 0
            committed_offset: int = 0
            committed_leader_epoch: int = -1
            committed_metadata: str | None = ""

        name: str = ""
        topic_id: UUID | None = None
        partitions: list[OffsetCommitRequest.OffsetCommitRequestTopic.OffsetCommitRequestPartition] = []

    API_KEY: ClassVar[int] = 8
    MIN_VERSION: ClassVar[int] = 2
    FLEXIBLE_SINCE: ClassVar[int] = 8
    group_id: str = ""
    generation_id_or_member_epoch: int = -1
    member_id: str = ""
    group_instance_id: str | None = None
    retention_time_ms: int = -1
    topics: list[OffsetCommitRequest.OffsetCommitRequestTopic] = []


class OffsetCommitResponse(KafkaMessage):
    """Key 8, versions 2 to 10, flexible from 8 on."""

    class OffsetCommitResponseTopic(MessageStruct):
        """Versions 0+."""

        class OffsetCommitResponsePartition(MessageStruct):
            """Versions 0+."""

            partition_index: int = 0
            error_code: int = 0

        name: str = ""
        topic_id: UUID | None = None
        partitions: Collection[OffsetCommitResponse.OffsetCommitResponseTopic.OffsetCommitResponsePartition] = []

    API_KEY: ClassVar[int] = 8
    MIN_VERSION: ClassVar[int] = 2
    FLEXIBLE_SINCE: ClassVar[int] = 8
    throttle_time_ms: int = 0
    topics: Collection[OffsetCommitResponse.OffsetCommitResponseTopic] = []


_OffsetCommitRequestPartition = OffsetCommitRequest.OffsetCommitRequestTopic.OffsetCommitRequestPartition
_OffsetCommitRequestTopic = OffsetCommitRequest.OffsetCommitRequestTopic
_OffsetCommitResponsePartition = OffsetCommitResponse.OffsetCommitResponseTopic.OffsetCommitResponsePartition
_OffsetCommitResponseTopic = OffsetCommitResponse.OffsetCommitResponseTopic
_P_i: Final = Struct(">i").pack
_P_ih: Final = Struct(">ih").pack
_P_ihx: Final = Struct(">ihx").pack
_P_iq: Final = Struct(">iq").pack
_P_iqi: Final = Struct(">iqi").pack
_P_q: Final = Struct(">q").pack
_P_u: Final = Struct(">16s").pack
_S_i: Final = Struct(">i")
_S_ih: Final = Struct(">ih")
_S_iq: Final = Struct(">iq")
_S_iqi: Final = Struct(">iqi")
_S_q: Final = Struct(">q")
_S_u: Final = Struct(">16s")


def _read_OffsetCommitRequestPartition_2(r: Reader) -> _OffsetCommitRequestPartition:
    partition_index, committed_offset = r.fixed(_S_iq)
    committed_metadata = read_null_string(r)
    return _OffsetCommitRequestPartition(partition_index, committed_offset, -1, committed_metadata)


def _read_OffsetCommitRequestTopic_2(r: Reader) -> _OffsetCommitRequestTopic:
    name = read_string(r)
    n = read_count(r, 14)
    partitions = [_read_OffsetCommitRequestPartition_2(r) for _ in range(n)]
    return _OffsetCommitRequestTopic(name, None, partitions)


def _read_OffsetCommitRequest_2(r: Reader) -> OffsetCommitRequest:
    group_id = read_string(r)
    generation_id_or_member_epoch, = r.fixed(_S_i)
    member_id = read_string(r)
    retention_time_ms, = r.fixed(_S_q)
    n = read_count(r, 6)
    topics = [_read_OffsetCommitRequestTopic_2(r) for _ in range(n)]
    return OffsetCommitRequest(group_id, generation_id_or_member_epoch, member_id, None, retention_time_ms, topics)


def _read_OffsetCommitRequest_5(r: Reader) -> OffsetCommitRequest:
    group_id = read_string(r)
    generation_id_or_member_epoch, = r.fixed(_S_i)
    member_id = read_string(r)
    n = read_count(r, 6)
    topics = [_read_OffsetCommitRequestTopic_2(r) for _ in range(n)]
    return OffsetCommitRequest(group_id, generation_id_or_member_epoch, member_id, None, -1, topics)


def _read_OffsetCommitRequestPartition_6(r: Reader) -> _OffsetCommitRequestPartition:
    partition_index, committed_offset, committed_leader_epoch = r.fixed(_S_iqi)
    committed_metadata = read_null_string(r)
    return _OffsetCommitRequestPartition(partition_index, committed_offset, committed_leader_epoch, committed_metadata)


def _read_OffsetCommitRequestTopic_6(r: Reader) -> _OffsetCommitRequestTopic:
    name = read_string(r)
    n = read_count(r, 18)
    partitions = [_read_OffsetCommitRequestPartition_6(r) for _ in range(n)]
    return _OffsetCommitRequestTopic(name, None, partitions)


def _read_OffsetCommitRequest_6(r: Reader) -> OffsetCommitRequest:
    group_id = read_string(r)
    generation_id_or_member_epoch, = r.fixed(_S_i)
    member_id = read_string(r)
    n = read_count(r, 6)
    topics = [_read_OffsetCommitRequestTopic_6(r) for _ in range(n)]
    return OffsetCommitRequest(group_id, generation_id_or_member_epoch, member_id, None, -1, topics)


def _read_OffsetCommitRequest_7(r: Reader) -> OffsetCommitRequest:
    group_id = read_string(r)
    generation_id_or_member_epoch, = r.fixed(_S_i)
    member_id = read_string(r)
    group_instance_id = read_null_string(r)
    n = read_count(r, 6)
    topics = [_read_OffsetCommitRequestTopic_6(r) for _ in range(n)]
    return OffsetCommitRequest(group_id, generation_id_or_member_epoch, member_id, group_instance_id, -1, topics)


def _read_OffsetCommitRequestPartition_8(r: Reader) -> _OffsetCommitRequestPartition:
    partition_index, committed_offset, committed_leader_epoch = r.fixed(_S_iqi)
    committed_metadata = read_c_null_string(r)
    skip_tags(r)
    return _OffsetCommitRequestPartition(partition_index, committed_offset, committed_leader_epoch, committed_metadata)


def _read_OffsetCommitRequestTopic_8(r: Reader) -> _OffsetCommitRequestTopic:
    name = read_c_string(r)
    n = read_c_count(r, 18)
    partitions = [_read_OffsetCommitRequestPartition_8(r) for _ in range(n)]
    skip_tags(r)
    return _OffsetCommitRequestTopic(name, None, partitions)


def _read_OffsetCommitRequest_8(r: Reader) -> OffsetCommitRequest:
    group_id = read_c_string(r)
    generation_id_or_member_epoch, = r.fixed(_S_i)
    member_id = read_c_string(r)
    group_instance_id = read_c_null_string(r)
    n = read_c_count(r, 3)
    topics = [_read_OffsetCommitRequestTopic_8(r) for _ in range(n)]
    skip_tags(r)
    return OffsetCommitRequest(group_id, generation_id_or_member_epoch, member_id, group_instance_id, -1, topics)


def _read_OffsetCommitRequestTopic_10(r: Reader) -> _OffsetCommitRequestTopic:
    topic_id, = r.fixed(_S_u)
    n = read_c_count(r, 18)
    partitions = [_read_OffsetCommitRequestPartition_8(r) for _ in range(n)]
    skip_tags(r)
    return _OffsetCommitRequestTopic("", uuid_of(topic_id), partitions)


def _read_OffsetCommitRequest_10(r: Reader) -> OffsetCommitRequest:
    group_id = read_c_string(r)
    generation_id_or_member_epoch, = r.fixed(_S_i)
    member_id = read_c_string(r)
    group_instance_id = read_c_null_string(r)
    n = read_c_count(r, 18)
    topics = [_read_OffsetCommitRequestTopic_10(r) for _ in range(n)]
    skip_tags(r)
    return OffsetCommitRequest(group_id, generation_id_or_member_epoch, member_id, group_instance_id, -1, topics)


def _read_steps_OffsetCommitRequestTopic_2(r: Reader) -> Generator[None, None, _OffsetCommitRequestTopic]:
    name = read_string(r)
    n = read_count(r, 14)
    partitions: list[OffsetCommitRequest.OffsetCommitRequestTopic.OffsetCommitRequestPartition] = []
    if n <= FLAT_ELEMENTS:
        partitions = [_read_OffsetCommitRequestPartition_2(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            partitions.append(_read_OffsetCommitRequestPartition_2(r))
            if r.elements_ended(1):
                yield
    return _OffsetCommitRequestTopic(name, None, partitions)


def _read_steps_OffsetCommitRequest_2(r: Reader) -> Generator[None, None, OffsetCommitRequest]:
    group_id = read_string(r)
    generation_id_or_member_epoch, = r.fixed(_S_i)
    member_id = read_string(r)
    retention_time_ms, = r.fixed(_S_q)
    n = read_count(r, 6)
    topics: list[OffsetCommitRequest.OffsetCommitRequestTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_OffsetCommitRequestTopic_2(r)))
        if r.elements_ended(1):
            yield
    return OffsetCommitRequest(group_id, generation_id_or_member_epoch, member_id, None, retention_time_ms, topics)


def _read_steps_OffsetCommitRequest_5(r: Reader) -> Generator[None, None, OffsetCommitRequest]:
    group_id = read_string(r)
    generation_id_or_member_epoch, = r.fixed(_S_i)
    member_id = read_string(r)
    n = read_count(r, 6)
    topics: list[OffsetCommitRequest.OffsetCommitRequestTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_OffsetCommitRequestTopic_2(r)))
        if r.elements_ended(1):
            yield
    return OffsetCommitRequest(group_id, generation_id_or_member_epoch, member_id, None, -1, topics)


def _read_steps_OffsetCommitRequestTopic_6(r: Reader) -> Generator[None, None, _OffsetCommitRequestTopic]:
    name = read_string(r)
    n = read_count(r, 18)
    partitions: list[OffsetCommitRequest.OffsetCommitRequestTopic.OffsetCommitRequestPartition] = []
    if n <= FLAT_ELEMENTS:
        partitions = [_read_OffsetCommitRequestPartition_6(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            partitions.append(_read_OffsetCommitRequestPartition_6(r))
            if r.elements_ended(1):
                yield
    return _OffsetCommitRequestTopic(name, None, partitions)


def _read_steps_OffsetCommitRequest_6(r: Reader) -> Generator[None, None, OffsetCommitRequest]:
    group_id = read_string(r)
    generation_id_or_member_epoch, = r.fixed(_S_i)
    member_id = read_string(r)
    n = read_count(r, 6)
    topics: list[OffsetCommitRequest.OffsetCommitRequestTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_OffsetCommitRequestTopic_6(r)))
        if r.elements_ended(1):
            yield
    return OffsetCommitRequest(group_id, generation_id_or_member_epoch, member_id, None, -1, topics)


def _read_steps_OffsetCommitRequest_7(r: Reader) -> Generator[None, None, OffsetCommitRequest]:
    group_id = read_string(r)
    generation_id_or_member_epoch, = r.fixed(_S_i)
    member_id = read_string(r)
    group_instance_id = read_null_string(r)
    n = read_count(r, 6)
    topics: list[OffsetCommitRequest.OffsetCommitRequestTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_OffsetCommitRequestTopic_6(r)))
        if r.elements_ended(1):
            yield
    return OffsetCommitRequest(group_id, generation_id_or_member_epoch, member_id, group_instance_id, -1, topics)


def _read_steps_OffsetCommitRequestTopic_8(r: Reader) -> Generator[None, None, _OffsetCommitRequestTopic]:
    name = read_c_string(r)
    n = read_c_count(r, 18)
    partitions: list[OffsetCommitRequest.OffsetCommitRequestTopic.OffsetCommitRequestPartition] = []
    if n <= FLAT_ELEMENTS:
        partitions = [_read_OffsetCommitRequestPartition_8(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            partitions.append(_read_OffsetCommitRequestPartition_8(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return _OffsetCommitRequestTopic(name, None, partitions)


def _read_steps_OffsetCommitRequest_8(r: Reader) -> Generator[None, None, OffsetCommitRequest]:
    group_id = read_c_string(r)
    generation_id_or_member_epoch, = r.fixed(_S_i)
    member_id = read_c_string(r)
    group_instance_id = read_c_null_string(r)
    n = read_c_count(r, 3)
    topics: list[OffsetCommitRequest.OffsetCommitRequestTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_OffsetCommitRequestTopic_8(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return OffsetCommitRequest(group_id, generation_id_or_member_epoch, member_id, group_instance_id, -1, topics)


def _read_steps_OffsetCommitRequestTopic_10(r: Reader) -> Generator[None, None, _OffsetCommitRequestTopic]:
    topic_id, = r.fixed(_S_u)
    n = read_c_count(r, 18)
    partitions: list[OffsetCommitRequest.OffsetCommitRequestTopic.OffsetCommitRequestPartition] = []
    if n <= FLAT_ELEMENTS:
        partitions = [_read_OffsetCommitRequestPartition_8(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            partitions.append(_read_OffsetCommitRequestPartition_8(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return _OffsetCommitRequestTopic("", uuid_of(topic_id), partitions)


def _read_steps_OffsetCommitRequest_10(r: Reader) -> Generator[None, None, OffsetCommitRequest]:
    group_id = read_c_string(r)
    generation_id_or_member_epoch, = r.fixed(_S_i)
    member_id = read_c_string(r)
    group_instance_id = read_c_null_string(r)
    n = read_c_count(r, 18)
    topics: list[OffsetCommitRequest.OffsetCommitRequestTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_OffsetCommitRequestTopic_10(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return OffsetCommitRequest(group_id, generation_id_or_member_epoch, member_id, group_instance_id, -1, topics)


def _write_OffsetCommitRequestPartition_2(out: bytearray, m: _OffsetCommitRequestPartition) -> None:
    out += _P_iq(m.partition_index, m.committed_offset)
    write_null_string(out, m.committed_metadata)


def _write_OffsetCommitRequestTopic_2(out: bytearray, m: _OffsetCommitRequestTopic) -> None:
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_OffsetCommitRequestPartition_2(out, it_partitions)


def _write_OffsetCommitRequest_2(out: bytearray, m: OffsetCommitRequest) -> None:
    write_string(out, m.group_id)
    out += _P_i(m.generation_id_or_member_epoch)
    write_string(out, m.member_id)
    out += _P_q(m.retention_time_ms)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_OffsetCommitRequestTopic_2(out, it_topics)


def _write_OffsetCommitRequest_5(out: bytearray, m: OffsetCommitRequest) -> None:
    write_string(out, m.group_id)
    out += _P_i(m.generation_id_or_member_epoch)
    write_string(out, m.member_id)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_OffsetCommitRequestTopic_2(out, it_topics)


def _write_OffsetCommitRequestPartition_6(out: bytearray, m: _OffsetCommitRequestPartition) -> None:
    out += _P_iqi(m.partition_index, m.committed_offset, m.committed_leader_epoch)
    write_null_string(out, m.committed_metadata)


def _write_OffsetCommitRequestTopic_6(out: bytearray, m: _OffsetCommitRequestTopic) -> None:
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_OffsetCommitRequestPartition_6(out, it_partitions)


def _write_OffsetCommitRequest_6(out: bytearray, m: OffsetCommitRequest) -> None:
    write_string(out, m.group_id)
    out += _P_i(m.generation_id_or_member_epoch)
    write_string(out, m.member_id)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_OffsetCommitRequestTopic_6(out, it_topics)


def _write_OffsetCommitRequest_7(out: bytearray, m: OffsetCommitRequest) -> None:
    write_string(out, m.group_id)
    out += _P_i(m.generation_id_or_member_epoch)
    write_string(out, m.member_id)
    write_null_string(out, m.group_instance_id)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_OffsetCommitRequestTopic_6(out, it_topics)


def _write_OffsetCommitRequestPartition_8(out: bytearray, m: _OffsetCommitRequestPartition) -> None:
    out += _P_iqi(m.partition_index, m.committed_offset, m.committed_leader_epoch)
    write_c_null_string(out, m.committed_metadata)
    out.append(0)


def _write_OffsetCommitRequestTopic_8(out: bytearray, m: _OffsetCommitRequestTopic) -> None:
    write_c_string(out, m.name)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_OffsetCommitRequestPartition_8(out, it_partitions)
    out.append(0)


def _write_OffsetCommitRequest_8(out: bytearray, m: OffsetCommitRequest) -> None:
    write_c_string(out, m.group_id)
    out += _P_i(m.generation_id_or_member_epoch)
    write_c_string(out, m.member_id)
    write_c_null_string(out, m.group_instance_id)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_OffsetCommitRequestTopic_8(out, it_topics)
    out.append(0)


def _write_OffsetCommitRequestTopic_10(out: bytearray, m: _OffsetCommitRequestTopic) -> None:
    out += _P_u(uuid_bytes(m.topic_id))
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_OffsetCommitRequestPartition_8(out, it_partitions)
    out.append(0)


def _write_OffsetCommitRequest_10(out: bytearray, m: OffsetCommitRequest) -> None:
    write_c_string(out, m.group_id)
    out += _P_i(m.generation_id_or_member_epoch)
    write_c_string(out, m.member_id)
    write_c_null_string(out, m.group_instance_id)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_OffsetCommitRequestTopic_10(out, it_topics)
    out.append(0)


def _write_steps_OffsetCommitRequestTopic_2(o: Output, m: _OffsetCommitRequestTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    if len(m.partitions) <= FLAT_ELEMENTS:
        for it_partitions in m.partitions:
            _write_OffsetCommitRequestPartition_2(out, it_partitions)
        if o.elements_ended(len(m.partitions)):
            yield
    else:
        for it_partitions in m.partitions:
            _write_OffsetCommitRequestPartition_2(out, it_partitions)
            if o.elements_ended(1):
                yield


def _write_steps_OffsetCommitRequest_2(o: Output, m: OffsetCommitRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.group_id)
    out += _P_i(m.generation_id_or_member_epoch)
    write_string(out, m.member_id)
    out += _P_q(m.retention_time_ms)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_OffsetCommitRequestTopic_2(o, it_topics)
        if o.elements_ended(1):
            yield


def _write_steps_OffsetCommitRequest_5(o: Output, m: OffsetCommitRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.group_id)
    out += _P_i(m.generation_id_or_member_epoch)
    write_string(out, m.member_id)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_OffsetCommitRequestTopic_2(o, it_topics)
        if o.elements_ended(1):
            yield


def _write_steps_OffsetCommitRequestTopic_6(o: Output, m: _OffsetCommitRequestTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    if len(m.partitions) <= FLAT_ELEMENTS:
        for it_partitions in m.partitions:
            _write_OffsetCommitRequestPartition_6(out, it_partitions)
        if o.elements_ended(len(m.partitions)):
            yield
    else:
        for it_partitions in m.partitions:
            _write_OffsetCommitRequestPartition_6(out, it_partitions)
            if o.elements_ended(1):
                yield


def _write_steps_OffsetCommitRequest_6(o: Output, m: OffsetCommitRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.group_id)
    out += _P_i(m.generation_id_or_member_epoch)
    write_string(out, m.member_id)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_OffsetCommitRequestTopic_6(o, it_topics)
        if o.elements_ended(1):
            yield


def _write_steps_OffsetCommitRequest_7(o: Output, m: OffsetCommitRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.group_id)
    out += _P_i(m.generation_id_or_member_epoch)
    write_string(out, m.member_id)
    write_null_string(out, m.group_instance_id)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_OffsetCommitRequestTopic_6(o, it_topics)
        if o.elements_ended(1):
            yield


def _write_steps_OffsetCommitRequestTopic_8(o: Output, m: _OffsetCommitRequestTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.name)
    write_c_count(out, len(m.partitions))
    if len(m.partitions) <= FLAT_ELEMENTS:
        for it_partitions in m.partitions:
            _write_OffsetCommitRequestPartition_8(out, it_partitions)
        if o.elements_ended(len(m.partitions)):
            yield
    else:
        for it_partitions in m.partitions:
            _write_OffsetCommitRequestPartition_8(out, it_partitions)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_OffsetCommitRequest_8(o: Output, m: OffsetCommitRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.group_id)
    out += _P_i(m.generation_id_or_member_epoch)
    write_c_string(out, m.member_id)
    write_c_null_string(out, m.group_instance_id)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_OffsetCommitRequestTopic_8(o, it_topics)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_OffsetCommitRequestTopic_10(o: Output, m: _OffsetCommitRequestTopic) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_u(uuid_bytes(m.topic_id))
    write_c_count(out, len(m.partitions))
    if len(m.partitions) <= FLAT_ELEMENTS:
        for it_partitions in m.partitions:
            _write_OffsetCommitRequestPartition_8(out, it_partitions)
        if o.elements_ended(len(m.partitions)):
            yield
    else:
        for it_partitions in m.partitions:
            _write_OffsetCommitRequestPartition_8(out, it_partitions)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_OffsetCommitRequest_10(o: Output, m: OffsetCommitRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.group_id)
    out += _P_i(m.generation_id_or_member_epoch)
    write_c_string(out, m.member_id)
    write_c_null_string(out, m.group_instance_id)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_OffsetCommitRequestTopic_10(o, it_topics)
        if o.elements_ended(1):
            yield
    out.append(0)


def _read_OffsetCommitResponsePartition_2(r: Reader) -> _OffsetCommitResponsePartition:
    partition_index, error_code = r.fixed(_S_ih)
    return _OffsetCommitResponsePartition(partition_index, error_code)


def _read_OffsetCommitResponseTopic_2(r: Reader) -> _OffsetCommitResponseTopic:
    name = read_string(r)
    n = read_count(r, 6)
    partitions = [_read_OffsetCommitResponsePartition_2(r) for _ in range(n)]
    return _OffsetCommitResponseTopic(name, None, partitions)


def _read_OffsetCommitResponse_2(r: Reader) -> OffsetCommitResponse:
    n = read_count(r, 6)
    topics = [_read_OffsetCommitResponseTopic_2(r) for _ in range(n)]
    return OffsetCommitResponse(0, topics)


def _read_OffsetCommitResponse_3(r: Reader) -> OffsetCommitResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 6)
    topics = [_read_OffsetCommitResponseTopic_2(r) for _ in range(n)]
    return OffsetCommitResponse(throttle_time_ms, topics)


def _read_OffsetCommitResponsePartition_8(r: Reader) -> _OffsetCommitResponsePartition:
    partition_index, error_code = r.fixed(_S_ih)
    skip_tags(r)
    return _OffsetCommitResponsePartition(partition_index, error_code)


def _read_OffsetCommitResponseTopic_8(r: Reader) -> _OffsetCommitResponseTopic:
    name = read_c_string(r)
    n = read_c_count(r, 7)
    partitions = [_read_OffsetCommitResponsePartition_8(r) for _ in range(n)]
    skip_tags(r)
    return _OffsetCommitResponseTopic(name, None, partitions)


def _read_OffsetCommitResponse_8(r: Reader) -> OffsetCommitResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 3)
    topics = [_read_OffsetCommitResponseTopic_8(r) for _ in range(n)]
    skip_tags(r)
    return OffsetCommitResponse(throttle_time_ms, topics)


def _read_OffsetCommitResponseTopic_10(r: Reader) -> _OffsetCommitResponseTopic:
    topic_id, = r.fixed(_S_u)
    n = read_c_count(r, 7)
    partitions = [_read_OffsetCommitResponsePartition_8(r) for _ in range(n)]
    skip_tags(r)
    return _OffsetCommitResponseTopic("", uuid_of(topic_id), partitions)


def _read_OffsetCommitResponse_10(r: Reader) -> OffsetCommitResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 18)
    topics = [_read_OffsetCommitResponseTopic_10(r) for _ in range(n)]
    skip_tags(r)
    return OffsetCommitResponse(throttle_time_ms, topics)


def _read_steps_OffsetCommitResponseTopic_2(r: Reader) -> Generator[None, None, _OffsetCommitResponseTopic]:
    name = read_string(r)
    n = read_count(r, 6)
    partitions: list[OffsetCommitResponse.OffsetCommitResponseTopic.OffsetCommitResponsePartition] = []
    for some in batches(n):
        partitions += [_read_OffsetCommitResponsePartition_2(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    return _OffsetCommitResponseTopic(name, None, partitions)


def _read_steps_OffsetCommitResponse_2(r: Reader) -> Generator[None, None, OffsetCommitResponse]:
    n = read_count(r, 6)
    topics: list[OffsetCommitResponse.OffsetCommitResponseTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_OffsetCommitResponseTopic_2(r)))
        if r.elements_ended(1):
            yield
    return OffsetCommitResponse(0, topics)


def _read_steps_OffsetCommitResponse_3(r: Reader) -> Generator[None, None, OffsetCommitResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 6)
    topics: list[OffsetCommitResponse.OffsetCommitResponseTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_OffsetCommitResponseTopic_2(r)))
        if r.elements_ended(1):
            yield
    return OffsetCommitResponse(throttle_time_ms, topics)


def _read_steps_OffsetCommitResponseTopic_8(r: Reader) -> Generator[None, None, _OffsetCommitResponseTopic]:
    name = read_c_string(r)
    n = read_c_count(r, 7)
    partitions: list[OffsetCommitResponse.OffsetCommitResponseTopic.OffsetCommitResponsePartition] = []
    for some in batches(n):
        partitions += [_read_OffsetCommitResponsePartition_8(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    skip_tags(r)
    return _OffsetCommitResponseTopic(name, None, partitions)


def _read_steps_OffsetCommitResponse_8(r: Reader) -> Generator[None, None, OffsetCommitResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 3)
    topics: list[OffsetCommitResponse.OffsetCommitResponseTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_OffsetCommitResponseTopic_8(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return OffsetCommitResponse(throttle_time_ms, topics)


def _read_steps_OffsetCommitResponseTopic_10(r: Reader) -> Generator[None, None, _OffsetCommitResponseTopic]:
    topic_id, = r.fixed(_S_u)
    n = read_c_count(r, 7)
    partitions: list[OffsetCommitResponse.OffsetCommitResponseTopic.OffsetCommitResponsePartition] = []
    for some in batches(n):
        partitions += [_read_OffsetCommitResponsePartition_8(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    skip_tags(r)
    return _OffsetCommitResponseTopic("", uuid_of(topic_id), partitions)


def _read_steps_OffsetCommitResponse_10(r: Reader) -> Generator[None, None, OffsetCommitResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 18)
    topics: list[OffsetCommitResponse.OffsetCommitResponseTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_OffsetCommitResponseTopic_10(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return OffsetCommitResponse(throttle_time_ms, topics)


def _write_OffsetCommitResponsePartition_2(out: bytearray, m: _OffsetCommitResponsePartition) -> None:
    out += _P_ih(m.partition_index, m.error_code)


def _write_OffsetCommitResponseTopic_2(out: bytearray, m: _OffsetCommitResponseTopic) -> None:
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_OffsetCommitResponsePartition_2(out, it_partitions)


def _write_OffsetCommitResponse_2(out: bytearray, m: OffsetCommitResponse) -> None:
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_OffsetCommitResponseTopic_2(out, it_topics)


def _write_OffsetCommitResponse_3(out: bytearray, m: OffsetCommitResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_OffsetCommitResponseTopic_2(out, it_topics)


def _write_OffsetCommitResponsePartition_8(out: bytearray, m: _OffsetCommitResponsePartition) -> None:
    out += _P_ihx(m.partition_index, m.error_code)


def _write_OffsetCommitResponseTopic_8(out: bytearray, m: _OffsetCommitResponseTopic) -> None:
    write_c_string(out, m.name)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_OffsetCommitResponsePartition_8(out, it_partitions)
    out.append(0)


def _write_OffsetCommitResponse_8(out: bytearray, m: OffsetCommitResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_OffsetCommitResponseTopic_8(out, it_topics)
    out.append(0)


def _write_OffsetCommitResponseTopic_10(out: bytearray, m: _OffsetCommitResponseTopic) -> None:
    out += _P_u(uuid_bytes(m.topic_id))
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_OffsetCommitResponsePartition_8(out, it_partitions)
    out.append(0)


def _write_OffsetCommitResponse_10(out: bytearray, m: OffsetCommitResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_OffsetCommitResponseTopic_10(out, it_topics)
    out.append(0)


def _write_steps_OffsetCommitResponseTopic_2(o: Output, m: _OffsetCommitResponseTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_OffsetCommitResponsePartition_2(out, it_partitions)
        if o.elements_ended(some):
            yield


def _write_steps_OffsetCommitResponse_2(o: Output, m: OffsetCommitResponse) -> Generator[None, None, None]:
    out = o.buffer
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_OffsetCommitResponseTopic_2(o, it_topics)
        if o.elements_ended(1):
            yield


def _write_steps_OffsetCommitResponse_3(o: Output, m: OffsetCommitResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_OffsetCommitResponseTopic_2(o, it_topics)
        if o.elements_ended(1):
            yield


def _write_steps_OffsetCommitResponseTopic_8(o: Output, m: _OffsetCommitResponseTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.name)
    write_c_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_OffsetCommitResponsePartition_8(out, it_partitions)
        if o.elements_ended(some):
            yield
    out.append(0)


def _write_steps_OffsetCommitResponse_8(o: Output, m: OffsetCommitResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_OffsetCommitResponseTopic_8(o, it_topics)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_OffsetCommitResponseTopic_10(o: Output, m: _OffsetCommitResponseTopic) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_u(uuid_bytes(m.topic_id))
    write_c_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_OffsetCommitResponsePartition_8(out, it_partitions)
        if o.elements_ended(some):
            yield
    out.append(0)


def _write_steps_OffsetCommitResponse_10(o: Output, m: OffsetCommitResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_OffsetCommitResponseTopic_10(o, it_topics)
        if o.elements_ended(1):
            yield
    out.append(0)


def _error_for(m: OffsetCommitRequest, code: int) -> OffsetCommitResponse:
    return OffsetCommitResponse(topics=[_OffsetCommitResponseTopic(name=it0.name, topic_id=it0.topic_id, partitions=[_OffsetCommitResponsePartition(partition_index=it1.partition_index, error_code=code) for it1 in it0.partitions]) for it0 in m.topics])


OffsetCommitRequest.READ = (_read_OffsetCommitRequest_2, _read_OffsetCommitRequest_2, _read_OffsetCommitRequest_2, _read_OffsetCommitRequest_5, _read_OffsetCommitRequest_6, _read_OffsetCommitRequest_7, _read_OffsetCommitRequest_8, _read_OffsetCommitRequest_8, _read_OffsetCommitRequest_10,)
OffsetCommitRequest.READ_STEPS = (_read_steps_OffsetCommitRequest_2, _read_steps_OffsetCommitRequest_2, _read_steps_OffsetCommitRequest_2, _read_steps_OffsetCommitRequest_5, _read_steps_OffsetCommitRequest_6, _read_steps_OffsetCommitRequest_7, _read_steps_OffsetCommitRequest_8, _read_steps_OffsetCommitRequest_8, _read_steps_OffsetCommitRequest_10,)
OffsetCommitRequest.WRITE = (_write_OffsetCommitRequest_2, _write_OffsetCommitRequest_2, _write_OffsetCommitRequest_2, _write_OffsetCommitRequest_5, _write_OffsetCommitRequest_6, _write_OffsetCommitRequest_7, _write_OffsetCommitRequest_8, _write_OffsetCommitRequest_8, _write_OffsetCommitRequest_10,)
OffsetCommitRequest.WRITE_STEPS = (_write_steps_OffsetCommitRequest_2, _write_steps_OffsetCommitRequest_2, _write_steps_OffsetCommitRequest_2, _write_steps_OffsetCommitRequest_5, _write_steps_OffsetCommitRequest_6, _write_steps_OffsetCommitRequest_7, _write_steps_OffsetCommitRequest_8, _write_steps_OffsetCommitRequest_8, _write_steps_OffsetCommitRequest_10,)
OffsetCommitResponse.READ = (_read_OffsetCommitResponse_2, _read_OffsetCommitResponse_3, _read_OffsetCommitResponse_3, _read_OffsetCommitResponse_3, _read_OffsetCommitResponse_3, _read_OffsetCommitResponse_3, _read_OffsetCommitResponse_8, _read_OffsetCommitResponse_8, _read_OffsetCommitResponse_10,)
OffsetCommitResponse.READ_STEPS = (_read_steps_OffsetCommitResponse_2, _read_steps_OffsetCommitResponse_3, _read_steps_OffsetCommitResponse_3, _read_steps_OffsetCommitResponse_3, _read_steps_OffsetCommitResponse_3, _read_steps_OffsetCommitResponse_3, _read_steps_OffsetCommitResponse_8, _read_steps_OffsetCommitResponse_8, _read_steps_OffsetCommitResponse_10,)
OffsetCommitResponse.WRITE = (_write_OffsetCommitResponse_2, _write_OffsetCommitResponse_3, _write_OffsetCommitResponse_3, _write_OffsetCommitResponse_3, _write_OffsetCommitResponse_3, _write_OffsetCommitResponse_3, _write_OffsetCommitResponse_8, _write_OffsetCommitResponse_8, _write_OffsetCommitResponse_10,)
OffsetCommitResponse.WRITE_STEPS = (_write_steps_OffsetCommitResponse_2, _write_steps_OffsetCommitResponse_3, _write_steps_OffsetCommitResponse_3, _write_steps_OffsetCommitResponse_3, _write_steps_OffsetCommitResponse_3, _write_steps_OffsetCommitResponse_3, _write_steps_OffsetCommitResponse_8, _write_steps_OffsetCommitResponse_8, _write_steps_OffsetCommitResponse_10,)
OffsetCommitRequest.ERROR_FOR = _error_for
