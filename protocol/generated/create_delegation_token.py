"""CreateDelegationTokenRequest, CreateDelegationTokenResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Generator
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, read_blob, read_c_blob, read_c_count, read_c_null_string, read_c_string, read_count, read_string, skip_tags
from headrace.protocol.message_writing import Output, write_blob, write_c_blob, write_c_count, write_c_null_string, write_c_string, write_count, write_string
from headrace.protocol.primitives import Reader

class CreateDelegationTokenRequest(KafkaMessage):
    """Key 38, versions 1 to 3, flexible from 2 on."""

    class CreatableRenewers(MessageStruct):
        """Versions 0+."""

        principal_type: str = ""
        principal_name: str = ""

    API_KEY: ClassVar[int] = 38
    MIN_VERSION: ClassVar[int] = 1
    FLEXIBLE_SINCE: ClassVar[int] = 2
    owner_principal_type: str | None = ""
    owner_principal_name: str | None = ""
    renewers: list[CreateDelegationTokenRequest.CreatableRenewers] = []
    max_lifetime_ms: int = 0


class CreateDelegationTokenResponse(KafkaMessage):
    """Key 38, versions 1 to 3, flexible from 2 on."""

    API_KEY: ClassVar[int] = 38
    MIN_VERSION: ClassVar[int] = 1
    FLEXIBLE_SINCE: ClassVar[int] = 2
    error_code: int = 0
    principal_type: str = ""
    principal_name: str = ""
    token_requester_principal_type: str = ""
    token_requester_principal_name: str = ""
    issue_timestamp_ms: int = 0
    expiry_timestamp_ms: int = 0
    max_timestamp_ms: int = 0
    token_id: str = ""
    hmac: bytes = b""
    throttle_time_ms: int = 0


_CreatableRenewers = CreateDelegationTokenRequest.CreatableRenewers
_P_h: Final = Struct(">h").pack
_P_i: Final = Struct(">i").pack
_P_ix: Final = Struct(">ix").pack
_P_q: Final = Struct(">q").pack
_P_qqq: Final = Struct(">qqq").pack
_P_qx: Final = Struct(">qx").pack
_S_h: Final = Struct(">h")
_S_i: Final = Struct(">i")
_S_q: Final = Struct(">q")
_S_qqq: Final = Struct(">qqq")


def _read_CreatableRenewers_1(r: Reader) -> _CreatableRenewers:
    principal_type = read_string(r)
    principal_name = read_string(r)
    return _CreatableRenewers(principal_type, principal_name)


def _read_CreateDelegationTokenRequest_1(r: Reader) -> CreateDelegationTokenRequest:
    n = read_count(r, 4)
    renewers = [_read_CreatableRenewers_1(r) for _ in range(n)]
    max_lifetime_ms, = r.fixed(_S_q)
    return CreateDelegationTokenRequest("", "", renewers, max_lifetime_ms)


def _read_CreatableRenewers_2(r: Reader) -> _CreatableRenewers:
    principal_type = read_c_string(r)
    principal_name = read_c_string(r)
    skip_tags(r)
    return _CreatableRenewers(principal_type, principal_name)


def _read_CreateDelegationTokenRequest_2(r: Reader) -> CreateDelegationTokenRequest:
    n = read_c_count(r, 3)
    renewers = [_read_CreatableRenewers_2(r) for _ in range(n)]
    max_lifetime_ms, = r.fixed(_S_q)
    skip_tags(r)
    return CreateDelegationTokenRequest("", "", renewers, max_lifetime_ms)


def _read_CreateDelegationTokenRequest_3(r: Reader) -> CreateDelegationTokenRequest:
    owner_principal_type = read_c_null_string(r)
    owner_principal_name = read_c_null_string(r)
    n = read_c_count(r, 3)
    renewers = [_read_CreatableRenewers_2(r) for _ in range(n)]
    max_lifetime_ms, = r.fixed(_S_q)
    skip_tags(r)
    return CreateDelegationTokenRequest(owner_principal_type, owner_principal_name, renewers, max_lifetime_ms)


def _read_steps_CreateDelegationTokenRequest_1(r: Reader) -> Generator[None, None, CreateDelegationTokenRequest]:
    n = read_count(r, 4)
    renewers: list[CreateDelegationTokenRequest.CreatableRenewers] = []
    if n <= FLAT_ELEMENTS:
        renewers = [_read_CreatableRenewers_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            renewers.append(_read_CreatableRenewers_1(r))
            if r.elements_ended(1):
                yield
    max_lifetime_ms, = r.fixed(_S_q)
    return CreateDelegationTokenRequest("", "", renewers, max_lifetime_ms)


def _read_steps_CreateDelegationTokenRequest_2(r: Reader) -> Generator[None, None, CreateDelegationTokenRequest]:
    n = read_c_count(r, 3)
    renewers: list[CreateDelegationTokenRequest.CreatableRenewers] = []
    if n <= FLAT_ELEMENTS:
        renewers = [_read_CreatableRenewers_2(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            renewers.append(_read_CreatableRenewers_2(r))
            if r.elements_ended(1):
                yield
    max_lifetime_ms, = r.fixed(_S_q)
    skip_tags(r)
    return CreateDelegationTokenRequest("", "", renewers, max_lifetime_ms)


def _read_steps_CreateDelegationTokenRequest_3(r: Reader) -> Generator[None, None, CreateDelegationTokenRequest]:
    owner_principal_type = read_c_null_string(r)
    owner_principal_name = read_c_null_string(r)
    n = read_c_count(r, 3)
    renewers: list[CreateDelegationTokenRequest.CreatableRenewers] = []
    if n <= FLAT_ELEMENTS:
        renewers = [_read_CreatableRenewers_2(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            renewers.append(_read_CreatableRenewers_2(r))
            if r.elements_ended(1):
                yield
    max_lifetime_ms, = r.fixed(_S_q)
    skip_tags(r)
    return CreateDelegationTokenRequest(owner_principal_type, owner_principal_name, renewers, max_lifetime_ms)


def _write_CreatableRenewers_1(out: bytearray, m: _CreatableRenewers) -> None:
    write_string(out, m.principal_type)
    write_string(out, m.principal_name)


def _write_CreateDelegationTokenRequest_1(out: bytearray, m: CreateDelegationTokenRequest) -> None:
    write_count(out, len(m.renewers))
    for it_renewers in m.renewers:
        _write_CreatableRenewers_1(out, it_renewers)
    out += _P_q(m.max_lifetime_ms)


def _write_CreatableRenewers_2(out: bytearray, m: _CreatableRenewers) -> None:
    write_c_string(out, m.principal_type)
    write_c_string(out, m.principal_name)
    out.append(0)


def _write_CreateDelegationTokenRequest_2(out: bytearray, m: CreateDelegationTokenRequest) -> None:
    write_c_count(out, len(m.renewers))
    for it_renewers in m.renewers:
        _write_CreatableRenewers_2(out, it_renewers)
    out += _P_qx(m.max_lifetime_ms)


def _write_CreateDelegationTokenRequest_3(out: bytearray, m: CreateDelegationTokenRequest) -> None:
    write_c_null_string(out, m.owner_principal_type)
    write_c_null_string(out, m.owner_principal_name)
    write_c_count(out, len(m.renewers))
    for it_renewers in m.renewers:
        _write_CreatableRenewers_2(out, it_renewers)
    out += _P_qx(m.max_lifetime_ms)


def _write_steps_CreateDelegationTokenRequest_1(o: Output, m: CreateDelegationTokenRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_count(out, len(m.renewers))
    if len(m.renewers) <= FLAT_ELEMENTS:
        for it_renewers in m.renewers:
            _write_CreatableRenewers_1(out, it_renewers)
        if o.elements_ended(len(m.renewers)):
            yield
    else:
        for it_renewers in m.renewers:
            _write_CreatableRenewers_1(out, it_renewers)
            if o.elements_ended(1):
                yield
    out += _P_q(m.max_lifetime_ms)


def _write_steps_CreateDelegationTokenRequest_2(o: Output, m: CreateDelegationTokenRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.renewers))
    if len(m.renewers) <= FLAT_ELEMENTS:
        for it_renewers in m.renewers:
            _write_CreatableRenewers_2(out, it_renewers)
        if o.elements_ended(len(m.renewers)):
            yield
    else:
        for it_renewers in m.renewers:
            _write_CreatableRenewers_2(out, it_renewers)
            if o.elements_ended(1):
                yield
    out += _P_qx(m.max_lifetime_ms)


def _write_steps_CreateDelegationTokenRequest_3(o: Output, m: CreateDelegationTokenRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_null_string(out, m.owner_principal_type)
    write_c_null_string(out, m.owner_principal_name)
    write_c_count(out, len(m.renewers))
    if len(m.renewers) <= FLAT_ELEMENTS:
        for it_renewers in m.renewers:
            _write_CreatableRenewers_2(out, it_renewers)
        if o.elements_ended(len(m.renewers)):
            yield
    else:
        for it_renewers in m.renewers:
            _write_CreatableRenewers_2(out, it_renewers)
            if o.elements_ended(1):
                yield
    out += _P_qx(m.max_lifetime_ms)


def _read_CreateDelegationTokenResponse_1(r: Reader) -> CreateDelegationTokenResponse:
    error_code, = r.fixed(_S_h)
    principal_type = read_string(r)
    principal_name = read_string(r)
    issue_timestamp_ms, expiry_timestamp_ms, max_timestamp_ms = r.fixed(_S_qqq)
    token_id = read_string(r)
    hmac = read_blob(r)
    throttle_time_ms, = r.fixed(_S_i)
    return CreateDelegationTokenResponse(error_code, principal_type, principal_name, "", "", issue_timestamp_ms, expiry_timestamp_ms, max_timestamp_ms, token_id, hmac, throttle_time_ms)


def _read_CreateDelegationTokenResponse_2(r: Reader) -> CreateDelegationTokenResponse:
    error_code, = r.fixed(_S_h)
    principal_type = read_c_string(r)
    principal_name = read_c_string(r)
    issue_timestamp_ms, expiry_timestamp_ms, max_timestamp_ms = r.fixed(_S_qqq)
    token_id = read_c_string(r)
    hmac = read_c_blob(r)
    throttle_time_ms, = r.fixed(_S_i)
    skip_tags(r)
    return CreateDelegationTokenResponse(error_code, principal_type, principal_name, "", "", issue_timestamp_ms, expiry_timestamp_ms, max_timestamp_ms, token_id, hmac, throttle_time_ms)


def _read_CreateDelegationTokenResponse_3(r: Reader) -> CreateDelegationTokenResponse:
    error_code, = r.fixed(_S_h)
    principal_type = read_c_string(r)
    principal_name = read_c_string(r)
    token_requester_principal_type = read_c_string(r)
    token_requester_principal_name = read_c_string(r)
    issue_timestamp_ms, expiry_timestamp_ms, max_timestamp_ms = r.fixed(_S_qqq)
    token_id = read_c_string(r)
    hmac = read_c_blob(r)
    throttle_time_ms, = r.fixed(_S_i)
    skip_tags(r)
    return CreateDelegationTokenResponse(error_code, principal_type, principal_name, token_requester_principal_type, token_requester_principal_name, issue_timestamp_ms, expiry_timestamp_ms, max_timestamp_ms, token_id, hmac, throttle_time_ms)


def _write_CreateDelegationTokenResponse_1(out: bytearray, m: CreateDelegationTokenResponse) -> None:
    out += _P_h(m.error_code)
    write_string(out, m.principal_type)
    write_string(out, m.principal_name)
    out += _P_qqq(m.issue_timestamp_ms, m.expiry_timestamp_ms, m.max_timestamp_ms)
    write_string(out, m.token_id)
    write_blob(out, m.hmac)
    out += _P_i(m.throttle_time_ms)


def _write_CreateDelegationTokenResponse_2(out: bytearray, m: CreateDelegationTokenResponse) -> None:
    out += _P_h(m.error_code)
    write_c_string(out, m.principal_type)
    write_c_string(out, m.principal_name)
    out += _P_qqq(m.issue_timestamp_ms, m.expiry_timestamp_ms, m.max_timestamp_ms)
    write_c_string(out, m.token_id)
    write_c_blob(out, m.hmac)
    out += _P_ix(m.throttle_time_ms)


def _write_CreateDelegationTokenResponse_3(out: bytearray, m: CreateDelegationTokenResponse) -> None:
    out += _P_h(m.error_code)
    write_c_string(out, m.principal_type)
    write_c_string(out, m.principal_name)
    write_c_string(out, m.token_requester_principal_type)
    write_c_string(out, m.token_requester_principal_name)
    out += _P_qqq(m.issue_timestamp_ms, m.expiry_timestamp_ms, m.max_timestamp_ms)
    write_c_string(out, m.token_id)
    write_c_blob(out, m.hmac)
    out += _P_ix(m.throttle_time_ms)


def _error_for(m: CreateDelegationTokenRequest, code: int) -> CreateDelegationTokenResponse:
    return CreateDelegationTokenResponse(error_code=code)


CreateDelegationTokenRequest.READ = (_read_CreateDelegationTokenRequest_1, _read_CreateDelegationTokenRequest_2, _read_CreateDelegationTokenRequest_3,)
CreateDelegationTokenRequest.READ_STEPS = (_read_steps_CreateDelegationTokenRequest_1, _read_steps_CreateDelegationTokenRequest_2, _read_steps_CreateDelegationTokenRequest_3,)
CreateDelegationTokenRequest.WRITE = (_write_CreateDelegationTokenRequest_1, _write_CreateDelegationTokenRequest_2, _write_CreateDelegationTokenRequest_3,)
CreateDelegationTokenRequest.WRITE_STEPS = (_write_steps_CreateDelegationTokenRequest_1, _write_steps_CreateDelegationTokenRequest_2, _write_steps_CreateDelegationTokenRequest_3,)
CreateDelegationTokenResponse.READ = (_read_CreateDelegationTokenResponse_1, _read_CreateDelegationTokenResponse_2, _read_CreateDelegationTokenResponse_3,)
CreateDelegationTokenResponse.READ_STEPS = (None, None, None,)
CreateDelegationTokenResponse.WRITE = (_write_CreateDelegationTokenResponse_1, _write_CreateDelegationTokenResponse_2, _write_CreateDelegationTokenResponse_3,)
CreateDelegationTokenResponse.WRITE_STEPS = (None, None, None,)
CreateDelegationTokenRequest.ERROR_FOR = _error_for
