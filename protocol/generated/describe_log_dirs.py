"""DescribeLogDirsRequest, DescribeLogDirsResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from itertools import islice
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, batches, read_c_count, read_c_null_count, read_c_numbers, read_c_string, read_count, read_null_count, read_numbers, read_string, skip_tags
from headrace.protocol.message_writing import Output, Runs, write_c_count, write_c_string, write_count, write_string
from headrace.protocol.primitives import Reader

class DescribeLogDirsRequest(KafkaMessage):
    """Key 35, versions 1 to 5, flexible from 2 on."""

    class DescribableLogDirTopic(MessageStruct):
        """Versions 0+."""

        topic: str = ""
        partitions: list[int] = []

    API_KEY: ClassVar[int] = 35
    MIN_VERSION: ClassVar[int] = 1
    FLEXIBLE_SINCE: ClassVar[int] = 2
    topics: list[DescribeLogDirsRequest.DescribableLogDirTopic] | None = []


class DescribeLogDirsResponse(KafkaMessage):
    """Key 35, versions 1 to 5, flexible from 2 on."""

    class DescribeLogDirsResult(MessageStruct):
        """Versions 0+."""

        class DescribeLogDirsTopic(MessageStruct):
            """Versions 0+."""

            class DescribeLogDirsPartition(MessageStruct):
                """Versions 0+."""

                partition_index: int = 0
                partition_size: int = 0
                offset_lag: int = 0
                is_future_key: bool = False

            name: str = ""
            partitions: Collection[DescribeLogDirsResponse.DescribeLogDirsResult.DescribeLogDirsTopic.DescribeLogDirsPartition] = []

        error_code: int = 0
        log_dir: str = ""
        topics: Collection[DescribeLogDirsResponse.DescribeLogDirsResult.DescribeLogDirsTopic] = []
        total_bytes: int = -1
        usable_bytes: int = -1
        is_cordoned: bool = False

    API_KEY: ClassVar[int] = 35
    MIN_VERSION: ClassVar[int] = 1
    FLEXIBLE_SINCE: ClassVar[int] = 2
    throttle_time_ms: int = 0
    error_code: int = 0
    results: Collection[DescribeLogDirsResponse.DescribeLogDirsResult] = []


_DescribableLogDirTopic = DescribeLogDirsRequest.DescribableLogDirTopic
_DescribeLogDirsPartition = DescribeLogDirsResponse.DescribeLogDirsResult.DescribeLogDirsTopic.DescribeLogDirsPartition
_DescribeLogDirsTopic = DescribeLogDirsResponse.DescribeLogDirsResult.DescribeLogDirsTopic
_DescribeLogDirsResult = DescribeLogDirsResponse.DescribeLogDirsResult
_P_h: Final = Struct(">h").pack
_P_i: Final = Struct(">i").pack
_P_ih: Final = Struct(">ih").pack
_P_iqqt: Final = Struct(">iqq?").pack
_P_iqqtx: Final = Struct(">iqq?x").pack
_P_qqtx: Final = Struct(">qq?x").pack
_P_qqx: Final = Struct(">qqx").pack
_R_Bi_x: Final = Runs("Bi", "x", is_array=(True, False))
_R_ii: Final = Runs("ii", is_array=(True,))
_S_h: Final = Struct(">h")
_S_i: Final = Struct(">i")
_S_ih: Final = Struct(">ih")
_S_iqqt: Final = Struct(">iqq?")
_S_qq: Final = Struct(">qq")
_S_qqt: Final = Struct(">qq?")


def _read_DescribableLogDirTopic_1(r: Reader) -> _DescribableLogDirTopic:
    topic = read_string(r)
    partitions = read_numbers(r, "i", 4)
    return _DescribableLogDirTopic(topic, partitions)


def _read_DescribeLogDirsRequest_1(r: Reader) -> DescribeLogDirsRequest:
    n = read_null_count(r, 6)
    topics = None if n < 0 else [_read_DescribableLogDirTopic_1(r) for _ in range(n)]
    return DescribeLogDirsRequest(topics)


def _read_DescribableLogDirTopic_2(r: Reader) -> _DescribableLogDirTopic:
    topic = read_c_string(r)
    partitions = read_c_numbers(r, "i", 4)
    skip_tags(r)
    return _DescribableLogDirTopic(topic, partitions)


def _read_DescribeLogDirsRequest_2(r: Reader) -> DescribeLogDirsRequest:
    n = read_c_null_count(r, 3)
    topics = None if n < 0 else [_read_DescribableLogDirTopic_2(r) for _ in range(n)]
    skip_tags(r)
    return DescribeLogDirsRequest(topics)


def _read_steps_DescribeLogDirsRequest_1(r: Reader) -> Generator[None, None, DescribeLogDirsRequest]:
    n = read_null_count(r, 6)
    topics: list[DescribeLogDirsRequest.DescribableLogDirTopic] | None = None
    if n >= 0:
        topics_: list[DescribeLogDirsRequest.DescribableLogDirTopic] = []
        if n <= FLAT_ELEMENTS:
            topics_ = [_read_DescribableLogDirTopic_1(r) for _ in range(n)]
            r.elements_of_step += n
        else:
            for _ in range(n):
                topics_.append(_read_DescribableLogDirTopic_1(r))
                if r.elements_ended(1):
                    yield
        topics = topics_
    return DescribeLogDirsRequest(topics)


def _read_steps_DescribeLogDirsRequest_2(r: Reader) -> Generator[None, None, DescribeLogDirsRequest]:
    n = read_c_null_count(r, 3)
    topics: list[DescribeLogDirsRequest.DescribableLogDirTopic] | None = None
    if n >= 0:
        topics_: list[DescribeLogDirsRequest.DescribableLogDirTopic] = []
        if n <= FLAT_ELEMENTS:
            topics_ = [_read_DescribableLogDirTopic_2(r) for _ in range(n)]
            r.elements_of_step += n
        else:
            for _ in range(n):
                topics_.append(_read_DescribableLogDirTopic_2(r))
                if r.elements_ended(1):
                    yield
        topics = topics_
    skip_tags(r)
    return DescribeLogDirsRequest(topics)


def _write_DescribableLogDirTopic_1(out: bytearray, m: _DescribableLogDirTopic) -> None:
    write_string(out, m.topic)
    n1 = len(m.partitions)
    out += _R_ii[n1,](n1, *m.partitions)


def _write_DescribeLogDirsRequest_1(out: bytearray, m: DescribeLogDirsRequest) -> None:
    if m.topics is None:
        write_count(out, -1)
    else:
        write_count(out, len(m.topics))
        for it_topics in m.topics:
            _write_DescribableLogDirTopic_1(out, it_topics)


def _write_DescribableLogDirTopic_2(out: bytearray, m: _DescribableLogDirTopic) -> None:
    write_c_string(out, m.topic)
    n1 = len(m.partitions)
    out += _R_Bi_x[n1,](n1 + 1, *m.partitions)


def _write_DescribeLogDirsRequest_2(out: bytearray, m: DescribeLogDirsRequest) -> None:
    if m.topics is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.topics))
        for it_topics in m.topics:
            _write_DescribableLogDirTopic_2(out, it_topics)
    out.append(0)


def _write_steps_DescribeLogDirsRequest_1(o: Output, m: DescribeLogDirsRequest) -> Generator[None, None, None]:
    out = o.buffer
    if m.topics is None:
        write_count(out, -1)
    else:
        write_count(out, len(m.topics))
        if len(m.topics) <= FLAT_ELEMENTS:
            for it_topics in m.topics:
                _write_DescribableLogDirTopic_1(out, it_topics)
            if o.elements_ended(len(m.topics)):
                yield
        else:
            for it_topics in m.topics:
                _write_DescribableLogDirTopic_1(out, it_topics)
                if o.elements_ended(1):
                    yield


def _write_steps_DescribeLogDirsRequest_2(o: Output, m: DescribeLogDirsRequest) -> Generator[None, None, None]:
    out = o.buffer
    if m.topics is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.topics))
        if len(m.topics) <= FLAT_ELEMENTS:
            for it_topics in m.topics:
                _write_DescribableLogDirTopic_2(out, it_topics)
            if o.elements_ended(len(m.topics)):
                yield
        else:
            for it_topics in m.topics:
                _write_DescribableLogDirTopic_2(out, it_topics)
                if o.elements_ended(1):
                    yield
    out.append(0)


def _read_DescribeLogDirsPartition_1(r: Reader) -> _DescribeLogDirsPartition:
    partition_index, partition_size, offset_lag, is_future_key = r.fixed(_S_iqqt)
    return _DescribeLogDirsPartition(partition_index, partition_size, offset_lag, is_future_key)


def _read_DescribeLogDirsTopic_1(r: Reader) -> _DescribeLogDirsTopic:
    name = read_string(r)
    n = read_count(r, 21)
    partitions = [_read_DescribeLogDirsPartition_1(r) for _ in range(n)]
    return _DescribeLogDirsTopic(name, partitions)


def _read_DescribeLogDirsResult_1(r: Reader) -> _DescribeLogDirsResult:
    error_code, = r.fixed(_S_h)
    log_dir = read_string(r)
    n = read_count(r, 6)
    topics = [_read_DescribeLogDirsTopic_1(r) for _ in range(n)]
    return _DescribeLogDirsResult(error_code, log_dir, topics)


def _read_DescribeLogDirsResponse_1(r: Reader) -> DescribeLogDirsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 8)
    results = [_read_DescribeLogDirsResult_1(r) for _ in range(n)]
    return DescribeLogDirsResponse(throttle_time_ms, 0, results)


def _read_DescribeLogDirsPartition_2(r: Reader) -> _DescribeLogDirsPartition:
    partition_index, partition_size, offset_lag, is_future_key = r.fixed(_S_iqqt)
    skip_tags(r)
    return _DescribeLogDirsPartition(partition_index, partition_size, offset_lag, is_future_key)


def _read_DescribeLogDirsTopic_2(r: Reader) -> _DescribeLogDirsTopic:
    name = read_c_string(r)
    n = read_c_count(r, 22)
    partitions = [_read_DescribeLogDirsPartition_2(r) for _ in range(n)]
    skip_tags(r)
    return _DescribeLogDirsTopic(name, partitions)


def _read_DescribeLogDirsResult_2(r: Reader) -> _DescribeLogDirsResult:
    error_code, = r.fixed(_S_h)
    log_dir = read_c_string(r)
    n = read_c_count(r, 3)
    topics = [_read_DescribeLogDirsTopic_2(r) for _ in range(n)]
    skip_tags(r)
    return _DescribeLogDirsResult(error_code, log_dir, topics)


def _read_DescribeLogDirsResponse_2(r: Reader) -> DescribeLogDirsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 5)
    results = [_read_DescribeLogDirsResult_2(r) for _ in range(n)]
    skip_tags(r)
    return DescribeLogDirsResponse(throttle_time_ms, 0, results)


def _read_DescribeLogDirsResponse_3(r: Reader) -> DescribeLogDirsResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    n = read_c_count(r, 5)
    results = [_read_DescribeLogDirsResult_2(r) for _ in range(n)]
    skip_tags(r)
    return DescribeLogDirsResponse(throttle_time_ms, error_code, results)


def _read_DescribeLogDirsResult_4(r: Reader) -> _DescribeLogDirsResult:
    error_code, = r.fixed(_S_h)
    log_dir = read_c_string(r)
    n = read_c_count(r, 3)
    topics = [_read_DescribeLogDirsTopic_2(r) for _ in range(n)]
    total_bytes, usable_bytes = r.fixed(_S_qq)
    skip_tags(r)
    return _DescribeLogDirsResult(error_code, log_dir, topics, total_bytes, usable_bytes)


def _read_DescribeLogDirsResponse_4(r: Reader) -> DescribeLogDirsResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    n = read_c_count(r, 21)
    results = [_read_DescribeLogDirsResult_4(r) for _ in range(n)]
    skip_tags(r)
    return DescribeLogDirsResponse(throttle_time_ms, error_code, results)


def _read_DescribeLogDirsResult_5(r: Reader) -> _DescribeLogDirsResult:
    error_code, = r.fixed(_S_h)
    log_dir = read_c_string(r)
    n = read_c_count(r, 3)
    topics = [_read_DescribeLogDirsTopic_2(r) for _ in range(n)]
    total_bytes, usable_bytes, is_cordoned = r.fixed(_S_qqt)
    skip_tags(r)
    return _DescribeLogDirsResult(error_code, log_dir, topics, total_bytes, usable_bytes, is_cordoned)


def _read_DescribeLogDirsResponse_5(r: Reader) -> DescribeLogDirsResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    n = read_c_count(r, 22)
    results = [_read_DescribeLogDirsResult_5(r) for _ in range(n)]
    skip_tags(r)
    return DescribeLogDirsResponse(throttle_time_ms, error_code, results)


def _read_steps_DescribeLogDirsTopic_1(r: Reader) -> Generator[None, None, _DescribeLogDirsTopic]:
    name = read_string(r)
    n = read_count(r, 21)
    partitions: list[DescribeLogDirsResponse.DescribeLogDirsResult.DescribeLogDirsTopic.DescribeLogDirsPartition] = []
    for some in batches(n):
        partitions += [_read_DescribeLogDirsPartition_1(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    return _DescribeLogDirsTopic(name, partitions)


def _read_steps_DescribeLogDirsResult_1(r: Reader) -> Generator[None, None, _DescribeLogDirsResult]:
    error_code, = r.fixed(_S_h)
    log_dir = read_string(r)
    n = read_count(r, 6)
    topics: list[DescribeLogDirsResponse.DescribeLogDirsResult.DescribeLogDirsTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_DescribeLogDirsTopic_1(r)))
        if r.elements_ended(1):
            yield
    return _DescribeLogDirsResult(error_code, log_dir, topics)


def _read_steps_DescribeLogDirsResponse_1(r: Reader) -> Generator[None, None, DescribeLogDirsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 8)
    results: list[DescribeLogDirsResponse.DescribeLogDirsResult] = []
    for _ in range(n):
        results.append((yield from _read_steps_DescribeLogDirsResult_1(r)))
        if r.elements_ended(1):
            yield
    return DescribeLogDirsResponse(throttle_time_ms, 0, results)


def _read_steps_DescribeLogDirsTopic_2(r: Reader) -> Generator[None, None, _DescribeLogDirsTopic]:
    name = read_c_string(r)
    n = read_c_count(r, 22)
    partitions: list[DescribeLogDirsResponse.DescribeLogDirsResult.DescribeLogDirsTopic.DescribeLogDirsPartition] = []
    for some in batches(n):
        partitions += [_read_DescribeLogDirsPartition_2(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    skip_tags(r)
    return _DescribeLogDirsTopic(name, partitions)


def _read_steps_DescribeLogDirsResult_2(r: Reader) -> Generator[None, None, _DescribeLogDirsResult]:
    error_code, = r.fixed(_S_h)
    log_dir = read_c_string(r)
    n = read_c_count(r, 3)
    topics: list[DescribeLogDirsResponse.DescribeLogDirsResult.DescribeLogDirsTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_DescribeLogDirsTopic_2(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return _DescribeLogDirsResult(error_code, log_dir, topics)


def _read_steps_DescribeLogDirsResponse_2(r: Reader) -> Generator[None, None, DescribeLogDirsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 5)
    results: list[DescribeLogDirsResponse.DescribeLogDirsResult] = []
    for _ in range(n):
        results.append((yield from _read_steps_DescribeLogDirsResult_2(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return DescribeLogDirsResponse(throttle_time_ms, 0, results)


def _read_steps_DescribeLogDirsResponse_3(r: Reader) -> Generator[None, None, DescribeLogDirsResponse]:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    n = read_c_count(r, 5)
    results: list[DescribeLogDirsResponse.DescribeLogDirsResult] = []
    for _ in range(n):
        results.append((yield from _read_steps_DescribeLogDirsResult_2(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return DescribeLogDirsResponse(throttle_time_ms, error_code, results)


def _read_steps_DescribeLogDirsResult_4(r: Reader) -> Generator[None, None, _DescribeLogDirsResult]:
    error_code, = r.fixed(_S_h)
    log_dir = read_c_string(r)
    n = read_c_count(r, 3)
    topics: list[DescribeLogDirsResponse.DescribeLogDirsResult.DescribeLogDirsTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_DescribeLogDirsTopic_2(r)))
        if r.elements_ended(1):
            yield
    total_bytes, usable_bytes = r.fixed(_S_qq)
    skip_tags(r)
    return _DescribeLogDirsResult(error_code, log_dir, topics, total_bytes, usable_bytes)


def _read_steps_DescribeLogDirsResponse_4(r: Reader) -> Generator[None, None, DescribeLogDirsResponse]:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    n = read_c_count(r, 21)
    results: list[DescribeLogDirsResponse.DescribeLogDirsResult] = []
    for _ in range(n):
        results.append((yield from _read_steps_DescribeLogDirsResult_4(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return DescribeLogDirsResponse(throttle_time_ms, error_code, results)


def _read_steps_DescribeLogDirsResult_5(r: Reader) -> Generator[None, None, _DescribeLogDirsResult]:
    error_code, = r.fixed(_S_h)
    log_dir = read_c_string(r)
    n = read_c_count(r, 3)
    topics: list[DescribeLogDirsResponse.DescribeLogDirsResult.DescribeLogDirsTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_DescribeLogDirsTopic_2(r)))
        if r.elements_ended(1):
            yield
    total_bytes, usable_bytes, is_cordoned = r.fixed(_S_qqt)
    skip_tags(r)
    return _DescribeLogDirsResult(error_code, log_dir, topics, total_bytes, usable_bytes, is_cordoned)


def _read_steps_DescribeLogDirsResponse_5(r: Reader) -> Generator[None, None, DescribeLogDirsResponse]:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    n = read_c_count(r, 22)
    results: list[DescribeLogDirsResponse.DescribeLogDirsResult] = []
    for _ in range(n):
        results.append((yield from _read_steps_DescribeLogDirsResult_5(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return DescribeLogDirsResponse(throttle_time_ms, error_code, results)


def _write_DescribeLogDirsPartition_1(out: bytearray, m: _DescribeLogDirsPartition) -> None:
    out += _P_iqqt(m.partition_index, m.partition_size, m.offset_lag, m.is_future_key)


def _write_DescribeLogDirsTopic_1(out: bytearray, m: _DescribeLogDirsTopic) -> None:
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_DescribeLogDirsPartition_1(out, it_partitions)


def _write_DescribeLogDirsResult_1(out: bytearray, m: _DescribeLogDirsResult) -> None:
    out += _P_h(m.error_code)
    write_string(out, m.log_dir)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_DescribeLogDirsTopic_1(out, it_topics)


def _write_DescribeLogDirsResponse_1(out: bytearray, m: DescribeLogDirsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.results))
    for it_results in m.results:
        _write_DescribeLogDirsResult_1(out, it_results)


def _write_DescribeLogDirsPartition_2(out: bytearray, m: _DescribeLogDirsPartition) -> None:
    out += _P_iqqtx(m.partition_index, m.partition_size, m.offset_lag, m.is_future_key)


def _write_DescribeLogDirsTopic_2(out: bytearray, m: _DescribeLogDirsTopic) -> None:
    write_c_string(out, m.name)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_DescribeLogDirsPartition_2(out, it_partitions)
    out.append(0)


def _write_DescribeLogDirsResult_2(out: bytearray, m: _DescribeLogDirsResult) -> None:
    out += _P_h(m.error_code)
    write_c_string(out, m.log_dir)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_DescribeLogDirsTopic_2(out, it_topics)
    out.append(0)


def _write_DescribeLogDirsResponse_2(out: bytearray, m: DescribeLogDirsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.results))
    for it_results in m.results:
        _write_DescribeLogDirsResult_2(out, it_results)
    out.append(0)


def _write_DescribeLogDirsResponse_3(out: bytearray, m: DescribeLogDirsResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_count(out, len(m.results))
    for it_results in m.results:
        _write_DescribeLogDirsResult_2(out, it_results)
    out.append(0)


def _write_DescribeLogDirsResult_4(out: bytearray, m: _DescribeLogDirsResult) -> None:
    out += _P_h(m.error_code)
    write_c_string(out, m.log_dir)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_DescribeLogDirsTopic_2(out, it_topics)
    out += _P_qqx(m.total_bytes, m.usable_bytes)


def _write_DescribeLogDirsResponse_4(out: bytearray, m: DescribeLogDirsResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_count(out, len(m.results))
    for it_results in m.results:
        _write_DescribeLogDirsResult_4(out, it_results)
    out.append(0)


def _write_DescribeLogDirsResult_5(out: bytearray, m: _DescribeLogDirsResult) -> None:
    out += _P_h(m.error_code)
    write_c_string(out, m.log_dir)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_DescribeLogDirsTopic_2(out, it_topics)
    out += _P_qqtx(m.total_bytes, m.usable_bytes, m.is_cordoned)


def _write_DescribeLogDirsResponse_5(out: bytearray, m: DescribeLogDirsResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_count(out, len(m.results))
    for it_results in m.results:
        _write_DescribeLogDirsResult_5(out, it_results)
    out.append(0)


def _write_steps_DescribeLogDirsTopic_1(o: Output, m: _DescribeLogDirsTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.name)
    write_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_DescribeLogDirsPartition_1(out, it_partitions)
        if o.elements_ended(some):
            yield


def _write_steps_DescribeLogDirsResult_1(o: Output, m: _DescribeLogDirsResult) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    write_string(out, m.log_dir)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_DescribeLogDirsTopic_1(o, it_topics)
        if o.elements_ended(1):
            yield


def _write_steps_DescribeLogDirsResponse_1(o: Output, m: DescribeLogDirsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.results))
    for it_results in m.results:
        yield from _write_steps_DescribeLogDirsResult_1(o, it_results)
        if o.elements_ended(1):
            yield


def _write_steps_DescribeLogDirsTopic_2(o: Output, m: _DescribeLogDirsTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.name)
    write_c_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_DescribeLogDirsPartition_2(out, it_partitions)
        if o.elements_ended(some):
            yield
    out.append(0)


def _write_steps_DescribeLogDirsResult_2(o: Output, m: _DescribeLogDirsResult) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    write_c_string(out, m.log_dir)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_DescribeLogDirsTopic_2(o, it_topics)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_DescribeLogDirsResponse_2(o: Output, m: DescribeLogDirsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.results))
    for it_results in m.results:
        yield from _write_steps_DescribeLogDirsResult_2(o, it_results)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_DescribeLogDirsResponse_3(o: Output, m: DescribeLogDirsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_count(out, len(m.results))
    for it_results in m.results:
        yield from _write_steps_DescribeLogDirsResult_2(o, it_results)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_DescribeLogDirsResult_4(o: Output, m: _DescribeLogDirsResult) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    write_c_string(out, m.log_dir)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_DescribeLogDirsTopic_2(o, it_topics)
        if o.elements_ended(1):
            yield
    out += _P_qqx(m.total_bytes, m.usable_bytes)


def _write_steps_DescribeLogDirsResponse_4(o: Output, m: DescribeLogDirsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_count(out, len(m.results))
    for it_results in m.results:
        yield from _write_steps_DescribeLogDirsResult_4(o, it_results)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_DescribeLogDirsResult_5(o: Output, m: _DescribeLogDirsResult) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    write_c_string(out, m.log_dir)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_DescribeLogDirsTopic_2(o, it_topics)
        if o.elements_ended(1):
            yield
    out += _P_qqtx(m.total_bytes, m.usable_bytes, m.is_cordoned)


def _write_steps_DescribeLogDirsResponse_5(o: Output, m: DescribeLogDirsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_count(out, len(m.results))
    for it_results in m.results:
        yield from _write_steps_DescribeLogDirsResult_5(o, it_results)
        if o.elements_ended(1):
            yield
    out.append(0)


def _error_for(m: DescribeLogDirsRequest, code: int) -> DescribeLogDirsResponse:
    return DescribeLogDirsResponse(error_code=code)


DescribeLogDirsRequest.READ = (_read_DescribeLogDirsRequest_1, _read_DescribeLogDirsRequest_2, _read_DescribeLogDirsRequest_2, _read_DescribeLogDirsRequest_2, _read_DescribeLogDirsRequest_2,)
DescribeLogDirsRequest.READ_STEPS = (_read_steps_DescribeLogDirsRequest_1, _read_steps_DescribeLogDirsRequest_2, _read_steps_DescribeLogDirsRequest_2, _read_steps_DescribeLogDirsRequest_2, _read_steps_DescribeLogDirsRequest_2,)
DescribeLogDirsRequest.WRITE = (_write_DescribeLogDirsRequest_1, _write_DescribeLogDirsRequest_2, _write_DescribeLogDirsRequest_2, _write_DescribeLogDirsRequest_2, _write_DescribeLogDirsRequest_2,)
DescribeLogDirsRequest.WRITE_STEPS = (_write_steps_DescribeLogDirsRequest_1, _write_steps_DescribeLogDirsRequest_2, _write_steps_DescribeLogDirsRequest_2, _write_steps_DescribeLogDirsRequest_2, _write_steps_DescribeLogDirsRequest_2,)
DescribeLogDirsResponse.READ = (_read_DescribeLogDirsResponse_1, _read_DescribeLogDirsResponse_2, _read_DescribeLogDirsResponse_3, _read_DescribeLogDirsResponse_4, _read_DescribeLogDirsResponse_5,)
DescribeLogDirsResponse.READ_STEPS = (_read_steps_DescribeLogDirsResponse_1, _read_steps_DescribeLogDirsResponse_2, _read_steps_DescribeLogDirsResponse_3, _read_steps_DescribeLogDirsResponse_4, _read_steps_DescribeLogDirsResponse_5,)
DescribeLogDirsResponse.WRITE = (_write_DescribeLogDirsResponse_1, _write_DescribeLogDirsResponse_2, _write_DescribeLogDirsResponse_3, _write_DescribeLogDirsResponse_4, _write_DescribeLogDirsResponse_5,)
DescribeLogDirsResponse.WRITE_STEPS = (_write_steps_DescribeLogDirsResponse_1, _write_steps_DescribeLogDirsResponse_2, _write_steps_DescribeLogDirsResponse_3, _write_steps_DescribeLogDirsResponse_4, _write_steps_DescribeLogDirsResponse_5,)
DescribeLogDirsRequest.ERROR_FOR = _error_for
