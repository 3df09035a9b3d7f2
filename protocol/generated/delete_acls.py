"""DeleteAclsRequest, DeleteAclsResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, read_c_count, read_c_null_string, read_c_string, read_count, read_null_string, read_string, skip_tags
from headrace.protocol.message_writing import Output, write_c_count, write_c_null_string, write_c_string, write_count, write_null_string, write_string
from headrace.protocol.primitives import Reader

class DeleteAclsRequest(KafkaMessage):
    """Key 31, versions 1 to 3, flexible from 2 on."""

    class DeleteAclsFilter(MessageStruct):
        """Versions 0+."""

        resource_type_filter: int = 0
        resource_name_filter: str | None = ""
        pattern_type_filter: int = 3
        principal_filter: str | None = ""
        host_filter: str | None = ""
        operation: int = 0
        permission_type: int = 0

    API_KEY: ClassVar[int] = 31
    MIN_VERSION: ClassVar[int] = 1
    FLEXIBLE_SINCE: ClassVar[int] = 2
    filters: list[DeleteAclsRequest.DeleteAclsFilter] = []


class DeleteAclsResponse(KafkaMessage):
    """Key 31, versions 1 to 3, flexible from 2 on."""

    class DeleteAclsFilterResult(MessageStruct):
        """Versions 0+."""

        class DeleteAclsMatchingAcl(MessageStruct):
            """Versions 0+."""

            error_code: int = 0
            error_message: str | None = ""
            resource_type: int = 0
            resource_name: str = ""
            pattern_type: int = 3
            principal: str = ""
            host: str = ""
            operation: int = 0
            permission_type: int = 0

        error_code: int = 0
        error_message: str | None = ""
        matching_acls: Collection[DeleteAclsResponse.DeleteAclsFilterResult.DeleteAclsMatchingAcl] = []

    API_KEY: ClassVar[int] = 31
    MIN_VERSION: ClassVar[int] = 1
    FLEXIBLE_SINCE: ClassVar[int] = 2
    throttle_time_ms: int = 0
    filter_results: Collection[DeleteAclsResponse.DeleteAclsFilterResult] = []


_DeleteAclsFilter = DeleteAclsRequest.DeleteAclsFilter
_DeleteAclsMatchingAcl = DeleteAclsResponse.DeleteAclsFilterResult.DeleteAclsMatchingAcl
_DeleteAclsFilterResult = DeleteAclsResponse.DeleteAclsFilterResult
_P_b: Final = Struct(">b").pack
_P_bb: Final = Struct(">bb").pack
_P_bbx: Final = Struct(">bbx").pack
_P_h: Final = Struct(">h").pack
_P_i: Final = Struct(">i").pack
_S_b: Final = Struct(">b")
_S_bb: Final = Struct(">bb")
_S_h: Final = Struct(">h")
_S_i: Final = Struct(">i")


def _read_DeleteAclsFilter_1(r: Reader) -> _DeleteAclsFilter:
    resource_type_filter, = r.fixed(_S_b)
    resource_name_filter = read_null_string(r)
    pattern_type_filter, = r.fixed(_S_b)
    principal_filter = read_null_string(r)
    host_filter = read_null_string(r)
    operation, permission_type = r.fixed(_S_bb)
    return _DeleteAclsFilter(resource_type_filter, resource_name_filter, pattern_type_filter, principal_filter, host_filter, operation, permission_type)


def _read_DeleteAclsRequest_1(r: Reader) -> DeleteAclsRequest:
    n = read_count(r, 10)
    filters = [_read_DeleteAclsFilter_1(r) for _ in range(n)]
    return DeleteAclsRequest(filters)


def _read_DeleteAclsFilter_2(r: Reader) -> _DeleteAclsFilter:
    resource_type_filter, = r.fixed(_S_b)
    resource_name_filter = read_c_null_string(r)
    pattern_type_filter, = r.fixed(_S_b)
    principal_filter = read_c_null_string(r)
    host_filter = read_c_null_string(r)
    operation, permission_type = r.fixed(_S_bb)
    skip_tags(r)
    return _DeleteAclsFilter(resource_type_filter, resource_name_filter, pattern_type_filter, principal_filter, host_filter, operation, permission_type)


def _read_DeleteAclsRequest_2(r: Reader) -> DeleteAclsRequest:
    n = read_c_count(r, 8)
    filters = [_read_DeleteAclsFilter_2(r) for _ in range(n)]
    skip_tags(r)
    return DeleteAclsRequest(filters)


def _read_steps_DeleteAclsRequest_1(r: Reader) -> Generator[None, None, DeleteAclsRequest]:
    n = read_count(r, 10)
    filters: list[DeleteAclsRequest.DeleteAclsFilter] = []
    if n <= FLAT_ELEMENTS:
        filters = [_read_DeleteAclsFilter_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            filters.append(_read_DeleteAclsFilter_1(r))
            if r.elements_ended(1):
                yield
    return DeleteAclsRequest(filters)


def _read_steps_DeleteAclsRequest_2(r: Reader) -> Generator[None, None, DeleteAclsRequest]:
    n = read_c_count(r, 8)
    filters: list[DeleteAclsRequest.DeleteAclsFilter] = []
    if n <= FLAT_ELEMENTS:
        filters = [_read_DeleteAclsFilter_2(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            filters.append(_read_DeleteAclsFilter_2(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return DeleteAclsRequest(filters)


def _write_DeleteAclsFilter_1(out: bytearray, m: _DeleteAclsFilter) -> None:
    out += _P_b(m.resource_type_filter)
    write_null_string(out, m.resource_name_filter)
    out += _P_b(m.pattern_type_filter)
    write_null_string(out, m.principal_filter)
    write_null_string(out, m.host_filter)
    out += _P_bb(m.operation, m.permission_type)


def _write_DeleteAclsRequest_1(out: bytearray, m: DeleteAclsRequest) -> None:
    write_count(out, len(m.filters))
    for it_filters in m.filters:
        _write_DeleteAclsFilter_1(out, it_filters)


def _write_DeleteAclsFilter_2(out: bytearray, m: _DeleteAclsFilter) -> None:
    out += _P_b(m.resource_type_filter)
    write_c_null_string(out, m.resource_name_filter)
    out += _P_b(m.pattern_type_filter)
    write_c_null_string(out, m.principal_filter)
    write_c_null_string(out, m.host_filter)
    out += _P_bbx(m.operation, m.permission_type)


def _write_DeleteAclsRequest_2(out: bytearray, m: DeleteAclsRequest) -> None:
    write_c_count(out, len(m.filters))
    for it_filters in m.filters:
        _write_DeleteAclsFilter_2(out, it_filters)
    out.append(0)


def _write_steps_DeleteAclsRequest_1(o: Output, m: DeleteAclsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_count(out, len(m.filters))
    if len(m.filters) <= FLAT_ELEMENTS:
        for it_filters in m.filters:
            _write_DeleteAclsFilter_1(out, it_filters)
        if o.elements_ended(len(m.filters)):
            yield
    else:
        for it_filters in m.filters:
            _write_DeleteAclsFilter_1(out, it_filters)
            if o.elements_ended(1):
                yield


def _write_steps_DeleteAclsRequest_2(o: Output, m: DeleteAclsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.filters))
    if len(m.filters) <= FLAT_ELEMENTS:
        for it_filters in m.filters:
            _write_DeleteAclsFilter_2(out, it_filters)
        if o.elements_ended(len(m.filters)):
            yield
    else:
        for it_filters in m.filters:
            _write_DeleteAclsFilter_2(out, it_filters)
            if o.elements_ended(1):
                yield
    out.append(0)


def _read_DeleteAclsMatchingAcl_1(r: Reader) -> _DeleteAclsMatchingAcl:
    error_code, = r.fixed(_S_h)
    error_message = read_null_string(r)
    resource_type, = r.fixed(_S_b)
    resource_name = read_string(r)
    pattern_type, = r.fixed(_S_b)
    principal = read_string(r)
    host = read_string(r)
    operation, permission_type = r.fixed(_S_bb)
    return _DeleteAclsMatchingAcl(error_code, error_message, resource_type, resource_name, pattern_type, principal, host, operation, permission_type)


def _read_DeleteAclsFilterResult_1(r: Reader) -> _DeleteAclsFilterResult:
    error_code, = r.fixed(_S_h)
    error_message = read_null_string(r)
    n = read_count(r, 14)
    matching_acls = [_read_DeleteAclsMatchingAcl_1(r) for _ in range(n)]
    return _DeleteAclsFilterResult(error_code, error_message, matching_acls)


def _read_DeleteAclsResponse_1(r: Reader) -> DeleteAclsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 8)
    filter_results = [_read_DeleteAclsFilterResult_1(r) for _ in range(n)]
    return DeleteAclsResponse(throttle_time_ms, filter_results)


def _read_DeleteAclsMatchingAcl_2(r: Reader) -> _DeleteAclsMatchingAcl:
    error_code, = r.fixed(_S_h)
    error_message = read_c_null_string(r)
    resource_type, = r.fixed(_S_b)
    resource_name = read_c_string(r)
    pattern_type, = r.fixed(_S_b)
    principal = read_c_string(r)
    host = read_c_string(r)
    operation, permission_type = r.fixed(_S_bb)
    skip_tags(r)
    return _DeleteAclsMatchingAcl(error_code, error_message, resource_type, resource_name, pattern_type, principal, host, operation, permission_type)


def _read_DeleteAclsFilterResult_2(r: Reader) -> _DeleteAclsFilterResult:
    error_code, = r.fixed(_S_h)
    error_message = read_c_null_string(r)
    n = read_c_count(r, 11)
    matching_acls = [_read_DeleteAclsMatchingAcl_2(r) for _ in range(n)]
    skip_tags(r)
    return _DeleteAclsFilterResult(error_code, error_message, matching_acls)


def _read_DeleteAclsResponse_2(r: Reader) -> DeleteAclsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 5)
    filter_results = [_read_DeleteAclsFilterResult_2(r) for _ in range(n)]
    skip_tags(r)
    return DeleteAclsResponse(throttle_time_ms, filter_results)


def _read_steps_DeleteAclsFilterResult_1(r: Reader) -> Generator[None, None, _DeleteAclsFilterResult]:
    error_code, = r.fixed(_S_h)
    error_message = read_null_string(r)
    n = read_count(r, 14)
    matching_acls: list[DeleteAclsResponse.DeleteAclsFilterResult.DeleteAclsMatchingAcl] = []
    if n <= FLAT_ELEMENTS:
        matching_acls = [_read_DeleteAclsMatchingAcl_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            matching_acls.append(_read_DeleteAclsMatchingAcl_1(r))
            if r.elements_ended(1):
                yield
    return _DeleteAclsFilterResult(error_code, error_message, matching_acls)


def _read_steps_DeleteAclsResponse_1(r: Reader) -> Generator[None, None, DeleteAclsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 8)
    filter_results: list[DeleteAclsResponse.DeleteAclsFilterResult] = []
    for _ in range(n):
        filter_results.append((yield from _read_steps_DeleteAclsFilterResult_1(r)))
        if r.elements_ended(1):
            yield
    return DeleteAclsResponse(throttle_time_ms, filter_results)


def _read_steps_DeleteAclsFilterResult_2(r: Reader) -> Generator[None, None, _DeleteAclsFilterResult]:
    error_code, = r.fixed(_S_h)
    error_message = read_c_null_string(r)
    n = read_c_count(r, 11)
    matching_acls: list[DeleteAclsResponse.DeleteAclsFilterResult.DeleteAclsMatchingAcl] = []
    if n <= FLAT_ELEMENTS:
        matching_acls = [_read_DeleteAclsMatchingAcl_2(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            matching_acls.append(_read_DeleteAclsMatchingAcl_2(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return _DeleteAclsFilterResult(error_code, error_message, matching_acls)


def _read_steps_DeleteAclsResponse_2(r: Reader) -> Generator[None, None, DeleteAclsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 5)
    filter_results: list[DeleteAclsResponse.DeleteAclsFilterResult] = []
    for _ in range(n):
        filter_results.append((yield from _read_steps_DeleteAclsFilterResult_2(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return DeleteAclsResponse(throttle_time_ms, filter_results)


def _write_DeleteAclsMatchingAcl_1(out: bytearray, m: _DeleteAclsMatchingAcl) -> None:
    out += _P_h(m.error_code)
    write_null_string(out, m.error_message)
    out += _P_b(m.resource_type)
    write_string(out, m.resource_name)
    out += _P_b(m.pattern_type)
    write_string(out, m.principal)
    write_string(out, m.host)
    out += _P_bb(m.operation, m.permission_type)


def _write_DeleteAclsFilterResult_1(out: bytearray, m: _DeleteAclsFilterResult) -> None:
    out += _P_h(m.error_code)
    write_null_string(out, m.error_message)
    write_count(out, len(m.matching_acls))
    for it_matching_acls in m.matching_acls:
        _write_DeleteAclsMatchingAcl_1(out, it_matching_acls)


def _write_DeleteAclsResponse_1(out: bytearray, m: DeleteAclsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.filter_results))
    for it_filter_results in m.filter_results:
        _write_DeleteAclsFilterResult_1(out, it_filter_results)


def _write_DeleteAclsMatchingAcl_2(out: bytearray, m: _DeleteAclsMatchingAcl) -> None:
    out += _P_h(m.error_code)
    write_c_null_string(out, m.error_message)
    out += _P_b(m.resource_type)
    write_c_string(out, m.resource_name)
    out += _P_b(m.pattern_type)
    write_c_string(out, m.principal)
    write_c_string(out, m.host)
    out += _P_bbx(m.operation, m.permission_type)


def _write_DeleteAclsFilterResult_2(out: bytearray, m: _DeleteAclsFilterResult) -> None:
    out += _P_h(m.error_code)
    write_c_null_string(out, m.error_message)
    write_c_count(out, len(m.matching_acls))
    for it_matching_acls in m.matching_acls:
        _write_DeleteAclsMatchingAcl_2(out, it_matching_acls)
    out.append(0)


def _write_DeleteAclsResponse_2(out: bytearray, m: DeleteAclsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.filter_results))
    for it_filter_results in m.filter_results:
        _write_DeleteAclsFilterResult_2(out, it_filter_results)
    out.append(0)


def _write_steps_DeleteAclsFilterResult_1(o: Output, m: _DeleteAclsFilterResult) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    write_null_string(out, m.error_message)
    write_count(out, len(m.matching_acls))
    if len(m.matching_acls) <= FLAT_ELEMENTS:
        for it_matching_acls in m.matching_acls:
            _write_DeleteAclsMatchingAcl_1(out, it_matching_acls)
        if o.elements_ended(len(m.matching_acls)):
            yield
    else:
        for it_matching_acls in m.matching_acls:
            _write_DeleteAclsMatchingAcl_1(out, it_matching_acls)
            if o.elements_ended(1):
                yield


def _write_steps_DeleteAclsResponse_1(o: Output, m: DeleteAclsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.filter_results))
    for it_filter_results in m.filter_results:
        yield from _write_steps_DeleteAclsFilterResult_1(o, it_filter_results)
        if o.elements_ended(1):
            yield


def _write_steps_DeleteAclsFilterResult_2(o: Output, m: _DeleteAclsFilterResult) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    write_c_null_string(out, m.error_message)
    write_c_count(out, len(m.matching_acls))
    if len(m.matching_acls) <= FLAT_ELEMENTS:
        for it_matching_acls in m.matching_acls:
            _write_DeleteAclsMatchingAcl_2(out, it_matching_acls)
        if o.elements_ended(len(m.matching_acls)):
            yield
    else:
        for it_matching_acls in m.matching_acls:
            _write_DeleteAclsMatchingAcl_2(out, it_matching_acls)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_DeleteAclsResponse_2(o: Output, m: DeleteAclsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.filter_results))
    for it_filter_results in m.filter_results:
        yield from _write_steps_DeleteAclsFilterResult_2(o, it_filter_results)
        if o.elements_ended(1):
            yield
    out.append(0)


def _error_for(m: DeleteAclsRequest, code: int) -> DeleteAclsResponse:
    return DeleteAclsResponse()


DeleteAclsRequest.READ = (_read_DeleteAclsRequest_1, _read_DeleteAclsRequest_2, _read_DeleteAclsRequest_2,)
DeleteAclsRequest.READ_STEPS = (_read_steps_DeleteAclsRequest_1, _read_steps_DeleteAclsRequest_2, _read_steps_DeleteAclsRequest_2,)
DeleteAclsRequest.WRITE = (_write_DeleteAclsRequest_1, _write_DeleteAclsRequest_2, _write_DeleteAclsRequest_2,)
DeleteAclsRequest.WRITE_STEPS = (_write_steps_DeleteAclsRequest_1, _write_steps_DeleteAclsRequest_2, _write_steps_DeleteAclsRequest_2,)
DeleteAclsResponse.READ = (_read_DeleteAclsResponse_1, _read_DeleteAclsResponse_2, _read_DeleteAclsResponse_2,)
DeleteAclsResponse.READ_STEPS = (_read_steps_DeleteAclsResponse_1, _read_steps_DeleteAclsResponse_2, _read_steps_DeleteAclsResponse_2,)
DeleteAclsResponse.WRITE = (_write_DeleteAclsResponse_1, _write_DeleteAclsResponse_2, _write_DeleteAclsResponse_2,)
DeleteAclsResponse.WRITE_STEPS = (_write_steps_DeleteAclsResponse_1, _write_steps_DeleteAclsResponse_2, _write_steps_DeleteAclsResponse_2,)
DeleteAclsRequest.ERROR_FOR = _error_for
