"""EndTxnRequest, EndTxnResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage
from headrace.protocol.message_reading import read_c_string, read_string, skip_tags
from headrace.protocol.message_writing import write_c_string, write_string
from headrace.protocol.primitives import Reader

class EndTxnRequest(KafkaMessage):
    """Key 26, versions 0 to 5, flexible from 3 on."""

    API_KEY: ClassVar[int] = 26
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 3
    transactional_id: str = ""
    producer_id: int = 0
    producer_epoch: int = 0
    committed: bool = False


class EndTxnResponse(KafkaMessage):
    """Key 26, versions 0 to 5, flexible from 3 on."""

    API_KEY: ClassVar[int] = 26
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 3
    throttle_time_ms: int = 0
    error_code: int = 0
    producer_id: int = -1
    producer_epoch: int = -1


_P_ih: Final = Struct(">ih").pack
_P_ihqhx: Final = Struct(">ihqhx").pack
_P_ihx: Final = Struct(">ihx").pack
_P_qht: Final = Struct(">qh?").pack
_P_qhtx: Final = Struct(">qh?x").pack
_S_ih: Final = Struct(">ih")
_S_ihqh: Final = Struct(">ihqh")
_S_qht: Final = Struct(">qh?")


def _read_EndTxnRequest_0(r: Reader) -> EndTxnRequest:
    transactional_id = read_string(r)
    producer_id, producer_epoch, committed = r.fixed(_S_qht)
    return EndTxnRequest(transactional_id, producer_id, producer_epoch, committed)


def _read_EndTxnRequest_3(r: Reader) -> EndTxnRequest:
    transactional_id = read_c_string(r)
    producer_id, producer_epoch, committed = r.fixed(_S_qht)
    skip_tags(r)
    return EndTxnRequest(transactional_id, producer_id, producer_epoch, committed)


def _write_EndTxnRequest_0(out: bytearray, m: EndTxnRequest) -> None:
    write_string(out, m.transactional_id)
    out += _P_qht(m.producer_id, m.producer_epoch, m.committed)


def _write_EndTxnRequest_3(out: bytearray, m: EndTxnRequest) -> None:
    write_c_string(out, m.transactional_id)
    out += _P_qhtx(m.producer_id, m.producer_epoch, m.committed)


def _read_EndTxnResponse_0(r: Reader) -> EndTxnResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    return EndTxnResponse(throttle_time_ms, error_code)


def _read_EndTxnResponse_3(r: Reader) -> EndTxnResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    skip_tags(r)
    return EndTxnResponse(throttle_time_ms, error_code)


def _read_EndTxnResponse_5(r: Reader) -> EndTxnResponse:
    throttle_time_ms, error_code, producer_id, producer_epoch = r.fixed(_S_ihqh)
    skip_tags(r)
    return EndTxnResponse(throttle_time_ms, error_code, producer_id, producer_epoch)


def _write_EndTxnResponse_0(out: bytearray, m: EndTxnResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)


def _write_EndTxnResponse_3(out: bytearray, m: EndTxnResponse) -> None:
    out += _P_ihx(m.throttle_time_ms, m.error_code)


def _write_EndTxnResponse_5(out: bytearray, m: EndTxnResponse) -> None:
    out += _P_ihqhx(m.throttle_time_ms, m.error_code, m.producer_id, m.producer_epoch)


def _error_for(m: EndTxnRequest, code: int) -> EndTxnResponse:
    return EndTxnResponse(error_code=code)


EndTxnRequest.READ = (_read_EndTxnRequest_0, _read_EndTxnRequest_0, _read_EndTxnRequest_0, _read_EndTxnRequest_3, _read_EndTxnRequest_3, _read_EndTxnRequest_3,)
EndTxnRequest.READ_STEPS = (None, None, None, None, None, None,)
EndTxnRequest.WRITE = (_write_EndTxnRequest_0, _write_EndTxnRequest_0, _write_EndTxnRequest_0, _write_EndTxnRequest_3, _write_EndTxnRequest_3, _write_EndTxnRequest_3,)
EndTxnRequest.WRITE_STEPS = (None, None, None, None, None, None,)
EndTxnResponse.READ = (_read_EndTxnResponse_0, _read_EndTxnResponse_0, _read_EndTxnResponse_0, _read_EndTxnResponse_3, _read_EndTxnResponse_3, _read_EndTxnResponse_5,)
EndTxnResponse.READ_STEPS = (None, None, None, None, None, None,)
EndTxnResponse.WRITE = (_write_EndTxnResponse_0, _write_EndTxnResponse_0, _write_EndTxnResponse_0, _write_EndTxnResponse_3, _write_EndTxnResponse_3, _write_EndTxnResponse_5,)
EndTxnResponse.WRITE_STEPS = (None, None, None, None, None, None,)
EndTxnRequest.ERROR_FOR = _error_for
