"""AlterReplicaLogDirsRequest, AlterReplicaLogDirsResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from itertools import islice
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, batches, read_c_count, read_c_numbers, read_c_string, read_count, read_numbers, read_string, skip_tags
from headrace.protocol.message_writing import Output, Runs, write_c_count, write_c_string, write_count, write_string
from headrace.protocol.primitives import Reader

class AlterReplicaLogDirsRequest(KafkaMessage):
    """Key 34, versions 1 to 2, flexible from 2 on."""

    class AlterReplicaLogDir(MessageStruct):
        """Versions 0+."""

        class AlterReplicaLogDirTopic(MessageStruct):
            """Versions 0+."""

            name: str = ""
            partitions: list[int] = []

        path: str = ""
        topics: list[AlterReplicaLogDirsRequest.AlterReplicaLogDir.AlterReplicaLogDirTopic] = []

    API_KEY: ClassVar[int] = 34
    MIN_VERSION: ClassVar[int] = 1
    FLEXIBLE_SINCE: ClassVar[int] = 2
    dirs: list[AlterReplicaLogDirsRequest.AlterReplicaLogDir] = []


class AlterReplicaLogDirsResponse(KafkaMessage):
    """Key 34, versions 1 to 2, flexible from 2 on."""

    class AlterReplicaLogDirTopicResult(MessageStruct):
        """Versions 0+."""

        class AlterReplicaLogDirPartitionResult(MessageStruct):
            """Versions 0+."""

            partition_index: int = 0
            error_code: int = 0

        topic_name: str = ""
        partitions: Collection[AlterReplicaLogDirsResponse.AlterReplicaLogDirTopicResult.AlterReplicaLogDirPartitionResult] = []

    API_KEY: ClassVar[int] = 34
    MIN_VERSION: ClassVar[int] = 1
    FLEXIBLE_SINCE: ClassVar[int] = 2
    throttle_time_ms: int = 0
    results: Collection[AlterReplicaLogDirsResponse.AlterReplicaLogDirTopicResult] = []


_AlterReplicaLogDirTopic = AlterReplicaLogDirsRequest.AlterReplicaLogDir.AlterReplicaLogDirTopic
_AlterReplicaLogDir = AlterReplicaLogDirsRequest.AlterReplicaLogDir
_AlterReplicaLogDirPartitionResult = AlterReplicaLogDirsResponse.AlterReplicaLogDirTopicResult.AlterReplicaLogDirPartitionResult
_AlterReplicaLogDirTopicResult = AlterReplicaLogDirsResponse.AlterReplicaLogDirTopicResult
_P_i: Final = Struct(">i").pack
_P_ih: Final = Struct(">ih").pack
_P_ihx: Final = Struct(">ihx").pack
_R_Bi_x: Final = Runs("Bi", "x", is_array=(True, False))
_R_ii: Final = Runs("ii", is_array=(True,))
_S_i: Final = Struct(">i")
_S_ih: Final = Struct(">ih")


def _read_AlterReplicaLogDirTopic_1(r: Reader) -> _AlterReplicaLogDirTopic:
    name = read_string(r)
    partitions = read_numbers(r, "i", 4)
    return _AlterReplicaLogDirTopic(name, partitions)


def _read_AlterReplicaLogDir_1(r: Reader) -> _AlterReplicaLogDir:
    path = read_string(r)
    n = read_count(r, 6)
    topics = [_read_AlterReplicaLogDirTopic_1(r) for _ in range(n)]
    return _AlterReplicaLogDir(path, topics)


def _read_AlterReplicaLogDirsRequest_1(r: Reader) -> AlterReplicaLogDirsRequest:
    n = read_count(r, 6)
    dirs = [_read_AlterReplicaLogDir_1(r) for _ in range(n)]
    return AlterReplicaLogDirsRequest(dirs)


def _read_AlterReplicaLogDirTopic_2(r: Reader) -> _AlterReplicaLogDirTopic:
    name = read_c_string(r)
    partitions = read_c_numbers(r, "i", 4)
    skip_tags(r)
    return _AlterReplicaLogDirTopic(name, partitions)


def _read_AlterReplicaLogDir_2(r: Reader) -> _AlterReplicaLogDir:
    path = read_c_string(r)
    n = read_c_count(r, 3)
    topics = [_read_AlterReplicaLogDirTopic_2(r) for _ in range(n)]
    skip_tags(r)
    return _AlterReplicaLogDir(path, topics)


def _read_AlterReplicaLogDirsRequest_2(r: Reader) -> AlterReplicaLogDirsRequest:
    n = read_c_count(r, 3)
    dirs = [_read_AlterReplicaLogDir_2(r) for _ in range(n)]
    skip_tags(r)
    return AlterReplicaLogDirsRequest(dirs)


def _read_steps_AlterReplicaLogDir_1(r: Reader) -> Generator[None, None, _AlterReplicaLogDir]:
    path = read_string(r)
    n = read_count(r, 6)
    topics: list[AlterReplicaLogDirsRequest.AlterReplicaLogDir.AlterReplicaLogDirTopic] = []
    if n <= FLAT_ELEMENTS:
        topics = [_read_AlterReplicaLogDirTopic_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            topics.append(_read_AlterReplicaLogDirTopic_1(r))
            if r.elements_ended(1):
                yield
    return _AlterReplicaLogDir(path, topics)


def _read_steps_AlterReplicaLogDirsRequest_1(r: Reader) -> Generator[None, None, AlterReplicaLogDirsRequest]:
    n = read_count(r, 6)
    dirs: list[AlterReplicaLogDirsRequest.AlterReplicaLogDir] = []
    for _ in range(n):
        dirs.append((yield from _read_steps_AlterReplicaLogDir_1(r)))
        if r.elements_ended(1):
            yield
    return AlterReplicaLogDirsRequest(dirs)


def _read_steps_AlterReplicaLogDir_2(r: Reader) -> Generator[None, None, _AlterReplicaLogDir]:
    path = read_c_string(r)
    n = read_c_count(r, 3)
    topics: list[AlterReplicaLogDirsRequest.AlterReplicaLogDir.AlterReplicaLogDirTopic] = []
    if n <= FLAT_ELEMENTS:
        topics = [_read_AlterReplicaLogDirTopic_2(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            topics.append(_read_AlterReplicaLogDirTopic_2(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return _AlterReplicaLogDir(path, topics)


def _read_steps_AlterReplicaLogDirsRequest_2(r: Reader) -> Generator[None, None, AlterReplicaLogDirsRequest]:
    n = read_c_count(r, 3)
    dirs: list[AlterReplicaLogDirsRequest.AlterReplicaLogDir] = []
    for _ in range(n):
        dirs.append((yield from _read_steps_AlterReplicaLogDir_2(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return AlterReplicaLogDirsRequest(dirs)


def _write_AlterReplicaLogDirTopic_1(out: bytearray, m: _AlterReplicaLogDirTopic) -> None:
    write_string(out, m.name)
    n1 = len(m.partitions)
    out += _R_ii[n1,](n1, *m.partitions)


def _write_AlterReplicaLogDir_1(out: bytearray, m: _AlterReplicaLogDir) -> None:
    write_string(out, m.path)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_AlterReplicaLogDirTopic_1(out, it_topics)


def _write_AlterReplicaLogDirsRequest_1(out: bytearray, m: AlterReplicaLogDirsRequest) -> None:
    write_count(out, len(m.dirs))
    for it_dirs in m.dirs:
        _write_AlterReplicaLogDir_1(out, it_dirs)


def _write_AlterReplicaLogDirTopic_2(out: bytearray, m: _AlterReplicaLogDirTopic) -> None:
    write_c_string(out, m.name)
    n1 = len(m.partitions)
    out += _R_Bi_x[n1,](n1 + 1, *m.partitions)


def _write_AlterReplicaLogDir_2(out: bytearray, m: _AlterReplicaLogDir) -> None:
    write_c_string(out, m.path)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_AlterReplicaLogDirTopic_2(out, it_topics)
    out.append(0)


def _write_AlterReplicaLogDirsRequest_2(out: bytearray, m: AlterReplicaLogDirsRequest) -> None:
    write_c_count(out, len(m.dirs))
    for it_dirs in m.dirs:
        _write_AlterReplicaLogDir_2(out, it_dirs)
    out.append(0)


def _write_steps_AlterReplicaLogDir_1(o: Output, m: _AlterReplicaLogDir) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.path)
    write_count(out, len(m.topics))
    if len(m.topics) <= FLAT_ELEMENTS:
        for it_topics in m.topics:
            _write_AlterReplicaLogDirTopic_1(out, it_topics)
        if o.elements_ended(len(m.topics)):
            yield
    else:
        for it_topics in m.topics:
            _write_AlterReplicaLogDirTopic_1(out, it_topics)
            if o.elements_ended(1):
                yield


def _write_steps_AlterReplicaLogDirsRequest_1(o: Output, m: AlterReplicaLogDirsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_count(out, len(m.dirs))
    for it_dirs in m.dirs:
        yield from _write_steps_AlterReplicaLogDir_1(o, it_dirs)
        if o.elements_ended(1):
            yield


def _write_steps_AlterReplicaLogDir_2(o: Output, m: _AlterReplicaLogDir) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.path)
    write_c_count(out, len(m.topics))
    if len(m.topics) <= FLAT_ELEMENTS:
        for it_topics in m.topics:
            _write_AlterReplicaLogDirTopic_2(out, it_topics)
        if o.elements_ended(len(m.topics)):
            yield
    else:
        for it_topics in m.topics:
            _write_AlterReplicaLogDirTopic_2(out, it_topics)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_AlterReplicaLogDirsRequest_2(o: Output, m: AlterReplicaLogDirsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.dirs))
    for it_dirs in m.dirs:
        yield from _write_steps_AlterReplicaLogDir_2(o, it_dirs)
        if o.elements_ended(1):
            yield
    out.append(0)


def _read_AlterReplicaLogDirPartitionResult_1(r: Reader) -> _AlterReplicaLogDirPartitionResult:
    partition_index, error_code = r.fixed(_S_ih)
    return _AlterReplicaLogDirPartitionResult(partition_index, error_code)


def _read_AlterReplicaLogDirTopicResult_1(r: Reader) -> _AlterReplicaLogDirTopicResult:
    topic_name = read_string(r)
    n = read_count(r, 6)
    partitions = [_read_AlterReplicaLogDirPartitionResult_1(r) for _ in range(n)]
    return _AlterReplicaLogDirTopicResult(topic_name, partitions)


def _read_AlterReplicaLogDirsResponse_1(r: Reader) -> AlterReplicaLogDirsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 6)
    results = [_read_AlterReplicaLogDirTopicResult_1(r) for _ in range(n)]
    return AlterReplicaLogDirsResponse(throttle_time_ms, results)


def _read_AlterReplicaLogDirPartitionResult_2(r: Reader) -> _AlterReplicaLogDirPartitionResult:
    partition_index, error_code = r.fixed(_S_ih)
    skip_tags(r)
    return _AlterReplicaLogDirPartitionResult(partition_index, error_code)


def _read_AlterReplicaLogDirTopicResult_2(r: Reader) -> _AlterReplicaLogDirTopicResult:
    topic_name = read_c_string(r)
    n = read_c_count(r, 7)
    partitions = [_read_AlterReplicaLogDirPartitionResult_2(r) for _ in range(n)]
    skip_tags(r)
    return _AlterReplicaLogDirTopicResult(topic_name, partitions)


def _read_AlterReplicaLogDirsResponse_2(r: Reader) -> AlterReplicaLogDirsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 3)
    results = [_read_AlterReplicaLogDirTopicResult_2(r) for _ in range(n)]
    skip_tags(r)
    return AlterReplicaLogDirsResponse(throttle_time_ms, results)


def _read_steps_AlterReplicaLogDirTopicResult_1(r: Reader) -> Generator[None, None, _AlterReplicaLogDirTopicResult]:
    topic_name = read_string(r)
    n = read_count(r, 6)
    partitions: list[AlterReplicaLogDirsResponse.AlterReplicaLogDirTopicResult.AlterReplicaLogDirPartitionResult] = []
    for some in batches(n):
        partitions += [_read_AlterReplicaLogDirPartitionResult_1(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    return _AlterReplicaLogDirTopicResult(topic_name, partitions)


def _read_steps_AlterReplicaLogDirsResponse_1(r: Reader) -> Generator[None, None, AlterReplicaLogDirsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 6)
    results: list[AlterReplicaLogDirsResponse.AlterReplicaLogDirTopicResult] = []
    for _ in range(n):
        results.append((yield from _read_steps_AlterReplicaLogDirTopicResult_1(r)))
        if r.elements_ended(1):
            yield
    return AlterReplicaLogDirsResponse(throttle_time_ms, results)


def _read_steps_AlterReplicaLogDirTopicResult_2(r: Reader) -> Generator[None, None, _AlterReplicaLogDirTopicResult]:
    topic_name = read_c_string(r)
    n = read_c_count(r, 7)
    partitions: list[AlterReplicaLogDirsResponse.AlterReplicaLogDirTopicResult.AlterReplicaLogDirPartitionResult] = []
    for some in batches(n):
        partitions += [_read_AlterReplicaLogDirPartitionResult_2(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    skip_tags(r)
    return _AlterReplicaLogDirTopicResult(topic_name, partitions)


def _read_steps_AlterReplicaLogDirsResponse_2(r: Reader) -> Generator[None, None, AlterReplicaLogDirsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 3)
    results: list[AlterReplicaLogDirsResponse.AlterReplicaLogDirTopicResult] = []
    for _ in range(n):
        results.append((yield from _read_steps_AlterReplicaLogDirTopicResult_2(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return AlterReplicaLogDirsResponse(throttle_time_ms, results)


def _write_AlterReplicaLogDirPartitionResult_1(out: bytearray, m: _AlterReplicaLogDirPartitionResult) -> None:
    out += _P_ih(m.partition_index, m.error_code)


def _write_AlterReplicaLogDirTopicResult_1(out: bytearray, m: _AlterReplicaLogDirTopicResult) -> None:
    write_string(out, m.topic_name)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_AlterReplicaLogDirPartitionResult_1(out, it_partitions)


def _write_AlterReplicaLogDirsResponse_1(out: bytearray, m: AlterReplicaLogDirsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.results))
    for it_results in m.results:
        _write_AlterReplicaLogDirTopicResult_1(out, it_results)


def _write_AlterReplicaLogDirPartitionResult_2(out: bytearray, m: _AlterReplicaLogDirPartitionResult) -> None:
    out += _P_ihx(m.partition_index, m.error_code)


def _write_AlterReplicaLogDirTopicResult_2(out: bytearray, m: _AlterReplicaLogDirTopicResult) -> None:
    write_c_string(out, m.topic_name)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_AlterReplicaLogDirPartitionResult_2(out, it_partitions)
    out.append(0)


def _write_AlterReplicaLogDirsResponse_2(out: bytearray, m: AlterReplicaLogDirsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.results))
    for it_results in m.results:
        _write_AlterReplicaLogDirTopicResult_2(out, it_results)
    out.append(0)


def _write_steps_AlterReplicaLogDirTopicResult_1(o: Output, m: _AlterReplicaLogDirTopicResult) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.topic_name)
    write_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_AlterReplicaLogDirPartitionResult_1(out, it_partitions)
        if o.elements_ended(some):
            yield


def _write_steps_AlterReplicaLogDirsResponse_1(o: Output, m: AlterReplicaLogDirsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.results))
    for it_results in m.results:
        yield from _write_steps_AlterReplicaLogDirTopicResult_1(o, it_results)
        if o.elements_ended(1):
            yield


def _write_steps_AlterReplicaLogDirTopicResult_2(o: Output, m: _AlterReplicaLogDirTopicResult) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.topic_name)
    write_c_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_AlterReplicaLogDirPartitionResult_2(out, it_partitions)
        if o.elements_ended(some):
            yield
    out.append(0)


def _write_steps_AlterReplicaLogDirsResponse_2(o: Output, m: AlterReplicaLogDirsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.results))
    for it_results in m.results:
        yield from _write_steps_AlterReplicaLogDirTopicResult_2(o, it_results)
        if o.elements_ended(1):
            yield
    out.append(0)


def _error_for(m: AlterReplicaLogDirsRequest, code: int) -> AlterReplicaLogDirsResponse:
    return AlterReplicaLogDirsResponse()


AlterReplicaLogDirsRequest.READ = (_read_AlterReplicaLogDirsRequest_1, _read_AlterReplicaLogDirsRequest_2,)
AlterReplicaLogDirsRequest.READ_STEPS = (_read_steps_AlterReplicaLogDirsRequest_1, _read_steps_AlterReplicaLogDirsRequest_2,)
AlterReplicaLogDirsRequest.WRITE = (_write_AlterReplicaLogDirsRequest_1, _write_AlterReplicaLogDirsRequest_2,)
AlterReplicaLogDirsRequest.WRITE_STEPS = (_write_steps_AlterReplicaLogDirsRequest_1, _write_steps_AlterReplicaLogDirsRequest_2,)
AlterReplicaLogDirsResponse.READ = (_read_AlterReplicaLogDirsResponse_1, _read_AlterReplicaLogDirsResponse_2,)
AlterReplicaLogDirsResponse.READ_STEPS = (_read_steps_AlterReplicaLogDirsResponse_1, _read_steps_AlterReplicaLogDirsResponse_2,)
AlterReplicaLogDirsResponse.WRITE = (_write_AlterReplicaLogDirsResponse_1, _write_AlterReplicaLogDirsResponse_2,)
AlterReplicaLogDirsResponse.WRITE_STEPS = (_write_steps_AlterReplicaLogDirsResponse_1, _write_steps_AlterReplicaLogDirsResponse_2,)
AlterReplicaLogDirsRequest.ERROR_FOR = _error_for
