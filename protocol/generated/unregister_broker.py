"""UnregisterBrokerRequest, UnregisterBrokerResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage
from headrace.protocol.message_reading import read_c_null_string, skip_tags
from headrace.protocol.message_writing import write_c_null_string
from headrace.protocol.primitives import Reader

class UnregisterBrokerRequest(KafkaMessage):
    """Key 64, version 0, flexible from 0 on."""

    API_KEY: ClassVar[int] = 64
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    broker_id: int = 0


class UnregisterBrokerResponse(KafkaMessage):
    """Key 64, version 0, flexible from 0 on."""

    API_KEY: ClassVar[int] = 64
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ""


_P_ih: Final = Struct(">ih").pack
_P_ix: Final = Struct(">ix").pack
_S_i: Final = Struct(">i")
_S_ih: Final = Struct(">ih")


def _read_UnregisterBrokerRequest_0(r: Reader) -> UnregisterBrokerRequest:
    broker_id, = r.fixed(_S_i)
    skip_tags(r)
    return UnregisterBrokerRequest(broker_id)


def _write_UnregisterBrokerRequest_0(out: bytearray, m: UnregisterBrokerRequest) -> None:
    out += _P_ix(m.broker_id)


def _read_UnregisterBrokerResponse_0(r: Reader) -> UnregisterBrokerResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    error_message = read_c_null_string(r)
    skip_tags(r)
    return UnregisterBrokerResponse(throttle_time_ms, error_code, error_message)


def _write_UnregisterBrokerResponse_0(out: bytearray, m: UnregisterBrokerResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_null_string(out, m.error_message)
    out.append(0)


def _error_for(m: UnregisterBrokerRequest, code: int) -> UnregisterBrokerResponse:
    return UnregisterBrokerResponse(error_code=code, error_message=None)


UnregisterBrokerRequest.READ = (_read_UnregisterBrokerRequest_0,)
UnregisterBrokerRequest.READ_STEPS = (None,)
UnregisterBrokerRequest.WRITE = (_write_UnregisterBrokerRequest_0,)
UnregisterBrokerRequest.WRITE_STEPS = (None,)
UnregisterBrokerResponse.READ = (_read_UnregisterBrokerResponse_0,)
UnregisterBrokerResponse.READ_STEPS = (None,)
UnregisterBrokerResponse.WRITE = (_write_UnregisterBrokerResponse_0,)
UnregisterBrokerResponse.WRITE_STEPS = (None,)
UnregisterBrokerRequest.ERROR_FOR = _error_for
