"""CreateTopicsRequest, CreateTopicsResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from itertools import islice
from struct import Struct, pack
from typing import ClassVar, Final
from uuid import UUID

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, batches, check_tag_end, read_c_count, read_c_null_count, read_c_null_string, read_c_numbers, read_c_string, read_count, read_null_string, read_numbers, read_string, read_tag_count, read_tag_end, skip_tags, uuid_of
from headrace.protocol.message_writing import Output, Runs, uuid_bytes, write_c_count, write_c_null_string, write_c_string, write_count, write_null_string, write_string, write_tagged
from headrace.protocol.primitives import Reader

class CreateTopicsRequest(KafkaMessage):
    """Key 19, versions 2 to 7, flexible from 5 on."""

    class CreatableTopic(MessageStruct):
        """Versions 0+."""

        class CreatableReplicaAssignment(MessageStruct):
            """Versions 0+."""

            partition_index: int = 0
            broker_ids: list[int] = []

        class CreatableTopicConfig(MessageStruct):
            """Versions 0+."""

            name: str = ""
            value: str | None = ""

        name: str = ""
        num_partitions: int = 0
        replication_factor: int = 0
        assignments: list[CreateTopicsRequest.CreatableTopic.CreatableReplicaAssignment] = []
        configs: list[CreateTopicsRequest.CreatableTopic.CreatableTopicConfig] = []

    API_KEY: ClassVar[int] = 19
    MIN_VERSION: ClassVar[int] = 2
    FLEXIBLE_SINCE: ClassVar[int] = 5
    topics: list[CreateTopicsRequest.CreatableTopic] = []
    timeout_ms: int = 60000
    validate_only: bool = False


class CreateTopicsResponse(KafkaMessage):
    """Key 19, versions 2 to 7, flexible from 5 on."""

    class CreatableTopicResult(MessageStruct):
        """Versions 0+."""

        class CreatableTopicConfigs(MessageStruct):
            """Versions 5+."""

            name: str = ""
            value: str | None = ""
            read_only: bool = False
            config_source: int = -1
            is_sensitive: bool = False

        name: str = ""
        topic_id: UUID | None = None
        error_code: int = 0
        error_message: str | None = ""
        topic_config_error_code: int = 0
        num_partitions: int = -1
        replication_factor: int = -1
        configs: Collection[CreateTopicsResponse.CreatableTopicResult.CreatableTopicConfigs] | None = []

    API_KEY: ClassVar[int] = 19
    MIN_VERSION: ClassVar[int] = 2
    FLEXIBLE_SINCE: ClassVar[int] = 5
    throttle_time_ms: int = 0
    topics: Collection[CreateTopicsResponse.CreatableTopicResult] = []


_CreatableReplicaAssignment = CreateTopicsRequest.CreatableTopic.CreatableReplicaAssignment
_CreatableTopicConfig = CreateTopicsRequest.CreatableTopic.CreatableTopicConfig
_CreatableTopic = CreateTopicsRequest.CreatableTopic
_CreatableTopicConfigs = CreateTopicsResponse.CreatableTopicResult.CreatableTopicConfigs
_CreatableTopicResult = CreateTopicsResponse.CreatableTopicResult
_P_h: Final = Struct(">h").pack
_P_i: Final = Struct(">i").pack
_P_ih: Final = Struct(">ih").pack
_P_it: Final = Struct(">i?").pack
_P_itx: Final = Struct(">i?x").pack
_P_tbtx: Final = Struct(">?b?x").pack
_P_uh: Final = Struct(">16sh").pack
_R_i_Bi_x: Final = Runs("i", "Bi", "x", is_array=(False, True, False))
_R_i_ii: Final = Runs("i", "ii", is_array=(False, True))
_S_h: Final = Struct(">h")
_S_i: Final = Struct(">i")
_S_ih: Final = Struct(">ih")
_S_it: Final = Struct(">i?")
_S_tbt: Final = Struct(">?b?")
_S_uh: Final = Struct(">16sh")


def _read_CreatableReplicaAssignment_2(r: Reader) -> _CreatableReplicaAssignment:
    partition_index, = r.fixed(_S_i)
    broker_ids = read_numbers(r, "i", 4)
    return _CreatableReplicaAssignment(partition_index, broker_ids)


def _read_CreatableTopicConfig_2(r: Reader) -> _CreatableTopicConfig:
    name = read_string(r)
    value = read_null_string(r)
    return _CreatableTopicConfig(name, value)


def _read_CreatableTopic_2(r: Reader) -> _CreatableTopic:
    name = read_string(r)
    num_partitions, replication_factor = r.fixed(_S_ih)
    n = read_count(r, 8)
    assignments = [_read_CreatableReplicaAssignment_2(r) for _ in range(n)]
    n = read_count(r, 4)
    configs = [_read_CreatableTopicConfig_2(r) for _ in range(n)]
    return _CreatableTopic(name, num_partitions, replication_factor, assignments, configs)


def _read_CreateTopicsRequest_2(r: Reader) -> CreateTopicsRequest:
    n = read_count(r, 16)
    topics = [_read_CreatableTopic_2(r) for _ in range(n)]
    timeout_ms, validate_only = r.fixed(_S_it)
    return CreateTopicsRequest(topics, timeout_ms, validate_only)


def _read_CreatableReplicaAssignment_5(r: Reader) -> _CreatableReplicaAssignment:
    partition_index, = r.fixed(_S_i)
    broker_ids = read_c_numbers(r, "i", 4)
    skip_tags(r)
    return _CreatableReplicaAssignment(partition_index, broker_ids)


def _read_CreatableTopicConfig_5(r: Reader) -> _CreatableTopicConfig:
    name = read_c_string(r)
    value = read_c_null_string(r)
    skip_tags(r)
    return _CreatableTopicConfig(name, value)


def _read_CreatableTopic_5(r: Reader) -> _CreatableTopic:
    name = read_c_string(r)
    num_partitions, replication_factor = r.fixed(_S_ih)
    n = read_c_count(r, 6)
    assignments = [_read_CreatableReplicaAssignment_5(r) for _ in range(n)]
    n = read_c_count(r, 3)
    configs = [_read_CreatableTopicConfig_5(r) for _ in range(n)]
    skip_tags(r)
    return _CreatableTopic(name, num_partitions, replication_factor, assignments, configs)


def _read_CreateTopicsRequest_5(r: Reader) -> CreateTopicsRequest:
    n = read_c_count(r, 10)
    topics = [_read_CreatableTopic_5(r) for _ in range(n)]
    timeout_ms, validate_only = r.fixed(_S_it)
    skip_tags(r)
    return CreateTopicsRequest(topics, timeout_ms, validate_only)


def _read_steps_CreatableTopic_2(r: Reader) -> Generator[None, None, _CreatableTopic]:
    name = read_string(r)
    num_partitions, replication_factor = r.fixed(_S_ih)
    n = read_count(r, 8)
    assignments: list[CreateTopicsRequest.CreatableTopic.CreatableReplicaAssignment] = []
    for some in batches(n):
        assignments += [_read_CreatableReplicaAssignment_2(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    n = read_count(r, 4)
    configs: list[CreateTopicsRequest.CreatableTopic.CreatableTopicConfig] = []
    if n <= FLAT_ELEMENTS:
        configs = [_read_CreatableTopicConfig_2(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            configs.append(_read_CreatableTopicConfig_2(r))
            if r.elements_ended(1):
                yield
    return _CreatableTopic(name, num_partitions, replication_factor, assignments, configs)


def _read_steps_CreateTopicsRequest_2(r: Reader) -> Generator[None, None, CreateTopicsRequest]:
    n = read_count(r, 16)
    topics: list[CreateTopicsRequest.CreatableTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_CreatableTopic_2(r)))
        if r.elements_ended(1):
            yield
    timeout_ms, validate_only = r.fixed(_S_it)
    return CreateTopicsRequest(topics, timeout_ms, validate_only)


def _read_steps_CreatableTopic_5(r: Reader) -> Generator[None, None, _CreatableTopic]:
    name = read_c_string(r)
    num_partitions, replication_factor = r.fixed(_S_ih)
    n = read_c_count(r, 6)
    assignments: list[CreateTopicsRequest.CreatableTopic.CreatableReplicaAssignment] = []
    for some in batches(n):
        assignments += [_read_CreatableReplicaAssignment_5(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    n = read_c_count(r, 3)
    configs: list[CreateTopicsRequest.CreatableTopic.CreatableTopicConfig] = []
    if n <= FLAT_ELEMENTS:
        configs = [_read_CreatableTopicConfig_5(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            configs.append(_read_CreatableTopicConfig_5(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return _CreatableTopic(name, num_partitions, replication_factor, assignments, configs)


def _read_steps_CreateTopicsRequest_5(r: Reader) -> Generator[None, None, CreateTopicsRequest]:
    n = read_c_count(r, 10)
    topics: list[CreateTopicsRequest.CreatableTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_CreatableTopic_5(r)))
        if r.elements_ended(1):
            yield
    timeout_ms, validate_only = r.fixed(_S_it)
    skip_tags(r)
    return CreateTopicsRequest(topics, timeout_ms, validate_only)


def _write_CreatableReplicaAssignment_2(out: bytearray, m: _CreatableReplicaAssignment) -> None:
    n1 = len(m.broker_ids)
    out += _R_i_ii[n1,](m.partition_index, n1, *m.broker_ids)


def _write_CreatableTopicConfig_2(out: bytearray, m: _CreatableTopicConfig) -> None:
    write_string(out, m.name)
    write_null_string(out, m.value)


def _write_CreatableTopic_2(out: bytearray, m: _CreatableTopic) -> None:
    write_string(out, m.name)
    out += _P_ih(m.num_partitions, m.replication_factor)
    write_count(out, len(m.assignments))
    for it_assignments in m.assignments:
        _write_CreatableReplicaAssignment_2(out, it_assignments)
    write_count(out, len(m.configs))
    for it_configs in m.configs:
        _write_CreatableTopicConfig_2(out, it_configs)


def _write_CreateTopicsRequest_2(out: bytearray, m: CreateTopicsRequest) -> None:
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_CreatableTopic_2(out, it_topics)
    out += _P_it(m.timeout_ms, m.validate_only)


def _write_CreatableReplicaAssignment_5(out: bytearray, m: _CreatableReplicaAssignment) -> None:
    n1 = len(m.broker_ids)
    out += _R_i_Bi_x[n1,](m.partition_index, n1 + 1, *m.broker_ids)


def _write_CreatableTopicConfig_5(out: bytearray, m: _CreatableTopicConfig) -> None:
    write_c_string(out, m.name)
    write_c_null_string(out, m.value)
    out.append(0)


def _write_CreatableTopic_5(out: bytearray, m: _CreatableTopic) -> None:
    write_c_string(out, m.name)
    out += _P_ih(m.num_partitions, m.replication_factor)
    write_c_count(out, len(m.assignments))
    for it_assignments in m.assignments:
        _write_CreatableReplicaAssignment_5(out, it_assignments)
    write_c_count(out, len(m.configs))
    for it_configs in m.configs:
        _write_CreatableTopicConfig_5(out, it_configs)
    out.append(0)


def _write_CreateTopicsRequest_5(out: bytearray, m: CreateTopicsRequest) -> None:
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_CreatableTopic_5(out, it_topics)
    out += _P_itx(m.timeout_ms, m.validate_only)


def _write_steps_CreatableTopic_2(o: Output, m: _CreatableTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.name)
    out += _P_ih(m.num_partitions, m.replication_factor)
    write_count(out, len(m.assignments))
    left_assignments = iter(m.assignments)
    for some in batches(len(m.assignments)):
        for it_assignments in islice(left_assignments, some):
            _write_CreatableReplicaAssignment_2(out, it_assignments)
        if o.elements_ended(some):
            yield
    write_count(out, len(m.configs))
    if len(m.configs) <= FLAT_ELEMENTS:
        for it_configs in m.configs:
            _write_CreatableTopicConfig_2(out, it_configs)
        if o.elements_ended(len(m.configs)):
            yield
    else:
        for it_configs in m.configs:
            _write_CreatableTopicConfig_2(out, it_configs)
            if o.elements_ended(1):
                yield


def _write_steps_CreateTopicsRequest_2(o: Output, m: CreateTopicsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_CreatableTopic_2(o, it_topics)
        if o.elements_ended(1):
            yield
    out += _P_it(m.timeout_ms, m.validate_only)


def _write_steps_CreatableTopic_5(o: Output, m: _CreatableTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.name)
    out += _P_ih(m.num_partitions, m.replication_factor)
    write_c_count(out, len(m.assignments))
    left_assignments = iter(m.assignments)
    for some in batches(len(m.assignments)):
        for it_assignments in islice(left_assignments, some):
            _write_CreatableReplicaAssignment_5(out, it_assignments)
        if o.elements_ended(some):
            yield
    write_c_count(out, len(m.configs))
    if len(m.configs) <= FLAT_ELEMENTS:
        for it_configs in m.configs:
            _write_CreatableTopicConfig_5(out, it_configs)
        if o.elements_ended(len(m.configs)):
            yield
    else:
        for it_configs in m.configs:
            _write_CreatableTopicConfig_5(out, it_configs)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_CreateTopicsRequest_5(o: Output, m: CreateTopicsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_CreatableTopic_5(o, it_topics)
        if o.elements_ended(1):
            yield
    out += _P_itx(m.timeout_ms, m.validate_only)


def _read_CreatableTopicResult_2(r: Reader) -> _CreatableTopicResult:
    name = read_string(r)
    error_code, = r.fixed(_S_h)
    error_message = read_null_string(r)
    return _CreatableTopicResult(name, None, error_code, error_message)


def _read_CreateTopicsResponse_2(r: Reader) -> CreateTopicsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 6)
    topics = [_read_CreatableTopicResult_2(r) for _ in range(n)]
    return CreateTopicsResponse(throttle_time_ms, topics)


def _read_CreatableTopicConfigs_5(r: Reader) -> _CreatableTopicConfigs:
    name = read_c_string(r)
    value = read_c_null_string(r)
    read_only, config_source, is_sensitive = r.fixed(_S_tbt)
    skip_tags(r)
    return _CreatableTopicConfigs(name, value, read_only, config_source, is_sensitive)


def _read_CreatableTopicResult_5(r: Reader) -> _CreatableTopicResult:
    name = read_c_string(r)
    error_code, = r.fixed(_S_h)
    error_message = read_c_null_string(r)
    num_partitions, replication_factor = r.fixed(_S_ih)
    n = read_c_null_count(r, 6)
    configs = None if n < 0 else [_read_CreatableTopicConfigs_5(r) for _ in range(n)]
    topic_config_error_code: int = 0
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            topic_config_error_code, = r.fixed(_S_h)
            check_tag_end(r, end)
        else:
            r.position = end
    return _CreatableTopicResult(name, None, error_code, error_message, topic_config_error_code, num_partitions, replication_factor, configs)


def _read_CreateTopicsResponse_5(r: Reader) -> CreateTopicsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 12)
    topics = [_read_CreatableTopicResult_5(r) for _ in range(n)]
    skip_tags(r)
    return CreateTopicsResponse(throttle_time_ms, topics)


def _read_CreatableTopicResult_7(r: Reader) -> _CreatableTopicResult:
    name = read_c_string(r)
    topic_id, error_code = r.fixed(_S_uh)
    error_message = read_c_null_string(r)
    num_partitions, replication_factor = r.fixed(_S_ih)
    n = read_c_null_count(r, 6)
    configs = None if n < 0 else [_read_CreatableTopicConfigs_5(r) for _ in range(n)]
    topic_config_error_code: int = 0
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            topic_config_error_code, = r.fixed(_S_h)
            check_tag_end(r, end)
        else:
            r.position = end
    return _CreatableTopicResult(name, uuid_of(topic_id), error_code, error_message, topic_config_error_code, num_partitions, replication_factor, configs)


def _read_CreateTopicsResponse_7(r: Reader) -> CreateTopicsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 28)
    topics = [_read_CreatableTopicResult_7(r) for _ in range(n)]
    skip_tags(r)
    return CreateTopicsResponse(throttle_time_ms, topics)


def _read_steps_CreateTopicsResponse_2(r: Reader) -> Generator[None, None, CreateTopicsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 6)
    topics: list[CreateTopicsResponse.CreatableTopicResult] = []
    if n <= FLAT_ELEMENTS:
        topics = [_read_CreatableTopicResult_2(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            topics.append(_read_CreatableTopicResult_2(r))
            if r.elements_ended(1):
                yield
    return CreateTopicsResponse(throttle_time_ms, topics)


def _read_steps_CreatableTopicResult_5(r: Reader) -> Generator[None, None, _CreatableTopicResult]:
    name = read_c_string(r)
    error_code, = r.fixed(_S_h)
    error_message = read_c_null_string(r)
    num_partitions, replication_factor = r.fixed(_S_ih)
    n = read_c_null_count(r, 6)
    configs: list[CreateTopicsResponse.CreatableTopicResult.CreatableTopicConfigs] | None = None
    if n >= 0:
        configs_: list[CreateTopicsResponse.CreatableTopicResult.CreatableTopicConfigs] = []
        if n <= FLAT_ELEMENTS:
            configs_ = [_read_CreatableTopicConfigs_5(r) for _ in range(n)]
            r.elements_of_step += n
        else:
            for _ in range(n):
                configs_.append(_read_CreatableTopicConfigs_5(r))
                if r.elements_ended(1):
                    yield
        configs = configs_
    topic_config_error_code: int = 0
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            topic_config_error_code, = r.fixed(_S_h)
            check_tag_end(r, end)
        else:
            r.position = end
    return _CreatableTopicResult(name, None, error_code, error_message, topic_config_error_code, num_partitions, replication_factor, configs)


def _read_steps_CreateTopicsResponse_5(r: Reader) -> Generator[None, None, CreateTopicsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 12)
    topics: list[CreateTopicsResponse.CreatableTopicResult] = []
    for _ in range(n):
        topics.append((yield from _read_steps_CreatableTopicResult_5(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return CreateTopicsResponse(throttle_time_ms, topics)


def _read_steps_CreatableTopicResult_7(r: Reader) -> Generator[None, None, _CreatableTopicResult]:
    name = read_c_string(r)
    topic_id, error_code = r.fixed(_S_uh)
    error_message = read_c_null_string(r)
    num_partitions, replication_factor = r.fixed(_S_ih)
    n = read_c_null_count(r, 6)
    configs: list[CreateTopicsResponse.CreatableTopicResult.CreatableTopicConfigs] | None = None
    if n >= 0:
        configs_: list[CreateTopicsResponse.CreatableTopicResult.CreatableTopicConfigs] = []
        if n <= FLAT_ELEMENTS:
            configs_ = [_read_CreatableTopicConfigs_5(r) for _ in range(n)]
            r.elements_of_step += n
        else:
            for _ in range(n):
                configs_.append(_read_CreatableTopicConfigs_5(r))
                if r.elements_ended(1):
                    yield
        configs = configs_
    topic_config_error_code: int = 0
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            topic_config_error_code, = r.fixed(_S_h)
            check_tag_end(r, end)
        else:
            r.position = end
    return _CreatableTopicResult(name, uuid_of(topic_id), error_code, error_message, topic_config_error_code, num_partitions, replication_factor, configs)


def _read_steps_CreateTopicsResponse_7(r: Reader) -> Generator[None, None, CreateTopicsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 28)
    topics: list[CreateTopicsResponse.CreatableTopicResult] = []
    for _ in range(n):
        topics.append((yield from _read_steps_CreatableTopicResult_7(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return CreateTopicsResponse(throttle_time_ms, topics)


def _write_CreatableTopicResult_2(out: bytearray, m: _CreatableTopicResult) -> None:
    write_string(out, m.name)
    out += _P_h(m.error_code)
    write_null_string(out, m.error_message)


def _write_CreateTopicsResponse_2(out: bytearray, m: CreateTopicsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_CreatableTopicResult_2(out, it_topics)


def _write_CreatableTopicConfigs_5(out: bytearray, m: _CreatableTopicConfigs) -> None:
    write_c_string(out, m.name)
    write_c_null_string(out, m.value)
    out += _P_tbtx(m.read_only, m.config_source, m.is_sensitive)


def _write_CreatableTopicResult_5(out: bytearray, m: _CreatableTopicResult) -> None:
    write_c_string(out, m.name)
    out += _P_h(m.error_code)
    write_c_null_string(out, m.error_message)
    out += _P_ih(m.num_partitions, m.replication_factor)
    if m.configs is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.configs))
        for it_configs in m.configs:
            _write_CreatableTopicConfigs_5(out, it_configs)
    tags: list[tuple[int, bytearray]] = []
    if m.topic_config_error_code != 0:
        field = bytearray()
        field += _P_h(m.topic_config_error_code)
        tags.append((0, field))
    write_tagged(out, tags)


def _write_CreateTopicsResponse_5(out: bytearray, m: CreateTopicsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_CreatableTopicResult_5(out, it_topics)
    out.append(0)


def _write_CreatableTopicResult_7(out: bytearray, m: _CreatableTopicResult) -> None:
    write_c_string(out, m.name)
    out += _P_uh(uuid_bytes(m.topic_id), m.error_code)
    write_c_null_string(out, m.error_message)
    out += _P_ih(m.num_partitions, m.replication_factor)
    if m.configs is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.configs))
        for it_configs in m.configs:
            _write_CreatableTopicConfigs_5(out, it_configs)
    tags: list[tuple[int, bytearray]] = []
    if m.topic_config_error_code != 0:
        field = bytearray()
        field += _P_h(m.topic_config_error_code)
        tags.append((0, field))
    write_tagged(out, tags)


def _write_CreateTopicsResponse_7(out: bytearray, m: CreateTopicsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_CreatableTopicResult_7(out, it_topics)
    out.append(0)


def _write_steps_CreateTopicsResponse_2(o: Output, m: CreateTopicsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.topics))
    if len(m.topics) <= FLAT_ELEMENTS:
        for it_topics in m.topics:
            _write_CreatableTopicResult_2(out, it_topics)
        if o.elements_ended(len(m.topics)):
            yield
    else:
        for it_topics in m.topics:
            _write_CreatableTopicResult_2(out, it_topics)
            if o.elements_ended(1):
                yield


def _write_steps_CreatableTopicResult_5(o: Output, m: _CreatableTopicResult) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.name)
    out += _P_h(m.error_code)
    write_c_null_string(out, m.error_message)
    out += _P_ih(m.num_partitions, m.replication_factor)
    if m.configs is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.configs))
        if len(m.configs) <= FLAT_ELEMENTS:
            for it_configs in m.configs:
                _write_CreatableTopicConfigs_5(out, it_configs)
            if o.elements_ended(len(m.configs)):
                yield
        else:
            for it_configs in m.configs:
                _write_CreatableTopicConfigs_5(out, it_configs)
                if o.elements_ended(1):
                    yield
    tags: list[tuple[int, bytearray]] = []
    if m.topic_config_error_code != 0:
        field = bytearray()
        field += _P_h(m.topic_config_error_code)
        tags.append((0, field))
    write_tagged(out, tags)


def _write_steps_CreateTopicsResponse_5(o: Output, m: CreateTopicsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_CreatableTopicResult_5(o, it_topics)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_CreatableTopicResult_7(o: Output, m: _CreatableTopicResult) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.name)
    out += _P_uh(uuid_bytes(m.topic_id), m.error_code)
    write_c_null_string(out, m.error_message)
    out += _P_ih(m.num_partitions, m.replication_factor)
    if m.configs is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.configs))
        if len(m.configs) <= FLAT_ELEMENTS:
            for it_configs in m.configs:
                _write_CreatableTopicConfigs_5(out, it_configs)
            if o.elements_ended(len(m.configs)):
                yield
        else:
            for it_configs in m.configs:
                _write_CreatableTopicConfigs_5(out, it_configs)
                if o.elements_ended(1):
                    yield
    tags: list[tuple[int, bytearray]] = []
    if m.topic_config_error_code != 0:
        field = bytearray()
        field += _P_h(m.topic_config_error_code)
        tags.append((0, field))
    write_tagged(out, tags)


def _write_steps_CreateTopicsResponse_7(o: Output, m: CreateTopicsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_CreatableTopicResult_7(o, it_topics)
        if o.elements_ended(1):
            yield
    out.append(0)


def _error_for(m: CreateTopicsRequest, code: int) -> CreateTopicsResponse:
    return CreateTopicsResponse(topics=[_CreatableTopicResult(name=it0.name, error_code=code, error_message=None, topic_config_error_code=code, num_partitions=it0.num_partitions, replication_factor=it0.replication_factor) for it0 in m.topics])


CreateTopicsRequest.READ = (_read_CreateTopicsRequest_2, _read_CreateTopicsRequest_2, _read_CreateTopicsRequest_2, _read_CreateTopicsRequest_5, _read_CreateTopicsRequest_5, _read_CreateTopicsRequest_5,)
CreateTopicsRequest.READ_STEPS = (_read_steps_CreateTopicsRequest_2, _read_steps_CreateTopicsRequest_2, _read_steps_CreateTopicsRequest_2, _read_steps_CreateTopicsRequest_5, _read_steps_CreateTopicsRequest_5, _read_steps_CreateTopicsRequest_5,)
CreateTopicsRequest.WRITE = (_write_CreateTopicsRequest_2, _write_CreateTopicsRequest_2, _write_CreateTopicsRequest_2, _write_CreateTopicsRequest_5, _write_CreateTopicsRequest_5, _write_CreateTopicsRequest_5,)
CreateTopicsRequest.WRITE_STEPS = (_write_steps_CreateTopicsRequest_2, _write_steps_CreateTopicsRequest_2, _write_steps_CreateTopicsRequest_2, _write_steps_CreateTopicsRequest_5, _write_steps_CreateTopicsRequest_5, _write_steps_CreateTopicsRequest_5,)
CreateTopicsResponse.READ = (_read_CreateTopicsResponse_2, _read_CreateTopicsResponse_2, _read_CreateTopicsResponse_2, _read_CreateTopicsResponse_5, _read_CreateTopicsResponse_5, _read_CreateTopicsResponse_7,)
CreateTopicsResponse.READ_STEPS = (_read_steps_CreateTopicsResponse_2, _read_steps_CreateTopicsResponse_2, _read_steps_CreateTopicsResponse_2, _read_steps_CreateTopicsResponse_5, _read_steps_CreateTopicsResponse_5, _read_steps_CreateTopicsResponse_7,)
CreateTopicsResponse.WRITE = (_write_CreateTopicsResponse_2, _write_CreateTopicsResponse_2, _write_CreateTopicsResponse_2, _write_CreateTopicsResponse_5, _write_CreateTopicsResponse_5, _write_CreateTopicsResponse_7,)
CreateTopicsResponse.WRITE_STEPS = (_write_steps_CreateTopicsResponse_2, _write_steps_CreateTopicsResponse_2, _write_steps_CreateTopicsResponse_2, _write_steps_CreateTopicsResponse_5, _write_steps_CreateTopicsResponse_5, _write_steps_CreateTopicsResponse_7,)
CreateTopicsRequest.ERROR_FOR = _error_for
