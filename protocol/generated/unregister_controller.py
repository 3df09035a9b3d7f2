"""UnregisterControllerRequest, UnregisterControllerResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage
from headrace.protocol.message_reading import read_c_null_string, skip_tags
from headrace.protocol.message_writing import write_c_null_string
from headrace.protocol.primitives import Reader

class UnregisterControllerRequest(KafkaMessage):
    """Key 94, version 0, flexible from 0 on."""

    API_KEY: ClassVar[int] = 94
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    controller_id: int = 0


class UnregisterControllerResponse(KafkaMessage):
    """Key 94, version 0, flexible from 0 on."""

    API_KEY: ClassVar[int] = 94
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ""


_P_ih: Final = Struct(">ih").pack
_P_ix: Final = Struct(">ix").pack
_S_i: Final = Struct(">i")
_S_ih: Final = Struct(">ih")


def _read_UnregisterControllerRequest_0(r: Reader) -> UnregisterControllerRequest:
    controller_id, = r.fixed(_S_i)
    skip_tags(r)
    return UnregisterControllerRequest(controller_id)


def _write_UnregisterControllerRequest_0(out: bytearray, m: UnregisterControllerRequest) -> None:
    out += _P_ix(m.controller_id)


def _read_UnregisterControllerResponse_0(r: Reader) -> UnregisterControllerResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    error_message = read_c_null_string(r)
    skip_tags(r)
    return UnregisterControllerResponse(throttle_time_ms, error_code, error_message)


def _write_UnregisterControllerResponse_0(out: bytearray, m: UnregisterControllerResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_null_string(out, m.error_message)
    out.append(0)


def _error_for(m: UnregisterControllerRequest, code: int) -> UnregisterControllerResponse:
    return UnregisterControllerResponse(error_code=code, error_message=None)


UnregisterControllerRequest.READ = (_read_UnregisterControllerRequest_0,)
UnregisterControllerRequest.READ_STEPS = (None,)
UnregisterControllerRequest.WRITE = (_write_UnregisterControllerRequest_0,)
UnregisterControllerRequest.WRITE_STEPS = (None,)
UnregisterControllerResponse.READ = (_read_UnregisterControllerResponse_0,)
UnregisterControllerResponse.READ_STEPS = (None,)
UnregisterControllerResponse.WRITE = (_write_UnregisterControllerResponse_0,)
UnregisterControllerResponse.WRITE_STEPS = (None,)
UnregisterControllerRequest.ERROR_FOR = _error_for
