"""RenewDelegationTokenRequest, RenewDelegationTokenResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage
from headrace.protocol.message_reading import read_blob, read_c_blob, skip_tags
from headrace.protocol.message_writing import write_blob, write_c_blob
from headrace.protocol.primitives import Reader

class RenewDelegationTokenRequest(KafkaMessage):
    """Key 39, versions 1 to 2, flexible from 2 on."""

    API_KEY: ClassVar[int] = 39
    MIN_VERSION: ClassVar[int] = 1
    FLEXIBLE_SINCE: ClassVar[int] = 2
    hmac: bytes = b""
    renew_period_ms: int = 0


class RenewDelegationTokenResponse(KafkaMessage):
    """Key 39, versions 1 to 2, flexible from 2 on."""

    API_KEY: ClassVar[int] = 39
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


def _read_RenewDelegationTokenRequest_1(r: Reader) -> RenewDelegationTokenRequest:
    hmac = read_blob(r)
    renew_period_ms, = r.fixed(_S_q)
    return RenewDelegationTokenRequest(hmac, renew_period_ms)


def _read_RenewDelegationTokenRequest_2(r: Reader) -> RenewDelegationTokenRequest:
    hmac = read_c_blob(r)
    renew_period_ms, = r.fixed(_S_q)
    skip_tags(r)
    return RenewDelegationTokenRequest(hmac, renew_period_ms)


def _write_RenewDelegationTokenRequest_1(out: bytearray, m: RenewDelegationTokenRequest) -> None:
    write_blob(out, m.hmac)
    out += _P_q(m.renew_period_ms)


def _write_RenewDelegationTokenRequest_2(out: bytearray, m: RenewDelegationTokenRequest) -> None:
    write_c_blob(out, m.hmac)
    out += _P_qx(m.renew_period_ms)


def _read_RenewDelegationTokenResponse_1(r: Reader) -> RenewDelegationTokenResponse:
    error_code, expiry_timestamp_ms, throttle_time_ms = r.fixed(_S_hqi)
    return RenewDelegationTokenResponse(error_code, expiry_timestamp_ms, throttle_time_ms)


def _read_RenewDelegationTokenResponse_2(r: Reader) -> RenewDelegationTokenResponse:
    error_code, expiry_timestamp_ms, throttle_time_ms = r.fixed(_S_hqi)
    skip_tags(r)
    return RenewDelegationTokenResponse(error_code, expiry_timestamp_ms, throttle_time_ms)


def _write_RenewDelegationTokenResponse_1(out: bytearray, m: RenewDelegationTokenResponse) -> None:
    out += _P_hqi(m.error_code, m.expiry_timestamp_ms, m.throttle_time_ms)


def _write_RenewDelegationTokenResponse_2(out: bytearray, m: RenewDelegationTokenResponse) -> None:
    out += _P_hqix(m.error_code, m.expiry_timestamp_ms, m.throttle_time_ms)


def _error_for(m: RenewDelegationTokenRequest, code: int) -> RenewDelegationTokenResponse:
    return RenewDelegationTokenResponse(error_code=code)


RenewDelegationTokenRequest.READ = (_read_RenewDelegationTokenRequest_1, _read_RenewDelegationTokenRequest_2,)
RenewDelegationTokenRequest.READ_STEPS = (None, None,)
RenewDelegationTokenRequest.WRITE = (_write_RenewDelegationTokenRequest_1, _write_RenewDelegationTokenRequest_2,)
RenewDelegationTokenRequest.WRITE_STEPS = (None, None,)
RenewDelegationTokenResponse.READ = (_read_RenewDelegationTokenResponse_1, _read_RenewDelegationTokenResponse_2,)
RenewDelegationTokenResponse.READ_STEPS = (None, None,)
RenewDelegationTokenResponse.WRITE = (_write_RenewDelegationTokenResponse_1, _write_RenewDelegationTokenResponse_2,)
RenewDelegationTokenResponse.WRITE_STEPS = (None, None,)
RenewDelegationTokenRequest.ERROR_FOR = _error_for
