"""CreateAclsRequest, CreateAclsResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, read_c_count, read_c_null_string, read_c_string, read_count, read_null_string, read_string, skip_tags
from headrace.protocol.message_writing import Output, write_c_count, write_c_null_string, write_c_string, write_count, write_null_string, write_string
from headrace.protocol.primitives import Reader

class CreateAclsRequest(KafkaMessage):
    """Key 30, versions 1 to 3, flexible from 2 on."""

    class AclCreation(MessageStruct):
        """Versions 0+."""

        resource_type: int = 0
        resource_name: str = ""
        resource_pattern_type: int = 3
        principal: str = ""
        host: str = ""
        operation: int = 0
        permission_type: int = 0

    API_KEY: ClassVar[int] = 30
    MIN_VERSION: ClassVar[int] = 1
    FLEXIBLE_SINCE: ClassVar[int] = 2
    creations: list[CreateAclsRequest.AclCreation] = []


class CreateAclsResponse(KafkaMessage):
    """Key 30, versions 1 to 3, flexible from 2 on."""

    class AclCreationResult(MessageStruct):
        """Versions 0+."""

        error_code: int = 0
        error_message: str | None = ""

    API_KEY: ClassVar[int] = 30
    MIN_VERSION: ClassVar[int] = 1
    FLEXIBLE_SINCE: ClassVar[int] = 2
    throttle_time_ms: int = 0
    results: Collection[CreateAclsResponse.AclCreationResult] = []


_AclCreation = CreateAclsRequest.AclCreation
_AclCreationResult = CreateAclsResponse.AclCreationResult
_P_b: Final = Struct(">b").pack
_P_bb: Final = Struct(">bb").pack
_P_bbx: Final = Struct(">bbx").pack
_P_h: Final = Struct(">h").pack
_P_i: Final = Struct(">i").pack
_S_b: Final = Struct(">b")
_S_bb: Final = Struct(">bb")
_S_h: Final = Struct(">h")
_S_i: Final = Struct(">i")


def _read_AclCreation_1(r: Reader) -> _AclCreation:
    resource_type, = r.fixed(_S_b)
    resource_name = read_string(r)
    resource_pattern_type, = r.fixed(_S_b)
    principal = read_string(r)
    host = read_string(r)
    operation, permission_type = r.fixed(_S_bb)
    return _AclCreation(resource_type, resource_name, resource_pattern_type, principal, host, operation, permission_type)


def _read_CreateAclsRequest_1(r: Reader) -> CreateAclsRequest:
    n = read_count(r, 10)
    creations = [_read_AclCreation_1(r) for _ in range(n)]
    return CreateAclsRequest(creations)


def _read_AclCreation_2(r: Reader) -> _AclCreation:
    resource_type, = r.fixed(_S_b)
    resource_name = read_c_string(r)
    resource_pattern_type, = r.fixed(_S_b)
    principal = read_c_string(r)
    host = read_c_string(r)
    operation, permission_type = r.fixed(_S_bb)
    skip_tags(r)
    return _AclCreation(resource_type, resource_name, resource_pattern_type, principal, host, operation, permission_type)


def _read_CreateAclsRequest_2(r: Reader) -> CreateAclsRequest:
    n = read_c_count(r, 8)
    creations = [_read_AclCreation_2(r) for _ in range(n)]
    skip_tags(r)
    return CreateAclsRequest(creations)


def _read_steps_CreateAclsRequest_1(r: Reader) -> Generator[None, None, CreateAclsRequest]:
    n = read_count(r, 10)
    creations: list[CreateAclsRequest.AclCreation] = []
    if n <= FLAT_ELEMENTS:
        creations = [_read_AclCreation_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            creations.append(_read_AclCreation_1(r))
            if r.elements_ended(1):
                yield
    return CreateAclsRequest(creations)


def _read_steps_CreateAclsRequest_2(r: Reader) -> Generator[None, None, CreateAclsRequest]:
    n = read_c_count(r, 8)
    creations: list[CreateAclsRequest.AclCreation] = []
    if n <= FLAT_ELEMENTS:
        creations = [_read_AclCreation_2(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            creations.append(_read_AclCreation_2(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return CreateAclsRequest(creations)


def _write_AclCreation_1(out: bytearray, m: _AclCreation) -> None:
    out += _P_b(m.resource_type)
    write_string(out, m.resource_name)
    out += _P_b(m.resource_pattern_type)
    write_string(out, m.principal)
    write_string(out, m.host)
    out += _P_bb(m.operation, m.permission_type)


def _write_CreateAclsRequest_1(out: bytearray, m: CreateAclsRequest) -> None:
    write_count(out, len(m.creations))
    for it_creations in m.creations:
        _write_AclCreation_1(out, it_creations)


def _write_AclCreation_2(out: bytearray, m: _AclCreation) -> None:
    out += _P_b(m.resource_type)
    write_c_string(out, m.resource_name)
    out += _P_b(m.resource_pattern_type)
    write_c_string(out, m.principal)
    write_c_string(out, m.host)
    out += _P_bbx(m.operation, m.permission_type)


def _write_CreateAclsRequest_2(out: bytearray, m: CreateAclsRequest) -> None:
    write_c_count(out, len(m.creations))
    for it_creations in m.creations:
        _write_AclCreation_2(out, it_creations)
    out.append(0)


def _write_steps_CreateAclsRequest_1(o: Output, m: CreateAclsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_count(out, len(m.creations))
    if len(m.creations) <= FLAT_ELEMENTS:
        for it_creations in m.creations:
            _write_AclCreation_1(out, it_creations)
        if o.elements_ended(len(m.creations)):
            yield
    else:
        for it_creations in m.creations:
            _write_AclCreation_1(out, it_creations)
            if o.elements_ended(1):
                yield


def _write_steps_CreateAclsRequest_2(o: Output, m: CreateAclsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.creations))
    if len(m.creations) <= FLAT_ELEMENTS:
        for it_creations in m.creations:
            _write_AclCreation_2(out, it_creations)
        if o.elements_ended(len(m.creations)):
            yield
    else:
        for it_creations in m.creations:
            _write_AclCreation_2(out, it_creations)
            if o.elements_ended(1):
                yield
    out.append(0)


def _read_AclCreationResult_1(r: Reader) -> _AclCreationResult:
    error_code, = r.fixed(_S_h)
    error_message = read_null_string(r)
    return _AclCreationResult(error_code, error_message)


def _read_CreateAclsResponse_1(r: Reader) -> CreateAclsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 4)
    results = [_read_AclCreationResult_1(r) for _ in range(n)]
    return CreateAclsResponse(throttle_time_ms, results)


def _read_AclCreationResult_2(r: Reader) -> _AclCreationResult:
    error_code, = r.fixed(_S_h)
    error_message = read_c_null_string(r)
    skip_tags(r)
    return _AclCreationResult(error_code, error_message)


def _read_CreateAclsResponse_2(r: Reader) -> CreateAclsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 4)
    results = [_read_AclCreationResult_2(r) for _ in range(n)]
    skip_tags(r)
    return CreateAclsResponse(throttle_time_ms, results)


def _read_steps_CreateAclsResponse_1(r: Reader) -> Generator[None, None, CreateAclsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 4)
    results: list[CreateAclsResponse.AclCreationResult] = []
    if n <= FLAT_ELEMENTS:
        results = [_read_AclCreationResult_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            results.append(_read_AclCreationResult_1(r))
            if r.elements_ended(1):
                yield
    return CreateAclsResponse(throttle_time_ms, results)


def _read_steps_CreateAclsResponse_2(r: Reader) -> Generator[None, None, CreateAclsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 4)
    results: list[CreateAclsResponse.AclCreationResult] = []
    if n <= FLAT_ELEMENTS:
        results = [_read_AclCreationResult_2(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            results.append(_read_AclCreationResult_2(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return CreateAclsResponse(throttle_time_ms, results)


def _write_AclCreationResult_1(out: bytearray, m: _AclCreationResult) -> None:
    out += _P_h(m.error_code)
    write_null_string(out, m.error_message)


def _write_CreateAclsResponse_1(out: bytearray, m: CreateAclsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.results))
    for it_results in m.results:
        _write_AclCreationResult_1(out, it_results)


def _write_AclCreationResult_2(out: bytearray, m: _AclCreationResult) -> None:
    out += _P_h(m.error_code)
    write_c_null_string(out, m.error_message)
    out.append(0)


def _write_CreateAclsResponse_2(out: bytearray, m: CreateAclsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.results))
    for it_results in m.results:
        _write_AclCreationResult_2(out, it_results)
    out.append(0)


def _write_steps_CreateAclsResponse_1(o: Output, m: CreateAclsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.results))
    if len(m.results) <= FLAT_ELEMENTS:
        for it_results in m.results:
            _write_AclCreationResult_1(out, it_results)
        if o.elements_ended(len(m.results)):
            yield
    else:
        for it_results in m.results:
            _write_AclCreationResult_1(out, it_results)
            if o.elements_ended(1):
                yield


def _write_steps_CreateAclsResponse_2(o: Output, m: CreateAclsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.results))
    if len(m.results) <= FLAT_ELEMENTS:
        for it_results in m.results:
            _write_AclCreationResult_2(out, it_results)
        if o.elements_ended(len(m.results)):
            yield
    else:
        for it_results in m.results:
            _write_AclCreationResult_2(out, it_results)
            if o.elements_ended(1):
                yield
    out.append(0)


def _error_for(m: CreateAclsRequest, code: int) -> CreateAclsResponse:
    return CreateAclsResponse(results=[_AclCreationResult(error_code=code, error_message=None) for it0 in m.creations])


CreateAclsRequest.READ = (_read_CreateAclsRequest_1, _read_CreateAclsRequest_2, _read_CreateAclsRequest_2,)
CreateAclsRequest.READ_STEPS = (_read_steps_CreateAclsRequest_1, _read_steps_CreateAclsRequest_2, _read_steps_CreateAclsRequest_2,)
CreateAclsRequest.WRITE = (_write_CreateAclsRequest_1, _write_CreateAclsRequest_2, _write_CreateAclsRequest_2,)
CreateAclsRequest.WRITE_STEPS = (_write_steps_CreateAclsRequest_1, _write_steps_CreateAclsRequest_2, _write_steps_CreateAclsRequest_2,)
CreateAclsResponse.READ = (_read_CreateAclsResponse_1, _read_CreateAclsResponse_2, _read_CreateAclsResponse_2,)
CreateAclsResponse.READ_STEPS = (_read_steps_CreateAclsResponse_1, _read_steps_CreateAclsResponse_2, _read_steps_CreateAclsResponse_2,)
CreateAclsResponse.WRITE = (_write_CreateAclsResponse_1, _write_CreateAclsResponse_2, _write_CreateAclsResponse_2,)
CreateAclsResponse.WRITE_STEPS = (_write_steps_CreateAclsResponse_1, _write_steps_CreateAclsResponse_2, _write_steps_CreateAclsResponse_2,)
CreateAclsRequest.ERROR_FOR = _error_for
