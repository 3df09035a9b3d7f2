"""SyncGroupRequest, SyncGroupResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Generator
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, read_blob, read_c_blob, read_c_count, read_c_null_string, read_c_string, read_count, read_null_string, read_string, skip_tags
from headrace.protocol.message_writing import Output, write_blob, write_c_blob, write_c_count, write_c_null_string, write_c_string, write_count, write_null_string, write_string
from headrace.protocol.primitives import Reader

class SyncGroupRequest(KafkaMessage):
    """Key 14, versions 0 to 5, flexible from 4 on."""

    class SyncGroupRequestAssignment(MessageStruct):
        """Versions 0+."""

        member_id: str = ""
        assignment: bytes = b""

    API_KEY: ClassVar[int] = 14
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 4
    group_id: str = ""
    generation_id: int = 0
    member_id: str = ""
    group_instance_id: str | None = None
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignments: list[SyncGroupRequest.SyncGroupRequestAssignment] = []


class SyncGroupResponse(KafkaMessage):
    """Key 14, versions 0 to 5, flexible from 4 on."""

    API_KEY: ClassVar[int] = 14
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 4
    throttle_time_ms: int = 0
    error_code: int = 0
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b""


_SyncGroupRequestAssignment = SyncGroupRequest.SyncGroupRequestAssignment
_P_h: Final = Struct(">h").pack
_P_i: Final = Struct(">i").pack
_P_ih: Final = Struct(">ih").pack
_S_h: Final = Struct(">h")
_S_i: Final = Struct(">i")
_S_ih: Final = Struct(">ih")


def _read_SyncGroupRequestAssignment_0(r: Reader) -> _SyncGroupRequestAssignment:
    member_id = read_string(r)
    assignment = read_blob(r)
    return _SyncGroupRequestAssignment(member_id, assignment)


def _read_SyncGroupRequest_0(r: Reader) -> SyncGroupRequest:
    group_id = read_string(r)
    generation_id, = r.fixed(_S_i)
    member_id = read_string(r)
    n = read_count(r, 6)
    assignments = [_read_SyncGroupRequestAssignment_0(r) for _ in range(n)]
    return SyncGroupRequest(group_id, generation_id, member_id, None, None, None, assignments)


def _read_SyncGroupRequest_3(r: Reader) -> SyncGroupRequest:
    group_id = read_string(r)
    generation_id, = r.fixed(_S_i)
    member_id = read_string(r)
    group_instance_id = read_null_string(r)
    n = read_count(r, 6)
    assignments = [_read_SyncGroupRequestAssignment_0(r) for _ in range(n)]
    return SyncGroupRequest(group_id, generation_id, member_id, group_instance_id, None, None, assignments)


def _read_SyncGroupRequestAssignment_4(r: Reader) -> _SyncGroupRequestAssignment:
    member_id = read_c_string(r)
    assignment = read_c_blob(r)
    skip_tags(r)
    return _SyncGroupRequestAssignment(member_id, assignment)


def _read_SyncGroupRequest_4(r: Reader) -> SyncGroupRequest:
    group_id = read_c_string(r)
    generation_id, = r.fixed(_S_i)
    member_id = read_c_string(r)
    group_instance_id = read_c_null_string(r)
    n = read_c_count(r, 3)
    assignments = [_read_SyncGroupRequestAssignment_4(r) for _ in range(n)]
    skip_tags(r)
    return SyncGroupRequest(group_id, generation_id, member_id, group_instance_id, None, None, assignments)


def _read_SyncGroupRequest_5(r: Reader) -> SyncGroupRequest:
    group_id = read_c_string(r)
    generation_id, = r.fixed(_S_i)
    member_id = read_c_string(r)
    group_instance_id = read_c_null_string(r)
    protocol_type = read_c_null_string(r)
    protocol_name = read_c_null_string(r)
    n = read_c_count(r, 3)
    assignments = [_read_SyncGroupRequestAssignment_4(r) for _ in range(n)]
    skip_tags(r)
    return SyncGroupRequest(group_id, generation_id, member_id, group_instance_id, protocol_type, protocol_name, assignments)


def _read_steps_SyncGroupRequest_0(r: Reader) -> Generator[None, None, SyncGroupRequest]:
    group_id = read_string(r)
    generation_id, = r.fixed(_S_i)
    member_id = read_string(r)
    n = read_count(r, 6)
    assignments: list[SyncGroupRequest.SyncGroupRequestAssignment] = []
    if n <= FLAT_ELEMENTS:
        assignments = [_read_SyncGroupRequestAssignment_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            assignments.append(_read_SyncGroupRequestAssignment_0(r))
            if r.elements_ended(1):
                yield
    return SyncGroupRequest(group_id, generation_id, member_id, None, None, None, assignments)


def _read_steps_SyncGroupRequest_3(r: Reader) -> Generator[None, None, SyncGroupRequest]:
    group_id = read_string(r)
    generation_id, = r.fixed(_S_i)
    member_id = read_string(r)
    group_instance_id = read_null_string(r)
    n = read_count(r, 6)
    assignments: list[SyncGroupRequest.SyncGroupRequestAssignment] = []
    if n <= FLAT_ELEMENTS:
        assignments = [_read_SyncGroupRequestAssignment_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            assignments.append(_read_SyncGroupRequestAssignment_0(r))
            if r.elements_ended(1):
                yield
    return SyncGroupRequest(group_id, generation_id, member_id, group_instance_id, None, None, assignments)


def _read_steps_SyncGroupRequest_4(r: Reader) -> Generator[None, None, SyncGroupRequest]:
    group_id = read_c_string(r)
    generation_id, = r.fixed(_S_i)
    member_id = read_c_string(r)
    group_instance_id = read_c_null_string(r)
    n = read_c_count(r, 3)
    assignments: list[SyncGroupRequest.SyncGroupRequestAssignment] = []
    if n <= FLAT_ELEMENTS:
        assignments = [_read_SyncGroupRequestAssignment_4(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            assignments.append(_read_SyncGroupRequestAssignment_4(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return SyncGroupRequest(group_id, generation_id, member_id, group_instance_id, None, None, assignments)


def _read_steps_SyncGroupRequest_5(r: Reader) -> Generator[None, None, SyncGroupRequest]:
    group_id = read_c_string(r)
    generation_id, = r.fixed(_S_i)
    member_id = read_c_string(r)
    group_instance_id = read_c_null_string(r)
    protocol_type = read_c_null_string(r)
    protocol_name = read_c_null_string(r)
    n = read_c_count(r, 3)
    assignments: list[SyncGroupRequest.SyncGroupRequestAssignment] = []
    if n <= FLAT_ELEMENTS:
        assignments = [_read_SyncGroupRequestAssignment_4(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            assignments.append(_read_SyncGroupRequestAssignment_4(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return SyncGroupRequest(group_id, generation_id, member_id, group_instance_id, protocol_type, protocol_name, assignments)


def _write_SyncGroupRequestAssignment_0(out: bytearray, m: _SyncGroupRequestAssignment) -> None:
    write_string(out, m.member_id)
    write_blob(out, m.assignment)


def _write_SyncGroupRequest_0(out: bytearray, m: SyncGroupRequest) -> None:
    write_string(out, m.group_id)
    out += _P_i(m.generation_id)
    write_string(out, m.member_id)
    write_count(out, len(m.assignments))
    for it_assignments in m.assignments:
        _write_SyncGroupRequestAssignment_0(out, it_assignments)


def _write_SyncGroupRequest_3(out: bytearray, m: SyncGroupRequest) -> None:
    write_string(out, m.group_id)
    out += _P_i(m.generation_id)
    write_string(out, m.member_id)
    write_null_string(out, m.group_instance_id)
    write_count(out, len(m.assignments))
    for it_assignments in m.assignments:
        _write_SyncGroupRequestAssignment_0(out, it_assignments)


def _write_SyncGroupRequestAssignment_4(out: bytearray, m: _SyncGroupRequestAssignment) -> None:
    write_c_string(out, m.member_id)
    write_c_blob(out, m.assignment)
    out.append(0)


def _write_SyncGroupRequest_4(out: bytearray, m: SyncGroupRequest) -> None:
    write_c_string(out, m.group_id)
    out += _P_i(m.generation_id)
    write_c_string(out, m.member_id)
    write_c_null_string(out, m.group_instance_id)
    write_c_count(out, len(m.assignments))
    for it_assignments in m.assignments:
        _write_SyncGroupRequestAssignment_4(out, it_assignments)
    out.append(0)


def _write_SyncGroupRequest_5(out: bytearray, m: SyncGroupRequest) -> None:
    write_c_string(out, m.group_id)
    out += _P_i(m.generation_id)
    write_c_string(out, m.member_id)
    write_c_null_string(out, m.group_instance_id)
    write_c_null_string(out, m.protocol_type)
    write_c_null_string(out, m.protocol_name)
    write_c_count(out, len(m.assignments))
    for it_assignments in m.assignments:
        _write_SyncGroupRequestAssignment_4(out, it_assignments)
    out.append(0)


def _write_steps_SyncGroupRequest_0(o: Output, m: SyncGroupRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.group_id)
    out += _P_i(m.generation_id)
    write_string(out, m.member_id)
    write_count(out, len(m.assignments))
    if len(m.assignments) <= FLAT_ELEMENTS:
        for it_assignments in m.assignments:
            _write_SyncGroupRequestAssignment_0(out, it_assignments)
        if o.elements_ended(len(m.assignments)):
            yield
    else:
        for it_assignments in m.assignments:
            _write_SyncGroupRequestAssignment_0(out, it_assignments)
            if o.elements_ended(1):
                yield


def _write_steps_SyncGroupRequest_3(o: Output, m: SyncGroupRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.group_id)
    out += _P_i(m.generation_id)
    write_string(out, m.member_id)
    write_null_string(out, m.group_instance_id)
    write_count(out, len(m.assignments))
    if len(m.assignments) <= FLAT_ELEMENTS:
        for it_assignments in m.assignments:
            _write_SyncGroupRequestAssignment_0(out, it_assignments)
        if o.elements_ended(len(m.assignments)):
            yield
    else:
        for it_assignments in m.assignments:
            _write_SyncGroupRequestAssignment_0(out, it_assignments)
            if o.elements_ended(1):
                yield


def _write_steps_SyncGroupRequest_4(o: Output, m: SyncGroupRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.group_id)
    out += _P_i(m.generation_id)
    write_c_string(out, m.member_id)
    write_c_null_string(out, m.group_instance_id)
    write_c_count(out, len(m.assignments))
    if len(m.assignments) <= FLAT_ELEMENTS:
        for it_assignments in m.assignments:
            _write_SyncGroupRequestAssignment_4(out, it_assignments)
        if o.elements_ended(len(m.assignments)):
            yield
    else:
        for it_assignments in m.assignments:
            _write_SyncGroupRequestAssignment_4(out, it_assignments)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_SyncGroupRequest_5(o: Output, m: SyncGroupRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.group_id)
    out += _P_i(m.generation_id)
    write_c_string(out, m.member_id)
    write_c_null_string(out, m.group_instance_id)
    write_c_null_string(out, m.protocol_type)
    write_c_null_string(out, m.protocol_name)
    write_c_count(out, len(m.assignments))
    if len(m.assignments) <= FLAT_ELEMENTS:
        for it_assignments in m.assignments:
            _write_SyncGroupRequestAssignment_4(out, it_assignments)
        if o.elements_ended(len(m.assignments)):
            yield
    else:
        for it_assignments in m.assignments:
            _write_SyncGroupRequestAssignment_4(out, it_assignments)
            if o.elements_ended(1):
                yield
    out.append(0)


def _read_SyncGroupResponse_0(r: Reader) -> SyncGroupResponse:
    error_code, = r.fixed(_S_h)
    assignment = read_blob(r)
    return SyncGroupResponse(0, error_code, None, None, assignment)


def _read_SyncGroupResponse_1(r: Reader) -> SyncGroupResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    assignment = read_blob(r)
    return SyncGroupResponse(throttle_time_ms, error_code, None, None, assignment)


def _read_SyncGroupResponse_4(r: Reader) -> SyncGroupResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    assignment = read_c_blob(r)
    skip_tags(r)
    return SyncGroupResponse(throttle_time_ms, error_code, None, None, assignment)


def _read_SyncGroupResponse_5(r: Reader) -> SyncGroupResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    protocol_type = read_c_null_string(r)
    protocol_name = read_c_null_string(r)
    assignment = read_c_blob(r)
    skip_tags(r)
    return SyncGroupResponse(throttle_time_ms, error_code, protocol_type, protocol_name, assignment)


def _write_SyncGroupResponse_0(out: bytearray, m: SyncGroupResponse) -> None:
    out += _P_h(m.error_code)
    write_blob(out, m.assignment)


def _write_SyncGroupResponse_1(out: bytearray, m: SyncGroupResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_blob(out, m.assignment)


def _write_SyncGroupResponse_4(out: bytearray, m: SyncGroupResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_blob(out, m.assignment)
    out.append(0)


def _write_SyncGroupResponse_5(out: bytearray, m: SyncGroupResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_null_string(out, m.protocol_type)
    write_c_null_string(out, m.protocol_name)
    write_c_blob(out, m.assignment)
    out.append(0)


def _error_for(m: SyncGroupRequest, code: int) -> SyncGroupResponse:
    return SyncGroupResponse(error_code=code)


SyncGroupRequest.READ = (_read_SyncGroupRequest_0, _read_SyncGroupRequest_0, _read_SyncGroupRequest_0, _read_SyncGroupRequest_3, _read_SyncGroupRequest_4, _read_SyncGroupRequest_5,)
SyncGroupRequest.READ_STEPS = (_read_steps_SyncGroupRequest_0, _read_steps_SyncGroupRequest_0, _read_steps_SyncGroupRequest_0, _read_steps_SyncGroupRequest_3, _read_steps_SyncGroupRequest_4, _read_steps_SyncGroupRequest_5,)
SyncGroupRequest.WRITE = (_write_SyncGroupRequest_0, _write_SyncGroupRequest_0, _write_SyncGroupRequest_0, _write_SyncGroupRequest_3, _write_SyncGroupRequest_4, _write_SyncGroupRequest_5,)
SyncGroupRequest.WRITE_STEPS = (_write_steps_SyncGroupRequest_0, _write_steps_SyncGroupRequest_0, _write_steps_SyncGroupRequest_0, _write_steps_SyncGroupRequest_3, _write_steps_SyncGroupRequest_4, _write_steps_SyncGroupRequest_5,)
SyncGroupResponse.READ = (_read_SyncGroupResponse_0, _read_SyncGroupResponse_1, _read_SyncGroupResponse_1, _read_SyncGroupResponse_1, _read_SyncGroupResponse_4, _read_SyncGroupResponse_5,)
SyncGroupResponse.READ_STEPS = (None, None, None, None, None, None,)
SyncGroupResponse.WRITE = (_write_SyncGroupResponse_0, _write_SyncGroupResponse_1, _write_SyncGroupResponse_1, _write_SyncGroupResponse_1, _write_SyncGroupResponse_4, _write_SyncGroupResponse_5,)
SyncGroupResponse.WRITE_STEPS = (None, None, None, None, None, None,)
SyncGroupRequest.ERROR_FOR = _error_for
