"""ElectLeadersRequest, ElectLeadersResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, read_c_count, read_c_null_count, read_c_null_string, read_c_numbers, read_c_string, read_count, read_null_count, read_null_string, read_numbers, read_string, skip_tags
from headrace.protocol.message_writing import Output, Runs, write_c_count, write_c_null_string, write_c_string, write_count, write_null_string, write_string
from headrace.protocol.primitives import Reader

class ElectLeadersRequest(KafkaMessage):
    """Key 43, versions 0 to 2, flexible from 2 on."""

    class TopicPartitions(MessageStruct):
        """Versions 0+."""

        topic: str = ""
        partitions: list[int] = []

    API_KEY: ClassVar[int] = 43
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 2
    election_type: int = 0
    topic_partitions: list[ElectLeadersRequest.TopicPartitions] | None = []
    timeout_ms: int = 60000


class ElectLeadersResponse(KafkaMessage):
    """Key 43, versions 0 to 2, flexible from 2 on."""

    class ReplicaElectionResult(MessageStruct):
        """Versions 0+."""

        class PartitionResult(MessageStruct):
            """Versions 0+."""

            partition_id: int = 0
            error_code: int = 0
            error_message: str | None = ""

        topic: str = ""
        partition_result: Collection[ElectLeadersResponse.ReplicaElectionResult.PartitionResult] = []

    API_KEY: ClassVar[int] = 43
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 2
    throttle_time_ms: int = 0
    error_code: int = 0
    replica_election_results: Collection[ElectLeadersResponse.ReplicaElectionResult] = []


_TopicPartitions = ElectLeadersRequest.TopicPartitions
_PartitionResult = ElectLeadersResponse.ReplicaElectionResult.PartitionResult
_ReplicaElectionResult = ElectLeadersResponse.ReplicaElectionResult
_P_b: Final = Struct(">b").pack
_P_i: Final = Struct(">i").pack
_P_ih: Final = Struct(">ih").pack
_P_ix: Final = Struct(">ix").pack
_R_Bi_x: Final = Runs("Bi", "x", is_array=(True, False))
_R_ii: Final = Runs("ii", is_array=(True,))
_S_b: Final = Struct(">b")
_S_i: Final = Struct(">i")
_S_ih: Final = Struct(">ih")


def _read_TopicPartitions_0(r: Reader) -> _TopicPartitions:
    topic = read_string(r)
    partitions = read_numbers(r, "i", 4)
    return _TopicPartitions(topic, partitions)


def _read_ElectLeadersRequest_0(r: Reader) -> ElectLeadersRequest:
    n = read_null_count(r, 6)
    topic_partitions = None if n < 0 else [_read_TopicPartitions_0(r) for _ in range(n)]
    timeout_ms, = r.fixed(_S_i)
    return ElectLeadersRequest(0, topic_partitions, timeout_ms)


def _read_ElectLeadersRequest_1(r: Reader) -> ElectLeadersRequest:
    election_type, = r.fixed(_S_b)
    n = read_null_count(r, 6)
    topic_partitions = None if n < 0 else [_read_TopicPartitions_0(r) for _ in range(n)]
    timeout_ms, = r.fixed(_S_i)
    return ElectLeadersRequest(election_type, topic_partitions, timeout_ms)


def _read_TopicPartitions_2(r: Reader) -> _TopicPartitions:
    topic = read_c_string(r)
    partitions = read_c_numbers(r, "i", 4)
    skip_tags(r)
    return _TopicPartitions(topic, partitions)


def _read_ElectLeadersRequest_2(r: Reader) -> ElectLeadersRequest:
    election_type, = r.fixed(_S_b)
    n = read_c_null_count(r, 3)
    topic_partitions = None if n < 0 else [_read_TopicPartitions_2(r) for _ in range(n)]
    timeout_ms, = r.fixed(_S_i)
    skip_tags(r)
    return ElectLeadersRequest(election_type, topic_partitions, timeout_ms)


def _read_steps_ElectLeadersRequest_0(r: Reader) -> Generator[None, None, ElectLeadersRequest]:
    n = read_null_count(r, 6)
    topic_partitions: list[ElectLeadersRequest.TopicPartitions] | None = None
    if n >= 0:
        topic_partitions_: list[ElectLeadersRequest.TopicPartitions] = []
        if n <= FLAT_ELEMENTS:
            topic_partitions_ = [_read_TopicPartitions_0(r) for _ in range(n)]
            r.elements_of_step += n
        else:
            for _ in range(n):
                topic_partitions_.append(_read_TopicPartitions_0(r))
                if r.elements_ended(1):
                    yield
        topic_partitions = topic_partitions_
    timeout_ms, = r.fixed(_S_i)
    return ElectLeadersRequest(0, topic_partitions, timeout_ms)


def _read_steps_ElectLeadersRequest_1(r: Reader) -> Generator[None, None, ElectLeadersRequest]:
    election_type, = r.fixed(_S_b)
    n = read_null_count(r, 6)
    topic_partitions: list[ElectLeadersRequest.TopicPartitions] | None = None
    if n >= 0:
        topic_partitions_: list[ElectLeadersRequest.TopicPartitions] = []
        if n <= FLAT_ELEMENTS:
            topic_partitions_ = [_read_TopicPartitions_0(r) for _ in range(n)]
            r.elements_of_step += n
        else:
            for _ in range(n):
                topic_partitions_.append(_read_TopicPartitions_0(r))
                if r.elements_ended(1):
                    yield
        topic_partitions = topic_partitions_
    timeout_ms, = r.fixed(_S_i)
    return ElectLeadersRequest(election_type, topic_partitions, timeout_ms)


def _read_steps_ElectLeadersRequest_2(r: Reader) -> Generator[None, None, ElectLeadersRequest]:
    election_type, = r.fixed(_S_b)
    n = read_c_null_count(r, 3)
    topic_partitions: list[ElectLeadersRequest.TopicPartitions] | None = None
    if n >= 0:
        topic_partitions_: list[ElectLeadersRequest.TopicPartitions] = []
        if n <= FLAT_ELEMENTS:
            topic_partitions_ = [_read_TopicPartitions_2(r) for _ in range(n)]
            r.elements_of_step += n
        else:
            for _ in range(n):
                topic_partitions_.append(_read_TopicPartitions_2(r))
                if r.elements_ended(1):
                    yield
        topic_partitions = topic_partitions_
    timeout_ms, = r.fixed(_S_i)
    skip_tags(r)
    return ElectLeadersRequest(election_type, topic_partitions, timeout_ms)


def _write_TopicPartitions_0(out: bytearray, m: _TopicPartitions) -> None:
    write_string(out, m.topic)
    n1 = len(m.partitions)
    out += _R_ii[n1,](n1, *m.partitions)


def _write_ElectLeadersRequest_0(out: bytearray, m: ElectLeadersRequest) -> None:
    if m.topic_partitions is None:
        write_count(out, -1)
    else:
        write_count(out, len(m.topic_partitions))
        for it_topic_partitions in m.topic_partitions:
            _write_TopicPartitions_0(out, it_topic_partitions)
    out += _P_i(m.timeout_ms)


def _write_ElectLeadersRequest_1(out: bytearray, m: ElectLeadersRequest) -> None:
    out += _P_b(m.election_type)
    if m.topic_partitions is None:
        write_count(out, -1)
    else:
        write_count(out, len(m.topic_partitions))
        for it_topic_partitions in m.topic_partitions:
            _write_TopicPartitions_0(out, it_topic_partitions)
    out += _P_i(m.timeout_ms)


def _write_TopicPartitions_2(out: bytearray, m: _TopicPartitions) -> None:
    write_c_string(out, m.topic)
    n1 = len(m.partitions)
    out += _R_Bi_x[n1,](n1 + 1, *m.partitions)


def _write_ElectLeadersRequest_2(out: bytearray, m: ElectLeadersRequest) -> None:
    out += _P_b(m.election_type)
    if m.topic_partitions is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.topic_partitions))
        for it_topic_partitions in m.topic_partitions:
            _write_TopicPartitions_2(out, it_topic_partitions)
    out += _P_ix(m.timeout_ms)


def _write_steps_ElectLeadersRequest_0(o: Output, m: ElectLeadersRequest) -> Generator[None, None, None]:
    out = o.buffer
    if m.topic_partitions is None:
        write_count(out, -1)
    else:
        write_count(out, len(m.topic_partitions))
        if len(m.topic_partitions) <= FLAT_ELEMENTS:
            for it_topic_partitions in m.topic_partitions:
                _write_TopicPartitions_0(out, it_topic_partitions)
            if o.elements_ended(len(m.topic_partitions)):
                yield
        else:
            for it_topic_partitions in m.topic_partitions:
                _write_TopicPartitions_0(out, it_topic_partitions)
                if o.elements_ended(1):
                    yield
    out += _P_i(m.timeout_ms)


def _write_steps_ElectLeadersRequest_1(o: Output, m: ElectLeadersRequest) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_b(m.election_type)
    if m.topic_partitions is None:
        write_count(out, -1)
    else:
        write_count(out, len(m.topic_partitions))
        if len(m.topic_partitions) <= FLAT_ELEMENTS:
            for it_topic_partitions in m.topic_partitions:
                _write_TopicPartitions_0(out, it_topic_partitions)
            if o.elements_ended(len(m.topic_partitions)):
                yield
        else:
            for it_topic_partitions in m.topic_partitions:
                _write_TopicPartitions_0(out, it_topic_partitions)
                if o.elements_ended(1):
                    yield
    out += _P_i(m.timeout_ms)


def _write_steps_ElectLeadersRequest_2(o: Output, m: ElectLeadersRequest) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_b(m.election_type)
    if m.topic_partitions is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.topic_partitions))
        if len(m.topic_partitions) <= FLAT_ELEMENTS:
            for it_topic_partitions in m.topic_partitions:
                _write_TopicPartitions_2(out, it_topic_partitions)
            if o.elements_ended(len(m.topic_partitions)):
                yield
        else:
            for it_topic_partitions in m.topic_partitions:
                _write_TopicPartitions_2(out, it_topic_partitions)
                if o.elements_ended(1):
                    yield
    out += _P_ix(m.timeout_ms)


def _read_PartitionResult_0(r: Reader) -> _PartitionResult:
    partition_id, error_code = r.fixed(_S_ih)
    error_message = read_null_string(r)
    return _PartitionResult(partition_id, error_code, error_message)


def _read_ReplicaElectionResult_0(r: Reader) -> _ReplicaElectionResult:
    topic = read_string(r)
    n = read_count(r, 8)
    partition_result = [_read_PartitionResult_0(r) for _ in range(n)]
    return _ReplicaElectionResult(topic, partition_result)


def _read_ElectLeadersResponse_0(r: Reader) -> ElectLeadersResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 6)
    replica_election_results = [_read_ReplicaElectionResult_0(r) for _ in range(n)]
    return ElectLeadersResponse(throttle_time_ms, 0, replica_election_results)


def _read_ElectLeadersResponse_1(r: Reader) -> ElectLeadersResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    n = read_count(r, 6)
    replica_election_results = [_read_ReplicaElectionResult_0(r) for _ in range(n)]
    return ElectLeadersResponse(throttle_time_ms, error_code, replica_election_results)


def _read_PartitionResult_2(r: Reader) -> _PartitionResult:
    partition_id, error_code = r.fixed(_S_ih)
    error_message = read_c_null_string(r)
    skip_tags(r)
    return _PartitionResult(partition_id, error_code, error_message)


def _read_ReplicaElectionResult_2(r: Reader) -> _ReplicaElectionResult:
    topic = read_c_string(r)
    n = read_c_count(r, 8)
    partition_result = [_read_PartitionResult_2(r) for _ in range(n)]
    skip_tags(r)
    return _ReplicaElectionResult(topic, partition_result)


def _read_ElectLeadersResponse_2(r: Reader) -> ElectLeadersResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    n = read_c_count(r, 3)
    replica_election_results = [_read_ReplicaElectionResult_2(r) for _ in range(n)]
    skip_tags(r)
    return ElectLeadersResponse(throttle_time_ms, error_code, replica_election_results)


def _read_steps_ReplicaElectionResult_0(r: Reader) -> Generator[None, None, _ReplicaElectionResult]:
    topic = read_string(r)
    n = read_count(r, 8)
    partition_result: list[ElectLeadersResponse.ReplicaElectionResult.PartitionResult] = []
    if n <= FLAT_ELEMENTS:
        partition_result = [_read_PartitionResult_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            partition_result.append(_read_PartitionResult_0(r))
            if r.elements_ended(1):
                yield
    return _ReplicaElectionResult(topic, partition_result)


def _read_steps_ElectLeadersResponse_0(r: Reader) -> Generator[None, None, ElectLeadersResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 6)
    replica_election_results: list[ElectLeadersResponse.ReplicaElectionResult] = []
    for _ in range(n):
        replica_election_results.append((yield from _read_steps_ReplicaElectionResult_0(r)))
        if r.elements_ended(1):
            yield
    return ElectLeadersResponse(throttle_time_ms, 0, replica_election_results)


def _read_steps_ElectLeadersResponse_1(r: Reader) -> Generator[None, None, ElectLeadersResponse]:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    n = read_count(r, 6)
    replica_election_results: list[ElectLeadersResponse.ReplicaElectionResult] = []
    for _ in range(n):
        replica_election_results.append((yield from _read_steps_ReplicaElectionResult_0(r)))
        if r.elements_ended(1):
            yield
    return ElectLeadersResponse(throttle_time_ms, error_code, replica_election_results)


def _read_steps_ReplicaElectionResult_2(r: Reader) -> Generator[None, None, _ReplicaElectionResult]:
    topic = read_c_string(r)
    n = read_c_count(r, 8)
    partition_result: list[ElectLeadersResponse.ReplicaElectionResult.PartitionResult] = []
    if n <= FLAT_ELEMENTS:
        partition_result = [_read_PartitionResult_2(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            partition_result.append(_read_PartitionResult_2(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return _ReplicaElectionResult(topic, partition_result)


def _read_steps_ElectLeadersResponse_2(r: Reader) -> Generator[None, None, ElectLeadersResponse]:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    n = read_c_count(r, 3)
    replica_election_results: list[ElectLeadersResponse.ReplicaElectionResult] = []
    for _ in range(n):
        replica_election_results.append((yield from _read_steps_ReplicaElectionResult_2(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return ElectLeadersResponse(throttle_time_ms, error_code, replica_election_results)


def _write_PartitionResult_0(out: bytearray, m: _PartitionResult) -> None:
    out += _P_ih(m.partition_id, m.error_code)
    write_null_string(out, m.error_message)


def _write_ReplicaElectionResult_0(out: bytearray, m: _ReplicaElectionResult) -> None:
    write_string(out, m.topic)
    write_count(out, len(m.partition_result))
    for it_partition_result in m.partition_result:
        _write_PartitionResult_0(out, it_partition_result)


def _write_ElectLeadersResponse_0(out: bytearray, m: ElectLeadersResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.replica_election_results))
    for it_replica_election_results in m.replica_election_results:
        _write_ReplicaElectionResult_0(out, it_replica_election_results)


def _write_ElectLeadersResponse_1(out: bytearray, m: ElectLeadersResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_count(out, len(m.replica_election_results))
    for it_replica_election_results in m.replica_election_results:
        _write_ReplicaElectionResult_0(out, it_replica_election_results)


def _write_PartitionResult_2(out: bytearray, m: _PartitionResult) -> None:
    out += _P_ih(m.partition_id, m.error_code)
    write_c_null_string(out, m.error_message)
    out.append(0)


def _write_ReplicaElectionResult_2(out: bytearray, m: _ReplicaElectionResult) -> None:
    write_c_string(out, m.topic)
    write_c_count(out, len(m.partition_result))
    for it_partition_result in m.partition_result:
        _write_PartitionResult_2(out, it_partition_result)
    out.append(0)


def _write_ElectLeadersResponse_2(out: bytearray, m: ElectLeadersResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_count(out, len(m.replica_election_results))
    for it_replica_election_results in m.replica_election_results:
        _write_ReplicaElectionResult_2(out, it_replica_election_results)
    out.append(0)


def _write_steps_ReplicaElectionResult_0(o: Output, m: _ReplicaElectionResult) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.topic)
    write_count(out, len(m.partition_result))
    if len(m.partition_result) <= FLAT_ELEMENTS:
        for it_partition_result in m.partition_result:
            _write_PartitionResult_0(out, it_partition_result)
        if o.elements_ended(len(m.partition_result)):
            yield
    else:
        for it_partition_result in m.partition_result:
            _write_PartitionResult_0(out, it_partition_result)
            if o.elements_ended(1):
                yield


def _write_steps_ElectLeadersResponse_0(o: Output, m: ElectLeadersResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.replica_election_results))
    for it_replica_election_results in m.replica_election_results:
        yield from _write_steps_ReplicaElectionResult_0(o, it_replica_election_results)
        if o.elements_ended(1):
            yield


def _write_steps_ElectLeadersResponse_1(o: Output, m: ElectLeadersResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_count(out, len(m.replica_election_results))
    for it_replica_election_results in m.replica_election_results:
        yield from _write_steps_ReplicaElectionResult_0(o, it_replica_election_results)
        if o.elements_ended(1):
            yield


def _write_steps_ReplicaElectionResult_2(o: Output, m: _ReplicaElectionResult) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.topic)
    write_c_count(out, len(m.partition_result))
    if len(m.partition_result) <= FLAT_ELEMENTS:
        for it_partition_result in m.partition_result:
            _write_PartitionResult_2(out, it_partition_result)
        if o.elements_ended(len(m.partition_result)):
            yield
    else:
        for it_partition_result in m.partition_result:
            _write_PartitionResult_2(out, it_partition_result)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_ElectLeadersResponse_2(o: Output, m: ElectLeadersResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_count(out, len(m.replica_election_results))
    for it_replica_election_results in m.replica_election_results:
        yield from _write_steps_ReplicaElectionResult_2(o, it_replica_election_results)
        if o.elements_ended(1):
            yield
    out.append(0)


def _error_for(m: ElectLeadersRequest, code: int) -> ElectLeadersResponse:
    return ElectLeadersResponse(error_code=code, replica_election_results=[_ReplicaElectionResult(topic=it0.topic, partition_result=[_PartitionResult(partition_id=it1, error_code=code) for it1 in it0.partitions]) for it0 in m.topic_partitions or ()])


ElectLeadersRequest.READ = (_read_ElectLeadersRequest_0, _read_ElectLeadersRequest_1, _read_ElectLeadersRequest_2,)
ElectLeadersRequest.READ_STEPS = (_read_steps_ElectLeadersRequest_0, _read_steps_ElectLeadersRequest_1, _read_steps_ElectLeadersRequest_2,)
ElectLeadersRequest.WRITE = (_write_ElectLeadersRequest_0, _write_ElectLeadersRequest_1, _write_ElectLeadersRequest_2,)
ElectLeadersRequest.WRITE_STEPS = (_write_steps_ElectLeadersRequest_0, _write_steps_ElectLeadersRequest_1, _write_steps_ElectLeadersRequest_2,)
ElectLeadersResponse.READ = (_read_ElectLeadersResponse_0, _read_ElectLeadersResponse_1, _read_ElectLeadersResponse_2,)
ElectLeadersResponse.READ_STEPS = (_read_steps_ElectLeadersResponse_0, _read_steps_ElectLeadersResponse_1, _read_steps_ElectLeadersResponse_2,)
ElectLeadersResponse.WRITE = (_write_ElectLeadersResponse_0, _write_ElectLeadersResponse_1, _write_ElectLeadersResponse_2,)
ElectLeadersResponse.WRITE_STEPS = (_write_steps_ElectLeadersResponse_0, _write_steps_ElectLeadersResponse_1, _write_steps_ElectLeadersResponse_2,)
ElectLeadersRequest.ERROR_FOR = _error_for
