"""SaslHandshakeRequest, SaslHandshakeResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage
from headrace.protocol.message_reading import FLAT_ELEMENTS, read_count, read_string
from headrace.protocol.message_writing import Output, write_count, write_string
from headrace.protocol.primitives import Reader

class SaslHandshakeRequest(KafkaMessage):
    """Key 17, versions 0 to 1, none flexible."""

    API_KEY: ClassVar[int] = 17
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 32768
    mechanism: str = ""


class SaslHandshakeResponse(KafkaMessage):
    """Key 17, versions 0 to 1, none flexible."""

    API_KEY: ClassVar[int] = 17
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 32768
    error_code: int = 0
    mechanisms: Collection[str] = []


_P_h: Final = Struct(">h").pack
_S_h: Final = Struct(">h")


def _read_SaslHandshakeRequest_0(r: Reader) -> SaslHandshakeRequest:
    mechanism = read_string(r)
    return SaslHandshakeRequest(mechanism)


def _write_SaslHandshakeRequest_0(out: bytearray, m: SaslHandshakeRequest) -> None:
    write_string(out, m.mechanism)


def _read_SaslHandshakeResponse_0(r: Reader) -> SaslHandshakeResponse:
    error_code, = r.fixed(_S_h)
    n = read_count(r, 2)
    mechanisms = [read_string(r) for _ in range(n)]
    return SaslHandshakeResponse(error_code, mechanisms)


def _read_steps_SaslHandshakeResponse_0(r: Reader) -> Generator[None, None, SaslHandshakeResponse]:
    error_code, = r.fixed(_S_h)
    n = read_count(r, 2)
    mechanisms: list[str] = []
    if n <= FLAT_ELEMENTS:
        mechanisms = [read_string(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            mechanisms.append(read_string(r))
            if r.elements_ended(1):
                yield
    return SaslHandshakeResponse(error_code, mechanisms)


def _write_SaslHandshakeResponse_0(out: bytearray, m: SaslHandshakeResponse) -> None:
    out += _P_h(m.error_code)
    write_count(out, len(m.mechanisms))
    for it_mechanisms in m.mechanisms:
        write_string(out, it_mechanisms)


def _write_steps_SaslHandshakeResponse_0(o: Output, m: SaslHandshakeResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    write_count(out, len(m.mechanisms))
    if len(m.mechanisms) <= FLAT_ELEMENTS:
        for it_mechanisms in m.mechanisms:
            write_string(out, it_mechanisms)
        if o.elements_ended(len(m.mechanisms)):
            yield
    else:
        for it_mechanisms in m.mechanisms:
            write_string(out, it_mechanisms)
            if o.elements_ended(1):
                yield


def _error_for(m: SaslHandshakeRequest, code: int) -> SaslHandshakeResponse:
    return SaslHandshakeResponse(error_code=code)


SaslHandshakeRequest.READ = (_read_SaslHandshakeRequest_0, _read_SaslHandshakeRequest_0,)
SaslHandshakeRequest.READ_STEPS = (None, None,)
SaslHandshakeRequest.WRITE = (_write_SaslHandshakeRequest_0, _write_SaslHandshakeRequest_0,)
SaslHandshakeRequest.WRITE_STEPS = (None, None,)
SaslHandshakeResponse.READ = (_read_SaslHandshakeResponse_0, _read_SaslHandshakeResponse_0,)
SaslHandshakeResponse.READ_STEPS = (_read_steps_SaslHandshakeResponse_0, _read_steps_SaslHandshakeResponse_0,)
SaslHandshakeResponse.WRITE = (_write_SaslHandshakeResponse_0, _write_SaslHandshakeResponse_0,)
SaslHandshakeResponse.WRITE_STEPS = (_write_steps_SaslHandshakeResponse_0, _write_steps_SaslHandshakeResponse_0,)
SaslHandshakeRequest.ERROR_FOR = _error_for
