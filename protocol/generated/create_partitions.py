"""CreatePartitionsRequest, CreatePartitionsResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from itertools import islice
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, batches, read_c_count, read_c_null_count, read_c_null_string, read_c_numbers, read_c_string, read_count, read_null_count, read_null_string, read_numbers, read_string, skip_tags
from headrace.protocol.message_writing import Output, Runs, write_c_count, write_c_null_string, write_c_string, write_count, write_null_string, write_string
from headrace.protocol.primitives import Reader

class CreatePartitionsRequest(KafkaMessage):
    """Key 37, versions 0 to 3, flexible from 2 on."""

    class CreatePartitionsTopic(MessageStruct):
        """Versions 0+."""

        class CreatePartitionsAssignment(MessageStruct):
            """Versions 0+."""

            broker_ids: list[int] = []

        name: str = ""
        count: int = 0
        assignments: list[CreatePartitionsRequest.CreatePartitionsTopic.CreatePartitionsAssignment] | None = []

    API_KEY: ClassVar[int] = 37
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 2
    topics: list[CreatePartitionsRequest.CreatePartitionsTopic] = []
    timeout_ms: int = 0
    validate_only: bool = False


class CreatePartitionsResponse(KafkaMessage):
    """Key 37, versions 0 to 3, flexible from 2 on."""

    class CreatePartitionsTopicResult(MessageStruct):
        """Versions 0+."""

        name: str = ""
        error_code: int = 0
        error_message: str | None = None

    API_KEY: ClassVar[int] = 37
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 2
    throttle_time_ms: int = 0
    results: Collection[CreatePartitionsResponse.CreatePartitionsTopicResult] = []


_CreatePartitionsAssignment = CreatePartitionsRequest.CreatePartitionsTopic.CreatePartitionsAssignment
_CreatePartitionsTopic = CreatePartitionsRequest.CreatePartitionsTopic
_CreatePartitionsTopicResult = CreatePartitionsResponse.CreatePartitionsTopicResult
_P_h: Final = Struct(">h").pack
_P_i: Final = Struct(">i").pack
_P_it: Final = Struct(">i?").pack
_P_itx: Final = Struct(">i?x").pack
_R_Bi_x: Final = Runs("Bi", "x", is_array=(True, False))
_R_ii: Final = Runs("ii", is_array=(True,))
_S_h: Final = Struct(">h")
_S_i: Final = Struct(">i")
_S_it: Final = Struct(">i?")


def _read_CreatePartitionsAssignment_0(r: Reader) -> _CreatePartitionsAssignment:
    broker_ids = read_numbers(r, "i", 4)
    return _CreatePartitionsAssignment(broker_ids)


def _read_CreatePartitionsTopic_0(r: Reader) -> _CreatePartitionsTopic:
    name = read_string(r)
    count, = r.fixed(_S_i)
    n = read_null_count(r, 4)
    assignments = None if n < 0 else [_read_CreatePartitionsAssignment_0(r) for _ in range(n)]
    return _CreatePartitionsTopic(name, count, assignments)


def _read_CreatePartitionsRequest_0(r: Reader) -> CreatePartitionsRequest:
    n = read_count(r, 10)
    topics = [_read_CreatePartitionsTopic_0(r) for _ in range(n)]
    timeout_ms, validate_only = r.fixed(_S_it)
    return CreatePartitionsRequest(topics, timeout_ms, validate_only)


def _read_CreatePartitionsAssignment_2(r: Reader) -> _CreatePartitionsAssignment:
    broker_ids = read_c_numbers(r, "i", 4)
    skip_tags(r)
    return _CreatePartitionsAssignment(broker_ids)


def _read_CreatePartitionsTopic_2(r: Reader) -> _CreatePartitionsTopic:
    name = read_c_string(r)
    count, = r.fixed(_S_i)
    n = read_c_null_count(r, 2)
    assignments = None if n < 0 else [_read_CreatePartitionsAssignment_2(r) for _ in range(n)]
    skip_tags(r)
    return _CreatePartitionsTopic(name, count, assignments)


def _read_CreatePartitionsRequest_2(r: Reader) -> CreatePartitionsRequest:
    n = read_c_count(r, 7)
    topics = [_read_CreatePartitionsTopic_2(r) for _ in range(n)]
    timeout_ms, validate_only = r.fixed(_S_it)
    skip_tags(r)
    return CreatePartitionsRequest(topics, timeout_ms, validate_only)


def _read_steps_CreatePartitionsTopic_0(r: Reader) -> Generator[None, None, _CreatePartitionsTopic]:
    name = read_string(r)
    count, = r.fixed(_S_i)
    n = read_null_count(r, 4)
    assignments: list[CreatePartitionsRequest.CreatePartitionsTopic.CreatePartitionsAssignment] | None = None
    if n >= 0:
        assignments_: list[CreatePartitionsRequest.CreatePartitionsTopic.CreatePartitionsAssignment] = []
        for some in batches(n):
            assignments_ += [_read_CreatePartitionsAssignment_0(r) for _ in range(some)]
            if r.elements_ended(some):
                yield
        assignments = assignments_
    return _CreatePartitionsTopic(name, count, assignments)


def _read_steps_CreatePartitionsRequest_0(r: Reader) -> Generator[None, None, CreatePartitionsRequest]:
    n = read_count(r, 10)
    topics: list[CreatePartitionsRequest.CreatePartitionsTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_CreatePartitionsTopic_0(r)))
        if r.elements_ended(1):
            yield
    timeout_ms, validate_only = r.fixed(_S_it)
    return CreatePartitionsRequest(topics, timeout_ms, validate_only)


def _read_steps_CreatePartitionsTopic_2(r: Reader) -> Generator[None, None, _CreatePartitionsTopic]:
    name = read_c_string(r)
    count, = r.fixed(_S_i)
    n = read_c_null_count(r, 2)
    assignments: list[CreatePartitionsRequest.CreatePartitionsTopic.CreatePartitionsAssignment] | None = None
    if n >= 0:
        assignments_: list[CreatePartitionsRequest.CreatePartitionsTopic.CreatePartitionsAssignment] = []
        for some in batches(n):
            assignments_ += [_read_CreatePartitionsAssignment_2(r) for _ in range(some)]
            if r.elements_ended(some):
                yield
        assignments = assignments_
    skip_tags(r)
    return _CreatePartitionsTopic(name, count, assignments)


def _read_steps_CreatePartitionsRequest_2(r: Reader) -> Generator[None, None, CreatePartitionsRequest]:
    n = read_c_count(r, 7)
    topics: list[CreatePartitionsRequest.CreatePartitionsTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_CreatePartitionsTopic_2(r)))
        if r.elements_ended(1):
            yield
    timeout_ms, validate_only = r.fixed(_S_it)
    skip_tags(r)
    return CreatePartitionsRequest(topics, timeout_ms, validate_only)


def _write_CreatePartitionsAssignment_0(out: bytearray, m: _CreatePartitionsAssignment) -> None:
    n1 = len(m.broker_ids)
    out += _R_ii[n1,](n1, *m.broker_ids)


def _write_CreatePartitionsTopic_0(out: bytearray, m: _CreatePartitionsTopic) -> None:
    write_string(out, m.name)
    out += _P_i(m.count)
    if m.assignments is None:
        write_count(out, -1)
    else:
        write_count(out, len(m.assignments))
        for it_assignments in m.assignments:
            _write_CreatePartitionsAssignment_0(out, it_assignments)


def _write_CreatePartitionsRequest_0(out: bytearray, m: CreatePartitionsRequest) -> None:
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_CreatePartitionsTopic_0(out, it_topics)
    out += _P_it(m.timeout_ms, m.validate_only)


def _write_CreatePartitionsAssignment_2(out: bytearray, m: _CreatePartitionsAssignment) -> None:
    n1 = len(m.broker_ids)
    out += _R_Bi_x[n1,](n1 + 1, *m.broker_ids)


def _write_CreatePartitionsTopic_2(out: bytearray, m: _CreatePartitionsTopic) -> None:
    write_c_string(out, m.name)
    out += _P_i(m.count)
    if m.assignments is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.assignments))
        for it_assignments in m.assignments:
            _write_CreatePartitionsAssignment_2(out, it_assignments)
    out.append(0)


def _write_CreatePartitionsRequest_2(out: bytearray, m: CreatePartitionsRequest) -> None:
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_CreatePartitionsTopic_2(out, it_topics)
    out += _P_itx(m.timeout_ms, m.validate_only)


def _write_steps_CreatePartitionsTopic_0(o: Output, m: _CreatePartitionsTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.name)
    out += _P_i(m.count)
    if m.assignments is None:
        write_count(out, -1)
    else:
        write_count(out, len(m.assignments))
        left_assignments = iter(m.assignments)
        for some in batches(len(m.assignments)):
            for it_assignments in islice(left_assignments, some):
                _write_CreatePartitionsAssignment_0(out, it_assignments)
            if o.elements_ended(some):
                yield


def _write_steps_CreatePartitionsRequest_0(o: Output, m: CreatePartitionsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_CreatePartitionsTopic_0(o, it_topics)
        if o.elements_ended(1):
            yield
    out += _P_it(m.timeout_ms, m.validate_only)


def _write_steps_CreatePartitionsTopic_2(o: Output, m: _CreatePartitionsTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.name)
    out += _P_i(m.count)
    if m.assignments is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.assignments))
        left_assignments = iter(m.assignments)
        for some in batches(len(m.assignments)):
            for it_assignments in islice(left_assignments, some):
                _write_CreatePartitionsAssignment_2(out, it_assignments)
            if o.elements_ended(some):
                yield
    out.append(0)


def _write_steps_CreatePartitionsRequest_2(o: Output, m: CreatePartitionsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_CreatePartitionsTopic_2(o, it_topics)
        if o.elements_ended(1):
            yield
    out += _P_itx(m.timeout_ms, m.validate_only)


def _read_CreatePartitionsTopicResult_0(r: Reader) -> _CreatePartitionsTopicResult:
    name = read_string(r)
    error_code, = r.fixed(_S_h)
    error_message = read_null_string(r)
    return _CreatePartitionsTopicResult(name, error_code, error_message)


def _read_CreatePartitionsResponse_0(r: Reader) -> CreatePartitionsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 6)
    results = [_read_CreatePartitionsTopicResult_0(r) for _ in range(n)]
    return CreatePartitionsResponse(throttle_time_ms, results)


def _read_CreatePartitionsTopicResult_2(r: Reader) -> _CreatePartitionsTopicResult:
    name = read_c_string(r)
    error_code, = r.fixed(_S_h)
    error_message = read_c_null_string(r)
    skip_tags(r)
    return _CreatePartitionsTopicResult(name, error_code, error_message)


def _read_CreatePartitionsResponse_2(r: Reader) -> CreatePartitionsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 5)
    results = [_read_CreatePartitionsTopicResult_2(r) for _ in range(n)]
    skip_tags(r)
    return CreatePartitionsResponse(throttle_time_ms, results)


def _read_steps_CreatePartitionsResponse_0(r: Reader) -> Generator[None, None, CreatePartitionsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 6)
    results: list[CreatePartitionsResponse.CreatePartitionsTopicResult] = []
    if n <= FLAT_ELEMENTS:
        results = [_read_CreatePartitionsTopicResult_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            results.append(_read_CreatePartitionsTopicResult_0(r))
            if r.elements_ended(1):
                yield
    return CreatePartitionsResponse(throttle_time_ms, results)


def _read_steps_CreatePartitionsResponse_2(r: Reader) -> Generator[None, None, CreatePartitionsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 5)
    results: list[CreatePartitionsResponse.CreatePartitionsTopicResult] = []
    if n <= FLAT_ELEMENTS:
        results = [_read_CreatePartitionsTopicResult_2(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            results.append(_read_CreatePartitionsTopicResult_2(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return CreatePartitionsResponse(throttle_time_ms, results)


def _write_CreatePartitionsTopicResult_0(out: bytearray, m: _CreatePartitionsTopicResult) -> None:
    write_string(out, m.name)
    out += _P_h(m.error_code)
    write_null_string(out, m.error_message)


def _write_CreatePartitionsResponse_0(out: bytearray, m: CreatePartitionsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.results))
    for it_results in m.results:
        _write_CreatePartitionsTopicResult_0(out, it_results)


def _write_CreatePartitionsTopicResult_2(out: bytearray, m: _CreatePartitionsTopicResult) -> None:
    write_c_string(out, m.name)
    out += _P_h(m.error_code)
    write_c_null_string(out, m.error_message)
    out.append(0)


def _write_CreatePartitionsResponse_2(out: bytearray, m: CreatePartitionsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.results))
    for it_results in m.results:
        _write_CreatePartitionsTopicResult_2(out, it_results)
    out.append(0)


def _write_steps_CreatePartitionsResponse_0(o: Output, m: CreatePartitionsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.results))
    if len(m.results) <= FLAT_ELEMENTS:
        for it_results in m.results:
            _write_CreatePartitionsTopicResult_0(out, it_results)
        if o.elements_ended(len(m.results)):
            yield
    else:
        for it_results in m.results:
            _write_CreatePartitionsTopicResult_0(out, it_results)
            if o.elements_ended(1):
                yield


def _write_steps_CreatePartitionsResponse_2(o: Output, m: CreatePartitionsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.results))
    if len(m.results) <= FLAT_ELEMENTS:
        for it_results in m.results:
            _write_CreatePartitionsTopicResult_2(out, it_results)
        if o.elements_ended(len(m.results)):
            yield
    else:
        for it_results in m.results:
            _write_CreatePartitionsTopicResult_2(out, it_results)
            if o.elements_ended(1):
                yield
    out.append(0)


def _error_for(m: CreatePartitionsRequest, code: int) -> CreatePartitionsResponse:
    return CreatePartitionsResponse(results=[_CreatePartitionsTopicResult(name=it0.name, error_code=code, error_message=None) for it0 in m.topics])


CreatePartitionsRequest.READ = (_read_CreatePartitionsRequest_0, _read_CreatePartitionsRequest_0, _read_CreatePartitionsRequest_2, _read_CreatePartitionsRequest_2,)
CreatePartitionsRequest.READ_STEPS = (_read_steps_CreatePartitionsRequest_0, _read_steps_CreatePartitionsRequest_0, _read_steps_CreatePartitionsRequest_2, _read_steps_CreatePartitionsRequest_2,)
CreatePartitionsRequest.WRITE = (_write_CreatePartitionsRequest_0, _write_CreatePartitionsRequest_0, _write_CreatePartitionsRequest_2, _write_CreatePartitionsRequest_2,)
CreatePartitionsRequest.WRITE_STEPS = (_write_steps_CreatePartitionsRequest_0, _write_steps_CreatePartitionsRequest_0, _write_steps_CreatePartitionsRequest_2, _write_steps_CreatePartitionsRequest_2,)
CreatePartitionsResponse.READ = (_read_CreatePartitionsResponse_0, _read_CreatePartitionsResponse_0, _read_CreatePartitionsResponse_2, _read_CreatePartitionsResponse_2,)
CreatePartitionsResponse.READ_STEPS = (_read_steps_CreatePartitionsResponse_0, _read_steps_CreatePartitionsResponse_0, _read_steps_CreatePartitionsResponse_2, _read_steps_CreatePartitionsResponse_2,)
CreatePartitionsResponse.WRITE = (_write_CreatePartitionsResponse_0, _write_CreatePartitionsResponse_0, _write_CreatePartitionsResponse_2, _write_CreatePartitionsResponse_2,)
CreatePartitionsResponse.WRITE_STEPS = (_write_steps_CreatePartitionsResponse_0, _write_steps_CreatePartitionsResponse_0, _write_steps_CreatePartitionsResponse_2, _write_steps_CreatePartitionsResponse_2,)
CreatePartitionsRequest.ERROR_FOR = _error_for
