"""InitProducerIdRequest, InitProducerIdResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage
from headrace.protocol.message_reading import read_c_null_string, read_null_string, skip_tags
from headrace.protocol.message_writing import write_c_null_string, write_null_string
from headrace.protocol.primitives import Reader

class InitProducerIdRequest(KafkaMessage):
    """Key 22, versions 0 to 6, flexible from 2 on."""

    API_KEY: ClassVar[int] = 22
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 2
    transactional_id: str | None = ""
    transaction_timeout_ms: int = 0
    producer_id: int = -1
    producer_epoch: int = -1
    enable2_pc: bool = False
    keep_prepared_txn: bool = False


class InitProducerIdResponse(KafkaMessage):
    """Key 22, versions 0 to 6, flexible from 2 on."""

    API_KEY: ClassVar[int] = 22
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 2
    throttle_time_ms: int = 0
    error_code: int = 0
    producer_id: int = -1
    producer_epoch: int = 0
    ongoing_txn_producer_id: int = -1
    ongoing_txn_producer_epoch: int = -1


_P_i: Final = Struct(">i").pack
_P_ihqh: Final = Struct(">ihqh").pack
_P_ihqhqhx: Final = Struct(">ihqhqhx").pack
_P_ihqhx: Final = Struct(">ihqhx").pack
_P_iqhttx: Final = Struct(">iqh??x").pack
_P_iqhx: Final = Struct(">iqhx").pack
_P_ix: Final = Struct(">ix").pack
_S_i: Final = Struct(">i")
_S_ihqh: Final = Struct(">ihqh")
_S_ihqhqh: Final = Struct(">ihqhqh")
_S_iqh: Final = Struct(">iqh")
_S_iqhtt: Final = Struct(">iqh??")


def _read_InitProducerIdRequest_0(r: Reader) -> InitProducerIdRequest:
    transactional_id = read_null_string(r)
    transaction_timeout_ms, = r.fixed(_S_i)
    return InitProducerIdRequest(transactional_id, transaction_timeout_ms)


def _read_InitProducerIdRequest_2(r: Reader) -> InitProducerIdRequest:
    transactional_id = read_c_null_string(r)
    transaction_timeout_ms, = r.fixed(_S_i)
    skip_tags(r)
    return InitProducerIdRequest(transactional_id, transaction_timeout_ms)


def _read_InitProducerIdRequest_3(r: Reader) -> InitProducerIdRequest:
    transactional_id = read_c_null_string(r)
    transaction_timeout_ms, producer_id, producer_epoch = r.fixed(_S_iqh)
    skip_tags(r)
    return InitProducerIdRequest(transactional_id, transaction_timeout_ms, producer_id, producer_epoch)


def _read_InitProducerIdRequest_6(r: Reader) -> InitProducerIdRequest:
    transactional_id = read_c_null_string(r)
    transaction_timeout_ms, producer_id, producer_epoch, enable2_pc, keep_prepared_txn = r.fixed(_S_iqhtt)
    skip_tags(r)
    return InitProducerIdRequest(transactional_id, transaction_timeout_ms, producer_id, producer_epoch, enable2_pc, keep_prepared_txn)


def _write_InitProducerIdRequest_0(out: bytearray, m: InitProducerIdRequest) -> None:
    write_null_string(out, m.transactional_id)
    out += _P_i(m.transaction_timeout_ms)


def _write_InitProducerIdRequest_2(out: bytearray, m: InitProducerIdRequest) -> None:
    write_c_null_string(out, m.transactional_id)
    out += _P_ix(m.transaction_timeout_ms)


def _write_InitProducerIdRequest_3(out: bytearray, m: InitProducerIdRequest) -> None:
    write_c_null_string(out, m.transactional_id)
    out += _P_iqhx(m.transaction_timeout_ms, m.producer_id, m.producer_epoch)


def _write_InitProducerIdRequest_6(out: bytearray, m: InitProducerIdRequest) -> None:
    write_c_null_string(out, m.transactional_id)
    out += _P_iqhttx(m.transaction_timeout_ms, m.producer_id, m.producer_epoch, m.enable2_pc, m.keep_prepared_txn)


def _read_InitProducerIdResponse_0(r: Reader) -> InitProducerIdResponse:
    throttle_time_ms, error_code, producer_id, producer_epoch = r.fixed(_S_ihqh)
    return InitProducerIdResponse(throttle_time_ms, error_code, producer_id, producer_epoch)


def _read_InitProducerIdResponse_2(r: Reader) -> InitProducerIdResponse:
    throttle_time_ms, error_code, producer_id, producer_epoch = r.fixed(_S_ihqh)
    skip_tags(r)
    return InitProducerIdResponse(throttle_time_ms, error_code, producer_id, producer_epoch)


def _read_InitProducerIdResponse_6(r: Reader) -> InitProducerIdResponse:
    throttle_time_ms, error_code, producer_id, producer_epoch, ongoing_txn_producer_id, ongoing_txn_producer_epoch = r.fixed(_S_ihqhqh)
    skip_tags(r)
    return InitProducerIdResponse(throttle_time_ms, error_code, producer_id, producer_epoch, ongoing_txn_producer_id, ongoing_txn_producer_epoch)


def _write_InitProducerIdResponse_0(out: bytearray, m: InitProducerIdResponse) -> None:
    out += _P_ihqh(m.throttle_time_ms, m.error_code, m.producer_id, m.producer_epoch)


def _write_InitProducerIdResponse_2(out: bytearray, m: InitProducerIdResponse) -> None:
    out += _P_ihqhx(m.throttle_time_ms, m.error_code, m.producer_id, m.producer_epoch)


def _write_InitProducerIdResponse_6(out: bytearray, m: InitProducerIdResponse) -> None:
    out += _P_ihqhqhx(m.throttle_time_ms, m.error_code, m.producer_id, m.producer_epoch, m.ongoing_txn_producer_id, m.ongoing_txn_producer_epoch)


def _error_for(m: InitProducerIdRequest, code: int) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=code)


InitProducerIdRequest.READ = (_read_InitProducerIdRequest_0, _read_InitProducerIdRequest_0, _read_InitProducerIdRequest_2, _read_InitProducerIdRequest_3, _read_InitProducerIdRequest_3, _read_InitProducerIdRequest_3, _read_InitProducerIdRequest_6,)
InitProducerIdRequest.READ_STEPS = (None, None, None, None, None, None, None,)
InitProducerIdRequest.WRITE = (_write_InitProducerIdRequest_0, _write_InitProducerIdRequest_0, _write_InitProducerIdRequest_2, _write_InitProducerIdRequest_3, _write_InitProducerIdRequest_3, _write_InitProducerIdRequest_3, _write_InitProducerIdRequest_6,)
InitProducerIdRequest.WRITE_STEPS = (None, None, None, None, None, None, None,)
InitProducerIdResponse.READ = (_read_InitProducerIdResponse_0, _read_InitProducerIdResponse_0, _read_InitProducerIdResponse_2, _read_InitProducerIdResponse_2, _read_InitProducerIdResponse_2, _read_InitProducerIdResponse_2, _read_InitProducerIdResponse_6,)
InitProducerIdResponse.READ_STEPS = (None, None, None, None, None, None, None,)
InitProducerIdResponse.WRITE = (_write_InitProducerIdResponse_0, _write_InitProducerIdResponse_0, _write_InitProducerIdResponse_2, _write_InitProducerIdResponse_2, _write_InitProducerIdResponse_2, _write_InitProducerIdResponse_2, _write_InitProducerIdResponse_6,)
InitProducerIdResponse.WRITE_STEPS = (None, None, None, None, None, None, None,)
InitProducerIdRequest.ERROR_FOR = _error_for
