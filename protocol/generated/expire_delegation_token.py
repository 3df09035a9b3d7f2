"""ExpireDelegationTokenRequest, ExpireDelegationTokenResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage
from headrace.protocol.message_reading import read_blob, read_c_blob, skip_tags
from headrace.protocol.message_writing import write_blob, write_c_blob
from headrace.protocol.primitives import Reader

class ExpireDelegationTokenRequest(KafkaMessage):
    """Key 40, versions 1 to 2, flexible from 2 on."""

    API_KEY: ClassVar[int] = 40
    MIN_VERSION: ClassVar[int] = 1
    FLEXIBLE_SINCE: ClassVar[int] = 2
    hmac: bytes = b""
    expiry_time_period_ms: int = 0


class ExpireDelegationTokenResponse(KafkaMessage):
    """Key 40, versions 1 to 2, flexible from 2 on."""

    API_KEY: ClassVar[int] = 40
    MIN_VERSION: ClassVar[int] = 1
    FLEXIBLE_SINCE: ClassVar[int] = 2
    error_code: int = 0
    expiry_timestamp_ms: int = 0
    throttle_time_ms: int = 0


_P_hqi: Final = Struct(">hqi").pack
_P_hqix: Final = Struct(">hqix").pack
_P_q: Final = Struct(">q").pack
_P_qx: Final = Struct(">qx").pack
_S_hqi: Final = Struct(">hqi")
_S_q: Final = Struct(">q")


def _read_ExpireDelegationTokenRequest_1(r: Reader) -> ExpireDelegationTokenRequest:
    hmac = read_blob(r)
    expiry_time_period_ms, = r.fixed(_S_q)
    return ExpireDelegationTokenRequest(hmac, expiry_time_period_ms)


def _read_ExpireDelegationTokenRequest_2(r: Reader) -> ExpireDelegationTokenRequest:
    hmac = read_c_blob(r)
    expiry_time_period_ms, = r.fixed(_S_q)
    skip_tags(r)
    return ExpireDelegationTokenRequest(hmac, expiry_time_period_ms)


def _write_ExpireDelegationTokenRequest_1(out: bytearray, m: ExpireDelegationTokenRequest) -> None:
    write_blob(out, m.hmac)
    out += _P_q(m.expiry_time_period_ms)


def _write_ExpireDelegationTokenRequest_2(out: bytearray, m: ExpireDelegationTokenRequest) -> None:
    write_c_blob(out, m.hmac)
    out += _P_qx(m.expiry_time_period_ms)


def _read_ExpireDelegationTokenResponse_1(r: Reader) -> ExpireDelegationTokenResponse:
    error_code, expiry_timestamp_ms, throttle_time_ms = r.fixed(_S_hqi)
    return ExpireDelegationTokenResponse(error_code, expiry_timestamp_ms, throttle_time_ms)


def _read_ExpireDelegationTokenResponse_2(r: Reader) -> ExpireDelegationTokenResponse:
    error_code, expiry_timestamp_ms, throttle_time_ms = r.fixed(_S_hqi)
    skip_tags(r)
    return ExpireDelegationTokenResponse(error_code, expiry_timestamp_ms, throttle_time_ms)


def _write_ExpireDelegationTokenResponse_1(out: bytearray, m: ExpireDelegationTokenResponse) -> None:
    out += _P_hqi(m.error_code, m.expiry_timestamp_ms, m.throttle_time_ms)


def _write_ExpireDelegationTokenResponse_2(out: bytearray, m: ExpireDelegationTokenResponse) -> None:
    out += _P_hqix(m.error_code, m.expiry_timestamp_ms, m.throttle_time_ms)


def _error_for(m: ExpireDelegationTokenRequest, code: int) -> ExpireDelegationTokenResponse:
    return ExpireDelegationTokenResponse(error_code=code)


ExpireDelegationTokenRequest.READ = (_read_ExpireDelegationTokenRequest_1, _read_ExpireDelegationTokenRequest_2,)
ExpireDelegationTokenRequest.READ_STEPS = (None, None,)
ExpireDelegationTokenRequest.WRITE = (_write_ExpireDelegationTokenRequest_1, _write_ExpireDelegationTokenRequest_2,)
ExpireDelegationTokenRequest.WRITE_STEPS = (None, None,)
ExpireDelegationTokenResponse.READ = (_read_ExpireDelegationTokenResponse_1, _read_ExpireDelegationTokenResponse_2,)
ExpireDelegationTokenResponse.READ_STEPS = (None, None,)
ExpireDelegationTokenResponse.WRITE = (_write_ExpireDelegationTokenResponse_1, _write_ExpireDelegationTokenResponse_2,)
ExpireDelegationTokenResponse.WRITE_STEPS = (None, None,)
ExpireDelegationTokenRequest.ERROR_FOR = _error_for
