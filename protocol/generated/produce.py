"""ProduceRequest, ProduceResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from itertools import islice
from struct import Struct, pack
from typing import ClassVar, Final
from uuid import UUID

import msgspec

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, batches, check_tag_end, read_c_count, read_c_null_blob, read_c_null_string, read_c_string, read_count, read_null_blob, read_null_string, read_string, read_tag_count, read_tag_end, skip_tags, uuid_of
from headrace.protocol.message_writing import Output, uuid_bytes, write_c_count, write_c_null_blob, write_c_null_string, write_c_string, write_count, write_null_blob, write_null_string, write_string, write_tagged
from headrace.protocol.primitives import Reader

class ProduceRequest(KafkaMessage):
    """Key 0, versions 3 to 13, flexible from 9 on."""

    class TopicProduceData(MessageStruct):
        """Versions 0+."""

        class PartitionProduceData(MessageStruct):
            """Versions 0+."""

            index: int = 0
            records: bytes | None = b""

        name: str = ""
        topic_id: UUID | None = None
        partition_data: list[ProduceRequest.TopicProduceData.PartitionProduceData] = []

    API_KEY: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 3
    FLEXIBLE_SINCE: ClassVar[int] = 9
    transactional_id: str | None = None
    acks: int = 0
    timeout_ms: int = 0
    topic_data: list[ProduceRequest.TopicProduceData] = []


class ProduceResponse(KafkaMessage):
    """Key 0, versions 3 to 13, flexible from 9 on."""

    class TopicProduceResponse(MessageStruct):
        """Versions 0+."""

        class PartitionProduceResponse(MessageStruct):
            """Versions 0+."""

            class BatchIndexAndErrorMessage(MessageStruct):
                """Versions 8+."""

                batch_index: int = 0
                batch_index_error_message: str | None = None

            class LeaderIdAndEpoch(MessageStruct):
                """Versions 10+."""

                leader_id: int = -1
                leader_epoch: int = -1

            index: int = 0
            error_code: int = 0
            base_offset: int = 0
            log_append_time_ms: int = -1
            log_start_offset: int = -1
            record_errors: Collection[ProduceResponse.TopicProduceResponse.PartitionProduceResponse.BatchIndexAndErrorMessage] = []
            error_message: str | None = None
            current_leader: ProduceResponse.TopicProduceResponse.PartitionProduceResponse.LeaderIdAndEpoch = msgspec.field(default_factory=lambda: ProduceResponse.TopicProduceResponse.PartitionProduceResponse.LeaderIdAndEpoch())

        name: str = ""
        topic_id: UUID | None = None
        partition_responses: Collection[ProduceResponse.TopicProduceResponse.PartitionProduceResponse] = []

    class NodeEndpoint(MessageStruct):
        """Versions 10+."""

        node_id: int = 0
        host: str = ""
        port: int = 0
        rack: str | None = None

    API_KEY: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 3
    FLEXIBLE_SINCE: ClassVar[int] = 9
    responses: Collection[ProduceResponse.TopicProduceResponse] = []
    throttle_time_ms: int = 0
    node_endpoints: Collection[ProduceResponse.NodeEndpoint] = []


_PartitionProduceData = ProduceRequest.TopicProduceData.PartitionProduceData
_TopicProduceData = ProduceRequest.TopicProduceData
_BatchIndexAndErrorMessage = ProduceResponse.TopicProduceResponse.PartitionProduceResponse.BatchIndexAndErrorMessage
_LeaderIdAndEpoch = ProduceResponse.TopicProduceResponse.PartitionProduceResponse.LeaderIdAndEpoch
_PartitionProduceResponse = ProduceResponse.TopicProduceResponse.PartitionProduceResponse
_TopicProduceResponse = ProduceResponse.TopicProduceResponse
_NodeEndpoint = ProduceResponse.NodeEndpoint
_P_hi: Final = Struct(">hi").pack
_P_i: Final = Struct(">i").pack
_P_ihqq: Final = Struct(">ihqq").pack
_P_ihqqq: Final = Struct(">ihqqq").pack
_P_iix: Final = Struct(">iix").pack
_P_ix: Final = Struct(">ix").pack
_P_u: Final = Struct(">16s").pack
_S_hi: Final = Struct(">hi")
_S_i: Final = Struct(">i")
_S_ihqq: Final = Struct(">ihqq")
_S_ihqqq: Final = Struct(">ihqqq")
_S_ii: Final = Struct(">ii")
_S_u: Final = Struct(">16s")


def _read_PartitionProduceData_3(r: Reader) -> _PartitionProduceData:
    index, = r.fixed(_S_i)
    records = read_null_blob(r)
    return _PartitionProduceData(index, records)


def _read_TopicProduceData_3(r: Reader) -> _TopicProduceData:
    name = read_string(r)
    n = read_count(r, 8)
    partition_data = [_read_PartitionProduceData_3(r) for _ in range(n)]
    return _TopicProduceData(name, None, partition_data)


def _read_ProduceRequest_3(r: Reader) -> ProduceRequest:
    transactional_id = read_null_string(r)
    acks, timeout_ms = r.fixed(_S_hi)
    n = read_count(r, 6)
    topic_data = [_read_TopicProduceData_3(r) for _ in range(n)]
    return ProduceRequest(transactional_id, acks, timeout_ms, topic_data)


def _read_PartitionProduceData_9(r: Reader) -> _PartitionProduceData:
    index, = r.fixed(_S_i)
    records = read_c_null_blob(r)
    skip_tags(r)
    return _PartitionProduceData(index, records)


def _read_TopicProduceData_9(r: Reader) -> _TopicProduceData:
    name = read_c_string(r)
    n = read_c_count(r, 6)
    partition_data = [_read_PartitionProduceData_9(r) for _ in range(n)]
    skip_tags(r)
    return _TopicProduceData(name, None, partition_data)


def _read_ProduceRequest_9(r: Reader) -> ProduceRequest:
    transactional_id = read_c_null_string(r)
    acks, timeout_ms = r.fixed(_S_hi)
    n = read_c_count(r, 3)
    topic_data = [_read_TopicProduceData_9(r) for _ in range(n)]
    skip_tags(r)
    return ProduceRequest(transactional_id, acks, timeout_ms, topic_data)


def _read_TopicProduceData_13(r: Reader) -> _TopicProduceData:
    topic_id, = r.fixed(_S_u)
    n = read_c_count(r, 6)
    partition_data = [_read_PartitionProduceData_9(r) for _ in range(n)]
    skip_tags(r)
    return _TopicProduceData("", uuid_of(topic_id), partition_data)


def _read_ProduceRequest_13(r: Reader) -> ProduceRequest:
    transactional_id = read_c_null_string(r)
    acks, timeout_ms = r.fixed(_S_hi)
    n = read_c_count(r, 18)
    topic_data = [_read_TopicProduceData_13(r) for _ in range(n)]
    skip_tags(r)
    return ProduceRequest(transactional_id, acks, timeout_ms, topic_data)


def _read_steps_TopicProduceData_3(r: Reader) -> Generator[None, None, _TopicProduceData]:
    name = read_string(r)
    n = read_count(r, 8)
    partition_data: list[ProduceRequest.TopicProduceData.PartitionProduceData] = []
    if n <= FLAT_ELEMENTS:
        partition_data = [_read_PartitionProduceData_3(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            partition_data.append(_read_PartitionProduceData_3(r))
            if r.elements_ended(1):
                yield
    return _TopicProduceData(name, None, partition_data)


def _read_steps_ProduceRequest_3(r: Reader) -> Generator[None, None, ProduceRequest]:
    transactional_id = read_null_string(r)
    acks, timeout_ms = r.fixed(_S_hi)
    n = read_count(r, 6)
    topic_data: list[ProduceRequest.TopicProduceData] = []
    for _ in range(n):
        topic_data.append((yield from _read_steps_TopicProduceData_3(r)))
        if r.elements_ended(1):
            yield
    return ProduceRequest(transactional_id, acks, timeout_ms, topic_data)


def _read_steps_TopicProduceData_9(r: Reader) -> Generator[None, None, _TopicProduceData]:
    name = read_c_string(r)
    n = read_c_count(r, 6)
    partition_data: list[ProduceRequest.TopicProduceData.PartitionProduceData] = []
    if n <= FLAT_ELEMENTS:
        partition_data = [_read_PartitionProduceData_9(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            partition_data.append(_read_PartitionProduceData_9(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return _TopicProduceData(name, None, partition_data)


def _read_steps_ProduceRequest_9(r: Reader) -> Generator[None, None, ProduceRequest]:
    transactional_id = read_c_null_string(r)
    acks, timeout_ms = r.fixed(_S_hi)
    n = read_c_count(r, 3)
    topic_data: list[ProduceRequest.TopicProduceData] = []
    for _ in range(n):
        topic_data.append((yield from _read_steps_TopicProduceData_9(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return ProduceRequest(transactional_id, acks, timeout_ms, topic_data)


def _read_steps_TopicProduceData_13(r: Reader) -> Generator[None, None, _TopicProduceData]:
    topic_id, = r.fixed(_S_u)
    n = read_c_count(r, 6)
    partition_data: list[ProduceRequest.TopicProduceData.PartitionProduceData] = []
    if n <= FLAT_ELEMENTS:
        partition_data = [_read_PartitionProduceData_9(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            partition_data.append(_read_PartitionProduceData_9(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return _TopicProduceData("", uuid_of(topic_id), partition_data)


def _read_steps_ProduceRequest_13(r: Reader) -> Generator[None, None, ProduceRequest]:
    transactional_id = read_c_null_string(r)
    acks, timeout_ms = r.fixed(_S_hi)
    n = read_c_count(r, 18)
    topic_data: list[ProduceRequest.TopicProduceData] = []
    for _ in range(n):
        topic_data.append((yield from _read_steps_TopicProduceData_13(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return ProduceRequest(transactional_id, acks, timeout_ms, topic_data)


def _write_PartitionProduceData_3(out: bytearray, m: _PartitionProduceData) -> None:
    out += _P_i(m.index)
    write_null_blob(out, m.records)


def _write_TopicProduceData_3(out: bytearray, m: _TopicProduceData) -> None:
    write_string(out, m.name)
    write_count(out, len(m.partition_data))
    for it_partition_data in m.partition_data:
        _write_PartitionProduceData_3(out, it_partition_data)


def _write_ProduceRequest_3(out: bytearray, m: ProduceRequest) -> None:
    write_null_string(out, m.transactional_id)
    out += _P_hi(m.acks, m.timeout_ms)
    write_count(out, len(m.topic_data))
    for it_topic_data in m.topic_data:
        _write_TopicProduceData_3(out, it_topic_data)


def _write_PartitionProduceData_9(out: bytearray, m: _PartitionProduceData) -> None:
    out += _P_i(m.index)
    write_c_null_blob(out, m.records)
    out.append(0)


def _write_TopicProduceData_9(out: bytearray, m: _TopicProduceData) -> None:
    write_c_string(out, m.name)
    write_c_count(out, len(m.partition_data))
    for it_partition_data in m.partition_data:
        _write_PartitionProduceData_9(out, it_partition_data)
    out.append(0)


def _write_ProduceRequest_9(out: bytearray, m: ProduceRequest) -> None:
    write_c_null_string(out, m.transactional_id)
    out += _P_hi(m.acks, m.timeout_ms)
    write_c_count(out, len(m.topic_data))
    for it_topic_data in m.topic_data:
        _write_TopicProduceData_9(out, it_topic_data)
    out.append(0)


def _write_TopicProduceData_13(out: bytearray, m: _TopicProduceData) -> None:
    out += _P_u(uuid_bytes(m.topic_id))
    write_c_count(out, len(m.partition_data))
    for it_partition_data in m.partition_data:
        _write_PartitionProduceData_9(out, it_partition_data)
    out.append(0)


def _write_ProduceRequest_13(out: bytearray, m: ProduceRequest) -> None:
    write_c_null_string(out, m.transactional_id)
    out += _P_hi(m.acks, m.timeout_ms)
    write_c_count(out, len(m.topic_data))
    for it_topic_data in m.topic_data:
        _write_TopicProduceData_13(out, it_topic_data)
    out.append(0)


def _write_steps_TopicProduceData_3(o: Output, m: _TopicProduceData) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.name)
    write_count(out, len(m.partition_data))
    if len(m.partition_data) <= FLAT_ELEMENTS:
        for it_partition_data in m.partition_data:
            _write_PartitionProduceData_3(out, it_partition_data)
        if o.elements_ended(len(m.partition_data)):
            yield
    else:
        for it_partition_data in m.partition_data:
            _write_PartitionProduceData_3(out, it_partition_data)
            if o.elements_ended(1):
                yield


def _write_steps_ProduceRequest_3(o: Output, m: ProduceRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_null_string(out, m.transactional_id)
    out += _P_hi(m.acks, m.timeout_ms)
    write_count(out, len(m.topic_data))
    for it_topic_data in m.topic_data:
        yield from _write_steps_TopicProduceData_3(o, it_topic_data)
        if o.elements_ended(1):
            yield


def _write_steps_TopicProduceData_9(o: Output, m: _TopicProduceData) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.name)
    write_c_count(out, len(m.partition_data))
    if len(m.partition_data) <= FLAT_ELEMENTS:
        for it_partition_data in m.partition_data:
            _write_PartitionProduceData_9(out, it_partition_data)
        if o.elements_ended(len(m.partition_data)):
            yield
    else:
        for it_partition_data in m.partition_data:
            _write_PartitionProduceData_9(out, it_partition_data)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_ProduceRequest_9(o: Output, m: ProduceRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_null_string(out, m.transactional_id)
    out += _P_hi(m.acks, m.timeout_ms)
    write_c_count(out, len(m.topic_data))
    for it_topic_data in m.topic_data:
        yield from _write_steps_TopicProduceData_9(o, it_topic_data)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_TopicProduceData_13(o: Output, m: _TopicProduceData) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_u(uuid_bytes(m.topic_id))
    write_c_count(out, len(m.partition_data))
    if len(m.partition_data) <= FLAT_ELEMENTS:
        for it_partition_data in m.partition_data:
            _write_PartitionProduceData_9(out, it_partition_data)
        if o.elements_ended(len(m.partition_data)):
            yield
    else:
        for it_partition_data in m.partition_data:
            _write_PartitionProduceData_9(out, it_partition_data)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_ProduceRequest_13(o: Output, m: ProduceRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_null_string(out, m.transactional_id)
    out += _P_hi(m.acks, m.timeout_ms)
    write_c_count(out, len(m.topic_data))
    for it_topic_data in m.topic_data:
        yield from _write_steps_TopicProduceData_13(o, it_topic_data)
        if o.elements_ended(1):
            yield
    out.append(0)


def _read_PartitionProduceResponse_3(r: Reader) -> _PartitionProduceResponse:
    index, error_code, base_offset, log_append_time_ms = r.fixed(_S_ihqq)
    return _PartitionProduceResponse(index, error_code, base_offset, log_append_time_ms)


def _read_TopicProduceResponse_3(r: Reader) -> _TopicProduceResponse:
    name = read_string(r)
    n = read_count(r, 22)
    partition_responses = [_read_PartitionProduceResponse_3(r) for _ in range(n)]
    return _TopicProduceResponse(name, None, partition_responses)


def _read_ProduceResponse_3(r: Reader) -> ProduceResponse:
    n = read_count(r, 6)
    responses = [_read_TopicProduceResponse_3(r) for _ in range(n)]
    throttle_time_ms, = r.fixed(_S_i)
    return ProduceResponse(responses, throttle_time_ms)


def _read_PartitionProduceResponse_5(r: Reader) -> _PartitionProduceResponse:
    index, error_code, base_offset, log_append_time_ms, log_start_offset = r.fixed(_S_ihqqq)
    return _PartitionProduceResponse(index, error_code, base_offset, log_append_time_ms, log_start_offset)


def _read_TopicProduceResponse_5(r: Reader) -> _TopicProduceResponse:
    name = read_string(r)
    n = read_count(r, 30)
    partition_responses = [_read_PartitionProduceResponse_5(r) for _ in range(n)]
    return _TopicProduceResponse(name, None, partition_responses)


def _read_ProduceResponse_5(r: Reader) -> ProduceResponse:
    n = read_count(r, 6)
    responses = [_read_TopicProduceResponse_5(r) for _ in range(n)]
    throttle_time_ms, = r.fixed(_S_i)
    return ProduceResponse(responses, throttle_time_ms)


def _read_BatchIndexAndErrorMessage_8(r: Reader) -> _BatchIndexAndErrorMessage:
    batch_index, = r.fixed(_S_i)
    batch_index_error_message = read_null_string(r)
    return _BatchIndexAndErrorMessage(batch_index, batch_index_error_message)


def _read_PartitionProduceResponse_8(r: Reader) -> _PartitionProduceResponse:
    index, error_code, base_offset, log_append_time_ms, log_start_offset = r.fixed(_S_ihqqq)
    n = read_count(r, 6)
    record_errors = [_read_BatchIndexAndErrorMessage_8(r) for _ in range(n)]
    error_message = read_null_string(r)
    return _PartitionProduceResponse(index, error_code, base_offset, log_append_time_ms, log_start_offset, record_errors, error_message)


def _read_TopicProduceResponse_8(r: Reader) -> _TopicProduceResponse:
    name = read_string(r)
    n = read_count(r, 36)
    partition_responses = [_read_PartitionProduceResponse_8(r) for _ in range(n)]
    return _TopicProduceResponse(name, None, partition_responses)


def _read_ProduceResponse_8(r: Reader) -> ProduceResponse:
    n = read_count(r, 6)
    responses = [_read_TopicProduceResponse_8(r) for _ in range(n)]
    throttle_time_ms, = r.fixed(_S_i)
    return ProduceResponse(responses, throttle_time_ms)


def _read_BatchIndexAndErrorMessage_9(r: Reader) -> _BatchIndexAndErrorMessage:
    batch_index, = r.fixed(_S_i)
    batch_index_error_message = read_c_null_string(r)
    skip_tags(r)
    return _BatchIndexAndErrorMessage(batch_index, batch_index_error_message)


def _read_PartitionProduceResponse_9(r: Reader) -> _PartitionProduceResponse:
    index, error_code, base_offset, log_append_time_ms, log_start_offset = r.fixed(_S_ihqqq)
    n = read_c_count(r, 6)
    record_errors = [_read_BatchIndexAndErrorMessage_9(r) for _ in range(n)]
    error_message = read_c_null_string(r)
    skip_tags(r)
    return _PartitionProduceResponse(index, error_code, base_offset, log_append_time_ms, log_start_offset, record_errors, error_message)


def _read_TopicProduceResponse_9(r: Reader) -> _TopicProduceResponse:
    name = read_c_string(r)
    n = read_c_count(r, 33)
    partition_responses = [_read_PartitionProduceResponse_9(r) for _ in range(n)]
    skip_tags(r)
    return _TopicProduceResponse(name, None, partition_responses)


def _read_ProduceResponse_9(r: Reader) -> ProduceResponse:
    n = read_c_count(r, 3)
    responses = [_read_TopicProduceResponse_9(r) for _ in range(n)]
    throttle_time_ms, = r.fixed(_S_i)
    skip_tags(r)
    return ProduceResponse(responses, throttle_time_ms)


def _read_LeaderIdAndEpoch_10(r: Reader) -> _LeaderIdAndEpoch:
    leader_id, leader_epoch = r.fixed(_S_ii)
    skip_tags(r)
    return _LeaderIdAndEpoch(leader_id, leader_epoch)


def _read_PartitionProduceResponse_10(r: Reader) -> _PartitionProduceResponse:
    index, error_code, base_offset, log_append_time_ms, log_start_offset = r.fixed(_S_ihqqq)
    n = read_c_count(r, 6)
    record_errors = [_read_BatchIndexAndErrorMessage_9(r) for _ in range(n)]
    error_message = read_c_null_string(r)
    current_leader: ProduceResponse.TopicProduceResponse.PartitionProduceResponse.LeaderIdAndEpoch = _LeaderIdAndEpoch()
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            current_leader = _read_LeaderIdAndEpoch_10(r)
            check_tag_end(r, end)
        else:
            r.position = end
    return _PartitionProduceResponse(index, error_code, base_offset, log_append_time_ms, log_start_offset, record_errors, error_message, current_leader)


def _read_TopicProduceResponse_10(r: Reader) -> _TopicProduceResponse:
    name = read_c_string(r)
    n = read_c_count(r, 33)
    partition_responses = [_read_PartitionProduceResponse_10(r) for _ in range(n)]
    skip_tags(r)
    return _TopicProduceResponse(name, None, partition_responses)


def _read_NodeEndpoint_10(r: Reader) -> _NodeEndpoint:
    node_id, = r.fixed(_S_i)
    host = read_c_string(r)
    port, = r.fixed(_S_i)
    rack = read_c_null_string(r)
    skip_tags(r)
    return _NodeEndpoint(node_id, host, port, rack)


def _read_ProduceResponse_10(r: Reader) -> ProduceResponse:
    n = read_c_count(r, 3)
    responses = [_read_TopicProduceResponse_10(r) for _ in range(n)]
    throttle_time_ms, = r.fixed(_S_i)
    node_endpoints: list[ProduceResponse.NodeEndpoint] = []
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            n = read_c_count(r, 11)
            node_endpoints = [_read_NodeEndpoint_10(r) for _ in range(n)]
            check_tag_end(r, end)
        else:
            r.position = end
    return ProduceResponse(responses, throttle_time_ms, node_endpoints)


def _read_TopicProduceResponse_13(r: Reader) -> _TopicProduceResponse:
    topic_id, = r.fixed(_S_u)
    n = read_c_count(r, 33)
    partition_responses = [_read_PartitionProduceResponse_10(r) for _ in range(n)]
    skip_tags(r)
    return _TopicProduceResponse("", uuid_of(topic_id), partition_responses)


def _read_ProduceResponse_13(r: Reader) -> ProduceResponse:
    n = read_c_count(r, 18)
    responses = [_read_TopicProduceResponse_13(r) for _ in range(n)]
    throttle_time_ms, = r.fixed(_S_i)
    node_endpoints: list[ProduceResponse.NodeEndpoint] = []
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            n = read_c_count(r, 11)
            node_endpoints = [_read_NodeEndpoint_10(r) for _ in range(n)]
            check_tag_end(r, end)
        else:
            r.position = end
    return ProduceResponse(responses, throttle_time_ms, node_endpoints)


def _read_steps_TopicProduceResponse_3(r: Reader) -> Generator[None, None, _TopicProduceResponse]:
    name = read_string(r)
    n = read_count(r, 22)
    partition_responses: list[ProduceResponse.TopicProduceResponse.PartitionProduceResponse] = []
    for some in batches(n):
        partition_responses += [_read_PartitionProduceResponse_3(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    return _TopicProduceResponse(name, None, partition_responses)


def _read_steps_ProduceResponse_3(r: Reader) -> Generator[None, None, ProduceResponse]:
    n = read_count(r, 6)
    responses: list[ProduceResponse.TopicProduceResponse] = []
    for _ in range(n):
        responses.append((yield from _read_steps_TopicProduceResponse_3(r)))
        if r.elements_ended(1):
            yield
    throttle_time_ms, = r.fixed(_S_i)
    return ProduceResponse(responses, throttle_time_ms)


def _read_steps_TopicProduceResponse_5(r: Reader) -> Generator[None, None, _TopicProduceResponse]:
    name = read_string(r)
    n = read_count(r, 30)
    partition_responses: list[ProduceResponse.TopicProduceResponse.PartitionProduceResponse] = []
    for some in batches(n):
        partition_responses += [_read_PartitionProduceResponse_5(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    return _TopicProduceResponse(name, None, partition_responses)


def _read_steps_ProduceResponse_5(r: Reader) -> Generator[None, None, ProduceResponse]:
    n = read_count(r, 6)
    responses: list[ProduceResponse.TopicProduceResponse] = []
    for _ in range(n):
        responses.append((yield from _read_steps_TopicProduceResponse_5(r)))
        if r.elements_ended(1):
            yield
    throttle_time_ms, = r.fixed(_S_i)
    return ProduceResponse(responses, throttle_time_ms)


def _read_steps_PartitionProduceResponse_8(r: Reader) -> Generator[None, None, _PartitionProduceResponse]:
    index, error_code, base_offset, log_append_time_ms, log_start_offset = r.fixed(_S_ihqqq)
    n = read_count(r, 6)
    record_errors: list[ProduceResponse.TopicProduceResponse.PartitionProduceResponse.BatchIndexAndErrorMessage] = []
    if n <= FLAT_ELEMENTS:
        record_errors = [_read_BatchIndexAndErrorMessage_8(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            record_errors.append(_read_BatchIndexAndErrorMessage_8(r))
            if r.elements_ended(1):
                yield
    error_message = read_null_string(r)
    return _PartitionProduceResponse(index, error_code, base_offset, log_append_time_ms, log_start_offset, record_errors, error_message)


def _read_steps_TopicProduceResponse_8(r: Reader) -> Generator[None, None, _TopicProduceResponse]:
    name = read_string(r)
    n = read_count(r, 36)
    partition_responses: list[ProduceResponse.TopicProduceResponse.PartitionProduceResponse] = []
    for _ in range(n):
        partition_responses.append((yield from _read_steps_PartitionProduceResponse_8(r)))
        if r.elements_ended(1):
            yield
    return _TopicProduceResponse(name, None, partition_responses)


def _read_steps_ProduceResponse_8(r: Reader) -> Generator[None, None, ProduceResponse]:
    n = read_count(r, 6)
    responses: list[ProduceResponse.TopicProduceResponse] = []
    for _ in range(n):
        responses.append((yield from _read_steps_TopicProduceResponse_8(r)))
        if r.elements_ended(1):
            yield
    throttle_time_ms, = r.fixed(_S_i)
    return ProduceResponse(responses, throttle_time_ms)


def _read_steps_PartitionProduceResponse_9(r: Reader) -> Generator[None, None, _PartitionProduceResponse]:
    index, error_code, base_offset, log_append_time_ms, log_start_offset = r.fixed(_S_ihqqq)
    n = read_c_count(r, 6)
    record_errors: list[ProduceResponse.TopicProduceResponse.PartitionProduceResponse.BatchIndexAndErrorMessage] = []
    if n <= FLAT_ELEMENTS:
        record_errors = [_read_BatchIndexAndErrorMessage_9(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            record_errors.append(_read_BatchIndexAndErrorMessage_9(r))
            if r.elements_ended(1):
                yield
    error_message = read_c_null_string(r)
    skip_tags(r)
    return _PartitionProduceResponse(index, error_code, base_offset, log_append_time_ms, log_start_offset, record_errors, error_message)


def _read_steps_TopicProduceResponse_9(r: Reader) -> Generator[None, None, _TopicProduceResponse]:
    name = read_c_string(r)
    n = read_c_count(r, 33)
    partition_responses: list[ProduceResponse.TopicProduceResponse.PartitionProduceResponse] = []
    for _ in range(n):
        partition_responses.append((yield from _read_steps_PartitionProduceResponse_9(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return _TopicProduceResponse(name, None, partition_responses)


def _read_steps_ProduceResponse_9(r: Reader) -> Generator[None, None, ProduceResponse]:
    n = read_c_count(r, 3)
    responses: list[ProduceResponse.TopicProduceResponse] = []
    for _ in range(n):
        responses.append((yield from _read_steps_TopicProduceResponse_9(r)))
        if r.elements_ended(1):
            yield
    throttle_time_ms, = r.fixed(_S_i)
    skip_tags(r)
    return ProduceResponse(responses, throttle_time_ms)


def _read_steps_PartitionProduceResponse_10(r: Reader) -> Generator[None, None, _PartitionProduceResponse]:
    index, error_code, base_offset, log_append_time_ms, log_start_offset = r.fixed(_S_ihqqq)
    n = read_c_count(r, 6)
    record_errors: list[ProduceResponse.TopicProduceResponse.PartitionProduceResponse.BatchIndexAndErrorMessage] = []
    if n <= FLAT_ELEMENTS:
        record_errors = [_read_BatchIndexAndErrorMessage_9(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            record_errors.append(_read_BatchIndexAndErrorMessage_9(r))
            if r.elements_ended(1):
                yield
    error_message = read_c_null_string(r)
    current_leader: ProduceResponse.TopicProduceResponse.PartitionProduceResponse.LeaderIdAndEpoch = _LeaderIdAndEpoch()
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            current_leader = _read_LeaderIdAndEpoch_10(r)
            check_tag_end(r, end)
        else:
            r.position = end
    return _PartitionProduceResponse(index, error_code, base_offset, log_append_time_ms, log_start_offset, record_errors, error_message, current_leader)


def _read_steps_TopicProduceResponse_10(r: Reader) -> Generator[None, None, _TopicProduceResponse]:
    name = read_c_string(r)
    n = read_c_count(r, 33)
    partition_responses: list[ProduceResponse.TopicProduceResponse.PartitionProduceResponse] = []
    for _ in range(n):
        partition_responses.append((yield from _read_steps_PartitionProduceResponse_10(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return _TopicProduceResponse(name, None, partition_responses)


def _read_steps_ProduceResponse_10(r: Reader) -> Generator[None, None, ProduceResponse]:
    n = read_c_count(r, 3)
    responses: list[ProduceResponse.TopicProduceResponse] = []
    for _ in range(n):
        responses.append((yield from _read_steps_TopicProduceResponse_10(r)))
        if r.elements_ended(1):
            yield
    throttle_time_ms, = r.fixed(_S_i)
    node_endpoints: list[ProduceResponse.NodeEndpoint] = []
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            n = read_c_count(r, 11)
            node_endpoints = [_read_NodeEndpoint_10(r) for _ in range(n)]
            check_tag_end(r, end)
        else:
            r.position = end
    return ProduceResponse(responses, throttle_time_ms, node_endpoints)


def _read_steps_TopicProduceResponse_13(r: Reader) -> Generator[None, None, _TopicProduceResponse]:
    topic_id, = r.fixed(_S_u)
    n = read_c_count(r, 33)
    partition_responses: list[ProduceResponse.TopicProduceResponse.PartitionProduceResponse] = []
    for _ in range(n):
        partition_responses.append((yield from _read_steps_PartitionProduceResponse_10(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return _TopicProduceResponse("", uuid_of(topic_id), partition_responses)


def _read_steps_ProduceResponse_13(r: Reader) -> Generator[None, None, ProduceResponse]:
    n = read_c_count(r, 18)
    responses: list[ProduceResponse.TopicProduceResponse] = []
    for _ in range(n):
        responses.append((yield from _read_steps_TopicProduceResponse_13(r)))
        if r.elements_ended(1):
            yield
    throttle_time_ms, = r.fixed(_S_i)
    node_endpoints: list[ProduceResponse.NodeEndpoint] = []
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            n = read_c_count(r, 11)
            node_endpoints = [_read_NodeEndpoint_10(r) for _ in range(n)]
            check_tag_end(r, end)
        else:
            r.position = end
    return ProduceResponse(responses, throttle_time_ms, node_endpoints)


def _write_PartitionProduceResponse_3(out: bytearray, m: _PartitionProduceResponse) -> None:
    out += _P_ihqq(m.index, m.error_code, m.base_offset, m.log_append_time_ms)


def _write_TopicProduceResponse_3(out: bytearray, m: _TopicProduceResponse) -> None:
    write_string(out, m.name)
    write_count(out, len(m.partition_responses))
    for it_partition_responses in m.partition_responses:
        _write_PartitionProduceResponse_3(out, it_partition_responses)


def _write_ProduceResponse_3(out: bytearray, m: ProduceResponse) -> None:
    write_count(out, len(m.responses))
    for it_responses in m.responses:
        _write_TopicProduceResponse_3(out, it_responses)
    out += _P_i(m.throttle_time_ms)


def _write_PartitionProduceResponse_5(out: bytearray, m: _PartitionProduceResponse) -> None:
    out += _P_ihqqq(m.index, m.error_code, m.base_offset, m.log_append_time_ms, m.log_start_offset)


def _write_TopicProduceResponse_5(out: bytearray, m: _TopicProduceResponse) -> None:
    write_string(out, m.name)
    write_count(out, len(m.partition_responses))
    for it_partition_responses in m.partition_responses:
        _write_PartitionProduceResponse_5(out, it_partition_responses)


def _write_ProduceResponse_5(out: bytearray, m: ProduceResponse) -> None:
    write_count(out, len(m.responses))
    for it_responses in m.responses:
        _write_TopicProduceResponse_5(out, it_responses)
    out += _P_i(m.throttle_time_ms)


def _write_BatchIndexAndErrorMessage_8(out: bytearray, m: _BatchIndexAndErrorMessage) -> None:
    out += _P_i(m.batch_index)
    write_null_string(out, m.batch_index_error_message)


def _write_PartitionProduceResponse_8(out: bytearray, m: _PartitionProduceResponse) -> None:
    out += _P_ihqqq(m.index, m.error_code, m.base_offset, m.log_append_time_ms, m.log_start_offset)
    write_count(out, len(m.record_errors))
    for it_record_errors in m.record_errors:
        _write_BatchIndexAndErrorMessage_8(out, it_record_errors)
    write_null_string(out, m.error_message)


def _write_TopicProduceResponse_8(out: bytearray, m: _TopicProduceResponse) -> None:
    write_string(out, m.name)
    write_count(out, len(m.partition_responses))
    for it_partition_responses in m.partition_responses:
        _write_PartitionProduceResponse_8(out, it_partition_responses)


def _write_ProduceResponse_8(out: bytearray, m: ProduceResponse) -> None:
    write_count(out, len(m.responses))
    for it_responses in m.responses:
        _write_TopicProduceResponse_8(out, it_responses)
    out += _P_i(m.throttle_time_ms)


def _write_BatchIndexAndErrorMessage_9(out: bytearray, m: _BatchIndexAndErrorMessage) -> None:
    out += _P_i(m.batch_index)
    write_c_null_string(out, m.batch_index_error_message)
    out.append(0)


def _write_PartitionProduceResponse_9(out: bytearray, m: _PartitionProduceResponse) -> None:
    out += _P_ihqqq(m.index, m.error_code, m.base_offset, m.log_append_time_ms, m.log_start_offset)
    write_c_count(out, len(m.record_errors))
    for it_record_errors in m.record_errors:
        _write_BatchIndexAndErrorMessage_9(out, it_record_errors)
    write_c_null_string(out, m.error_message)
    out.append(0)


def _write_TopicProduceResponse_9(out: bytearray, m: _TopicProduceResponse) -> None:
    write_c_string(out, m.name)
    write_c_count(out, len(m.partition_responses))
    for it_partition_responses in m.partition_responses:
        _write_PartitionProduceResponse_9(out, it_partition_responses)
    out.append(0)


def _write_ProduceResponse_9(out: bytearray, m: ProduceResponse) -> None:
    write_c_count(out, len(m.responses))
    for it_responses in m.responses:
        _write_TopicProduceResponse_9(out, it_responses)
    out += _P_ix(m.throttle_time_ms)


def _write_LeaderIdAndEpoch_10(out: bytearray, m: _LeaderIdAndEpoch) -> None:
    out += _P_iix(m.leader_id, m.leader_epoch)


def _write_PartitionProduceResponse_10(out: bytearray, m: _PartitionProduceResponse) -> None:
    out += _P_ihqqq(m.index, m.error_code, m.base_offset, m.log_append_time_ms, m.log_start_offset)
    write_c_count(out, len(m.record_errors))
    for it_record_errors in m.record_errors:
        _write_BatchIndexAndErrorMessage_9(out, it_record_errors)
    write_c_null_string(out, m.error_message)
    tags: list[tuple[int, bytearray]] = []
    if m.current_leader != _LeaderIdAndEpoch():
        field = bytearray()
        _write_LeaderIdAndEpoch_10(field, m.current_leader)
        tags.append((0, field))
    write_tagged(out, tags)


def _write_TopicProduceResponse_10(out: bytearray, m: _TopicProduceResponse) -> None:
    write_c_string(out, m.name)
    write_c_count(out, len(m.partition_responses))
    for it_partition_responses in m.partition_responses:
        _write_PartitionProduceResponse_10(out, it_partition_responses)
    out.append(0)


def _write_NodeEndpoint_10(out: bytearray, m: _NodeEndpoint) -> None:
    out += _P_i(m.node_id)
    write_c_string(out, m.host)
    out += _P_i(m.port)
    write_c_null_string(out, m.rack)
    out.append(0)


def _write_ProduceResponse_10(out: bytearray, m: ProduceResponse) -> None:
    write_c_count(out, len(m.responses))
    for it_responses in m.responses:
        _write_TopicProduceResponse_10(out, it_responses)
    out += _P_i(m.throttle_time_ms)
    tags: list[tuple[int, bytearray]] = []
    if m.node_endpoints:
        field = bytearray()
        write_c_count(field, len(m.node_endpoints))
        for it_node_endpoints in m.node_endpoints:
            _write_NodeEndpoint_10(field, it_node_endpoints)
        tags.append((0, field))
    write_tagged(out, tags)


def _write_TopicProduceResponse_13(out: bytearray, m: _TopicProduceResponse) -> None:
    out += _P_u(uuid_bytes(m.topic_id))
    write_c_count(out, len(m.partition_responses))
    for it_partition_responses in m.partition_responses:
        _write_PartitionProduceResponse_10(out, it_partition_responses)
    out.append(0)


def _write_ProduceResponse_13(out: bytearray, m: ProduceResponse) -> None:
    write_c_count(out, len(m.responses))
    for it_responses in m.responses:
        _write_TopicProduceResponse_13(out, it_responses)
    out += _P_i(m.throttle_time_ms)
    tags: list[tuple[int, bytearray]] = []
    if m.node_endpoints:
        field = bytearray()
        write_c_count(field, len(m.node_endpoints))
        for it_node_endpoints in m.node_endpoints:
            _write_NodeEndpoint_10(field, it_node_endpoints)
        tags.append((0, field))
    write_tagged(out, tags)


def _write_steps_TopicProduceResponse_3(o: Output, m: _TopicProduceResponse) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.name)
    write_count(out, len(m.partition_responses))
    left_partition_responses = iter(m.partition_responses)
    for some in batches(len(m.partition_responses)):
        for it_partition_responses in islice(left_partition_responses, some):
            _write_PartitionProduceResponse_3(out, it_partition_responses)
        if o.elements_ended(some):
            yield


def _write_steps_ProduceResponse_3(o: Output, m: ProduceResponse) -> Generator[None, None, None]:
    out = o.buffer
    write_count(out, len(m.responses))
    for it_responses in m.responses:
        yield from _write_steps_TopicProduceResponse_3(o, it_responses)
        if o.elements_ended(1):
            yield
    out += _P_i(m.throttle_time_ms)


def _write_steps_TopicProduceResponse_5(o: Output, m: _TopicProduceResponse) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.name)
    write_count(out, len(m.partition_responses))
    left_partition_responses = iter(m.partition_responses)
    for some in batches(len(m.partition_responses)):
        for it_partition_responses in islice(left_partition_responses, some):
            _write_PartitionProduceResponse_5(out, it_partition_responses)
        if o.elements_ended(some):
            yield


def _write_steps_ProduceResponse_5(o: Output, m: ProduceResponse) -> Generator[None, None, None]:
    out = o.buffer
    write_count(out, len(m.responses))
    for it_responses in m.responses:
        yield from _write_steps_TopicProduceResponse_5(o, it_responses)
        if o.elements_ended(1):
            yield
    out += _P_i(m.throttle_time_ms)


def _write_steps_PartitionProduceResponse_8(o: Output, m: _PartitionProduceResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ihqqq(m.index, m.error_code, m.base_offset, m.log_append_time_ms, m.log_start_offset)
    write_count(out, len(m.record_errors))
    if len(m.record_errors) <= FLAT_ELEMENTS:
        for it_record_errors in m.record_errors:
            _write_BatchIndexAndErrorMessage_8(out, it_record_errors)
        if o.elements_ended(len(m.record_errors)):
            yield
    else:
        for it_record_errors in m.record_errors:
            _write_BatchIndexAndErrorMessage_8(out, it_record_errors)
            if o.elements_ended(1):
                yield
    write_null_string(out, m.error_message)


def _write_steps_TopicProduceResponse_8(o: Output, m: _TopicProduceResponse) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.name)
    write_count(out, len(m.partition_responses))
    for it_partition_responses in m.partition_responses:
        yield from _write_steps_PartitionProduceResponse_8(o, it_partition_responses)
        if o.elements_ended(1):
            yield


def _write_steps_ProduceResponse_8(o: Output, m: ProduceResponse) -> Generator[None, None, None]:
    out = o.buffer
    write_count(out, len(m.responses))
    for it_responses in m.responses:
        yield from _write_steps_TopicProduceResponse_8(o, it_responses)
        if o.elements_ended(1):
            yield
    out += _P_i(m.throttle_time_ms)


def _write_steps_PartitionProduceResponse_9(o: Output, m: _PartitionProduceResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ihqqq(m.index, m.error_code, m.base_offset, m.log_append_time_ms, m.log_start_offset)
    write_c_count(out, len(m.record_errors))
    if len(m.record_errors) <= FLAT_ELEMENTS:
        for it_record_errors in m.record_errors:
            _write_BatchIndexAndErrorMessage_9(out, it_record_errors)
        if o.elements_ended(len(m.record_errors)):
            yield
    else:
        for it_record_errors in m.record_errors:
            _write_BatchIndexAndErrorMessage_9(out, it_record_errors)
            if o.elements_ended(1):
                yield
    write_c_null_string(out, m.error_message)
    out.append(0)


def _write_steps_TopicProduceResponse_9(o: Output, m: _TopicProduceResponse) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.name)
    write_c_count(out, len(m.partition_responses))
    for it_partition_responses in m.partition_responses:
        yield from _write_steps_PartitionProduceResponse_9(o, it_partition_responses)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_ProduceResponse_9(o: Output, m: ProduceResponse) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.responses))
    for it_responses in m.responses:
        yield from _write_steps_TopicProduceResponse_9(o, it_responses)
        if o.elements_ended(1):
            yield
    out += _P_ix(m.throttle_time_ms)


def _write_steps_PartitionProduceResponse_10(o: Output, m: _PartitionProduceResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ihqqq(m.index, m.error_code, m.base_offset, m.log_append_time_ms, m.log_start_offset)
    write_c_count(out, len(m.record_errors))
    if len(m.record_errors) <= FLAT_ELEMENTS:
        for it_record_errors in m.record_errors:
            _write_BatchIndexAndErrorMessage_9(out, it_record_errors)
        if o.elements_ended(len(m.record_errors)):
            yield
    else:
        for it_record_errors in m.record_errors:
            _write_BatchIndexAndErrorMessage_9(out, it_record_errors)
            if o.elements_ended(1):
                yield
    write_c_null_string(out, m.error_message)
    tags: list[tuple[int, bytearray]] = []
    if m.current_leader != _LeaderIdAndEpoch():
        field = bytearray()
        _write_LeaderIdAndEpoch_10(field, m.current_leader)
        tags.append((0, field))
    write_tagged(out, tags)


def _write_steps_TopicProduceResponse_10(o: Output, m: _TopicProduceResponse) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.name)
    write_c_count(out, len(m.partition_responses))
    for it_partition_responses in m.partition_responses:
        yield from _write_steps_PartitionProduceResponse_10(o, it_partition_responses)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_ProduceResponse_10(o: Output, m: ProduceResponse) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.responses))
    for it_responses in m.responses:
        yield from _write_steps_TopicProduceResponse_10(o, it_responses)
        if o.elements_ended(1):
            yield
    out += _P_i(m.throttle_time_ms)
    tags: list[tuple[int, bytearray]] = []
    if m.node_endpoints:
        field = bytearray()
        write_c_count(field, len(m.node_endpoints))
        for it_node_endpoints in m.node_endpoints:
            _write_NodeEndpoint_10(field, it_node_endpoints)
        tags.append((0, field))
    write_tagged(out, tags)


def _write_steps_TopicProduceResponse_13(o: Output, m: _TopicProduceResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_u(uuid_bytes(m.topic_id))
    write_c_count(out, len(m.partition_responses))
    for it_partition_responses in m.partition_responses:
        yield from _write_steps_PartitionProduceResponse_10(o, it_partition_responses)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_ProduceResponse_13(o: Output, m: ProduceResponse) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.responses))
    for it_responses in m.responses:
        yield from _write_steps_TopicProduceResponse_13(o, it_responses)
        if o.elements_ended(1):
            yield
    out += _P_i(m.throttle_time_ms)
    tags: list[tuple[int, bytearray]] = []
    if m.node_endpoints:
        field = bytearray()
        write_c_count(field, len(m.node_endpoints))
        for it_node_endpoints in m.node_endpoints:
            _write_NodeEndpoint_10(field, it_node_endpoints)
        tags.append((0, field))
    write_tagged(out, tags)


def _error_for(m: ProduceRequest, code: int) -> ProduceResponse:
    return ProduceResponse(responses=[_TopicProduceResponse(name=it0.name, topic_id=it0.topic_id, partition_responses=[_PartitionProduceResponse(index=it1.index, error_code=code, error_message=None) for it1 in it0.partition_data]) for it0 in m.topic_data])


ProduceRequest.READ = (_read_ProduceRequest_3, _read_ProduceRequest_3, _read_ProduceRequest_3, _read_ProduceRequest_3, _read_ProduceRequest_3, _read_ProduceRequest_3, _read_ProduceRequest_9, _read_ProduceRequest_9, _read_ProduceRequest_9, _read_ProduceRequest_9, _read_ProduceRequest_13,)
ProduceRequest.READ_STEPS = (_read_steps_ProduceRequest_3, _read_steps_ProduceRequest_3, _read_steps_ProduceRequest_3, _read_steps_ProduceRequest_3, _read_steps_ProduceRequest_3, _read_steps_ProduceRequest_3, _read_steps_ProduceRequest_9, _read_steps_ProduceRequest_9, _read_steps_ProduceRequest_9, _read_steps_ProduceRequest_9, _read_steps_ProduceRequest_13,)
ProduceRequest.WRITE = (_write_ProduceRequest_3, _write_ProduceRequest_3, _write_ProduceRequest_3, _write_ProduceRequest_3, _write_ProduceRequest_3, _write_ProduceRequest_3, _write_ProduceRequest_9, _write_ProduceRequest_9, _write_ProduceRequest_9, _write_ProduceRequest_9, _write_ProduceRequest_13,)
ProduceRequest.WRITE_STEPS = (_write_steps_ProduceRequest_3, _write_steps_ProduceRequest_3, _write_steps_ProduceRequest_3, _write_steps_ProduceRequest_3, _write_steps_ProduceRequest_3, _write_steps_ProduceRequest_3, _write_steps_ProduceRequest_9, _write_steps_ProduceRequest_9, _write_steps_ProduceRequest_9, _write_steps_ProduceRequest_9, _write_steps_ProduceRequest_13,)
ProduceResponse.READ = (_read_ProduceResponse_3, _read_ProduceResponse_3, _read_ProduceResponse_5, _read_ProduceResponse_5, _read_ProduceResponse_5, _read_ProduceResponse_8, _read_ProduceResponse_9, _read_ProduceResponse_10, _read_ProduceResponse_10, _read_ProduceResponse_10, _read_ProduceResponse_13,)
ProduceResponse.READ_STEPS = (_read_steps_ProduceResponse_3, _read_steps_ProduceResponse_3, _read_steps_ProduceResponse_5, _read_steps_ProduceResponse_5, _read_steps_ProduceResponse_5, _read_steps_ProduceResponse_8, _read_steps_ProduceResponse_9, _read_steps_ProduceResponse_10, _read_steps_ProduceResponse_10, _read_steps_ProduceResponse_10, _read_steps_ProduceResponse_13,)
ProduceResponse.WRITE = (_write_ProduceResponse_3, _write_ProduceResponse_3, _write_ProduceResponse_5, _write_ProduceResponse_5, _write_ProduceResponse_5, _write_ProduceResponse_8, _write_ProduceResponse_9, _write_ProduceResponse_10, _write_ProduceResponse_10, _write_ProduceResponse_10, _write_ProduceResponse_13,)
ProduceResponse.WRITE_STEPS = (_write_steps_ProduceResponse_3, _write_steps_ProduceResponse_3, _write_steps_ProduceResponse_5, _write_steps_ProduceResponse_5, _write_steps_ProduceResponse_5, _write_steps_ProduceResponse_8, _write_steps_ProduceResponse_9, _write_steps_ProduceResponse_10, _write_steps_ProduceResponse_10, _write_steps_ProduceResponse_10, _write_steps_ProduceResponse_13,)
ProduceRequest.ERROR_FOR = _error_for
