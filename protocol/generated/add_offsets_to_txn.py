"""AddOffsetsToTxnRequest, AddOffsetsToTxnResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage
from headrace.protocol.message_reading import read_c_string, read_string, skip_tags
from headrace.protocol.message_writing import write_c_string, write_string
from headrace.protocol.primitives import Reader

class AddOffsetsToTxnRequest(KafkaMessage):
    """Key 25, versions 0 to 4, flexible from 3 on."""

    API_KEY: ClassVar[int] = 25
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 3
    transactional_id: str = ""
    producer_id: int = 0
    producer_epoch: int = 0
    group_id: str = ""


class AddOffsetsToTxnResponse(KafkaMessage):
    """Key 25, versions 0 to 4, flexible from 3 on."""

    API_KEY: ClassVar[int] = 25
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 3
    throttle_time_ms: int = 0
    error_code: int = 0


_P_ih: Final = Struct(">ih").pack
_P_ihx: Final = Struct(">ihx").pack
_P_qh: Final = Struct(">qh").pack
_S_ih: Final = Struct(">ih")
_S_qh: Final = Struct(">qh")


def _read_AddOffsetsToTxnRequest_0(r: Reader) -> AddOffsetsToTxnRequest:
    transactional_id = read_string(r)
    producer_id, producer_epoch = r.fixed(_S_qh)
    group_id = read_string(r)
    return AddOffsetsToTxnRequest(transactional_id, producer_id, producer_epoch, group_id)


def _read_AddOffsetsToTxnRequest_3(r: Reader) -> AddOffsetsToTxnRequest:
    transactional_id = read_c_string(r)
    producer_id, producer_epoch = r.fixed(_S_qh)
    group_id = read_c_string(r)
    skip_tags(r)
    return AddOffsetsToTxnRequest(transactional_id, producer_id, producer_epoch, group_id)


def _write_AddOffsetsToTxnRequest_0(out: bytearray, m: AddOffsetsToTxnRequest) -> None:
    write_string(out, m.transactional_id)
    out += _P_qh(m.producer_id, m.producer_epoch)
    write_string(out, m.group_id)


def _write_AddOffsetsToTxnRequest_3(out: bytearray, m: AddOffsetsToTxnRequest) -> None:
    write_c_string(out, m.transactional_id)
    out += _P_qh(m.producer_id, m.producer_epoch)
    write_c_string(out, m.group_id)
    out.append(0)


def _read_AddOffsetsToTxnResponse_0(r: Reader) -> AddOffsetsToTxnResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    return AddOffsetsToTxnResponse(throttle_time_ms, error_code)


def _read_AddOffsetsToTxnResponse_3(r: Reader) -> AddOffsetsToTxnResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    skip_tags(r)
    return AddOffsetsToTxnResponse(throttle_time_ms, error_code)


def _write_AddOffsetsToTxnResponse_0(out: bytearray, m: AddOffsetsToTxnResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)


def _write_AddOffsetsToTxnResponse_3(out: bytearray, m: AddOffsetsToTxnResponse) -> None:
    out += _P_ihx(m.throttle_time_ms, m.error_code)


def _error_for(m: AddOffsetsToTxnRequest, code: int) -> AddOffsetsToTxnResponse:
    return AddOffsetsToTxnResponse(error_code=code)


AddOffsetsToTxnRequest.READ = (_read_AddOffsetsToTxnRequest_0, _read_AddOffsetsToTxnRequest_0, _read_AddOffsetsToTxnRequest_0, _read_AddOffsetsToTxnRequest_3, _read_AddOffsetsToTxnRequest_3,)
AddOffsetsToTxnRequest.READ_STEPS = (None, None, None, None, None,)
AddOffsetsToTxnRequest.WRITE = (_write_AddOffsetsToTxnRequest_0, _write_AddOffsetsToTxnRequest_0, _write_AddOffsetsToTxnRequest_0, _write_AddOffsetsToTxnRequest_3, _write_AddOffsetsToTxnRequest_3,)
AddOffsetsToTxnRequest.WRITE_STEPS = (None, None, None, None, None,)
AddOffsetsToTxnResponse.READ = (_read_AddOffsetsToTxnResponse_0, _read_AddOffsetsToTxnResponse_0, _read_AddOffsetsToTxnResponse_0, _read_AddOffsetsToTxnResponse_3, _read_AddOffsetsToTxnResponse_3,)
AddOffsetsToTxnResponse.READ_STEPS = (None, None, None, None, None,)
AddOffsetsToTxnResponse.WRITE = (_write_AddOffsetsToTxnResponse_0, _write_AddOffsetsToTxnResponse_0, _write_AddOffsetsToTxnResponse_0, _write_AddOffsetsToTxnResponse_3, _write_AddOffsetsToTxnResponse_3,)
AddOffsetsToTxnResponse.WRITE_STEPS = (None, None, None, None, None,)
AddOffsetsToTxnRequest.ERROR_FOR = _error_for
