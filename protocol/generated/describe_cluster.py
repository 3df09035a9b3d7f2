"""DescribeClusterRequest, DescribeClusterResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, read_c_count, read_c_null_string, read_c_string, skip_tags
from headrace.protocol.message_writing import Output, write_c_count, write_c_null_string, write_c_string
from headrace.protocol.primitives import Reader

class DescribeClusterRequest(KafkaMessage):
    """Key 60, versions 0 to 2, flexible from 0 on."""

    API_KEY: ClassVar[int] = 60
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    include_cluster_authorized_operations: bool = False
    endpoint_type: int = 1
    include_fenced_brokers: bool = False


class DescribeClusterResponse(KafkaMessage):
    """Key 60, versions 0 to 2, flexible from 0 on."""

    class DescribeClusterBroker(MessageStruct):
        """Versions 0+."""

        broker_id: int = 0
        host: str = ""
        port: int = 0
        rack: str | None = None
        is_fenced: bool = False

    API_KEY: ClassVar[int] = 60
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = None
    endpoint_type: int = 1
    cluster_id: str = ""
    controller_id: int = -1
    brokers: Collection[DescribeClusterResponse.DescribeClusterBroker] = []
    cluster_authorized_operations: int = -2147483648


_DescribeClusterBroker = DescribeClusterResponse.DescribeClusterBroker
_P_b: Final = Struct(">b").pack
_P_i: Final = Struct(">i").pack
_P_ih: Final = Struct(">ih").pack
_P_ix: Final = Struct(">ix").pack
_P_tbtx: Final = Struct(">?b?x").pack
_P_tbx: Final = Struct(">?bx").pack
_P_tx: Final = Struct(">?x").pack
_S_b: Final = Struct(">b")
_S_i: Final = Struct(">i")
_S_ih: Final = Struct(">ih")
_S_t: Final = Struct(">?")
_S_tb: Final = Struct(">?b")
_S_tbt: Final = Struct(">?b?")


def _read_DescribeClusterRequest_0(r: Reader) -> DescribeClusterRequest:
    include_cluster_authorized_operations, = r.fixed(_S_t)
    skip_tags(r)
    return DescribeClusterRequest(include_cluster_authorized_operations)


def _read_DescribeClusterRequest_1(r: Reader) -> DescribeClusterRequest:
    include_cluster_authorized_operations, endpoint_type = r.fixed(_S_tb)
    skip_tags(r)
    return DescribeClusterRequest(include_cluster_authorized_operations, endpoint_type)


def _read_DescribeClusterRequest_2(r: Reader) -> DescribeClusterRequest:
    include_cluster_authorized_operations, endpoint_type, include_fenced_brokers = r.fixed(_S_tbt)
    skip_tags(r)
    return DescribeClusterRequest(include_cluster_authorized_operations, endpoint_type, include_fenced_brokers)


def _write_DescribeClusterRequest_0(out: bytearray, m: DescribeClusterRequest) -> None:
    out += _P_tx(m.include_cluster_authorized_operations)


def _write_DescribeClusterRequest_1(out: bytearray, m: DescribeClusterRequest) -> None:
    out += _P_tbx(m.include_cluster_authorized_operations, m.endpoint_type)


def _write_DescribeClusterRequest_2(out: bytearray, m: DescribeClusterRequest) -> None:
    out += _P_tbtx(m.include_cluster_authorized_operations, m.endpoint_type, m.include_fenced_brokers)


def _read_DescribeClusterBroker_0(r: Reader) -> _DescribeClusterBroker:
    broker_id, = r.fixed(_S_i)
    host = read_c_string(r)
    port, = r.fixed(_S_i)
    rack = read_c_null_string(r)
    skip_tags(r)
    return _DescribeClusterBroker(broker_id, host, port, rack)


def _read_DescribeClusterResponse_0(r: Reader) -> DescribeClusterResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    error_message = read_c_null_string(r)
    cluster_id = read_c_string(r)
    controller_id, = r.fixed(_S_i)
    n = read_c_count(r, 11)
    brokers = [_read_DescribeClusterBroker_0(r) for _ in range(n)]
    cluster_authorized_operations, = r.fixed(_S_i)
    skip_tags(r)
    return DescribeClusterResponse(throttle_time_ms, error_code, error_message, 1, cluster_id, controller_id, brokers, cluster_authorized_operations)


def _read_DescribeClusterResponse_1(r: Reader) -> DescribeClusterResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    error_message = read_c_null_string(r)
    endpoint_type, = r.fixed(_S_b)
    cluster_id = read_c_string(r)
    controller_id, = r.fixed(_S_i)
    n = read_c_count(r, 11)
    brokers = [_read_DescribeClusterBroker_0(r) for _ in range(n)]
    cluster_authorized_operations, = r.fixed(_S_i)
    skip_tags(r)
    return DescribeClusterResponse(throttle_time_ms, error_code, error_message, endpoint_type, cluster_id, controller_id, brokers, cluster_authorized_operations)


def _read_DescribeClusterBroker_2(r: Reader) -> _DescribeClusterBroker:
    broker_id, = r.fixed(_S_i)
    host = read_c_string(r)
    port, = r.fixed(_S_i)
    rack = read_c_null_string(r)
    is_fenced, = r.fixed(_S_t)
    skip_tags(r)
    return _DescribeClusterBroker(broker_id, host, port, rack, is_fenced)


def _read_DescribeClusterResponse_2(r: Reader) -> DescribeClusterResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    error_message = read_c_null_string(r)
    endpoint_type, = r.fixed(_S_b)
    cluster_id = read_c_string(r)
    controller_id, = r.fixed(_S_i)
    n = read_c_count(r, 12)
    brokers = [_read_DescribeClusterBroker_2(r) for _ in range(n)]
    cluster_authorized_operations, = r.fixed(_S_i)
    skip_tags(r)
    return DescribeClusterResponse(throttle_time_ms, error_code, error_message, endpoint_type, cluster_id, controller_id, brokers, cluster_authorized_operations)


def _read_steps_DescribeClusterResponse_0(r: Reader) -> Generator[None, None, DescribeClusterResponse]:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    error_message = read_c_null_string(r)
    cluster_id = read_c_string(r)
    controller_id, = r.fixed(_S_i)
    n = read_c_count(r, 11)
    brokers: list[DescribeClusterResponse.DescribeClusterBroker] = []
    if n <= FLAT_ELEMENTS:
        brokers = [_read_DescribeClusterBroker_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            brokers.append(_read_DescribeClusterBroker_0(r))
            if r.elements_ended(1):
                yield
    cluster_authorized_operations, = r.fixed(_S_i)
    skip_tags(r)
    return DescribeClusterResponse(throttle_time_ms, error_code, error_message, 1, cluster_id, controller_id, brokers, cluster_authorized_operations)


def _read_steps_DescribeClusterResponse_1(r: Reader) -> Generator[None, None, DescribeClusterResponse]:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    error_message = read_c_null_string(r)
    endpoint_type, = r.fixed(_S_b)
    cluster_id = read_c_string(r)
    controller_id, = r.fixed(_S_i)
    n = read_c_count(r, 11)
    brokers: list[DescribeClusterResponse.DescribeClusterBroker] = []
    if n <= FLAT_ELEMENTS:
        brokers = [_read_DescribeClusterBroker_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            brokers.append(_read_DescribeClusterBroker_0(r))
            if r.elements_ended(1):
                yield
    cluster_authorized_operations, = r.fixed(_S_i)
    skip_tags(r)
    return DescribeClusterResponse(throttle_time_ms, error_code, error_message, endpoint_type, cluster_id, controller_id, brokers, cluster_authorized_operations)


def _read_steps_DescribeClusterResponse_2(r: Reader) -> Generator[None, None, DescribeClusterResponse]:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    error_message = read_c_null_string(r)
    endpoint_type, = r.fixed(_S_b)
    cluster_id = read_c_string(r)
    controller_id, = r.fixed(_S_i)
    n = read_c_count(r, 12)
    brokers: list[DescribeClusterResponse.DescribeClusterBroker] = []
    if n <= FLAT_ELEMENTS:
        brokers = [_read_DescribeClusterBroker_2(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            brokers.append(_read_DescribeClusterBroker_2(r))
            if r.elements_ended(1):
                yield
    cluster_authorized_operations, = r.fixed(_S_i)
    skip_tags(r)
    return DescribeClusterResponse(throttle_time_ms, error_code, error_message, endpoint_type, cluster_id, controller_id, brokers, cluster_authorized_operations)


def _write_DescribeClusterBroker_0(out: bytearray, m: _DescribeClusterBroker) -> None:
    out += _P_i(m.broker_id)
    write_c_string(out, m.host)
    out += _P_i(m.port)
    write_c_null_string(out, m.rack)
    out.append(0)


def _write_DescribeClusterResponse_0(out: bytearray, m: DescribeClusterResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_null_string(out, m.error_message)
    write_c_string(out, m.cluster_id)
    out += _P_i(m.controller_id)
    write_c_count(out, len(m.brokers))
    for it_brokers in m.brokers:
        _write_DescribeClusterBroker_0(out, it_brokers)
    out += _P_ix(m.cluster_authorized_operations)


def _write_DescribeClusterResponse_1(out: bytearray, m: DescribeClusterResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_null_string(out, m.error_message)
    out += _P_b(m.endpoint_type)
    write_c_string(out, m.cluster_id)
    out += _P_i(m.controller_id)
    write_c_count(out, len(m.brokers))
    for it_brokers in m.brokers:
        _write_DescribeClusterBroker_0(out, it_brokers)
    out += _P_ix(m.cluster_authorized_operations)


def _write_DescribeClusterBroker_2(out: bytearray, m: _DescribeClusterBroker) -> None:
    out += _P_i(m.broker_id)
    write_c_string(out, m.host)
    out += _P_i(m.port)
    write_c_null_string(out, m.rack)
    out += _P_tx(m.is_fenced)


def _write_DescribeClusterResponse_2(out: bytearray, m: DescribeClusterResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_null_string(out, m.error_message)
    out += _P_b(m.endpoint_type)
    write_c_string(out, m.cluster_id)
    out += _P_i(m.controller_id)
    write_c_count(out, len(m.brokers))
    for it_brokers in m.brokers:
        _write_DescribeClusterBroker_2(out, it_brokers)
    out += _P_ix(m.cluster_authorized_operations)


def _write_steps_DescribeClusterResponse_0(o: Output, m: DescribeClusterResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_null_string(out, m.error_message)
    write_c_string(out, m.cluster_id)
    out += _P_i(m.controller_id)
    write_c_count(out, len(m.brokers))
    if len(m.brokers) <= FLAT_ELEMENTS:
        for it_brokers in m.brokers:
            _write_DescribeClusterBroker_0(out, it_brokers)
        if o.elements_ended(len(m.brokers)):
            yield
    else:
        for it_brokers in m.brokers:
            _write_DescribeClusterBroker_0(out, it_brokers)
            if o.elements_ended(1):
                yield
    out += _P_ix(m.cluster_authorized_operations)


def _write_steps_DescribeClusterResponse_1(o: Output, m: DescribeClusterResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_null_string(out, m.error_message)
    out += _P_b(m.endpoint_type)
    write_c_string(out, m.cluster_id)
    out += _P_i(m.controller_id)
    write_c_count(out, len(m.brokers))
    if len(m.brokers) <= FLAT_ELEMENTS:
        for it_brokers in m.brokers:
            _write_DescribeClusterBroker_0(out, it_brokers)
        if o.elements_ended(len(m.brokers)):
            yield
    else:
        for it_brokers in m.brokers:
            _write_DescribeClusterBroker_0(out, it_brokers)
            if o.elements_ended(1):
                yield
    out += _P_ix(m.cluster_authorized_operations)


def _write_steps_DescribeClusterResponse_2(o: Output, m: DescribeClusterResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_null_string(out, m.error_message)
    out += _P_b(m.endpoint_type)
    write_c_string(out, m.cluster_id)
    out += _P_i(m.controller_id)
    write_c_count(out, len(m.brokers))
    if len(m.brokers) <= FLAT_ELEMENTS:
        for it_brokers in m.brokers:
            _write_DescribeClusterBroker_2(out, it_brokers)
        if o.elements_ended(len(m.brokers)):
            yield
    else:
        for it_brokers in m.brokers:
            _write_DescribeClusterBroker_2(out, it_brokers)
            if o.elements_ended(1):
                yield
    out += _P_ix(m.cluster_authorized_operations)


def _error_for(m: DescribeClusterRequest, code: int) -> DescribeClusterResponse:
    return DescribeClusterResponse(error_code=code, error_message=None)


DescribeClusterRequest.READ = (_read_DescribeClusterRequest_0, _read_DescribeClusterRequest_1, _read_DescribeClusterRequest_2,)
DescribeClusterRequest.READ_STEPS = (None, None, None,)
DescribeClusterRequest.WRITE = (_write_DescribeClusterRequest_0, _write_DescribeClusterRequest_1, _write_DescribeClusterRequest_2,)
DescribeClusterRequest.WRITE_STEPS = (None, None, None,)
DescribeClusterResponse.READ = (_read_DescribeClusterResponse_0, _read_DescribeClusterResponse_1, _read_DescribeClusterResponse_2,)
DescribeClusterResponse.READ_STEPS = (_read_steps_DescribeClusterResponse_0, _read_steps_DescribeClusterResponse_1, _read_steps_DescribeClusterResponse_2,)
DescribeClusterResponse.WRITE = (_write_DescribeClusterResponse_0, _write_DescribeClusterResponse_1, _write_DescribeClusterResponse_2,)
DescribeClusterResponse.WRITE_STEPS = (_write_steps_DescribeClusterResponse_0, _write_steps_DescribeClusterResponse_1, _write_steps_DescribeClusterResponse_2,)
DescribeClusterRequest.ERROR_FOR = _error_for
