"""LeaveGroupRequest, LeaveGroupResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, read_c_count, read_c_null_string, read_c_string, read_count, read_null_string, read_string, skip_tags
from headrace.protocol.message_writing import Output, write_c_count, write_c_null_string, write_c_string, write_count, write_null_string, write_string
from headrace.protocol.primitives import Reader

class LeaveGroupRequest(KafkaMessage):
    """Key 13, versions 0 to 5, flexible from 4 on."""

    class MemberIdentity(MessageStruct):
        """Versions 3+."""

        member_id: str = ""
        group_instance_id: str | None = None
        reason: str | None = None

    API_KEY: ClassVar[int] = 13
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 4
    group_id: str = ""
    member_id: str = ""
    members: list[LeaveGroupRequest.MemberIdentity] = []


class LeaveGroupResponse(KafkaMessage):
    """Key 13, versions 0 to 5, flexible from 4 on."""

    class MemberResponse(MessageStruct):
        """Versions 3+."""

        member_id: str = ""
        group_instance_id: str | None = ""
        error_code: int = 0

    API_KEY: ClassVar[int] = 13
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 4
    throttle_time_ms: int = 0
    error_code: int = 0
    members: Collection[LeaveGroupResponse.MemberResponse] = []


_MemberIdentity = LeaveGroupRequest.MemberIdentity
_MemberResponse = LeaveGroupResponse.MemberResponse
_P_h: Final = Struct(">h").pack
_P_hx: Final = Struct(">hx").pack
_P_ih: Final = Struct(">ih").pack
_S_h: Final = Struct(">h")
_S_ih: Final = Struct(">ih")


def _read_LeaveGroupRequest_0(r: Reader) -> LeaveGroupRequest:
    group_id = read_string(r)
    member_id = read_string(r)
    return LeaveGroupRequest(group_id, member_id)


def _read_MemberIdentity_3(r: Reader) -> _MemberIdentity:
    member_id = read_string(r)
    group_instance_id = read_null_string(r)
    return _MemberIdentity(member_id, group_instance_id)


def _read_LeaveGroupRequest_3(r: Reader) -> LeaveGroupRequest:
    group_id = read_string(r)
    n = read_count(r, 4)
    members = [_read_MemberIdentity_3(r) for _ in range(n)]
    return LeaveGroupRequest(group_id, "", members)


def _read_MemberIdentity_4(r: Reader) -> _MemberIdentity:
    member_id = read_c_string(r)
    group_instance_id = read_c_null_string(r)
    skip_tags(r)
    return _MemberIdentity(member_id, group_instance_id)


def _read_LeaveGroupRequest_4(r: Reader) -> LeaveGroupRequest:
    group_id = read_c_string(r)
    n = read_c_count(r, 3)
    members = [_read_MemberIdentity_4(r) for _ in range(n)]
    skip_tags(r)
    return LeaveGroupRequest(group_id, "", members)


def _read_MemberIdentity_5(r: Reader) -> _MemberIdentity:
    member_id = read_c_string(r)
    group_instance_id = read_c_null_string(r)
    reason = read_c_null_string(r)
    skip_tags(r)
    return _MemberIdentity(member_id, group_instance_id, reason)


def _read_LeaveGroupRequest_5(r: Reader) -> LeaveGroupRequest:
    group_id = read_c_string(r)
    n = read_c_count(r, 4)
    members = [_read_MemberIdentity_5(r) for _ in range(n)]
    skip_tags(r)
    return LeaveGroupRequest(group_id, "", members)


def _read_steps_LeaveGroupRequest_3(r: Reader) -> Generator[None, None, LeaveGroupRequest]:
    group_id = read_string(r)
    n = read_count(r, 4)
    members: list[LeaveGroupRequest.MemberIdentity] = []
    if n <= FLAT_ELEMENTS:
        members = [_read_MemberIdentity_3(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            members.append(_read_MemberIdentity_3(r))
            if r.elements_ended(1):
                yield
    return LeaveGroupRequest(group_id, "", members)


def _read_steps_LeaveGroupRequest_4(r: Reader) -> Generator[None, None, LeaveGroupRequest]:
    group_id = read_c_string(r)
    n = read_c_count(r, 3)
    members: list[LeaveGroupRequest.MemberIdentity] = []
    if n <= FLAT_ELEMENTS:
        members = [_read_MemberIdentity_4(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            members.append(_read_MemberIdentity_4(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return LeaveGroupRequest(group_id, "", members)


def _read_steps_LeaveGroupRequest_5(r: Reader) -> Generator[None, None, LeaveGroupRequest]:
    group_id = read_c_string(r)
    n = read_c_count(r, 4)
    members: list[LeaveGroupRequest.MemberIdentity] = []
    if n <= FLAT_ELEMENTS:
        members = [_read_MemberIdentity_5(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            members.append(_read_MemberIdentity_5(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return LeaveGroupRequest(group_id, "", members)


def _write_LeaveGroupRequest_0(out: bytearray, m: LeaveGroupRequest) -> None:
    write_string(out, m.group_id)
    write_string(out, m.member_id)


def _write_MemberIdentity_3(out: bytearray, m: _MemberIdentity) -> None:
    write_string(out, m.member_id)
    write_null_string(out, m.group_instance_id)


def _write_LeaveGroupRequest_3(out: bytearray, m: LeaveGroupRequest) -> None:
    write_string(out, m.group_id)
    write_count(out, len(m.members))
    for it_members in m.members:
        _write_MemberIdentity_3(out, it_members)


def _write_MemberIdentity_4(out: bytearray, m: _MemberIdentity) -> None:
    write_c_string(out, m.member_id)
    write_c_null_string(out, m.group_instance_id)
    out.append(0)


def _write_LeaveGroupRequest_4(out: bytearray, m: LeaveGroupRequest) -> None:
    write_c_string(out, m.group_id)
    write_c_count(out, len(m.members))
    for it_members in m.members:
        _write_MemberIdentity_4(out, it_members)
    out.append(0)


def _write_MemberIdentity_5(out: bytearray, m: _MemberIdentity) -> None:
    write_c_string(out, m.member_id)
    write_c_null_string(out, m.group_instance_id)
    write_c_null_string(out, m.reason)
    out.append(0)


def _write_LeaveGroupRequest_5(out: bytearray, m: LeaveGroupRequest) -> None:
    write_c_string(out, m.group_id)
    write_c_count(out, len(m.members))
    for it_members in m.members:
        _write_MemberIdentity_5(out, it_members)
    out.append(0)


def _write_steps_LeaveGroupRequest_3(o: Output, m: LeaveGroupRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.group_id)
    write_count(out, len(m.members))
    if len(m.members) <= FLAT_ELEMENTS:
        for it_members in m.members:
            _write_MemberIdentity_3(out, it_members)
        if o.elements_ended(len(m.members)):
            yield
    else:
        for it_members in m.members:
            _write_MemberIdentity_3(out, it_members)
            if o.elements_ended(1):
                yield


def _write_steps_LeaveGroupRequest_4(o: Output, m: LeaveGroupRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.group_id)
    write_c_count(out, len(m.members))
    if len(m.members) <= FLAT_ELEMENTS:
        for it_members in m.members:
            _write_MemberIdentity_4(out, it_members)
        if o.elements_ended(len(m.members)):
            yield
    else:
        for it_members in m.members:
            _write_MemberIdentity_4(out, it_members)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_LeaveGroupRequest_5(o: Output, m: LeaveGroupRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.group_id)
    write_c_count(out, len(m.members))
    if len(m.members) <= FLAT_ELEMENTS:
        for it_members in m.members:
            _write_MemberIdentity_5(out, it_members)
        if o.elements_ended(len(m.members)):
            yield
    else:
        for it_members in m.members:
            _write_MemberIdentity_5(out, it_members)
            if o.elements_ended(1):
                yield
    out.append(0)


def _read_LeaveGroupResponse_0(r: Reader) -> LeaveGroupResponse:
    error_code, = r.fixed(_S_h)
    return LeaveGroupResponse(0, error_code)


def _read_LeaveGroupResponse_1(r: Reader) -> LeaveGroupResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    return LeaveGroupResponse(throttle_time_ms, error_code)


def _read_MemberResponse_3(r: Reader) -> _MemberResponse:
    member_id = read_string(r)
    group_instance_id = read_null_string(r)
    error_code, = r.fixed(_S_h)
    return _MemberResponse(member_id, group_instance_id, error_code)


def _read_LeaveGroupResponse_3(r: Reader) -> LeaveGroupResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    n = read_count(r, 6)
    members = [_read_MemberResponse_3(r) for _ in range(n)]
    return LeaveGroupResponse(throttle_time_ms, error_code, members)


def _read_MemberResponse_4(r: Reader) -> _MemberResponse:
    member_id = read_c_string(r)
    group_instance_id = read_c_null_string(r)
    error_code, = r.fixed(_S_h)
    skip_tags(r)
    return _MemberResponse(member_id, group_instance_id, error_code)


def _read_LeaveGroupResponse_4(r: Reader) -> LeaveGroupResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    n = read_c_count(r, 5)
    members = [_read_MemberResponse_4(r) for _ in range(n)]
    skip_tags(r)
    return LeaveGroupResponse(throttle_time_ms, error_code, members)


def _read_steps_LeaveGroupResponse_3(r: Reader) -> Generator[None, None, LeaveGroupResponse]:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    n = read_count(r, 6)
    members: list[LeaveGroupResponse.MemberResponse] = []
    if n <= FLAT_ELEMENTS:
        members = [_read_MemberResponse_3(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            members.append(_read_MemberResponse_3(r))
            if r.elements_ended(1):
                yield
    return LeaveGroupResponse(throttle_time_ms, error_code, members)


def _read_steps_LeaveGroupResponse_4(r: Reader) -> Generator[None, None, LeaveGroupResponse]:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    n = read_c_count(r, 5)
    members: list[LeaveGroupResponse.MemberResponse] = []
    if n <= FLAT_ELEMENTS:
        members = [_read_MemberResponse_4(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            members.append(_read_MemberResponse_4(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return LeaveGroupResponse(throttle_time_ms, error_code, members)


def _write_LeaveGroupResponse_0(out: bytearray, m: LeaveGroupResponse) -> None:
    out += _P_h(m.error_code)


def _write_LeaveGroupResponse_1(out: bytearray, m: LeaveGroupResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)


def _write_MemberResponse_3(out: bytearray, m: _MemberResponse) -> None:
    write_string(out, m.member_id)
    write_null_string(out, m.group_instance_id)
    out += _P_h(m.error_code)


def _write_LeaveGroupResponse_3(out: bytearray, m: LeaveGroupResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_count(out, len(m.members))
    for it_members in m.members:
        _write_MemberResponse_3(out, it_members)


def _write_MemberResponse_4(out: bytearray, m: _MemberResponse) -> None:
    write_c_string(out, m.member_id)
    write_c_null_string(out, m.group_instance_id)
    out += _P_hx(m.error_code)


def _write_LeaveGroupResponse_4(out: bytearray, m: LeaveGroupResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_count(out, len(m.members))
    for it_members in m.members:
        _write_MemberResponse_4(out, it_members)
    out.append(0)


def _write_steps_LeaveGroupResponse_3(o: Output, m: LeaveGroupResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_count(out, len(m.members))
    if len(m.members) <= FLAT_ELEMENTS:
        for it_members in m.members:
            _write_MemberResponse_3(out, it_members)
        if o.elements_ended(len(m.members)):
            yield
    else:
        for it_members in m.members:
            _write_MemberResponse_3(out, it_members)
            if o.elements_ended(1):
                yield


def _write_steps_LeaveGroupResponse_4(o: Output, m: LeaveGroupResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_count(out, len(m.members))
    if len(m.members) <= FLAT_ELEMENTS:
        for it_members in m.members:
            _write_MemberResponse_4(out, it_members)
        if o.elements_ended(len(m.members)):
            yield
    else:
        for it_members in m.members:
            _write_MemberResponse_4(out, it_members)
            if o.elements_ended(1):
                yield
    out.append(0)


def _error_for(m: LeaveGroupRequest, code: int) -> LeaveGroupResponse:
    return LeaveGroupResponse(error_code=code)


LeaveGroupRequest.READ = (_read_LeaveGroupRequest_0, _read_LeaveGroupRequest_0, _read_LeaveGroupRequest_0, _read_LeaveGroupRequest_3, _read_LeaveGroupRequest_4, _read_LeaveGroupRequest_5,)
LeaveGroupRequest.READ_STEPS = (None, None, None, _read_steps_LeaveGroupRequest_3, _read_steps_LeaveGroupRequest_4, _read_steps_LeaveGroupRequest_5,)
LeaveGroupRequest.WRITE = (_write_LeaveGroupRequest_0, _write_LeaveGroupRequest_0, _write_LeaveGroupRequest_0, _write_LeaveGroupRequest_3, _write_LeaveGroupRequest_4, _write_LeaveGroupRequest_5,)
LeaveGroupRequest.WRITE_STEPS = (None, None, None, _write_steps_LeaveGroupRequest_3, _write_steps_LeaveGroupRequest_4, _write_steps_LeaveGroupRequest_5,)
LeaveGroupResponse.READ = (_read_LeaveGroupResponse_0, _read_LeaveGroupResponse_1, _read_LeaveGroupResponse_1, _read_LeaveGroupResponse_3, _read_LeaveGroupResponse_4, _read_LeaveGroupResponse_4,)
LeaveGroupResponse.READ_STEPS = (None, None, None, _read_steps_LeaveGroupResponse_3, _read_steps_LeaveGroupResponse_4, _read_steps_LeaveGroupResponse_4,)
LeaveGroupResponse.WRITE = (_write_LeaveGroupResponse_0, _write_LeaveGroupResponse_1, _write_LeaveGroupResponse_1, _write_LeaveGroupResponse_3, _write_LeaveGroupResponse_4, _write_LeaveGroupResponse_4,)
LeaveGroupResponse.WRITE_STEPS = (None, None, None, _write_steps_LeaveGroupResponse_3, _write_steps_LeaveGroupResponse_4, _write_steps_LeaveGroupResponse_4,)
LeaveGroupRequest.ERROR_FOR = _error_for
