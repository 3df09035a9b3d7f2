"""DescribeUserScramCredentialsRequest, DescribeUserScramCredentialsResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from itertools import islice
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, batches, read_c_count, read_c_null_count, read_c_null_string, read_c_string, skip_tags
from headrace.protocol.message_writing import Output, write_c_count, write_c_null_string, write_c_string
from headrace.protocol.primitives import Reader

class DescribeUserScramCredentialsRequest(KafkaMessage):
    """Key 50, version 0, flexible from 0 on."""

    class UserName(MessageStruct):
        """Versions 0+."""

        name: str = ""

    API_KEY: ClassVar[int] = 50
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    users: list[DescribeUserScramCredentialsRequest.UserName] | None = []


class DescribeUserScramCredentialsResponse(KafkaMessage):
    """Key 50, version 0, flexible from 0 on."""

    class DescribeUserScramCredentialsResult(MessageStruct):
        """Versions 0+."""

        class CredentialInfo(MessageStruct):
            """Versions 0+."""

            mechanism: int = 0
            iterations: int = 0

        user: str = ""
        error_code: int = 0
        error_message: str | None = ""
        credential_infos: Collection[DescribeUserScramCredentialsResponse.DescribeUserScramCredentialsResult.CredentialInfo] = []

    API_KEY: ClassVar[int] = 50
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ""
    results: Collection[DescribeUserScramCredentialsResponse.DescribeUserScramCredentialsResult] = []


_UserName = DescribeUserScramCredentialsRequest.UserName
_CredentialInfo = DescribeUserScramCredentialsResponse.DescribeUserScramCredentialsResult.CredentialInfo
_DescribeUserScramCredentialsResult = DescribeUserScramCredentialsResponse.DescribeUserScramCredentialsResult
_P_bix: Final = Struct(">bix").pack
_P_h: Final = Struct(">h").pack
_P_ih: Final = Struct(">ih").pack
_S_bi: Final = Struct(">bi")
_S_h: Final = Struct(">h")
_S_ih: Final = Struct(">ih")


def _read_UserName_0(r: Reader) -> _UserName:
    name = read_c_string(r)
    skip_tags(r)
    return _UserName(name)


def _read_DescribeUserScramCredentialsRequest_0(r: Reader) -> DescribeUserScramCredentialsRequest:
    n = read_c_null_count(r, 2)
    users = None if n < 0 else [_read_UserName_0(r) for _ in range(n)]
    skip_tags(r)
    return DescribeUserScramCredentialsRequest(users)


def _read_steps_DescribeUserScramCredentialsRequest_0(r: Reader) -> Generator[None, None, DescribeUserScramCredentialsRequest]:
    n = read_c_null_count(r, 2)
    users: list[DescribeUserScramCredentialsRequest.UserName] | None = None
    if n >= 0:
        users_: list[DescribeUserScramCredentialsRequest.UserName] = []
        if n <= FLAT_ELEMENTS:
            users_ = [_read_UserName_0(r) for _ in range(n)]
            r.elements_of_step += n
        else:
            for _ in range(n):
                users_.append(_read_UserName_0(r))
                if r.elements_ended(1):
                    yield
        users = users_
    skip_tags(r)
    return DescribeUserScramCredentialsRequest(users)


def _write_UserName_0(out: bytearray, m: _UserName) -> None:
    write_c_string(out, m.name)
    out.append(0)


def _write_DescribeUserScramCredentialsRequest_0(out: bytearray, m: DescribeUserScramCredentialsRequest) -> None:
    if m.users is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.users))
        for it_users in m.users:
            _write_UserName_0(out, it_users)
    out.append(0)


def _write_steps_DescribeUserScramCredentialsRequest_0(o: Output, m: DescribeUserScramCredentialsRequest) -> Generator[None, None, None]:
    out = o.buffer
    if m.users is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.users))
        if len(m.users) <= FLAT_ELEMENTS:
            for it_users in m.users:
                _write_UserName_0(out, it_users)
            if o.elements_ended(len(m.users)):
                yield
        else:
            for it_users in m.users:
                _write_UserName_0(out, it_users)
                if o.elements_ended(1):
                    yield
    out.append(0)


def _read_CredentialInfo_0(r: Reader) -> _CredentialInfo:
    mechanism, iterations = r.fixed(_S_bi)
    skip_tags(r)
    return _CredentialInfo(mechanism, iterations)


def _read_DescribeUserScramCredentialsResult_0(r: Reader) -> _DescribeUserScramCredentialsResult:
    user = read_c_string(r)
    error_code, = r.fixed(_S_h)
    error_message = read_c_null_string(r)
    n = read_c_count(r, 6)
    credential_infos = [_read_CredentialInfo_0(r) for _ in range(n)]
    skip_tags(r)
    return _DescribeUserScramCredentialsResult(user, error_code, error_message, credential_infos)


def _read_DescribeUserScramCredentialsResponse_0(r: Reader) -> DescribeUserScramCredentialsResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    error_message = read_c_null_string(r)
    n = read_c_count(r, 6)
    results = [_read_DescribeUserScramCredentialsResult_0(r) for _ in range(n)]
    skip_tags(r)
    return DescribeUserScramCredentialsResponse(throttle_time_ms, error_code, error_message, results)


def _read_steps_DescribeUserScramCredentialsResult_0(r: Reader) -> Generator[None, None, _DescribeUserScramCredentialsResult]:
    user = read_c_string(r)
    error_code, = r.fixed(_S_h)
    error_message = read_c_null_string(r)
    n = read_c_count(r, 6)
    credential_infos: list[DescribeUserScramCredentialsResponse.DescribeUserScramCredentialsResult.CredentialInfo] = []
    for some in batches(n):
        credential_infos += [_read_CredentialInfo_0(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    skip_tags(r)
    return _DescribeUserScramCredentialsResult(user, error_code, error_message, credential_infos)


def _read_steps_DescribeUserScramCredentialsResponse_0(r: Reader) -> Generator[None, None, DescribeUserScramCredentialsResponse]:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    error_message = read_c_null_string(r)
    n = read_c_count(r, 6)
    results: list[DescribeUserScramCredentialsResponse.DescribeUserScramCredentialsResult] = []
    for _ in range(n):
        results.append((yield from _read_steps_DescribeUserScramCredentialsResult_0(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return DescribeUserScramCredentialsResponse(throttle_time_ms, error_code, error_message, results)


def _write_CredentialInfo_0(out: bytearray, m: _CredentialInfo) -> None:
    out += _P_bix(m.mechanism, m.iterations)


def _write_DescribeUserScramCredentialsResult_0(out: bytearray, m: _DescribeUserScramCredentialsResult) -> None:
    write_c_string(out, m.user)
    out += _P_h(m.error_code)
    write_c_null_string(out, m.error_message)
    write_c_count(out, len(m.credential_infos))
    for it_credential_infos in m.credential_infos:
        _write_CredentialInfo_0(out, it_credential_infos)
    out.append(0)


def _write_DescribeUserScramCredentialsResponse_0(out: bytearray, m: DescribeUserScramCredentialsResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_null_string(out, m.error_message)
    write_c_count(out, len(m.results))
    for it_results in m.results:
        _write_DescribeUserScramCredentialsResult_0(out, it_results)
    out.append(0)


def _write_steps_DescribeUserScramCredentialsResult_0(o: Output, m: _DescribeUserScramCredentialsResult) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.user)
    out += _P_h(m.error_code)
    write_c_null_string(out, m.error_message)
    write_c_count(out, len(m.credential_infos))
    left_credential_infos = iter(m.credential_infos)
    for some in batches(len(m.credential_infos)):
        for it_credential_infos in islice(left_credential_infos, some):
            _write_CredentialInfo_0(out, it_credential_infos)
        if o.elements_ended(some):
            yield
    out.append(0)


def _write_steps_DescribeUserScramCredentialsResponse_0(o: Output, m: DescribeUserScramCredentialsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_null_string(out, m.error_message)
    write_c_count(out, len(m.results))
    for it_results in m.results:
        yield from _write_steps_DescribeUserScramCredentialsResult_0(o, it_results)
        if o.elements_ended(1):
            yield
    out.append(0)


def _error_for(m: DescribeUserScramCredentialsRequest, code: int) -> DescribeUserScramCredentialsResponse:
    return DescribeUserScramCredentialsResponse(error_code=code, error_message=None)


DescribeUserScramCredentialsRequest.READ = (_read_DescribeUserScramCredentialsRequest_0,)
DescribeUserScramCredentialsRequest.READ_STEPS = (_read_steps_DescribeUserScramCredentialsRequest_0,)
DescribeUserScramCredentialsRequest.WRITE = (_write_DescribeUserScramCredentialsRequest_0,)
DescribeUserScramCredentialsRequest.WRITE_STEPS = (_write_steps_DescribeUserScramCredentialsRequest_0,)
DescribeUserScramCredentialsResponse.READ = (_read_DescribeUserScramCredentialsResponse_0,)
DescribeUserScramCredentialsResponse.READ_STEPS = (_read_steps_DescribeUserScramCredentialsResponse_0,)
DescribeUserScramCredentialsResponse.WRITE = (_write_DescribeUserScramCredentialsResponse_0,)
DescribeUserScramCredentialsResponse.WRITE_STEPS = (_write_steps_DescribeUserScramCredentialsResponse_0,)
DescribeUserScramCredentialsRequest.ERROR_FOR = _error_for
