"""OffsetFetchRequest, OffsetFetchResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from itertools import islice
from struct import Struct, pack
from typing import ClassVar, Final
from uuid import UUID

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, batches, read_c_count, read_c_null_count, read_c_null_string, read_c_numbers, read_c_string, read_count, read_null_count, read_null_string, read_numbers, read_string, skip_tags, uuid_of
from headrace.protocol.message_writing import Output, Runs, uuid_bytes, write_c_count, write_c_null_string, write_c_string, write_count, write_null_string, write_string
from headrace.protocol.primitives import Reader

class OffsetFetchRequest(KafkaMessage):
    """Key 9, versions 1 to 10, flexible from 6 on."""

    class OffsetFetchRequestTopic(MessageStruct):
        """Versions 0-7."""

        name: str = ""
        partition_indexes: list[int] = []

    class OffsetFetchRequestGroup(MessageStruct):
        """Versions 8+."""

        class OffsetFetchRequestTopics(MessageStruct):
            """Versions 8+."""

            name: str = ""
            topic_id: UUID | None = None
            partition_indexes: list[int] = []

        group_id: str = ""
        member_id: str | None = None
        member_epoch: int = -1
        topics: list[OffsetFetchRequest.OffsetFetchRequestGroup.OffsetFetchRequestTopics] | None = []

    API_KEY: ClassVar[int] = 9
    MIN_VERSION: ClassVar[int] = 1
    FLEXIBLE_SINCE: ClassVar[int] = 6
    group_id: str = ""
    topics: list[OffsetFetchRequest.OffsetFetchRequestTopic] | None = []
    groups: list[OffsetFetchRequest.OffsetFetchRequestGroup] = []
    require_stable: bool = False


class OffsetFetchResponse(KafkaMessage):
    """Key 9, versions 1 to 10, flexible from 6 on."""

    class OffsetFetchResponseTopic(MessageStruct):
        """Versions 0-7."""

        class OffsetFetchResponsePartition(MessageStruct):
            """Versions 0-7."""

            partition_index: int = 0
            committed_offset: int = 0
            committed_leader_epoch: int = -1
            metadata: str | None = ""
            error_code: int = 0

        name: str = ""
        partitions: Collection[OffsetFetchResponse.OffsetFetchResponseTopic.OffsetFetchResponsePartition] = []

    class OffsetFetchResponseGroup(MessageStruct):
        """Versions 8+."""

        class OffsetFetchResponseTopics(MessageStruct):
            """Versions 8+."""

            class OffsetFetchResponsePartitions(MessageStruct):
                """Versions 8+."""

                partition_index: int = 0
                committed_offset: int = 0
                committed_leader_epoch: int = -1
                metadata: str | None = ""
                error_code: int = 0

            name: str = ""
            topic_id: UUID | None = None
            partitions: Collection[OffsetFetchResponse.OffsetFetchResponseGroup.OffsetFetchResponseTopics.OffsetFetchResponsePartitions] = []

        group_id: str = ""
        topics: Collection[OffsetFetchResponse.OffsetFetchResponseGroup.OffsetFetchResponseTopics] = []
        error_code: int = 0

    API_KEY: ClassVar[int] = 9
    MIN_VERSION: ClassVar[int] = 1
    FLEXIBLE_SINCE: ClassVar[int] = 6
    throttle_time_ms: int = 0
    topics: Collection[OffsetFetchResponse.OffsetFetchResponseTopic] = []
    error_code: int = 0
    groups: Collection[OffsetFetchResponse.OffsetFetchResponseGroup] = []


_OffsetFetchRequestTopic = OffsetFetchRequest.OffsetFetchRequestTopic
_OffsetFetchRequestTopics = OffsetFetchRequest.OffsetFetchRequestGroup.OffsetFetchRequestTopics
_OffsetFetchRequestGroup = OffsetFetchRequest.OffsetFetchRequestGroup
_OffsetFetchResponsePartition = OffsetFetchResponse.OffsetFetchResponseTopic.OffsetFetchResponsePartition
_OffsetFetchResponseTopic = OffsetFetchResponse.OffsetFetchResponseTopic
_OffsetFetchResponsePartitions = OffsetFetchResponse.OffsetFetchResponseGroup.OffsetFetchResponseTopics.OffsetFetchResponsePartitions
_OffsetFetchResponseTopics = OffsetFetchResponse.OffsetFetchResponseGroup.OffsetFetchResponseTopics
_OffsetFetchResponseGroup = OffsetFetchResponse.OffsetFetchResponseGroup
_P_h: Final = Struct(">h").pack
_P_hx: Final = Struct(">hx").pack
_P_i: Final = Struct(">i").pack
_P_iq: Final = Struct(">iq").pack
_P_iqi: Final = Struct(">iqi").pack
_P_tx: Final = Struct(">?x").pack
_P_u: Final = Struct(">16s").pack
_R_Bi_x: Final = Runs("Bi", "x", is_array=(True, False))
_R_ii: Final = Runs("ii", is_array=(True,))
_R_u_Bi_x: Final = Runs("16s", "Bi", "x", is_array=(False, True, False))
_S_h: Final = Struct(">h")
_S_i: Final = Struct(">i")
_S_iq: Final = Struct(">iq")
_S_iqi: Final = Struct(">iqi")
_S_t: Final = Struct(">?")
_S_u: Final = Struct(">16s")


def _read_OffsetFetchRequestTopic_1(r: Reader) -> _OffsetFetchRequestTopic:
    name = read_string(r)
    partition_indexes = read_numbers(r, "i", 4)
    return _OffsetFetchRequestTopic(name, partition_indexes)


def _read_OffsetFetchRequest_1(r: Reader) -> OffsetFetchRequest:
    group_id = read_string(r)
    n = read_count(r, 6)
    topics = [_read_OffsetFetchRequestTopic_1(r) for _ in range(n)]
    return OffsetFetchRequest(group_id, topics)


def _read_OffsetFetchRequest_2(r: Reader) -> OffsetFetchRequest:
    group_id = read_string(r)
    n = read_null_count(r, 6)
    topics = None if n < 0 else [_read_OffsetFetchRequestTopic_1(r) for _ in range(n)]
    return OffsetFetchRequest(group_id, topics)


def _read_OffsetFetchRequestTopic_6(r: Reader) -> _OffsetFetchRequestTopic:
    name = read_c_string(r)
    partition_indexes = read_c_numbers(r, "i", 4)
    skip_tags(r)
    return _OffsetFetchRequestTopic(name, partition_indexes)


def _read_OffsetFetchRequest_6(r: Reader) -> OffsetFetchRequest:
    group_id = read_c_string(r)
    n = read_c_null_count(r, 3)
    topics = None if n < 0 else [_read_OffsetFetchRequestTopic_6(r) for _ in range(n)]
    skip_tags(r)
    return OffsetFetchRequest(group_id, topics)


def _read_OffsetFetchRequest_7(r: Reader) -> OffsetFetchRequest:
    group_id = read_c_string(r)
    n = read_c_null_count(r, 3)
    topics = None if n < 0 else [_read_OffsetFetchRequestTopic_6(r) for _ in range(n)]
    require_stable, = r.fixed(_S_t)
    skip_tags(r)
    return OffsetFetchRequest(group_id, topics, [], require_stable)


def _read_OffsetFetchRequestTopics_8(r: Reader) -> _OffsetFetchRequestTopics:
    name = read_c_string(r)
    partition_indexes = read_c_numbers(r, "i", 4)
    skip_tags(r)
    return _OffsetFetchRequestTopics(name, None, partition_indexes)


def _read_OffsetFetchRequestGroup_8(r: Reader) -> _OffsetFetchRequestGroup:
    group_id = read_c_string(r)
    n = read_c_null_count(r, 3)
    topics = None if n < 0 else [_read_OffsetFetchRequestTopics_8(r) for _ in range(n)]
    skip_tags(r)
    return _OffsetFetchRequestGroup(group_id, None, -1, topics)


def _read_OffsetFetchRequest_8(r: Reader) -> OffsetFetchRequest:
    n = read_c_count(r, 3)
    groups = [_read_OffsetFetchRequestGroup_8(r) for _ in range(n)]
    require_stable, = r.fixed(_S_t)
    skip_tags(r)
    return OffsetFetchRequest("", [], groups, require_stable)


def _read_OffsetFetchRequestGroup_9(r: Reader) -> _OffsetFetchRequestGroup:
    group_id = read_c_string(r)
    member_id = read_c_null_string(r)
    member_epoch, = r.fixed(_S_i)
    n = read_c_null_count(r, 3)
    topics = None if n < 0 else [_read_OffsetFetchRequestTopics_8(r) for _ in range(n)]
    skip_tags(r)
    return _OffsetFetchRequestGroup(group_id, member_id, member_epoch, topics)


def _read_OffsetFetchRequest_9(r: Reader) -> OffsetFetchRequest:
    n = read_c_count(r, 8)
    groups = [_read_OffsetFetchRequestGroup_9(r) for _ in range(n)]
    require_stable, = r.fixed(_S_t)
    skip_tags(r)
    return OffsetFetchRequest("", [], groups, require_stable)


def _read_OffsetFetchRequestTopics_10(r: Reader) -> _OffsetFetchRequestTopics:
    topic_id, = r.fixed(_S_u)
    partition_indexes = read_c_numbers(r, "i", 4)
    skip_tags(r)
    return _OffsetFetchRequestTopics("", uuid_of(topic_id), partition_indexes)


def _read_OffsetFetchRequestGroup_10(r: Reader) -> _OffsetFetchRequestGroup:
    group_id = read_c_string(r)
    member_id = read_c_null_string(r)
    member_epoch, = r.fixed(_S_i)
    n = read_c_null_count(r, 18)
    topics = None if n < 0 else [_read_OffsetFetchRequestTopics_10(r) for _ in range(n)]
    skip_tags(r)
    return _OffsetFetchRequestGroup(group_id, member_id, member_epoch, topics)


def _read_OffsetFetchRequest_10(r: Reader) -> OffsetFetchRequest:
    n = read_c_count(r, 8)
    groups = [_read_OffsetFetchRequestGroup_10(r) for _ in range(n)]
    require_stable, = r.fixed(_S_t)
    skip_tags(r)
    return OffsetFetchRequest("", [], groups, require_stable)


def _read_steps_OffsetFetchRequest_1(r: Reader) -> Generator[None, None, OffsetFetchRequest]:
    group_id = read_string(r)
    n = read_count(r, 6)
    topics: list[OffsetFetchRequest.OffsetFetchRequestTopic] = []
    if n <= FLAT_ELEMENTS:
        topics = [_read_OffsetFetchRequestTopic_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            topics.append(_read_OffsetFetchRequestTopic_1(r))
            if r.elements_ended(1):
                yield
    return OffsetFetchRequest(group_id, topics)


def _read_steps_OffsetFetchRequest_2(r: Reader) -> Generator[None, None, OffsetFetchRequest]:
    group_id = read_string(r)
    n = read_null_count(r, 6)
    topics: list[OffsetFetchRequest.OffsetFetchRequestTopic] | None = None
    if n >= 0:
        topics_: list[OffsetFetchRequest.OffsetFetchRequestTopic] = []
        if n <= FLAT_ELEMENTS:
            topics_ = [_read_OffsetFetchRequestTopic_1(r) for _ in range(n)]
            r.elements_of_step += n
        else:
            for _ in range(n):
                topics_.append(_read_OffsetFetchRequestTopic_1(r))
                if r.elements_ended(1):
                    yield
        topics = topics_
    return OffsetFetchRequest(group_id, topics)


def _read_steps_OffsetFetchRequest_6(r: Reader) -> Generator[None, None, OffsetFetchRequest]:
    group_id = read_c_string(r)
    n = read_c_null_count(r, 3)
    topics: list[OffsetFetchRequest.OffsetFetchRequestTopic] | None = None
    if n >= 0:
        topics_: list[OffsetFetchRequest.OffsetFetchRequestTopic] = []
        if n <= FLAT_ELEMENTS:
            topics_ = [_read_OffsetFetchRequestTopic_6(r) for _ in range(n)]
            r.elements_of_step += n
        else:
            for _ in range(n):
                topics_.append(_read_OffsetFetchRequestTopic_6(r))
                if r.elements_ended(1):
                    yield
        topics = topics_
    skip_tags(r)
    return OffsetFetchRequest(group_id, topics)


def _read_steps_OffsetFetchRequest_7(r: Reader) -> Generator[None, None, OffsetFetchRequest]:
    group_id = read_c_string(r)
    n = read_c_null_count(r, 3)
    topics: list[OffsetFetchRequest.OffsetFetchRequestTopic] | None = None
    if n >= 0:
        topics_: list[OffsetFetchRequest.OffsetFetchRequestTopic] = []
        if n <= FLAT_ELEMENTS:
            topics_ = [_read_OffsetFetchRequestTopic_6(r) for _ in range(n)]
            r.elements_of_step += n
        else:
            for _ in range(n):
                topics_.append(_read_OffsetFetchRequestTopic_6(r))
                if r.elements_ended(1):
                    yield
        topics = topics_
    require_stable, = r.fixed(_S_t)
    skip_tags(r)
    return OffsetFetchRequest(group_id, topics, [], require_stable)


def _read_steps_OffsetFetchRequestGroup_8(r: Reader) -> Generator[None, None, _OffsetFetchRequestGroup]:
    group_id = read_c_string(r)
    n = read_c_null_count(r, 3)
    topics: list[OffsetFetchRequest.OffsetFetchRequestGroup.OffsetFetchRequestTopics] | None = None
    if n >= 0:
        topics_: list[OffsetFetchRequest.OffsetFetchRequestGroup.OffsetFetchRequestTopics] = []
        if n <= FLAT_ELEMENTS:
            topics_ = [_read_OffsetFetchRequestTopics_8(r) for _ in range(n)]
            r.elements_of_step += n
        else:
            for _ in range(n):
                topics_.append(_read_OffsetFetchRequestTopics_8(r))
                if r.elements_ended(1):
                    yield
        topics = topics_
    skip_tags(r)
    return _OffsetFetchRequestGroup(group_id, None, -1, topics)


def _read_steps_OffsetFetchRequest_8(r: Reader) -> Generator[None, None, OffsetFetchRequest]:
    n = read_c_count(r, 3)
    groups: list[OffsetFetchRequest.OffsetFetchRequestGroup] = []
    for _ in range(n):
        groups.append((yield from _read_steps_OffsetFetchRequestGroup_8(r)))
        if r.elements_ended(1):
            yield
    require_stable, = r.fixed(_S_t)
    skip_tags(r)
    return OffsetFetchRequest("", [], groups, require_stable)


def _read_steps_OffsetFetchRequestGroup_9(r: Reader) -> Generator[None, None, _OffsetFetchRequestGroup]:
    group_id = read_c_string(r)
    member_id = read_c_null_string(r)
    member_epoch, = r.fixed(_S_i)
    n = read_c_null_count(r, 3)
    topics: list[OffsetFetchRequest.OffsetFetchRequestGroup.OffsetFetchRequestTopics] | None = None
    if n >= 0:
        topics_: list[OffsetFetchRequest.OffsetFetchRequestGroup.OffsetFetchRequestTopics] = []
        if n <= FLAT_ELEMENTS:
            topics_ = [_read_OffsetFetchRequestTopics_8(r) for _ in range(n)]
            r.elements_of_step += n
        else:
            for _ in range(n):
                topics_.append(_read_OffsetFetchRequestTopics_8(r))
                if r.elements_ended(1):
                    yield
        topics = topics_
    skip_tags(r)
    return _OffsetFetchRequestGroup(group_id, member_id, member_epoch, topics)


def _read_steps_OffsetFetchRequest_9(r: Reader) -> Generator[None, None, OffsetFetchRequest]:
    n = read_c_count(r, 8)
    groups: list[OffsetFetchRequest.OffsetFetchRequestGroup] = []
    for _ in range(n):
        groups.append((yield from _read_steps_OffsetFetchRequestGroup_9(r)))
        if r.elements_ended(1):
            yield
    require_stable, = r.fixed(_S_t)
    skip_tags(r)
    return OffsetFetchRequest("", [], groups, require_stable)


def _read_steps_OffsetFetchRequestGroup_10(r: Reader) -> Generator[None, None, _OffsetFetchRequestGroup]:
    group_id = read_c_string(r)
    member_id = read_c_null_string(r)
    member_epoch, = r.fixed(_S_i)
    n = read_c_null_count(r, 18)
    topics: list[OffsetFetchRequest.OffsetFetchRequestGroup.OffsetFetchRequestTopics] | None = None
    if n >= 0:
        topics_: list[OffsetFetchRequest.OffsetFetchRequestGroup.OffsetFetchRequestTopics] = []
        for some in batches(n):
            topics_ += [_read_OffsetFetchRequestTopics_10(r) for _ in range(some)]
            if r.elements_ended(some):
                yield
        topics = topics_
    skip_tags(r)
    return _OffsetFetchRequestGroup(group_id, member_id, member_epoch, topics)


def _read_steps_OffsetFetchRequest_10(r: Reader) -> Generator[None, None, OffsetFetchRequest]:
    n = read_c_count(r, 8)
    groups: list[OffsetFetchRequest.OffsetFetchRequestGroup] = []
    for _ in range(n):
        groups.append((yield from _read_steps_OffsetFetchRequestGroup_10(r)))
        if r.elements_ended(1):
            yield
    require_stable, = r.fixed(_S_t)
    skip_tags(r)
    return OffsetFetchRequest("", [], groups, require_stable)


def _write_OffsetFetchRequestTopic_1(out: bytearray, m: _OffsetFetchRequestTopic) -> None:
    write_string(out, m.name)
    n1 = len(m.partition_indexes)
    out += _R_ii[n1,](n1, *m.partition_indexes)


def _write_OffsetFetchRequest_1(out: bytearray, m: OffsetFetchRequest) -> None:
    write_string(out, m.group_id)
    assert m.topics is not None
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_OffsetFetchRequestTopic_1(out, it_topics)


def _write_OffsetFetchRequest_2(out: bytearray, m: OffsetFetchRequest) -> None:
    write_string(out, m.group_id)
    if m.topics is None:
        write_count(out, -1)
    else:
        write_count(out, len(m.topics))
        for it_topics in m.topics:
            _write_OffsetFetchRequestTopic_1(out, it_topics)


def _write_OffsetFetchRequestTopic_6(out: bytearray, m: _OffsetFetchRequestTopic) -> None:
    write_c_string(out, m.name)
    n1 = len(m.partition_indexes)
    out += _R_Bi_x[n1,](n1 + 1, *m.partition_indexes)


def _write_OffsetFetchRequest_6(out: bytearray, m: OffsetFetchRequest) -> None:
    write_c_string(out, m.group_id)
    if m.topics is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.topics))
        for it_topics in m.topics:
            _write_OffsetFetchRequestTopic_6(out, it_topics)
    out.append(0)


def _write_OffsetFetchRequest_7(out: bytearray, m: OffsetFetchRequest) -> None:
    write_c_string(out, m.group_id)
    if m.topics is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.topics))
        for it_topics in m.topics:
            _write_OffsetFetchRequestTopic_6(out, it_topics)
    out += _P_tx(m.require_stable)


def _write_OffsetFetchRequestTopics_8(out: bytearray, m: _OffsetFetchRequestTopics) -> None:
    write_c_string(out, m.name)
    n1 = len(m.partition_indexes)
    out += _R_Bi_x[n1,](n1 + 1, *m.partition_indexes)


def _write_OffsetFetchRequestGroup_8(out: bytearray, m: _OffsetFetchRequestGroup) -> None:
    write_c_string(out, m.group_id)
    if m.topics is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.topics))
        for it_topics in m.topics:
            _write_OffsetFetchRequestTopics_8(out, it_topics)
    out.append(0)


def _write_OffsetFetchRequest_8(out: bytearray, m: OffsetFetchRequest) -> None:
    write_c_count(out, len(m.groups))
    for it_groups in m.groups:
        _write_OffsetFetchRequestGroup_8(out, it_groups)
    out += _P_tx(m.require_stable)


def _write_OffsetFetchRequestGroup_9(out: bytearray, m: _OffsetFetchRequestGroup) -> None:
    write_c_string(out, m.group_id)
    write_c_null_string(out, m.member_id)
    out += _P_i(m.member_epoch)
    if m.topics is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.topics))
        for it_topics in m.topics:
            _write_OffsetFetchRequestTopics_8(out, it_topics)
    out.append(0)


def _write_OffsetFetchRequest_9(out: bytearray, m: OffsetFetchRequest) -> None:
    write_c_count(out, len(m.groups))
    for it_groups in m.groups:
        _write_OffsetFetchRequestGroup_9(out, it_groups)
    out += _P_tx(m.require_stable)


def _write_OffsetFetchRequestTopics_10(out: bytearray, m: _OffsetFetchRequestTopics) -> None:
    n1 = len(m.partition_indexes)
    out += _R_u_Bi_x[n1,](uuid_bytes(m.topic_id), n1 + 1, *m.partition_indexes)


def _write_OffsetFetchRequestGroup_10(out: bytearray, m: _OffsetFetchRequestGroup) -> None:
    write_c_string(out, m.group_id)
    write_c_null_string(out, m.member_id)
    out += _P_i(m.member_epoch)
    if m.topics is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.topics))
        for it_topics in m.topics:
            _write_OffsetFetchRequestTopics_10(out, it_topics)
    out.append(0)


def _write_OffsetFetchRequest_10(out: bytearray, m: OffsetFetchRequest) -> None:
    write_c_count(out, len(m.groups))
    for it_groups in m.groups:
        _write_OffsetFetchRequestGroup_10(out, it_groups)
    out += _P_tx(m.require_stable)


def _write_steps_OffsetFetchRequest_1(o: Output, m: OffsetFetchRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.group_id)
    assert m.topics is not None
    write_count(out, len(m.topics))
    if len(m.topics) <= FLAT_ELEMENTS:
        for it_topics in m.topics:
            _write_OffsetFetchRequestTopic_1(out, it_topics)
        if o.elements_ended(len(m.topics)):
            yield
    else:
        for it_topics in m.topics:
            _write_OffsetFetchRequestTopic_1(out, it_topics)
            if o.elements_ended(1):
                yield


def _write_steps_OffsetFetchRequest_2(o: Output, m: OffsetFetchRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.group_id)
    if m.topics is None:
        write_count(out, -1)
    else:
        write_count(out, len(m.topics))
        if len(m.topics) <= FLAT_ELEMENTS:
            for it_topics in m.topics:
                _write_OffsetFetchRequestTopic_1(out, it_topics)
            if o.elements_ended(len(m.topics)):
                yield
        else:
            for it_topics in m.topics:
                _write_OffsetFetchRequestTopic_1(out, it_topics)
                if o.elements_ended(1):
                    yield


def _write_steps_OffsetFetchRequest_6(o: Output, m: OffsetFetchRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.group_id)
    if m.topics is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.topics))
        if len(m.topics) <= FLAT_ELEMENTS:
            for it_topics in m.topics:
                _write_OffsetFetchRequestTopic_6(out, it_topics)
            if o.elements_ended(len(m.topics)):
                yield
        else:
            for it_topics in m.topics:
                _write_OffsetFetchRequestTopic_6(out, it_topics)
                if o.elements_ended(1):
                    yield
    out.append(0)


def _write_steps_OffsetFetchRequest_7(o: Output, m: OffsetFetchRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.group_id)
    if m.topics is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.topics))
        if len(m.topics) <= FLAT_ELEMENTS:
            for it_topics in m.topics:
                _write_OffsetFetchRequestTopic_6(out, it_topics)
            if o.elements_ended(len(m.topics)):
                yield
        else:
            for it_topics in m.topics:
                _write_OffsetFetchRequestTopic_6(out, it_topics)
                if o.elements_ended(1):
                    yield
    out += _P_tx(m.require_stable)


def _write_steps_OffsetFetchRequestGroup_8(o: Output, m: _OffsetFetchRequestGroup) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.group_id)
    if m.topics is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.topics))
        if len(m.topics) <= FLAT_ELEMENTS:
            for it_topics in m.topics:
                _write_OffsetFetchRequestTopics_8(out, it_topics)
            if o.elements_ended(len(m.topics)):
                yield
        else:
            for it_topics in m.topics:
                _write_OffsetFetchRequestTopics_8(out, it_topics)
                if o.elements_ended(1):
                    yield
    out.append(0)


def _write_steps_OffsetFetchRequest_8(o: Output, m: OffsetFetchRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.groups))
    for it_groups in m.groups:
        yield from _write_steps_OffsetFetchRequestGroup_8(o, it_groups)
        if o.elements_ended(1):
            yield
    out += _P_tx(m.require_stable)


def _write_steps_OffsetFetchRequestGroup_9(o: Output, m: _OffsetFetchRequestGroup) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.group_id)
    write_c_null_string(out, m.member_id)
    out += _P_i(m.member_epoch)
    if m.topics is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.topics))
        if len(m.topics) <= FLAT_ELEMENTS:
            for it_topics in m.topics:
                _write_OffsetFetchRequestTopics_8(out, it_topics)
            if o.elements_ended(len(m.topics)):
                yield
        else:
            for it_topics in m.topics:
                _write_OffsetFetchRequestTopics_8(out, it_topics)
                if o.elements_ended(1):
                    yield
    out.append(0)


def _write_steps_OffsetFetchRequest_9(o: Output, m: OffsetFetchRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.groups))
    for it_groups in m.groups:
        yield from _write_steps_OffsetFetchRequestGroup_9(o, it_groups)
        if o.elements_ended(1):
            yield
    out += _P_tx(m.require_stable)


def _write_steps_OffsetFetchRequestGroup_10(o: Output, m: _OffsetFetchRequestGroup) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.group_id)
    write_c_null_string(out, m.member_id)
    out += _P_i(m.member_epoch)
    if m.topics is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.topics))
        left_topics = iter(m.topics)
        for some in batches(len(m.topics)):
            for it_topics in islice(left_topics, some):
                _write_OffsetFetchRequestTopics_10(out, it_topics)
            if o.elements_ended(some):
                yield
    out.append(0)


def _write_steps_OffsetFetchRequest_10(o: Output, m: OffsetFetchRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.groups))
    for it_groups in m.groups:
        yield from _write_steps_OffsetFetchRequestGroup_10(o, it_groups)
        if o.elements_ended(1):
            yield
    out += _P_tx(m.require_stable)


def _read_OffsetFetchResponsePartition_1(r: Reader) -> _OffsetFetchResponsePartition:
    partition_index, committed_offset = r.fixed(_S_iq)
    metadata = read_null_string(r)
    error_code, = r.fixed(_S_h)
    return _OffsetFetchResponsePartition(partition_index, committed_offset, -1, metadata, error_code)


def _read_OffsetFetchResponseTopic_1(r: Reader) -> _OffsetFetchResponseTopic:
    name = read_string(r)
    n = read_count(r, 16)
    partitions = [_read_OffsetFetchResponsePartition_1(r) for _ in range(n)]
    return _OffsetFetchResponseTopic(name, partitions)


def _read_OffsetFetchResponse_1(r: Reader) -> OffsetFetchResponse:
    n = read_count(r, 6)
    topics = [_read_OffsetFetchResponseTopic_1(r) for _ in range(n)]
    return OffsetFetchResponse(0, topics)


def _read_OffsetFetchResponse_2(r: Reader) -> OffsetFetchResponse:
    n = read_count(r, 6)
    topics = [_read_OffsetFetchResponseTopic_1(r) for _ in range(n)]
    error_code, = r.fixed(_S_h)
    return OffsetFetchResponse(0, topics, error_code)


def _read_OffsetFetchResponse_3(r: Reader) -> OffsetFetchResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 6)
    topics = [_read_OffsetFetchResponseTopic_1(r) for _ in range(n)]
    error_code, = r.fixed(_S_h)
    return OffsetFetchResponse(throttle_time_ms, topics, error_code)


def _read_OffsetFetchResponsePartition_5(r: Reader) -> _OffsetFetchResponsePartition:
    partition_index, committed_offset, committed_leader_epoch = r.fixed(_S_iqi)
    metadata = read_null_string(r)
    error_code, = r.fixed(_S_h)
    return _OffsetFetchResponsePartition(partition_index, committed_offset, committed_leader_epoch, metadata, error_code)


def _read_OffsetFetchResponseTopic_5(r: Reader) -> _OffsetFetchResponseTopic:
    name = read_string(r)
    n = read_count(r, 20)
    partitions = [_read_OffsetFetchResponsePartition_5(r) for _ in range(n)]
    return _OffsetFetchResponseTopic(name, partitions)


def _read_OffsetFetchResponse_5(r: Reader) -> OffsetFetchResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 6)
    topics = [_read_OffsetFetchResponseTopic_5(r) for _ in range(n)]
    error_code, = r.fixed(_S_h)
    return OffsetFetchResponse(throttle_time_ms, topics, error_code)


def _read_OffsetFetchResponsePartition_6(r: Reader) -> _OffsetFetchResponsePartition:
    partition_index, committed_offset, committed_leader_epoch = r.fixed(_S_iqi)
    metadata = read_c_null_string(r)
    error_code, = r.fixed(_S_h)
    skip_tags(r)
    return _OffsetFetchResponsePartition(partition_index, committed_offset, committed_leader_epoch, metadata, error_code)


def _read_OffsetFetchResponseTopic_6(r: Reader) -> _OffsetFetchResponseTopic:
    name = read_c_string(r)
    n = read_c_count(r, 20)
    partitions = [_read_OffsetFetchResponsePartition_6(r) for _ in range(n)]
    skip_tags(r)
    return _OffsetFetchResponseTopic(name, partitions)


def _read_OffsetFetchResponse_6(r: Reader) -> OffsetFetchResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 3)
    topics = [_read_OffsetFetchResponseTopic_6(r) for _ in range(n)]
    error_code, = r.fixed(_S_h)
    skip_tags(r)
    return OffsetFetchResponse(throttle_time_ms, topics, error_code)


def _read_OffsetFetchResponsePartitions_8(r: Reader) -> _OffsetFetchResponsePartitions:
    partition_index, committed_offset, committed_leader_epoch = r.fixed(_S_iqi)
    metadata = read_c_null_string(r)
    error_code, = r.fixed(_S_h)
    skip_tags(r)
    return _OffsetFetchResponsePartitions(partition_index, committed_offset, committed_leader_epoch, metadata, error_code)


def _read_OffsetFetchResponseTopics_8(r: Reader) -> _OffsetFetchResponseTopics:
    name = read_c_string(r)
    n = read_c_count(r, 20)
    partitions = [_read_OffsetFetchResponsePartitions_8(r) for _ in range(n)]
    skip_tags(r)
    return _OffsetFetchResponseTopics(name, None, partitions)


def _read_OffsetFetchResponseGroup_8(r: Reader) -> _OffsetFetchResponseGroup:
    group_id = read_c_string(r)
    n = read_c_count(r, 3)
    topics = [_read_OffsetFetchResponseTopics_8(r) for _ in range(n)]
    error_code, = r.fixed(_S_h)
    skip_tags(r)
    return _OffsetFetchResponseGroup(group_id, topics, error_code)


def _read_OffsetFetchResponse_8(r: Reader) -> OffsetFetchResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 5)
    groups = [_read_OffsetFetchResponseGroup_8(r) for _ in range(n)]
    skip_tags(r)
    return OffsetFetchResponse(throttle_time_ms, [], 0, groups)


def _read_OffsetFetchResponseTopics_10(r: Reader) -> _OffsetFetchResponseTopics:
    topic_id, = r.fixed(_S_u)
    n = read_c_count(r, 20)
    partitions = [_read_OffsetFetchResponsePartitions_8(r) for _ in range(n)]
    skip_tags(r)
    return _OffsetFetchResponseTopics("", uuid_of(topic_id), partitions)


def _read_OffsetFetchResponseGroup_10(r: Reader) -> _OffsetFetchResponseGroup:
    group_id = read_c_string(r)
    n = read_c_count(r, 18)
    topics = [_read_OffsetFetchResponseTopics_10(r) for _ in range(n)]
    error_code, = r.fixed(_S_h)
    skip_tags(r)
    return _OffsetFetchResponseGroup(group_id, topics, error_code)


def _read_OffsetFetchResponse_10(r: Reader) -> OffsetFetchResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 5)
    groups = [_read_OffsetFetchResponseGroup_10(r) for _ in range(n)]
    skip_tags(r)
    return OffsetFetchResponse(throttle_time_ms, [], 0, groups)


def _read_steps_OffsetFetchResponseTopic_1(r: Reader) -> Generator[None, None, _OffsetFetchResponseTopic]:
    name = read_string(r)
    n = read_count(r, 16)
    partitions: list[OffsetFetchResponse.OffsetFetchResponseTopic.OffsetFetchResponsePartition] = []
    if n <= FLAT_ELEMENTS:
        partitions = [_read_OffsetFetchResponsePartition_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            partitions.append(_read_OffsetFetchResponsePartition_1(r))
            if r.elements_ended(1):
                yield
    return _OffsetFetchResponseTopic(name, partitions)


def _read_steps_OffsetFetchResponse_1(r: Reader) -> Generator[None, None, OffsetFetchResponse]:
    n = read_count(r, 6)
    topics: list[OffsetFetchResponse.OffsetFetchResponseTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_OffsetFetchResponseTopic_1(r)))
        if r.elements_ended(1):
            yield
    return OffsetFetchResponse(0, topics)


def _read_steps_OffsetFetchResponse_2(r: Reader) -> Generator[None, None, OffsetFetchResponse]:
    n = read_count(r, 6)
    topics: list[OffsetFetchResponse.OffsetFetchResponseTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_OffsetFetchResponseTopic_1(r)))
        if r.elements_ended(1):
            yield
    error_code, = r.fixed(_S_h)
    return OffsetFetchResponse(0, topics, error_code)


def _read_steps_OffsetFetchResponse_3(r: Reader) -> Generator[None, None, OffsetFetchResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 6)
    topics: list[OffsetFetchResponse.OffsetFetchResponseTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_OffsetFetchResponseTopic_1(r)))
        if r.elements_ended(1):
            yield
    error_code, = r.fixed(_S_h)
    return OffsetFetchResponse(throttle_time_ms, topics, error_code)


def _read_steps_OffsetFetchResponseTopic_5(r: Reader) -> Generator[None, None, _OffsetFetchResponseTopic]:
    name = read_string(r)
    n = read_count(r, 20)
    partitions: list[OffsetFetchResponse.OffsetFetchResponseTopic.OffsetFetchResponsePartition] = []
    if n <= FLAT_ELEMENTS:
        partitions = [_read_OffsetFetchResponsePartition_5(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            partitions.append(_read_OffsetFetchResponsePartition_5(r))
            if r.elements_ended(1):
                yield
    return _OffsetFetchResponseTopic(name, partitions)


def _read_steps_OffsetFetchResponse_5(r: Reader) -> Generator[None, None, OffsetFetchResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 6)
    topics: list[OffsetFetchResponse.OffsetFetchResponseTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_OffsetFetchResponseTopic_5(r)))
        if r.elements_ended(1):
            yield
    error_code, = r.fixed(_S_h)
    return OffsetFetchResponse(throttle_time_ms, topics, error_code)


def _read_steps_OffsetFetchResponseTopic_6(r: Reader) -> Generator[None, None, _OffsetFetchResponseTopic]:
    name = read_c_string(r)
    n = read_c_count(r, 20)
    partitions: list[OffsetFetchResponse.OffsetFetchResponseTopic.OffsetFetchResponsePartition] = []
    if n <= FLAT_ELEMENTS:
        partitions = [_read_OffsetFetchResponsePartition_6(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            partitions.append(_read_OffsetFetchResponsePartition_6(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return _OffsetFetchResponseTopic(name, partitions)


def _read_steps_OffsetFetchResponse_6(r: Reader) -> Generator[None, None, OffsetFetchResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 3)
    topics: list[OffsetFetchResponse.OffsetFetchResponseTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_OffsetFetchResponseTopic_6(r)))
        if r.elements_ended(1):
            yield
    error_code, = r.fixed(_S_h)
    skip_tags(r)
    return OffsetFetchResponse(throttle_time_ms, topics, error_code)


def _read_steps_OffsetFetchResponseTopics_8(r: Reader) -> Generator[None, None, _OffsetFetchResponseTopics]:
    name = read_c_string(r)
    n = read_c_count(r, 20)
    partitions: list[OffsetFetchResponse.OffsetFetchResponseGroup.OffsetFetchResponseTopics.OffsetFetchResponsePartitions] = []
    if n <= FLAT_ELEMENTS:
        partitions = [_read_OffsetFetchResponsePartitions_8(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            partitions.append(_read_OffsetFetchResponsePartitions_8(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return _OffsetFetchResponseTopics(name, None, partitions)


def _read_steps_OffsetFetchResponseGroup_8(r: Reader) -> Generator[None, None, _OffsetFetchResponseGroup]:
    group_id = read_c_string(r)
    n = read_c_count(r, 3)
    topics: list[OffsetFetchResponse.OffsetFetchResponseGroup.OffsetFetchResponseTopics] = []
    for _ in range(n):
        topics.append((yield from _read_steps_OffsetFetchResponseTopics_8(r)))
        if r.elements_ended(1):
            yield
    error_code, = r.fixed(_S_h)
    skip_tags(r)
    return _OffsetFetchResponseGroup(group_id, topics, error_code)


def _read_steps_OffsetFetchResponse_8(r: Reader) -> Generator[None, None, OffsetFetchResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 5)
    groups: list[OffsetFetchResponse.OffsetFetchResponseGroup] = []
    for _ in range(n):
        groups.append((yield from _read_steps_OffsetFetchResponseGroup_8(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return OffsetFetchResponse(throttle_time_ms, [], 0, groups)


def _read_steps_OffsetFetchResponseTopics_10(r: Reader) -> Generator[None, None, _OffsetFetchResponseTopics]:
    topic_id, = r.fixed(_S_u)
    n = read_c_count(r, 20)
    partitions: list[OffsetFetchResponse.OffsetFetchResponseGroup.OffsetFetchResponseTopics.OffsetFetchResponsePartitions] = []
    if n <= FLAT_ELEMENTS:
        partitions = [_read_OffsetFetchResponsePartitions_8(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            partitions.append(_read_OffsetFetchResponsePartitions_8(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return _OffsetFetchResponseTopics("", uuid_of(topic_id), partitions)


def _read_steps_OffsetFetchResponseGroup_10(r: Reader) -> Generator[None, None, _OffsetFetchResponseGroup]:
    group_id = read_c_string(r)
    n = read_c_count(r, 18)
    topics: list[OffsetFetchResponse.OffsetFetchResponseGroup.OffsetFetchResponseTopics] = []
    for _ in range(n):
        topics.append((yield from _read_steps_OffsetFetchResponseTopics_10(r)))
        if r.elements_ended(1):
            yield
    error_code, = r.fixed(_S_h)
    skip_tags(r)
    return _OffsetFetchResponseGroup(group_id, topics, error_code)


def _read_steps_OffsetFetchResponse_10(r: Reader) -> Generator[None, None, OffsetFetchResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 5)
    groups: list[OffsetFetchResponse.OffsetFetchResponseGroup] = []
    for _ in range(n):
        groups.append((yield from _read_steps_OffsetFetchResponseGroup_10(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return OffsetFetchResponse(throttle_time_ms, [], 0, groups)


def _write_OffsetFetchResponsePartition_1(out: bytearray, m: _OffsetFetchResponsePartition) -> None:
    out += _P_iq(m.partition_index, m.committed_offset)
    write_null_string(out, m.metadata)
    out += _P_h(m.error_code)


def _write_OffsetFetchResponseTopic_1(out: bytearray, m: _OffsetFetchResponseTopic) -> None:
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_OffsetFetchResponsePartition_1(out, it_partitions)


def _write_OffsetFetchResponse_1(out: bytearray, m: OffsetFetchResponse) -> None:
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_OffsetFetchResponseTopic_1(out, it_topics)


def _write_OffsetFetchResponse_2(out: bytearray, m: OffsetFetchResponse) -> None:
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_OffsetFetchResponseTopic_1(out, it_topics)
    out += _P_h(m.error_code)


def _write_OffsetFetchResponse_3(out: bytearray, m: OffsetFetchResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_OffsetFetchResponseTopic_1(out, it_topics)
    out += _P_h(m.error_code)


def _write_OffsetFetchResponsePartition_5(out: bytearray, m: _OffsetFetchResponsePartition) -> None:
    out += _P_iqi(m.partition_index, m.committed_offset, m.committed_leader_epoch)
    write_null_string(out, m.metadata)
    out += _P_h(m.error_code)


def _write_OffsetFetchResponseTopic_5(out: bytearray, m: _OffsetFetchResponseTopic) -> None:
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_OffsetFetchResponsePartition_5(out, it_partitions)


def _write_OffsetFetchResponse_5(out: bytearray, m: OffsetFetchResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_OffsetFetchResponseTopic_5(out, it_topics)
    out += _P_h(m.error_code)


def _write_OffsetFetchResponsePartition_6(out: bytearray, m: _OffsetFetchResponsePartition) -> None:
    out += _P_iqi(m.partition_index, m.committed_offset, m.committed_leader_epoch)
    write_c_null_string(out, m.metadata)
    out += _P_hx(m.error_code)


def _write_OffsetFetchResponseTopic_6(out: bytearray, m: _OffsetFetchResponseTopic) -> None:
    write_c_string(out, m.name)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_OffsetFetchResponsePartition_6(out, it_partitions)
    out.append(0)


def _write_OffsetFetchResponse_6(out: bytearray, m: OffsetFetchResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_OffsetFetchResponseTopic_6(out, it_topics)
    out += _P_hx(m.error_code)


def _write_OffsetFetchResponsePartitions_8(out: bytearray, m: _OffsetFetchResponsePartitions) -> None:
    out += _P_iqi(m.partition_index, m.committed_offset, m.committed_leader_epoch)
    write_c_null_string(out, m.metadata)
    out += _P_hx(m.error_code)


def _write_OffsetFetchResponseTopics_8(out: bytearray, m: _OffsetFetchResponseTopics) -> None:
    write_c_string(out, m.name)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_OffsetFetchResponsePartitions_8(out, it_partitions)
    out.append(0)


def _write_OffsetFetchResponseGroup_8(out: bytearray, m: _OffsetFetchResponseGroup) -> None:
    write_c_string(out, m.group_id)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_OffsetFetchResponseTopics_8(out, it_topics)
    out += _P_hx(m.error_code)


def _write_OffsetFetchResponse_8(out: bytearray, m: OffsetFetchResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.groups))
    for it_groups in m.groups:
        _write_OffsetFetchResponseGroup_8(out, it_groups)
    out.append(0)


def _write_OffsetFetchResponseTopics_10(out: bytearray, m: _OffsetFetchResponseTopics) -> None:
    out += _P_u(uuid_bytes(m.topic_id))
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_OffsetFetchResponsePartitions_8(out, it_partitions)
    out.append(0)


def _write_OffsetFetchResponseGroup_10(out: bytearray, m: _OffsetFetchResponseGroup) -> None:
    write_c_string(out, m.group_id)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_OffsetFetchResponseTopics_10(out, it_topics)
    out += _P_hx(m.error_code)


def _write_OffsetFetchResponse_10(out: bytearray, m: OffsetFetchResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.groups))
    for it_groups in m.groups:
        _write_OffsetFetchResponseGroup_10(out, it_groups)
    out.append(0)


def _write_steps_OffsetFetchResponseTopic_1(o: Output, m: _OffsetFetchResponseTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    if len(m.partitions) <= FLAT_ELEMENTS:
        for it_partitions in m.partitions:
            _write_OffsetFetchResponsePartition_1(out, it_partitions)
        if o.elements_ended(len(m.partitions)):
            yield
    else:
        for it_partitions in m.partitions:
            _write_OffsetFetchResponsePartition_1(out, it_partitions)
            if o.elements_ended(1):
                yield


def _write_steps_OffsetFetchResponse_1(o: Output, m: OffsetFetchResponse) -> Generator[None, None, None]:
    out = o.buffer
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_OffsetFetchResponseTopic_1(o, it_topics)
        if o.elements_ended(1):
            yield


def _write_steps_OffsetFetchResponse_2(o: Output, m: OffsetFetchResponse) -> Generator[None, None, None]:
    out = o.buffer
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_OffsetFetchResponseTopic_1(o, it_topics)
        if o.elements_ended(1):
            yield
    out += _P_h(m.error_code)


def _write_steps_OffsetFetchResponse_3(o: Output, m: OffsetFetchResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_OffsetFetchResponseTopic_1(o, it_topics)
        if o.elements_ended(1):
            yield
    out += _P_h(m.error_code)


def _write_steps_OffsetFetchResponseTopic_5(o: Output, m: _OffsetFetchResponseTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    if len(m.partitions) <= FLAT_ELEMENTS:
        for it_partitions in m.partitions:
            _write_OffsetFetchResponsePartition_5(out, it_partitions)
        if o.elements_ended(len(m.partitions)):
            yield
    else:
        for it_partitions in m.partitions:
            _write_OffsetFetchResponsePartition_5(out, it_partitions)
            if o.elements_ended(1):
                yield


def _write_steps_OffsetFetchResponse_5(o: Output, m: OffsetFetchResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_OffsetFetchResponseTopic_5(o, it_topics)
        if o.elements_ended(1):
            yield
    out += _P_h(m.error_code)


def _write_steps_OffsetFetchResponseTopic_6(o: Output, m: _OffsetFetchResponseTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.name)
    write_c_count(out, len(m.partitions))
    if len(m.partitions) <= FLAT_ELEMENTS:
        for it_partitions in m.partitions:
            _write_OffsetFetchResponsePartition_6(out, it_partitions)
        if o.elements_ended(len(m.partitions)):
            yield
    else:
        for it_partitions in m.partitions:
            _write_OffsetFetchResponsePartition_6(out, it_partitions)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_OffsetFetchResponse_6(o: Output, m: OffsetFetchResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_OffsetFetchResponseTopic_6(o, it_topics)
        if o.elements_ended(1):
            yield
    out += _P_hx(m.error_code)


def _write_steps_OffsetFetchResponseTopics_8(o: Output, m: _OffsetFetchResponseTopics) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.name)
    write_c_count(out, len(m.partitions))
    if len(m.partitions) <= FLAT_ELEMENTS:
        for it_partitions in m.partitions:
            _write_OffsetFetchResponsePartitions_8(out, it_partitions)
        if o.elements_ended(len(m.partitions)):
            yield
    else:
        for it_partitions in m.partitions:
            _write_OffsetFetchResponsePartitions_8(out, it_partitions)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_OffsetFetchResponseGroup_8(o: Output, m: _OffsetFetchResponseGroup) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.group_id)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_OffsetFetchResponseTopics_8(o, it_topics)
        if o.elements_ended(1):
            yield
    out += _P_hx(m.error_code)


def _write_steps_OffsetFetchResponse_8(o: Output, m: OffsetFetchResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.groups))
    for it_groups in m.groups:
        yield from _write_steps_OffsetFetchResponseGroup_8(o, it_groups)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_OffsetFetchResponseTopics_10(o: Output, m: _OffsetFetchResponseTopics) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_u(uuid_bytes(m.topic_id))
    write_c_count(out, len(m.partitions))
    if len(m.partitions) <= FLAT_ELEMENTS:
        for it_partitions in m.partitions:
            _write_OffsetFetchResponsePartitions_8(out, it_partitions)
        if o.elements_ended(len(m.partitions)):
            yield
    else:
        for it_partitions in m.partitions:
            _write_OffsetFetchResponsePartitions_8(out, it_partitions)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_OffsetFetchResponseGroup_10(o: Output, m: _OffsetFetchResponseGroup) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.group_id)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_OffsetFetchResponseTopics_10(o, it_topics)
        if o.elements_ended(1):
            yield
    out += _P_hx(m.error_code)


def _write_steps_OffsetFetchResponse_10(o: Output, m: OffsetFetchResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.groups))
    for it_groups in m.groups:
        yield from _write_steps_OffsetFetchResponseGroup_10(o, it_groups)
        if o.elements_ended(1):
            yield
    out.append(0)


def _error_for(m: OffsetFetchRequest, code: int) -> OffsetFetchResponse:
    return OffsetFetchResponse(topics=[_OffsetFetchResponseTopic(name=it0.name, partitions=[_OffsetFetchResponsePartition(partition_index=it1, error_code=code) for it1 in it0.partition_indexes]) for it0 in m.topics or ()], error_code=code, groups=[_OffsetFetchResponseGroup(group_id=it0.group_id, error_code=code) for it0 in m.groups])


OffsetFetchRequest.READ = (_read_OffsetFetchRequest_1, _read_OffsetFetchRequest_2, _read_OffsetFetchRequest_2, _read_OffsetFetchRequest_2, _read_OffsetFetchRequest_2, _read_OffsetFetchRequest_6, _read_OffsetFetchRequest_7, _read_OffsetFetchRequest_8, _read_OffsetFetchRequest_9, _read_OffsetFetchRequest_10,)
OffsetFetchRequest.READ_STEPS = (_read_steps_OffsetFetchRequest_1, _read_steps_OffsetFetchRequest_2, _read_steps_OffsetFetchRequest_2, _read_steps_OffsetFetchRequest_2, _read_steps_OffsetFetchRequest_2, _read_steps_OffsetFetchRequest_6, _read_steps_OffsetFetchRequest_7, _read_steps_OffsetFetchRequest_8, _read_steps_OffsetFetchRequest_9, _read_steps_OffsetFetchRequest_10,)
OffsetFetchRequest.WRITE = (_write_OffsetFetchRequest_1, _write_OffsetFetchRequest_2, _write_OffsetFetchRequest_2, _write_OffsetFetchRequest_2, _write_OffsetFetchRequest_2, _write_OffsetFetchRequest_6, _write_OffsetFetchRequest_7, _write_OffsetFetchRequest_8, _write_OffsetFetchRequest_9, _write_OffsetFetchRequest_10,)
OffsetFetchRequest.WRITE_STEPS = (_write_steps_OffsetFetchRequest_1, _write_steps_OffsetFetchRequest_2, _write_steps_OffsetFetchRequest_2, _write_steps_OffsetFetchRequest_2, _write_steps_OffsetFetchRequest_2, _write_steps_OffsetFetchRequest_6, _write_steps_OffsetFetchRequest_7, _write_steps_OffsetFetchRequest_8, _write_steps_OffsetFetchRequest_9, _write_steps_OffsetFetchRequest_10,)
OffsetFetchResponse.READ = (_read_OffsetFetchResponse_1, _read_OffsetFetchResponse_2, _read_OffsetFetchResponse_3, _read_OffsetFetchResponse_3, _read_OffsetFetchResponse_5, _read_OffsetFetchResponse_6, _read_OffsetFetchResponse_6, _read_OffsetFetchResponse_8, _read_OffsetFetchResponse_8, _read_OffsetFetchResponse_10,)
OffsetFetchResponse.READ_STEPS = (_read_steps_OffsetFetchResponse_1, _read_steps_OffsetFetchResponse_2, _read_steps_OffsetFetchResponse_3, _read_steps_OffsetFetchResponse_3, _read_steps_OffsetFetchResponse_5, _read_steps_OffsetFetchResponse_6, _read_steps_OffsetFetchResponse_6, _read_steps_OffsetFetchResponse_8, _read_steps_OffsetFetchResponse_8, _read_steps_OffsetFetchResponse_10,)
OffsetFetchResponse.WRITE = (_write_OffsetFetchResponse_1, _write_OffsetFetchResponse_2, _write_OffsetFetchResponse_3, _write_OffsetFetchResponse_3, _write_OffsetFetchResponse_5, _write_OffsetFetchResponse_6, _write_OffsetFetchResponse_6, _write_OffsetFetchResponse_8, _write_OffsetFetchResponse_8, _write_OffsetFetchResponse_10,)
OffsetFetchResponse.WRITE_STEPS = (_write_steps_OffsetFetchResponse_1, _write_steps_OffsetFetchResponse_2, _write_steps_OffsetFetchResponse_3, _write_steps_OffsetFetchResponse_3, _write_steps_OffsetFetchResponse_5, _write_steps_OffsetFetchResponse_6, _write_steps_OffsetFetchResponse_6, _write_steps_OffsetFetchResponse_8, _write_steps_OffsetFetchResponse_8, _write_steps_OffsetFetchResponse_10,)
OffsetFetchRequest.ERROR_FOR = _error_for
