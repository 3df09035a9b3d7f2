"""DeleteGroupsRequest, DeleteGroupsResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, read_c_count, read_c_null_string, read_c_string, read_count, read_string, skip_tags
from headrace.protocol.message_writing import Output, write_c_count, write_c_null_string, write_c_string, write_count, write_string
from headrace.protocol.primitives import Reader

class DeleteGroupsRequest(KafkaMessage):
    """Key 42, versions 0 to 3, flexible from 2 on."""

    API_KEY: ClassVar[int] = 42
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 2
    groups_names: list[str] = []


class DeleteGroupsResponse(KafkaMessage):
    """Key 42, versions 0 to 3, flexible from 2 on."""

    class DeletableGroupResult(MessageStruct):
        """Versions 0+."""

        group_id: str = ""
        error_code: int = 0
        error_message: str | None = None

    API_KEY: ClassVar[int] = 42
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 2
    throttle_time_ms: int = 0
    results: Collection[DeleteGroupsResponse.DeletableGroupResult] = []


_DeletableGroupResult = DeleteGroupsResponse.DeletableGroupResult
_P_h: Final = Struct(">h").pack
_P_hx: Final = Struct(">hx").pack
_P_i: Final = Struct(">i").pack
_S_h: Final = Struct(">h")
_S_i: Final = Struct(">i")


def _read_DeleteGroupsRequest_0(r: Reader) -> DeleteGroupsRequest:
    n = read_count(r, 2)
    groups_names = [read_string(r) for _ in range(n)]
    return DeleteGroupsRequest(groups_names)


def _read_DeleteGroupsRequest_2(r: Reader) -> DeleteGroupsRequest:
    n = read_c_count(r, 1)
    groups_names = [read_c_string(r) for _ in range(n)]
    skip_tags(r)
    return DeleteGroupsRequest(groups_names)


def _read_steps_DeleteGroupsRequest_0(r: Reader) -> Generator[None, None, DeleteGroupsRequest]:
    n = read_count(r, 2)
    groups_names: list[str] = []
    if n <= FLAT_ELEMENTS:
        groups_names = [read_string(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            groups_names.append(read_string(r))
            if r.elements_ended(1):
                yield
    return DeleteGroupsRequest(groups_names)


def _read_steps_DeleteGroupsRequest_2(r: Reader) -> Generator[None, None, DeleteGroupsRequest]:
    n = read_c_count(r, 1)
    groups_names: list[str] = []
    if n <= FLAT_ELEMENTS:
        groups_names = [read_c_string(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            groups_names.append(read_c_string(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return DeleteGroupsRequest(groups_names)


def _write_DeleteGroupsRequest_0(out: bytearray, m: DeleteGroupsRequest) -> None:
    write_count(out, len(m.groups_names))
    for it_groups_names in m.groups_names:
        write_string(out, it_groups_names)


def _write_DeleteGroupsRequest_2(out: bytearray, m: DeleteGroupsRequest) -> None:
    write_c_count(out, len(m.groups_names))
    for it_groups_names in m.groups_names:
        write_c_string(out, it_groups_names)
    out.append(0)


def _write_steps_DeleteGroupsRequest_0(o: Output, m: DeleteGroupsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_count(out, len(m.groups_names))
    if len(m.groups_names) <= FLAT_ELEMENTS:
        for it_groups_names in m.groups_names:
            write_string(out, it_groups_names)
        if o.elements_ended(len(m.groups_names)):
            yield
    else:
        for it_groups_names in m.groups_names:
            write_string(out, it_groups_names)
            if o.elements_ended(1):
                yield


def _write_steps_DeleteGroupsRequest_2(o: Output, m: DeleteGroupsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.groups_names))
    if len(m.groups_names) <= FLAT_ELEMENTS:
        for it_groups_names in m.groups_names:
            write_c_string(out, it_groups_names)
        if o.elements_ended(len(m.groups_names)):
            yield
    else:
        for it_groups_names in m.groups_names:
            write_c_string(out, it_groups_names)
            if o.elements_ended(1):
                yield
    out.append(0)


def _read_DeletableGroupResult_0(r: Reader) -> _DeletableGroupResult:
    group_id = read_string(r)
    error_code, = r.fixed(_S_h)
    return _DeletableGroupResult(group_id, error_code)


def _read_DeleteGroupsResponse_0(r: Reader) -> DeleteGroupsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 4)
    results = [_read_DeletableGroupResult_0(r) for _ in range(n)]
    return DeleteGroupsResponse(throttle_time_ms, results)


def _read_DeletableGroupResult_2(r: Reader) -> _DeletableGroupResult:
    group_id = read_c_string(r)
    error_code, = r.fixed(_S_h)
    skip_tags(r)
    return _DeletableGroupResult(group_id, error_code)


def _read_DeleteGroupsResponse_2(r: Reader) -> DeleteGroupsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 4)
    results = [_read_DeletableGroupResult_2(r) for _ in range(n)]
    skip_tags(r)
    return DeleteGroupsResponse(throttle_time_ms, results)


def _read_DeletableGroupResult_3(r: Reader) -> _DeletableGroupResult:
    group_id = read_c_string(r)
    error_code, = r.fixed(_S_h)
    error_message = read_c_null_string(r)
    skip_tags(r)
    return _DeletableGroupResult(group_id, error_code, error_message)


def _read_DeleteGroupsResponse_3(r: Reader) -> DeleteGroupsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 5)
    results = [_read_DeletableGroupResult_3(r) for _ in range(n)]
    skip_tags(r)
    return DeleteGroupsResponse(throttle_time_ms, results)


def _read_steps_DeleteGroupsResponse_0(r: Reader) -> Generator[None, None, DeleteGroupsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 4)
    results: list[DeleteGroupsResponse.DeletableGroupResult] = []
    if n <= FLAT_ELEMENTS:
        results = [_read_DeletableGroupResult_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            results.append(_read_DeletableGroupResult_0(r))
            if r.elements_ended(1):
                yield
    return DeleteGroupsResponse(throttle_time_ms, results)


def _read_steps_DeleteGroupsResponse_2(r: Reader) -> Generator[None, None, DeleteGroupsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 4)
    results: list[DeleteGroupsResponse.DeletableGroupResult] = []
    if n <= FLAT_ELEMENTS:
        results = [_read_DeletableGroupResult_2(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            results.append(_read_DeletableGroupResult_2(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return DeleteGroupsResponse(throttle_time_ms, results)


def _read_steps_DeleteGroupsResponse_3(r: Reader) -> Generator[None, None, DeleteGroupsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 5)
    results: list[DeleteGroupsResponse.DeletableGroupResult] = []
    if n <= FLAT_ELEMENTS:
        results = [_read_DeletableGroupResult_3(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            results.append(_read_DeletableGroupResult_3(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return DeleteGroupsResponse(throttle_time_ms, results)


def _write_DeletableGroupResult_0(out: bytearray, m: _DeletableGroupResult) -> None:
    write_string(out, m.group_id)
    out += _P_h(m.error_code)


def _write_DeleteGroupsResponse_0(out: bytearray, m: DeleteGroupsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.results))
    for it_results in m.results:
        _write_DeletableGroupResult_0(out, it_results)


def _write_DeletableGroupResult_2(out: bytearray, m: _DeletableGroupResult) -> None:
    write_c_string(out, m.group_id)
    out += _P_hx(m.error_code)


def _write_DeleteGroupsResponse_2(out: bytearray, m: DeleteGroupsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.results))
    for it_results in m.results:
        _write_DeletableGroupResult_2(out, it_results)
    out.append(0)


def _write_DeletableGroupResult_3(out: bytearray, m: _DeletableGroupResult) -> None:
    write_c_string(out, m.group_id)
    out += _P_h(m.error_code)
    write_c_null_string(out, m.error_message)
    out.append(0)


def _write_DeleteGroupsResponse_3(out: bytearray, m: DeleteGroupsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.results))
    for it_results in m.results:
        _write_DeletableGroupResult_3(out, it_results)
    out.append(0)


def _write_steps_DeleteGroupsResponse_0(o: Output, m: DeleteGroupsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.results))
    if len(m.results) <= FLAT_ELEMENTS:
        for it_results in m.results:
            _write_DeletableGroupResult_0(out, it_results)
        if o.elements_ended(len(m.results)):
            yield
    else:
        for it_results in m.results:
            _write_DeletableGroupResult_0(out, it_results)
            if o.elements_ended(1):
                yield


def _write_steps_DeleteGroupsResponse_2(o: Output, m: DeleteGroupsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.results))
    if len(m.results) <= FLAT_ELEMENTS:
        for it_results in m.results:
            _write_DeletableGroupResult_2(out, it_results)
        if o.elements_ended(len(m.results)):
            yield
    else:
        for it_results in m.results:
            _write_DeletableGroupResult_2(out, it_results)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_DeleteGroupsResponse_3(o: Output, m: DeleteGroupsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.results))
    if len(m.results) <= FLAT_ELEMENTS:
        for it_results in m.results:
            _write_DeletableGroupResult_3(out, it_results)
        if o.elements_ended(len(m.results)):
            yield
    else:
        for it_results in m.results:
            _write_DeletableGroupResult_3(out, it_results)
            if o.elements_ended(1):
                yield
    out.append(0)


def _error_for(m: DeleteGroupsRequest, code: int) -> DeleteGroupsResponse:
    return DeleteGroupsResponse(results=[_DeletableGroupResult(group_id=it0, error_code=code) for it0 in m.groups_names])


DeleteGroupsRequest.READ = (_read_DeleteGroupsRequest_0, _read_DeleteGroupsRequest_0, _read_DeleteGroupsRequest_2, _read_DeleteGroupsRequest_2,)
DeleteGroupsRequest.READ_STEPS = (_read_steps_DeleteGroupsRequest_0, _read_steps_DeleteGroupsRequest_0, _read_steps_DeleteGroupsRequest_2, _read_steps_DeleteGroupsRequest_2,)
DeleteGroupsRequest.WRITE = (_write_DeleteGroupsRequest_0, _write_DeleteGroupsRequest_0, _write_DeleteGroupsRequest_2, _write_DeleteGroupsRequest_2,)
DeleteGroupsRequest.WRITE_STEPS = (_write_steps_DeleteGroupsRequest_0, _write_steps_DeleteGroupsRequest_0, _write_steps_DeleteGroupsRequest_2, _write_steps_DeleteGroupsRequest_2,)
DeleteGroupsResponse.READ = (_read_DeleteGroupsResponse_0, _read_DeleteGroupsResponse_0, _read_DeleteGroupsResponse_2, _read_DeleteGroupsResponse_3,)
DeleteGroupsResponse.READ_STEPS = (_read_steps_DeleteGroupsResponse_0, _read_steps_DeleteGroupsResponse_0, _read_steps_DeleteGroupsResponse_2, _read_steps_DeleteGroupsResponse_3,)
DeleteGroupsResponse.WRITE = (_write_DeleteGroupsResponse_0, _write_DeleteGroupsResponse_0, _write_DeleteGroupsResponse_2, _write_DeleteGroupsResponse_3,)
DeleteGroupsResponse.WRITE_STEPS = (_write_steps_DeleteGroupsResponse_0, _write_steps_DeleteGroupsResponse_0, _write_steps_DeleteGroupsResponse_2, _write_steps_DeleteGroupsResponse_3,)
DeleteGroupsRequest.ERROR_FOR = _error_for
