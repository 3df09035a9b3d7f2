"""SaslAuthenticateRequest, SaslAuthenticateResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage
from headrace.protocol.message_reading import read_blob, read_c_blob, read_c_null_string, read_null_string, skip_tags
from headrace.protocol.message_writing import write_blob, write_c_blob, write_c_null_string, write_null_string
from headrace.protocol.primitives import Reader

class SaslAuthenticateRequest(KafkaMessage):
    """Key 36, versions 0 to 2, flexible from 2 on."""

    API_KEY: ClassVar[int] = 36
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 2
    auth_bytes: bytes = b""


class SaslAuthenticateResponse(KafkaMessage):
    """Key 36, versions 0 to 2, flexible from 2 on."""

    API_KEY: ClassVar[int] = 36
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 2
    error_code: int = 0
    error_message: str | None = ""
    auth_bytes: bytes = b""
    session_lifetime_ms: int = 0


_P_h: Final = Struct(">h").pack
_P_q: Final = Struct(">q").pack
_P_qx: Final = Struct(">qx").pack
_S_h: Final = Struct(">h")
_S_q: Final = Struct(">q")


def _read_SaslAuthenticateRequest_0(r: Reader) -> SaslAuthenticateRequest:
    auth_bytes = read_blob(r)
    return SaslAuthenticateRequest(auth_bytes)


def _read_SaslAuthenticateRequest_2(r: Reader) -> SaslAuthenticateRequest:
    auth_bytes = read_c_blob(r)
    skip_tags(r)
    return SaslAuthenticateRequest(auth_bytes)


def _write_SaslAuthenticateRequest_0(out: bytearray, m: SaslAuthenticateRequest) -> None:
    write_blob(out, m.auth_bytes)


def _write_SaslAuthenticateRequest_2(out: bytearray, m: SaslAuthenticateRequest) -> None:
    write_c_blob(out, m.auth_bytes)
    out.append(0)


def _read_SaslAuthenticateResponse_0(r: Reader) -> SaslAuthenticateResponse:
    error_code, = r.fixed(_S_h)
    error_message = read_null_string(r)
    auth_bytes = read_blob(r)
    return SaslAuthenticateResponse(error_code, error_message, auth_bytes)


def _read_SaslAuthenticateResponse_1(r: Reader) -> SaslAuthenticateResponse:
    error_code, = r.fixed(_S_h)
    error_message = read_null_string(r)
    auth_bytes = read_blob(r)
    session_lifetime_ms, = r.fixed(_S_q)
    return SaslAuthenticateResponse(error_code, error_message, auth_bytes, session_lifetime_ms)


def _read_SaslAuthenticateResponse_2(r: Reader) -> SaslAuthenticateResponse:
    error_code, = r.fixed(_S_h)
    error_message = read_c_null_string(r)
    auth_bytes = read_c_blob(r)
    session_lifetime_ms, = r.fixed(_S_q)
    skip_tags(r)
    return SaslAuthenticateResponse(error_code, error_message, auth_bytes, session_lifetime_ms)


def _write_SaslAuthenticateResponse_0(out: bytearray, m: SaslAuthenticateResponse) -> None:
    out += _P_h(m.error_code)
    write_null_string(out, m.error_message)
    write_blob(out, m.auth_bytes)


def _write_SaslAuthenticateResponse_1(out: bytearray, m: SaslAuthenticateResponse) -> None:
    out += _P_h(m.error_code)
    write_null_string(out, m.error_message)
    write_blob(out, m.auth_bytes)
    out += _P_q(m.session_lifetime_ms)


def _write_SaslAuthenticateResponse_2(out: bytearray, m: SaslAuthenticateResponse) -> None:
    out += _P_h(m.error_code)
    write_c_null_string(out, m.error_message)
    write_c_blob(out, m.auth_bytes)
    out += _P_qx(m.session_lifetime_ms)


def _error_for(m: SaslAuthenticateRequest, code: int) -> SaslAuthenticateResponse:
    return SaslAuthenticateResponse(error_code=code, error_message=None)


SaslAuthenticateRequest.READ = (_read_SaslAuthenticateRequest_0, _read_SaslAuthenticateRequest_0, _read_SaslAuthenticateRequest_2,)
SaslAuthenticateRequest.READ_STEPS = (None, None, None,)
SaslAuthenticateRequest.WRITE = (_write_SaslAuthenticateRequest_0, _write_SaslAuthenticateRequest_0, _write_SaslAuthenticateRequest_2,)
SaslAuthenticateRequest.WRITE_STEPS = (None, None, None,)
SaslAuthenticateResponse.READ = (_read_SaslAuthenticateResponse_0, _read_SaslAuthenticateResponse_1, _read_SaslAuthenticateResponse_2,)
SaslAuthenticateResponse.READ_STEPS = (None, None, None,)
SaslAuthenticateResponse.WRITE = (_write_SaslAuthenticateResponse_0, _write_SaslAuthenticateResponse_1, _write_SaslAuthenticateResponse_2,)
SaslAuthenticateResponse.WRITE_STEPS = (None, None, None,)
SaslAuthenticateRequest.ERROR_FOR = _error_for
