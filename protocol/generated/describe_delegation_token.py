"""DescribeDelegationTokenRequest, DescribeDelegationTokenResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, read_blob, read_c_blob, read_c_count, read_c_null_count, read_c_string, read_count, read_null_count, read_string, skip_tags
from headrace.protocol.message_writing import Output, write_blob, write_c_blob, write_c_count, write_c_string, write_count, write_string
from headrace.protocol.primitives import Reader

class DescribeDelegationTokenRequest(KafkaMessage):
    """Key 41, versions 1 to 3, flexible from 2 on."""

    class DescribeDelegationTokenOwner(MessageStruct):
        """Versions 0+."""

        principal_type: str = ""
        principal_name: str = ""

    API_KEY: ClassVar[int] = 41
    MIN_VERSION: ClassVar[int] = 1
    FLEXIBLE_SINCE: ClassVar[int] = 2
    owners: list[DescribeDelegationTokenRequest.DescribeDelegationTokenOwner] | None = []


class DescribeDelegationTokenResponse(KafkaMessage):
    """Key 41, versions 1 to 3, flexible from 2 on."""

    class DescribedDelegationToken(MessageStruct):
        """Versions 0+."""

        class DescribedDelegationTokenRenewer(MessageStruct):
            """Versions 0+."""

            principal_type: str = ""
            principal_name: str = ""

        principal_type: str = ""
        principal_name: str = ""
        token_requester_principal_type: str = ""
        token_requester_principal_name: str = ""
        issue_timestamp: int = 0
        expiry_timestamp: int = 0
        max_timestamp: int = 0
        token_id: str = ""
        hmac: bytes = b""
        renewers: Collection[DescribeDelegationTokenResponse.DescribedDelegationToken.DescribedDelegationTokenRenewer] = []

    API_KEY: ClassVar[int] = 41
    MIN_VERSION: ClassVar[int] = 1
    FLEXIBLE_SINCE: ClassVar[int] = 2
    error_code: int = 0
    tokens: Collection[DescribeDelegationTokenResponse.DescribedDelegationToken] = []
    throttle_time_ms: int = 0


_DescribeDelegationTokenOwner = DescribeDelegationTokenRequest.DescribeDelegationTokenOwner
_DescribedDelegationTokenRenewer = DescribeDelegationTokenResponse.DescribedDelegationToken.DescribedDelegationTokenRenewer
_DescribedDelegationToken = DescribeDelegationTokenResponse.DescribedDelegationToken
_P_h: Final = Struct(">h").pack
_P_i: Final = Struct(">i").pack
_P_ix: Final = Struct(">ix").pack
_P_qqq: Final = Struct(">qqq").pack
_S_h: Final = Struct(">h")
_S_i: Final = Struct(">i")
_S_qqq: Final = Struct(">qqq")


def _read_DescribeDelegationTokenOwner_1(r: Reader) -> _DescribeDelegationTokenOwner:
    principal_type = read_string(r)
    principal_name = read_string(r)
    return _DescribeDelegationTokenOwner(principal_type, principal_name)


def _read_DescribeDelegationTokenRequest_1(r: Reader) -> DescribeDelegationTokenRequest:
    n = read_null_count(r, 4)
    owners = None if n < 0 else [_read_DescribeDelegationTokenOwner_1(r) for _ in range(n)]
    return DescribeDelegationTokenRequest(owners)


def _read_DescribeDelegationTokenOwner_2(r: Reader) -> _DescribeDelegationTokenOwner:
    principal_type = read_c_string(r)
    principal_name = read_c_string(r)
    skip_tags(r)
    return _DescribeDelegationTokenOwner(principal_type, principal_name)


def _read_DescribeDelegationTokenRequest_2(r: Reader) -> DescribeDelegationTokenRequest:
    n = read_c_null_count(r, 3)
    owners = None if n < 0 else [_read_DescribeDelegationTokenOwner_2(r) for _ in range(n)]
    skip_tags(r)
    return DescribeDelegationTokenRequest(owners)


def _read_steps_DescribeDelegationTokenRequest_1(r: Reader) -> Generator[None, None, DescribeDelegationTokenRequest]:
    n = read_null_count(r, 4)
    owners: list[DescribeDelegationTokenRequest.DescribeDelegationTokenOwner] | None = None
    if n >= 0:
        owners_: list[DescribeDelegationTokenRequest.DescribeDelegationTokenOwner] = []
        if n <= FLAT_ELEMENTS:
            owners_ = [_read_DescribeDelegationTokenOwner_1(r) for _ in range(n)]
            r.elements_of_step += n
        else:
            for _ in range(n):
                owners_.append(_read_DescribeDelegationTokenOwner_1(r))
                if r.elements_ended(1):
                    yield
        owners = owners_
    return DescribeDelegationTokenRequest(owners)


def _read_steps_DescribeDelegationTokenRequest_2(r: Reader) -> Generator[None, None, DescribeDelegationTokenRequest]:
    n = read_c_null_count(r, 3)
    owners: list[DescribeDelegationTokenRequest.DescribeDelegationTokenOwner] | None = None
    if n >= 0:
        owners_: list[DescribeDelegationTokenRequest.DescribeDelegationTokenOwner] = []
        if n <= FLAT_ELEMENTS:
            owners_ = [_read_DescribeDelegationTokenOwner_2(r) for _ in range(n)]
            r.elements_of_step += n
        else:
            for _ in range(n):
                owners_.append(_read_DescribeDelegationTokenOwner_2(r))
                if r.elements_ended(1):
                    yield
        owners = owners_
    skip_tags(r)
    return DescribeDelegationTokenRequest(owners)


def _write_DescribeDelegationTokenOwner_1(out: bytearray, m: _DescribeDelegationTokenOwner) -> None:
    write_string(out, m.principal_type)
    write_string(out, m.principal_name)


def _write_DescribeDelegationTokenRequest_1(out: bytearray, m: DescribeDelegationTokenRequest) -> None:
    if m.owners is None:
        write_count(out, -1)
    else:
        write_count(out, len(m.owners))
        for it_owners in m.owners:
            _write_DescribeDelegationTokenOwner_1(out, it_owners)


def _write_DescribeDelegationTokenOwner_2(out: bytearray, m: _DescribeDelegationTokenOwner) -> None:
    write_c_string(out, m.principal_type)
    write_c_string(out, m.principal_name)
    out.append(0)


def _write_DescribeDelegationTokenRequest_2(out: bytearray, m: DescribeDelegationTokenRequest) -> None:
    if m.owners is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.owners))
        for it_owners in m.owners:
            _write_DescribeDelegationTokenOwner_2(out, it_owners)
    out.append(0)


def _write_steps_DescribeDelegationTokenRequest_1(o: Output, m: DescribeDelegationTokenRequest) -> Generator[None, None, None]:
    out = o.buffer
    if m.owners is None:
        write_count(out, -1)
    else:
        write_count(out, len(m.owners))
        if len(m.owners) <= FLAT_ELEMENTS:
            for it_owners in m.owners:
                _write_DescribeDelegationTokenOwner_1(out, it_owners)
            if o.elements_ended(len(m.owners)):
                yield
        else:
            for it_owners in m.owners:
                _write_DescribeDelegationTokenOwner_1(out, it_owners)
                if o.elements_ended(1):
                    yield


def _write_steps_DescribeDelegationTokenRequest_2(o: Output, m: DescribeDelegationTokenRequest) -> Generator[None, None, None]:
    out = o.buffer
    if m.owners is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.owners))
        if len(m.owners) <= FLAT_ELEMENTS:
            for it_owners in m.owners:
                _write_DescribeDelegationTokenOwner_2(out, it_owners)
            if o.elements_ended(len(m.owners)):
                yield
        else:
            for it_owners in m.owners:
                _write_DescribeDelegationTokenOwner_2(out, it_owners)
                if o.elements_ended(1):
                    yield
    out.append(0)


def _read_DescribedDelegationTokenRenewer_1(r: Reader) -> _DescribedDelegationTokenRenewer:
    principal_type = read_string(r)
    principal_name = read_string(r)
    return _DescribedDelegationTokenRenewer(principal_type, principal_name)


def _read_DescribedDelegationToken_1(r: Reader) -> _DescribedDelegationToken:
    principal_type = read_string(r)
    principal_name = read_string(r)
    issue_timestamp, expiry_timestamp, max_timestamp = r.fixed(_S_qqq)
    token_id = read_string(r)
    hmac = read_blob(r)
    n = read_count(r, 4)
    renewers = [_read_DescribedDelegationTokenRenewer_1(r) for _ in range(n)]
    return _DescribedDelegationToken(principal_type, principal_name, "", "", issue_timestamp, expiry_timestamp, max_timestamp, token_id, hmac, renewers)


def _read_DescribeDelegationTokenResponse_1(r: Reader) -> DescribeDelegationTokenResponse:
    error_code, = r.fixed(_S_h)
    n = read_count(r, 38)
    tokens = [_read_DescribedDelegationToken_1(r) for _ in range(n)]
    throttle_time_ms, = r.fixed(_S_i)
    return DescribeDelegationTokenResponse(error_code, tokens, throttle_time_ms)


def _read_DescribedDelegationTokenRenewer_2(r: Reader) -> _DescribedDelegationTokenRenewer:
    principal_type = read_c_string(r)
    principal_name = read_c_string(r)
    skip_tags(r)
    return _DescribedDelegationTokenRenewer(principal_type, principal_name)


def _read_DescribedDelegationToken_2(r: Reader) -> _DescribedDelegationToken:
    principal_type = read_c_string(r)
    principal_name = read_c_string(r)
    issue_timestamp, expiry_timestamp, max_timestamp = r.fixed(_S_qqq)
    token_id = read_c_string(r)
    hmac = read_c_blob(r)
    n = read_c_count(r, 3)
    renewers = [_read_DescribedDelegationTokenRenewer_2(r) for _ in range(n)]
    skip_tags(r)
    return _DescribedDelegationToken(principal_type, principal_name, "", "", issue_timestamp, expiry_timestamp, max_timestamp, token_id, hmac, renewers)


def _read_DescribeDelegationTokenResponse_2(r: Reader) -> DescribeDelegationTokenResponse:
    error_code, = r.fixed(_S_h)
    n = read_c_count(r, 30)
    tokens = [_read_DescribedDelegationToken_2(r) for _ in range(n)]
    throttle_time_ms, = r.fixed(_S_i)
    skip_tags(r)
    return DescribeDelegationTokenResponse(error_code, tokens, throttle_time_ms)


def _read_DescribedDelegationToken_3(r: Reader) -> _DescribedDelegationToken:
    principal_type = read_c_string(r)
    principal_name = read_c_string(r)
    token_requester_principal_type = read_c_string(r)
    token_requester_principal_name = read_c_string(r)
    issue_timestamp, expiry_timestamp, max_timestamp = r.fixed(_S_qqq)
    token_id = read_c_string(r)
    hmac = read_c_blob(r)
    n = read_c_count(r, 3)
    renewers = [_read_DescribedDelegationTokenRenewer_2(r) for _ in range(n)]
    skip_tags(r)
    return _DescribedDelegationToken(principal_type, principal_name, token_requester_principal_type, token_requester_principal_name, issue_timestamp, expiry_timestamp, max_timestamp, token_id, hmac, renewers)


def _read_DescribeDelegationTokenResponse_3(r: Reader) -> DescribeDelegationTokenResponse:
    error_code, = r.fixed(_S_h)
    n = read_c_count(r, 32)
    tokens = [_read_DescribedDelegationToken_3(r) for _ in range(n)]
    throttle_time_ms, = r.fixed(_S_i)
    skip_tags(r)
    return DescribeDelegationTokenResponse(error_code, tokens, throttle_time_ms)


def _read_steps_DescribedDelegationToken_1(r: Reader) -> Generator[None, None, _DescribedDelegationToken]:
    principal_type = read_string(r)
    principal_name = read_string(r)
    issue_timestamp, expiry_timestamp, max_timestamp = r.fixed(_S_qqq)
    token_id = read_string(r)
    hmac = read_blob(r)
    n = read_count(r, 4)
    renewers: list[DescribeDelegationTokenResponse.DescribedDelegationToken.DescribedDelegationTokenRenewer] = []
    if n <= FLAT_ELEMENTS:
        renewers = [_read_DescribedDelegationTokenRenewer_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            renewers.append(_read_DescribedDelegationTokenRenewer_1(r))
            if r.elements_ended(1):
                yield
    return _DescribedDelegationToken(principal_type, principal_name, "", "", issue_timestamp, expiry_timestamp, max_timestamp, token_id, hmac, renewers)


def _read_steps_DescribeDelegationTokenResponse_1(r: Reader) -> Generator[None, None, DescribeDelegationTokenResponse]:
    error_code, = r.fixed(_S_h)
    n = read_count(r, 38)
    tokens: list[DescribeDelegationTokenResponse.DescribedDelegationToken] = []
    for _ in range(n):
        tokens.append((yield from _read_steps_DescribedDelegationToken_1(r)))
        if r.elements_ended(1):
            yield
    throttle_time_ms, = r.fixed(_S_i)
    return DescribeDelegationTokenResponse(error_code, tokens, throttle_time_ms)


def _read_steps_DescribedDelegationToken_2(r: Reader) -> Generator[None, None, _DescribedDelegationToken]:
    principal_type = read_c_string(r)
    principal_name = read_c_string(r)
    issue_timestamp, expiry_timestamp, max_timestamp = r.fixed(_S_qqq)
    token_id = read_c_string(r)
    hmac = read_c_blob(r)
    n = read_c_count(r, 3)
    renewers: list[DescribeDelegationTokenResponse.DescribedDelegationToken.DescribedDelegationTokenRenewer] = []
    if n <= FLAT_ELEMENTS:
        renewers = [_read_DescribedDelegationTokenRenewer_2(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            renewers.append(_read_DescribedDelegationTokenRenewer_2(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return _DescribedDelegationToken(principal_type, principal_name, "", "", issue_timestamp, expiry_timestamp, max_timestamp, token_id, hmac, renewers)


def _read_steps_DescribeDelegationTokenResponse_2(r: Reader) -> Generator[None, None, DescribeDelegationTokenResponse]:
    error_code, = r.fixed(_S_h)
    n = read_c_count(r, 30)
    tokens: list[DescribeDelegationTokenResponse.DescribedDelegationToken] = []
    for _ in range(n):
        tokens.append((yield from _read_steps_DescribedDelegationToken_2(r)))
        if r.elements_ended(1):
            yield
    throttle_time_ms, = r.fixed(_S_i)
    skip_tags(r)
    return DescribeDelegationTokenResponse(error_code, tokens, throttle_time_ms)


def _read_steps_DescribedDelegationToken_3(r: Reader) -> Generator[None, None, _DescribedDelegationToken]:
    principal_type = read_c_string(r)
    principal_name = read_c_string(r)
    token_requester_principal_type = read_c_string(r)
    token_requester_principal_name = read_c_string(r)
    issue_timestamp, expiry_timestamp, max_timestamp = r.fixed(_S_qqq)
    token_id = read_c_string(r)
    hmac = read_c_blob(r)
    n = read_c_count(r, 3)
    renewers: list[DescribeDelegationTokenResponse.DescribedDelegationToken.DescribedDelegationTokenRenewer] = []
    if n <= FLAT_ELEMENTS:
        renewers = [_read_DescribedDelegationTokenRenewer_2(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            renewers.append(_read_DescribedDelegationTokenRenewer_2(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return _DescribedDelegationToken(principal_type, principal_name, token_requester_principal_type, token_requester_principal_name, issue_timestamp, expiry_timestamp, max_timestamp, token_id, hmac, renewers)


def _read_steps_DescribeDelegationTokenResponse_3(r: Reader) -> Generator[None, None, DescribeDelegationTokenResponse]:
    error_code, = r.fixed(_S_h)
    n = read_c_count(r, 32)
    tokens: list[DescribeDelegationTokenResponse.DescribedDelegationToken] = []
    for _ in range(n):
        tokens.append((yield from _read_steps_DescribedDelegationToken_3(r)))
        if r.elements_ended(1):
            yield
    throttle_time_ms, = r.fixed(_S_i)
    skip_tags(r)
    return DescribeDelegationTokenResponse(error_code, tokens, throttle_time_ms)


def _write_DescribedDelegationTokenRenewer_1(out: bytearray, m: _DescribedDelegationTokenRenewer) -> None:
    write_string(out, m.principal_type)
    write_string(out, m.principal_name)


def _write_DescribedDelegationToken_1(out: bytearray, m: _DescribedDelegationToken) -> None:
    write_string(out, m.principal_type)
    write_string(out, m.principal_name)
    out += _P_qqq(m.issue_timestamp, m.expiry_timestamp, m.max_timestamp)
    write_string(out, m.token_id)
    write_blob(out, m.hmac)
    write_count(out, len(m.renewers))
    for it_renewers in m.renewers:
        _write_DescribedDelegationTokenRenewer_1(out, it_renewers)


def _write_DescribeDelegationTokenResponse_1(out: bytearray, m: DescribeDelegationTokenResponse) -> None:
    out += _P_h(m.error_code)
    write_count(out, len(m.tokens))
    for it_tokens in m.tokens:
        _write_DescribedDelegationToken_1(out, it_tokens)
    out += _P_i(m.throttle_time_ms)


def _write_DescribedDelegationTokenRenewer_2(out: bytearray, m: _DescribedDelegationTokenRenewer) -> None:
    write_c_string(out, m.principal_type)
    write_c_string(out, m.principal_name)
    out.append(0)


def _write_DescribedDelegationToken_2(out: bytearray, m: _DescribedDelegationToken) -> None:
    write_c_string(out, m.principal_type)
    write_c_string(out, m.principal_name)
    out += _P_qqq(m.issue_timestamp, m.expiry_timestamp, m.max_timestamp)
    write_c_string(out, m.token_id)
    write_c_blob(out, m.hmac)
    write_c_count(out, len(m.renewers))
    for it_renewers in m.renewers:
        _write_DescribedDelegationTokenRenewer_2(out, it_renewers)
    out.append(0)


def _write_DescribeDelegationTokenResponse_2(out: bytearray, m: DescribeDelegationTokenResponse) -> None:
    out += _P_h(m.error_code)
    write_c_count(out, len(m.tokens))
    for it_tokens in m.tokens:
        _write_DescribedDelegationToken_2(out, it_tokens)
    out += _P_ix(m.throttle_time_ms)


def _write_DescribedDelegationToken_3(out: bytearray, m: _DescribedDelegationToken) -> None:
    write_c_string(out, m.principal_type)
    write_c_string(out, m.principal_name)
    write_c_string(out, m.token_requester_principal_type)
    write_c_string(out, m.token_requester_principal_name)
    out += _P_qqq(m.issue_timestamp, m.expiry_timestamp, m.max_timestamp)
    write_c_string(out, m.token_id)
    write_c_blob(out, m.hmac)
    write_c_count(out, len(m.renewers))
    for it_renewers in m.renewers:
        _write_DescribedDelegationTokenRenewer_2(out, it_renewers)
    out.append(0)


def _write_DescribeDelegationTokenResponse_3(out: bytearray, m: DescribeDelegationTokenResponse) -> None:
    out += _P_h(m.error_code)
    write_c_count(out, len(m.tokens))
    for it_tokens in m.tokens:
        _write_DescribedDelegationToken_3(out, it_tokens)
    out += _P_ix(m.throttle_time_ms)


def _write_steps_DescribedDelegationToken_1(o: Output, m: _DescribedDelegationToken) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.principal_type)
    write_string(out, m.principal_name)
    out += _P_qqq(m.issue_timestamp, m.expiry_timestamp, m.max_timestamp)
    write_string(out, m.token_id)
    write_blob(out, m.hmac)
    write_count(out, len(m.renewers))
    if len(m.renewers) <= FLAT_ELEMENTS:
        for it_renewers in m.renewers:
            _write_DescribedDelegationTokenRenewer_1(out, it_renewers)
        if o.elements_ended(len(m.renewers)):
            yield
    else:
        for it_renewers in m.renewers:
            _write_DescribedDelegationTokenRenewer_1(out, it_renewers)
            if o.elements_ended(1):
                yield


def _write_steps_DescribeDelegationTokenResponse_1(o: Output, m: DescribeDelegationTokenResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    write_count(out, len(m.tokens))
    for it_tokens in m.tokens:
        yield from _write_steps_DescribedDelegationToken_1(o, it_tokens)
        if o.elements_ended(1):
            yield
    out += _P_i(m.throttle_time_ms)


def _write_steps_DescribedDelegationToken_2(o: Output, m: _DescribedDelegationToken) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.principal_type)
    write_c_string(out, m.principal_name)
    out += _P_qqq(m.issue_timestamp, m.expiry_timestamp, m.max_timestamp)
    write_c_string(out, m.token_id)
    write_c_blob(out, m.hmac)
    write_c_count(out, len(m.renewers))
    if len(m.renewers) <= FLAT_ELEMENTS:
        for it_renewers in m.renewers:
            _write_DescribedDelegationTokenRenewer_2(out, it_renewers)
        if o.elements_ended(len(m.renewers)):
            yield
    else:
        for it_renewers in m.renewers:
            _write_DescribedDelegationTokenRenewer_2(out, it_renewers)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_DescribeDelegationTokenResponse_2(o: Output, m: DescribeDelegationTokenResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    write_c_count(out, len(m.tokens))
    for it_tokens in m.tokens:
        yield from _write_steps_DescribedDelegationToken_2(o, it_tokens)
        if o.elements_ended(1):
            yield
    out += _P_ix(m.throttle_time_ms)


def _write_steps_DescribedDelegationToken_3(o: Output, m: _DescribedDelegationToken) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.principal_type)
    write_c_string(out, m.principal_name)
    write_c_string(out, m.token_requester_principal_type)
    write_c_string(out, m.token_requester_principal_name)
    out += _P_qqq(m.issue_timestamp, m.expiry_timestamp, m.max_timestamp)
    write_c_string(out, m.token_id)
    write_c_blob(out, m.hmac)
    write_c_count(out, len(m.renewers))
    if len(m.renewers) <= FLAT_ELEMENTS:
        for it_renewers in m.renewers:
            _write_DescribedDelegationTokenRenewer_2(out, it_renewers)
        if o.elements_ended(len(m.renewers)):
            yield
    else:
        for it_renewers in m.renewers:
            _write_DescribedDelegationTokenRenewer_2(out, it_renewers)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_DescribeDelegationTokenResponse_3(o: Output, m: DescribeDelegationTokenResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    write_c_count(out, len(m.tokens))
    for it_tokens in m.tokens:
        yield from _write_steps_DescribedDelegationToken_3(o, it_tokens)
        if o.elements_ended(1):
            yield
    out += _P_ix(m.throttle_time_ms)


def _error_for(m: DescribeDelegationTokenRequest, code: int) -> DescribeDelegationTokenResponse:
    return DescribeDelegationTokenResponse(error_code=code)


DescribeDelegationTokenRequest.READ = (_read_DescribeDelegationTokenRequest_1, _read_DescribeDelegationTokenRequest_2, _read_DescribeDelegationTokenRequest_2,)
DescribeDelegationTokenRequest.READ_STEPS = (_read_steps_DescribeDelegationTokenRequest_1, _read_steps_DescribeDelegationTokenRequest_2, _read_steps_DescribeDelegationTokenRequest_2,)
DescribeDelegationTokenRequest.WRITE = (_write_DescribeDelegationTokenRequest_1, _write_DescribeDelegationTokenRequest_2, _write_DescribeDelegationTokenRequest_2,)
DescribeDelegationTokenRequest.WRITE_STEPS = (_write_steps_DescribeDelegationTokenRequest_1, _write_steps_DescribeDelegationTokenRequest_2, _write_steps_DescribeDelegationTokenRequest_2,)
DescribeDelegationTokenResponse.READ = (_read_DescribeDelegationTokenResponse_1, _read_DescribeDelegationTokenResponse_2, _read_DescribeDelegationTokenResponse_3,)
DescribeDelegationTokenResponse.READ_STEPS = (_read_steps_DescribeDelegationTokenResponse_1, _read_steps_DescribeDelegationTokenResponse_2, _read_steps_DescribeDelegationTokenResponse_3,)
DescribeDelegationTokenResponse.WRITE = (_write_DescribeDelegationTokenResponse_1, _write_DescribeDelegationTokenResponse_2, _write_DescribeDelegationTokenResponse_3,)
DescribeDelegationTokenResponse.WRITE_STEPS = (_write_steps_DescribeDelegationTokenResponse_1, _write_steps_DescribeDelegationTokenResponse_2, _write_steps_DescribeDelegationTokenResponse_3,)
DescribeDelegationTokenRequest.ERROR_FOR = _error_for
