"""HeartbeatRequest, HeartbeatResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage
from headrace.protocol.message_reading import read_c_null_string, read_c_string, read_null_string, read_string, skip_tags
from headrace.protocol.message_writing import write_c_null_string, write_c_string, write_null_string, write_string
from headrace.protocol.primitives import Reader

class HeartbeatRequest(KafkaMessage):
    """Key 12, versions 0 to 4, flexible from 4 on."""

    API_KEY: ClassVar[int] = 12
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 4
    group_id: str = ""
    generation_id: int = 0
    member_id: str = ""
    group_instance_id: str | None = None


class HeartbeatResponse(KafkaMessage):
    """Key 12, versions 0 to 4, flexible from 4 on."""

    API_KEY: ClassVar[int] = 12
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 4
    throttle_time_ms: int = 0
    error_code: int = 0


_P_h: Final = Struct(">h").pack
_P_i: Final = Struct(">i").pack
_P_ih: Final = Struct(">ih").pack
_P_ihx: Final = Struct(">ihx").pack
_S_h: Final = Struct(">h")
_S_i: Final = Struct(">i")
_S_ih: Final = Struct(">ih")


def _read_HeartbeatRequest_0(r: Reader) -> HeartbeatRequest:
    group_id = read_string(r)
    generation_id, = r.fixed(_S_i)
    member_id = read_string(r)
    return HeartbeatRequest(group_id, generation_id, member_id)


def _read_HeartbeatRequest_3(r: Reader) -> HeartbeatRequest:
    group_id = read_string(r)
    generation_id, = r.fixed(_S_i)
    member_id = read_string(r)
    group_instance_id = read_null_string(r)
    return HeartbeatRequest(group_id, generation_id, member_id, group_instance_id)


def _read_HeartbeatRequest_4(r: Reader) -> HeartbeatRequest:
    group_id = read_c_string(r)
    generation_id, = r.fixed(_S_i)
    member_id = read_c_string(r)
    group_instance_id = read_c_null_string(r)
    skip_tags(r)
    return HeartbeatRequest(group_id, generation_id, member_id, group_instance_id)


def _write_HeartbeatRequest_0(out: bytearray, m: HeartbeatRequest) -> None:
    write_string(out, m.group_id)
    out += _P_i(m.generation_id)
    write_string(out, m.member_id)


def _write_HeartbeatRequest_3(out: bytearray, m: HeartbeatRequest) -> None:
    write_string(out, m.group_id)
    out += _P_i(m.generation_id)
    write_string(out, m.member_id)
    write_null_string(out, m.group_instance_id)


def _write_HeartbeatRequest_4(out: bytearray, m: HeartbeatRequest) -> None:
    write_c_string(out, m.group_id)
    out += _P_i(m.generation_id)
    write_c_string(out, m.member_id)
    write_c_null_string(out, m.group_instance_id)
    out.append(0)


def _read_HeartbeatResponse_0(r: Reader) -> HeartbeatResponse:
    error_code, = r.fixed(_S_h)
    return HeartbeatResponse(0, error_code)


def _read_HeartbeatResponse_1(r: Reader) -> HeartbeatResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    return HeartbeatResponse(throttle_time_ms, error_code)


def _read_HeartbeatResponse_4(r: Reader) -> HeartbeatResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    skip_tags(r)
    return HeartbeatResponse(throttle_time_ms, error_code)


def _write_HeartbeatResponse_0(out: bytearray, m: HeartbeatResponse) -> None:
    out += _P_h(m.error_code)


def _write_HeartbeatResponse_1(out: bytearray, m: HeartbeatResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)


def _write_HeartbeatResponse_4(out: bytearray, m: HeartbeatResponse) -> None:
    out += _P_ihx(m.throttle_time_ms, m.error_code)


def _error_for(m: HeartbeatRequest, code: int) -> HeartbeatResponse:
    return HeartbeatResponse(error_code=code)


HeartbeatRequest.READ = (_read_HeartbeatRequest_0, _read_HeartbeatRequest_0, _read_HeartbeatRequest_0, _read_HeartbeatRequest_3, _read_HeartbeatRequest_4,)
HeartbeatRequest.READ_STEPS = (None, None, None, None, None,)
HeartbeatRequest.WRITE = (_write_HeartbeatRequest_0, _write_HeartbeatRequest_0, _write_HeartbeatRequest_0, _write_HeartbeatRequest_3, _write_HeartbeatRequest_4,)
HeartbeatRequest.WRITE_STEPS = (None, None, None, None, None,)
HeartbeatResponse.READ = (_read_HeartbeatResponse_0, _read_HeartbeatResponse_1, _read_HeartbeatResponse_1, _read_HeartbeatResponse_1, _read_HeartbeatResponse_4,)
HeartbeatResponse.READ_STEPS = (None, None, None, None, None,)
HeartbeatResponse.WRITE = (_write_HeartbeatResponse_0, _write_HeartbeatResponse_1, _write_HeartbeatResponse_1, _write_HeartbeatResponse_1, _write_HeartbeatResponse_4,)
HeartbeatResponse.WRITE_STEPS = (None, None, None, None, None,)
HeartbeatRequest.ERROR_FOR = _error_for
