"""FindCoordinatorRequest, FindCoordinatorResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, read_c_count, read_c_null_string, read_c_string, read_null_string, read_string, skip_tags
from headrace.protocol.message_writing import Output, write_c_count, write_c_null_string, write_c_string, write_null_string, write_string
from headrace.protocol.primitives import Reader

class FindCoordinatorRequest(KafkaMessage):
    """Key 10, versions 0 to 6, flexible from 3 on."""

    API_KEY: ClassVar[int] = 10
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 3
    key: str = ""
    key_type: int = 0
    coordinator_keys: list[str] = []


class FindCoordinatorResponse(KafkaMessage):
    """Key 10, versions 0 to 6, flexible from 3 on."""

    class Coordinator(MessageStruct):
        """Versions 4+."""

        key: str = ""
        node_id: int = 0
        host: str = ""
        port: int = 0
        error_code: int = 0
        error_message: str | None = ""

    API_KEY: ClassVar[int] = 10
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 3
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ""
    node_id: int = 0
    host: str = ""
    port: int = 0
    coordinators: Collection[FindCoordinatorResponse.Coordinator] = []


_Coordinator = FindCoordinatorResponse.Coordinator
_P_b: Final = Struct(">b").pack
_P_bx: Final = Struct(">bx").pack
_P_hi: Final = Struct(">hi").pack
_P_i: Final = Struct(">i").pack
_P_ih: Final = Struct(">ih").pack
_P_ix: Final = Struct(">ix").pack
_S_b: Final = Struct(">b")
_S_hi: Final = Struct(">hi")
_S_i: Final = Struct(">i")
_S_ih: Final = Struct(">ih")


def _read_FindCoordinatorRequest_0(r: Reader) -> FindCoordinatorRequest:
    key = read_string(r)
    return FindCoordinatorRequest(key)


def _read_FindCoordinatorRequest_1(r: Reader) -> FindCoordinatorRequest:
    key = read_string(r)
    key_type, = r.fixed(_S_b)
    return FindCoordinatorRequest(key, key_type)


def _read_FindCoordinatorRequest_3(r: Reader) -> FindCoordinatorRequest:
    key = read_c_string(r)
    key_type, = r.fixed(_S_b)
    skip_tags(r)
    return FindCoordinatorRequest(key, key_type)


def _read_FindCoordinatorRequest_4(r: Reader) -> FindCoordinatorRequest:
    key_type, = r.fixed(_S_b)
    n = read_c_count(r, 1)
    coordinator_keys = [read_c_string(r) for _ in range(n)]
    skip_tags(r)
    return FindCoordinatorRequest("", key_type, coordinator_keys)


def _read_steps_FindCoordinatorRequest_4(r: Reader) -> Generator[None, None, FindCoordinatorRequest]:
    key_type, = r.fixed(_S_b)
    n = read_c_count(r, 1)
    coordinator_keys: list[str] = []
    if n <= FLAT_ELEMENTS:
        coordinator_keys = [read_c_string(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            coordinator_keys.append(read_c_string(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return FindCoordinatorRequest("", key_type, coordinator_keys)


def _write_FindCoordinatorRequest_0(out: bytearray, m: FindCoordinatorRequest) -> None:
    write_string(out, m.key)


def _write_FindCoordinatorRequest_1(out: bytearray, m: FindCoordinatorRequest) -> None:
    write_string(out, m.key)
    out += _P_b(m.key_type)


def _write_FindCoordinatorRequest_3(out: bytearray, m: FindCoordinatorRequest) -> None:
    write_c_string(out, m.key)
    out += _P_bx(m.key_type)


def _write_FindCoordinatorRequest_4(out: bytearray, m: FindCoordinatorRequest) -> None:
    out += _P_b(m.key_type)
    write_c_count(out, len(m.coordinator_keys))
    for it_coordinator_keys in m.coordinator_keys:
        write_c_string(out, it_coordinator_keys)
    out.append(0)


def _write_steps_FindCoordinatorRequest_4(o: Output, m: FindCoordinatorRequest) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_b(m.key_type)
    write_c_count(out, len(m.coordinator_keys))
    if len(m.coordinator_keys) <= FLAT_ELEMENTS:
        for it_coordinator_keys in m.coordinator_keys:
            write_c_string(out, it_coordinator_keys)
        if o.elements_ended(len(m.coordinator_keys)):
            yield
    else:
        for it_coordinator_keys in m.coordinator_keys:
            write_c_string(out, it_coordinator_keys)
            if o.elements_ended(1):
                yield
    out.append(0)


def _read_FindCoordinatorResponse_0(r: Reader) -> FindCoordinatorResponse:
    error_code, node_id = r.fixed(_S_hi)
    host = read_string(r)
    port, = r.fixed(_S_i)
    return FindCoordinatorResponse(0, error_code, "", node_id, host, port)


def _read_FindCoordinatorResponse_1(r: Reader) -> FindCoordinatorResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    error_message = read_null_string(r)
    node_id, = r.fixed(_S_i)
    host = read_string(r)
    port, = r.fixed(_S_i)
    return FindCoordinatorResponse(throttle_time_ms, error_code, error_message, node_id, host, port)


def _read_FindCoordinatorResponse_3(r: Reader) -> FindCoordinatorResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    error_message = read_c_null_string(r)
    node_id, = r.fixed(_S_i)
    host = read_c_string(r)
    port, = r.fixed(_S_i)
    skip_tags(r)
    return FindCoordinatorResponse(throttle_time_ms, error_code, error_message, node_id, host, port)


def _read_Coordinator_4(r: Reader) -> _Coordinator:
    key = read_c_string(r)
    node_id, = r.fixed(_S_i)
    host = read_c_string(r)
    port, error_code = r.fixed(_S_ih)
    error_message = read_c_null_string(r)
    skip_tags(r)
    return _Coordinator(key, node_id, host, port, error_code, error_message)


def _read_FindCoordinatorResponse_4(r: Reader) -> FindCoordinatorResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 14)
    coordinators = [_read_Coordinator_4(r) for _ in range(n)]
    skip_tags(r)
    return FindCoordinatorResponse(throttle_time_ms, 0, "", 0, "", 0, coordinators)


def _read_steps_FindCoordinatorResponse_4(r: Reader) -> Generator[None, None, FindCoordinatorResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 14)
    coordinators: list[FindCoordinatorResponse.Coordinator] = []
    if n <= FLAT_ELEMENTS:
        coordinators = [_read_Coordinator_4(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            coordinators.append(_read_Coordinator_4(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return FindCoordinatorResponse(throttle_time_ms, 0, "", 0, "", 0, coordinators)


def _write_FindCoordinatorResponse_0(out: bytearray, m: FindCoordinatorResponse) -> None:
    out += _P_hi(m.error_code, m.node_id)
    write_string(out, m.host)
    out += _P_i(m.port)


def _write_FindCoordinatorResponse_1(out: bytearray, m: FindCoordinatorResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_null_string(out, m.error_message)
    out += _P_i(m.node_id)
    write_string(out, m.host)
    out += _P_i(m.port)


def _write_FindCoordinatorResponse_3(out: bytearray, m: FindCoordinatorResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_null_string(out, m.error_message)
    out += _P_i(m.node_id)
    write_c_string(out, m.host)
    out += _P_ix(m.port)


def _write_Coordinator_4(out: bytearray, m: _Coordinator) -> None:
    write_c_string(out, m.key)
    out += _P_i(m.node_id)
    write_c_string(out, m.host)
    out += _P_ih(m.port, m.error_code)
    write_c_null_string(out, m.error_message)
    out.append(0)


def _write_FindCoordinatorResponse_4(out: bytearray, m: FindCoordinatorResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.coordinators))
    for it_coordinators in m.coordinators:
        _write_Coordinator_4(out, it_coordinators)
    out.append(0)


def _write_steps_FindCoordinatorResponse_4(o: Output, m: FindCoordinatorResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.coordinators))
    if len(m.coordinators) <= FLAT_ELEMENTS:
        for it_coordinators in m.coordinators:
            _write_Coordinator_4(out, it_coordinators)
        if o.elements_ended(len(m.coordinators)):
            yield
    else:
        for it_coordinators in m.coordinators:
            _write_Coordinator_4(out, it_coordinators)
            if o.elements_ended(1):
                yield
    out.append(0)


def _error_for(m: FindCoordinatorRequest, code: int) -> FindCoordinatorResponse:
    return FindCoordinatorResponse(error_code=code, error_message=None, coordinators=[_Coordinator(key=it0, error_code=code) for it0 in m.coordinator_keys])


FindCoordinatorRequest.READ = (_read_FindCoordinatorRequest_0, _read_FindCoordinatorRequest_1, _read_FindCoordinatorRequest_1, _read_FindCoordinatorRequest_3, _read_FindCoordinatorRequest_4, _read_FindCoordinatorRequest_4, _read_FindCoordinatorRequest_4,)
FindCoordinatorRequest.READ_STEPS = (None, None, None, None, _read_steps_FindCoordinatorRequest_4, _read_steps_FindCoordinatorRequest_4, _read_steps_FindCoordinatorRequest_4,)
FindCoordinatorRequest.WRITE = (_write_FindCoordinatorRequest_0, _write_FindCoordinatorRequest_1, _write_FindCoordinatorRequest_1, _write_FindCoordinatorRequest_3, _write_FindCoordinatorRequest_4, _write_FindCoordinatorRequest_4, _write_FindCoordinatorRequest_4,)
FindCoordinatorRequest.WRITE_STEPS = (None, None, None, None, _write_steps_FindCoordinatorRequest_4, _write_steps_FindCoordinatorRequest_4, _write_steps_FindCoordinatorRequest_4,)
FindCoordinatorResponse.READ = (_read_FindCoordinatorResponse_0, _read_FindCoordinatorResponse_1, _read_FindCoordinatorResponse_1, _read_FindCoordinatorResponse_3, _read_FindCoordinatorResponse_4, _read_FindCoordinatorResponse_4, _read_FindCoordinatorResponse_4,)
FindCoordinatorResponse.READ_STEPS = (None, None, None, None, _read_steps_FindCoordinatorResponse_4, _read_steps_FindCoordinatorResponse_4, _read_steps_FindCoordinatorResponse_4,)
FindCoordinatorResponse.WRITE = (_write_FindCoordinatorResponse_0, _write_FindCoordinatorResponse_1, _write_FindCoordinatorResponse_1, _write_FindCoordinatorResponse_3, _write_FindCoordinatorResponse_4, _write_FindCoordinatorResponse_4, _write_FindCoordinatorResponse_4,)
FindCoordinatorResponse.WRITE_STEPS = (None, None, None, None, _write_steps_FindCoordinatorResponse_4, _write_steps_FindCoordinatorResponse_4, _write_steps_FindCoordinatorResponse_4,)
FindCoordinatorRequest.ERROR_FOR = _error_for
