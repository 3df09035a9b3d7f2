"""AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, read_c_blob, read_c_count, read_c_null_string, read_c_string, skip_tags
from headrace.protocol.message_writing import Output, write_c_blob, write_c_count, write_c_null_string, write_c_string
from headrace.protocol.primitives import Reader

class AlterUserScramCredentialsRequest(KafkaMessage):
    """Key 51, version 0, flexible from 0 on."""

    class ScramCredentialDeletion(MessageStruct):
        """Versions 0+."""

        name: str = ""
        mechanism: int = 0

    class ScramCredentialUpsertion(MessageStruct):
        """Versions 0+."""

        name: str = ""
        mechanism: int = 0
        iterations: int = 0
        salt: bytes = b""
        salted_password: bytes = b""

    API_KEY: ClassVar[int] = 51
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    deletions: list[AlterUserScramCredentialsRequest.ScramCredentialDeletion] = []
    upsertions: list[AlterUserScramCredentialsRequest.ScramCredentialUpsertion] = []


class AlterUserScramCredentialsResponse(KafkaMessage):
    """Key 51, version 0, flexible from 0 on."""

    class AlterUserScramCredentialsResult(MessageStruct):
        """Versions 0+."""

        user: str = ""
        error_code: int = 0
        error_message: str | None = ""

    API_KEY: ClassVar[int] = 51
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    throttle_time_ms: int = 0
    results: Collection[AlterUserScramCredentialsResponse.AlterUserScramCredentialsResult] = []


_ScramCredentialDeletion = AlterUserScramCredentialsRequest.ScramCredentialDeletion
_ScramCredentialUpsertion = AlterUserScramCredentialsRequest.ScramCredentialUpsertion
_AlterUserScramCredentialsResult = AlterUserScramCredentialsResponse.AlterUserScramCredentialsResult
_P_bi: Final = Struct(">bi").pack
_P_bx: Final = Struct(">bx").pack
_P_h: Final = Struct(">h").pack
_P_i: Final = Struct(">i").pack
_S_b: Final = Struct(">b")
_S_bi: Final = Struct(">bi")
_S_h: Final = Struct(">h")
_S_i: Final = Struct(">i")


def _read_ScramCredentialDeletion_0(r: Reader) -> _ScramCredentialDeletion:
    name = read_c_string(r)
    mechanism, = r.fixed(_S_b)
    skip_tags(r)
    return _ScramCredentialDeletion(name, mechanism)


def _read_ScramCredentialUpsertion_0(r: Reader) -> _ScramCredentialUpsertion:
    name = read_c_string(r)
    mechanism, iterations = r.fixed(_S_bi)
    salt = read_c_blob(r)
    salted_password = read_c_blob(r)
    skip_tags(r)
    return _ScramCredentialUpsertion(name, mechanism, iterations, salt, salted_password)


def _read_AlterUserScramCredentialsRequest_0(r: Reader) -> AlterUserScramCredentialsRequest:
    n = read_c_count(r, 3)
    deletions = [_read_ScramCredentialDeletion_0(r) for _ in range(n)]
    n = read_c_count(r, 9)
    upsertions = [_read_ScramCredentialUpsertion_0(r) for _ in range(n)]
    skip_tags(r)
    return AlterUserScramCredentialsRequest(deletions, upsertions)


def _read_steps_AlterUserScramCredentialsRequest_0(r: Reader) -> Generator[None, None, AlterUserScramCredentialsRequest]:
    n = read_c_count(r, 3)
    deletions: list[AlterUserScramCredentialsRequest.ScramCredentialDeletion] = []
    if n <= FLAT_ELEMENTS:
        deletions = [_read_ScramCredentialDeletion_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            deletions.append(_read_ScramCredentialDeletion_0(r))
            if r.elements_ended(1):
                yield
    n = read_c_count(r, 9)
    upsertions: list[AlterUserScramCredentialsRequest.ScramCredentialUpsertion] = []
    if n <= FLAT_ELEMENTS:
        upsertions = [_read_ScramCredentialUpsertion_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            upsertions.append(_read_ScramCredentialUpsertion_0(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return AlterUserScramCredentialsRequest(deletions, upsertions)


def _write_ScramCredentialDeletion_0(out: bytearray, m: _ScramCredentialDeletion) -> None:
    write_c_string(out, m.name)
    out += _P_bx(m.mechanism)


def _write_ScramCredentialUpsertion_0(out: bytearray, m: _ScramCredentialUpsertion) -> None:
    write_c_string(out, m.name)
    out += _P_bi(m.mechanism, m.iterations)
    write_c_blob(out, m.salt)
    write_c_blob(out, m.salted_password)
    out.append(0)


def _write_AlterUserScramCredentialsRequest_0(out: bytearray, m: AlterUserScramCredentialsRequest) -> None:
    write_c_count(out, len(m.deletions))
    for it_deletions in m.deletions:
        _write_ScramCredentialDeletion_0(out, it_deletions)
    write_c_count(out, len(m.upsertions))
    for it_upsertions in m.upsertions:
        _write_ScramCredentialUpsertion_0(out, it_upsertions)
    out.append(0)


def _write_steps_AlterUserScramCredentialsRequest_0(o: Output, m: AlterUserScramCredentialsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.deletions))
    if len(m.deletions) <= FLAT_ELEMENTS:
        for it_deletions in m.deletions:
            _write_ScramCredentialDeletion_0(out, it_deletions)
        if o.elements_ended(len(m.deletions)):
            yield
    else:
        for it_deletions in m.deletions:
            _write_ScramCredentialDeletion_0(out, it_deletions)
            if o.elements_ended(1):
                yield
    write_c_count(out, len(m.upsertions))
    if len(m.upsertions) <= FLAT_ELEMENTS:
        for it_upsertions in m.upsertions:
            _write_ScramCredentialUpsertion_0(out, it_upsertions)
        if o.elements_ended(len(m.upsertions)):
            yield
    else:
        for it_upsertions in m.upsertions:
            _write_ScramCredentialUpsertion_0(out, it_upsertions)
            if o.elements_ended(1):
                yield
    out.append(0)


def _read_AlterUserScramCredentialsResult_0(r: Reader) -> _AlterUserScramCredentialsResult:
    user = read_c_string(r)
    error_code, = r.fixed(_S_h)
    error_message = read_c_null_string(r)
    skip_tags(r)
    return _AlterUserScramCredentialsResult(user, error_code, error_message)


def _read_AlterUserScramCredentialsResponse_0(r: Reader) -> AlterUserScramCredentialsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 5)
    results = [_read_AlterUserScramCredentialsResult_0(r) for _ in range(n)]
    skip_tags(r)
    return AlterUserScramCredentialsResponse(throttle_time_ms, results)


def _read_steps_AlterUserScramCredentialsResponse_0(r: Reader) -> Generator[None, None, AlterUserScramCredentialsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 5)
    results: list[AlterUserScramCredentialsResponse.AlterUserScramCredentialsResult] = []
    if n <= FLAT_ELEMENTS:
        results = [_read_AlterUserScramCredentialsResult_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            results.append(_read_AlterUserScramCredentialsResult_0(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return AlterUserScramCredentialsResponse(throttle_time_ms, results)


def _write_AlterUserScramCredentialsResult_0(out: bytearray, m: _AlterUserScramCredentialsResult) -> None:
    write_c_string(out, m.user)
    out += _P_h(m.error_code)
    write_c_null_string(out, m.error_message)
    out.append(0)


def _write_AlterUserScramCredentialsResponse_0(out: bytearray, m: AlterUserScramCredentialsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.results))
    for it_results in m.results:
        _write_AlterUserScramCredentialsResult_0(out, it_results)
    out.append(0)


def _write_steps_AlterUserScramCredentialsResponse_0(o: Output, m: AlterUserScramCredentialsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.results))
    if len(m.results) <= FLAT_ELEMENTS:
        for it_results in m.results:
            _write_AlterUserScramCredentialsResult_0(out, it_results)
        if o.elements_ended(len(m.results)):
            yield
    else:
        for it_results in m.results:
            _write_AlterUserScramCredentialsResult_0(out, it_results)
            if o.elements_ended(1):
                yield
    out.append(0)


def _error_for(m: AlterUserScramCredentialsRequest, code: int) -> AlterUserScramCredentialsResponse:
    return AlterUserScramCredentialsResponse()


AlterUserScramCredentialsRequest.READ = (_read_AlterUserScramCredentialsRequest_0,)
AlterUserScramCredentialsRequest.READ_STEPS = (_read_steps_AlterUserScramCredentialsRequest_0,)
AlterUserScramCredentialsRequest.WRITE = (_write_AlterUserScramCredentialsRequest_0,)
AlterUserScramCredentialsRequest.WRITE_STEPS = (_write_steps_AlterUserScramCredentialsRequest_0,)
AlterUserScramCredentialsResponse.READ = (_read_AlterUserScramCredentialsResponse_0,)
AlterUserScramCredentialsResponse.READ_STEPS = (_read_steps_AlterUserScramCredentialsResponse_0,)
AlterUserScramCredentialsResponse.WRITE = (_write_AlterUserScramCredentialsResponse_0,)
AlterUserScramCredentialsResponse.WRITE_STEPS = (_write_steps_AlterUserScramCredentialsResponse_0,)
AlterUserScramCredentialsRequest.ERROR_FOR = _error_for
