"""DescribeGroupsRequest, DescribeGroupsResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, read_blob, read_c_blob, read_c_count, read_c_null_string, read_c_string, read_count, read_null_string, read_string, skip_tags
from headrace.protocol.message_writing import Output, write_blob, write_c_blob, write_c_count, write_c_null_string, write_c_string, write_count, write_null_string, write_string
from headrace.protocol.primitives import Reader

class DescribeGroupsRequest(KafkaMessage):
    """Key 15, versions 0 to 6, flexible from 5 on."""

    API_KEY: ClassVar[int] = 15
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 5
    groups: list[str] = []
    include_authorized_operations: bool = False


class DescribeGroupsResponse(KafkaMessage):
    """Key 15, versions 0 to 6, flexible from 5 on."""

    class DescribedGroup(MessageStruct):
        """Versions 0+."""

        class DescribedGroupMember(MessageStruct):
            """Versions 0+."""

            member_id: str = ""
            group_instance_id: str | None = None
            client_id: str = ""
            client_host: str = ""
            member_metadata: bytes = b""
            member_assignment: bytes = b""

        error_code: int = 0
        error_message: str | None = None
        group_id: str = ""
        group_state: str = ""
        protocol_type: str = ""
        protocol_data: str = ""
        members: Collection[DescribeGroupsResponse.DescribedGroup.DescribedGroupMember] = []
        authorized_operations: int = -2147483648

    API_KEY: ClassVar[int] = 15
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 5
    throttle_time_ms: int = 0
    groups: Collection[DescribeGroupsResponse.DescribedGroup] = []


_DescribedGroupMember = DescribeGroupsResponse.DescribedGroup.DescribedGroupMember
_DescribedGroup = DescribeGroupsResponse.DescribedGroup
_P_h: Final = Struct(">h").pack
_P_i: Final = Struct(">i").pack
_P_ix: Final = Struct(">ix").pack
_P_t: Final = Struct(">?").pack
_P_tx: Final = Struct(">?x").pack
_S_h: Final = Struct(">h")
_S_i: Final = Struct(">i")
_S_t: Final = Struct(">?")


def _read_DescribeGroupsRequest_0(r: Reader) -> DescribeGroupsRequest:
    n = read_count(r, 2)
    groups = [read_string(r) for _ in range(n)]
    return DescribeGroupsRequest(groups)


def _read_DescribeGroupsRequest_3(r: Reader) -> DescribeGroupsRequest:
    n = read_count(r, 2)
    groups = [read_string(r) for _ in range(n)]
    include_authorized_operations, = r.fixed(_S_t)
    return DescribeGroupsRequest(groups, include_authorized_operations)


def _read_DescribeGroupsRequest_5(r: Reader) -> DescribeGroupsRequest:
    n = read_c_count(r, 1)
    groups = [read_c_string(r) for _ in range(n)]
    include_authorized_operations, = r.fixed(_S_t)
    skip_tags(r)
    return DescribeGroupsRequest(groups, include_authorized_operations)


def _read_steps_DescribeGroupsRequest_0(r: Reader) -> Generator[None, None, DescribeGroupsRequest]:
    n = read_count(r, 2)
    groups: list[str] = []
    if n <= FLAT_ELEMENTS:
        groups = [read_string(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            groups.append(read_string(r))
            if r.elements_ended(1):
                yield
    return DescribeGroupsRequest(groups)


def _read_steps_DescribeGroupsRequest_3(r: Reader) -> Generator[None, None, DescribeGroupsRequest]:
    n = read_count(r, 2)
    groups: list[str] = []
    if n <= FLAT_ELEMENTS:
        groups = [read_string(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            groups.append(read_string(r))
            if r.elements_ended(1):
                yield
    include_authorized_operations, = r.fixed(_S_t)
    return DescribeGroupsRequest(groups, include_authorized_operations)


def _read_steps_DescribeGroupsRequest_5(r: Reader) -> Generator[None, None, DescribeGroupsRequest]:
    n = read_c_count(r, 1)
    groups: list[str] = []
    if n <= FLAT_ELEMENTS:
        groups = [read_c_string(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            groups.append(read_c_string(r))
            if r.elements_ended(1):
                yield
    include_authorized_operations, = r.fixed(_S_t)
    skip_tags(r)
    return DescribeGroupsRequest(groups, include_authorized_operations)


def _write_DescribeGroupsRequest_0(out: bytearray, m: DescribeGroupsRequest) -> None:
    write_count(out, len(m.groups))
    for it_groups in m.groups:
        write_string(out, it_groups)


def _write_DescribeGroupsRequest_3(out: bytearray, m: DescribeGroupsRequest) -> None:
    write_count(out, len(m.groups))
    for it_groups in m.groups:
        write_string(out, it_groups)
    out += _P_t(m.include_authorized_operations)


def _write_DescribeGroupsRequest_5(out: bytearray, m: DescribeGroupsRequest) -> None:
    write_c_count(out, len(m.groups))
    for it_groups in m.groups:
        write_c_string(out, it_groups)
    out += _P_tx(m.include_authorized_operations)


def _write_steps_DescribeGroupsRequest_0(o: Output, m: DescribeGroupsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_count(out, len(m.groups))
    if len(m.groups) <= FLAT_ELEMENTS:
        for it_groups in m.groups:
            write_string(out, it_groups)
        if o.elements_ended(len(m.groups)):
            yield
    else:
        for it_groups in m.groups:
            write_string(out, it_groups)
            if o.elements_ended(1):
                yield


def _write_steps_DescribeGroupsRequest_3(o: Output, m: DescribeGroupsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_count(out, len(m.groups))
    if len(m.groups) <= FLAT_ELEMENTS:
        for it_groups in m.groups:
            write_string(out, it_groups)
        if o.elements_ended(len(m.groups)):
            yield
    else:
        for it_groups in m.groups:
            write_string(out, it_groups)
            if o.elements_ended(1):
                yield
    out += _P_t(m.include_authorized_operations)


def _write_steps_DescribeGroupsRequest_5(o: Output, m: DescribeGroupsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.groups))
    if len(m.groups) <= FLAT_ELEMENTS:
        for it_groups in m.groups:
            write_c_string(out, it_groups)
        if o.elements_ended(len(m.groups)):
            yield
    else:
        for it_groups in m.groups:
            write_c_string(out, it_groups)
            if o.elements_ended(1):
                yield
    out += _P_tx(m.include_authorized_operations)


def _read_DescribedGroupMember_0(r: Reader) -> _DescribedGroupMember:
    member_id = read_string(r)
    client_id = read_string(r)
    client_host = read_string(r)
    member_metadata = read_blob(r)
    member_assignment = read_blob(r)
    return _DescribedGroupMember(member_id, None, client_id, client_host, member_metadata, member_assignment)


def _read_DescribedGroup_0(r: Reader) -> _DescribedGroup:
    error_code, = r.fixed(_S_h)
    group_id = read_string(r)
    group_state = read_string(r)
    protocol_type = read_string(r)
    protocol_data = read_string(r)
    n = read_count(r, 14)
    members = [_read_DescribedGroupMember_0(r) for _ in range(n)]
    return _DescribedGroup(error_code, None, group_id, group_state, protocol_type, protocol_data, members)


def _read_DescribeGroupsResponse_0(r: Reader) -> DescribeGroupsResponse:
    n = read_count(r, 14)
    groups = [_read_DescribedGroup_0(r) for _ in range(n)]
    return DescribeGroupsResponse(0, groups)


def _read_DescribeGroupsResponse_1(r: Reader) -> DescribeGroupsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 14)
    groups = [_read_DescribedGroup_0(r) for _ in range(n)]
    return DescribeGroupsResponse(throttle_time_ms, groups)


def _read_DescribedGroup_3(r: Reader) -> _DescribedGroup:
    error_code, = r.fixed(_S_h)
    group_id = read_string(r)
    group_state = read_string(r)
    protocol_type = read_string(r)
    protocol_data = read_string(r)
    n = read_count(r, 14)
    members = [_read_DescribedGroupMember_0(r) for _ in range(n)]
    authorized_operations, = r.fixed(_S_i)
    return _DescribedGroup(error_code, None, group_id, group_state, protocol_type, protocol_data, members, authorized_operations)


def _read_DescribeGroupsResponse_3(r: Reader) -> DescribeGroupsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 18)
    groups = [_read_DescribedGroup_3(r) for _ in range(n)]
    return DescribeGroupsResponse(throttle_time_ms, groups)


def _read_DescribedGroupMember_4(r: Reader) -> _DescribedGroupMember:
    member_id = read_string(r)
    group_instance_id = read_null_string(r)
    client_id = read_string(r)
    client_host = read_string(r)
    member_metadata = read_blob(r)
    member_assignment = read_blob(r)
    return _DescribedGroupMember(member_id, group_instance_id, client_id, client_host, member_metadata, member_assignment)


def _read_DescribedGroup_4(r: Reader) -> _DescribedGroup:
    error_code, = r.fixed(_S_h)
    group_id = read_string(r)
    group_state = read_string(r)
    protocol_type = read_string(r)
    protocol_data = read_string(r)
    n = read_count(r, 16)
    members = [_read_DescribedGroupMember_4(r) for _ in range(n)]
    authorized_operations, = r.fixed(_S_i)
    return _DescribedGroup(error_code, None, group_id, group_state, protocol_type, protocol_data, members, authorized_operations)


def _read_DescribeGroupsResponse_4(r: Reader) -> DescribeGroupsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 18)
    groups = [_read_DescribedGroup_4(r) for _ in range(n)]
    return DescribeGroupsResponse(throttle_time_ms, groups)


def _read_DescribedGroupMember_5(r: Reader) -> _DescribedGroupMember:
    member_id = read_c_string(r)
    group_instance_id = read_c_null_string(r)
    client_id = read_c_string(r)
    client_host = read_c_string(r)
    member_metadata = read_c_blob(r)
    member_assignment = read_c_blob(r)
    skip_tags(r)
    return _DescribedGroupMember(member_id, group_instance_id, client_id, client_host, member_metadata, member_assignment)


def _read_DescribedGroup_5(r: Reader) -> _DescribedGroup:
    error_code, = r.fixed(_S_h)
    group_id = read_c_string(r)
    group_state = read_c_string(r)
    protocol_type = read_c_string(r)
    protocol_data = read_c_string(r)
    n = read_c_count(r, 7)
    members = [_read_DescribedGroupMember_5(r) for _ in range(n)]
    authorized_operations, = r.fixed(_S_i)
    skip_tags(r)
    return _DescribedGroup(error_code, None, group_id, group_state, protocol_type, protocol_data, members, authorized_operations)


def _read_DescribeGroupsResponse_5(r: Reader) -> DescribeGroupsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 12)
    groups = [_read_DescribedGroup_5(r) for _ in range(n)]
    skip_tags(r)
    return DescribeGroupsResponse(throttle_time_ms, groups)


def _read_DescribedGroup_6(r: Reader) -> _DescribedGroup:
    error_code, = r.fixed(_S_h)
    error_message = read_c_null_string(r)
    group_id = read_c_string(r)
    group_state = read_c_string(r)
    protocol_type = read_c_string(r)
    protocol_data = read_c_string(r)
    n = read_c_count(r, 7)
    members = [_read_DescribedGroupMember_5(r) for _ in range(n)]
    authorized_operations, = r.fixed(_S_i)
    skip_tags(r)
    return _DescribedGroup(error_code, error_message, group_id, group_state, protocol_type, protocol_data, members, authorized_operations)


def _read_DescribeGroupsResponse_6(r: Reader) -> DescribeGroupsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 13)
    groups = [_read_DescribedGroup_6(r) for _ in range(n)]
    skip_tags(r)
    return DescribeGroupsResponse(throttle_time_ms, groups)


def _read_steps_DescribedGroup_0(r: Reader) -> Generator[None, None, _DescribedGroup]:
    error_code, = r.fixed(_S_h)
    group_id = read_string(r)
    group_state = read_string(r)
    protocol_type = read_string(r)
    protocol_data = read_string(r)
    n = read_count(r, 14)
    members: list[DescribeGroupsResponse.DescribedGroup.DescribedGroupMember] = []
    if n <= FLAT_ELEMENTS:
        members = [_read_DescribedGroupMember_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            members.append(_read_DescribedGroupMember_0(r))
            if r.elements_ended(1):
                yield
    return _DescribedGroup(error_code, None, group_id, group_state, protocol_type, protocol_data, members)


def _read_steps_DescribeGroupsResponse_0(r: Reader) -> Generator[None, None, DescribeGroupsResponse]:
    n = read_count(r, 14)
    groups: list[DescribeGroupsResponse.DescribedGroup] = []
    for _ in range(n):
        groups.append((yield from _read_steps_DescribedGroup_0(r)))
        if r.elements_ended(1):
            yield
    return DescribeGroupsResponse(0, groups)


def _read_steps_DescribeGroupsResponse_1(r: Reader) -> Generator[None, None, DescribeGroupsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 14)
    groups: list[DescribeGroupsResponse.DescribedGroup] = []
    for _ in range(n):
        groups.append((yield from _read_steps_DescribedGroup_0(r)))
        if r.elements_ended(1):
            yield
    return DescribeGroupsResponse(throttle_time_ms, groups)


def _read_steps_DescribedGroup_3(r: Reader) -> Generator[None, None, _DescribedGroup]:
    error_code, = r.fixed(_S_h)
    group_id = read_string(r)
    group_state = read_string(r)
    protocol_type = read_string(r)
    protocol_data = read_string(r)
    n = read_count(r, 14)
    members: list[DescribeGroupsResponse.DescribedGroup.DescribedGroupMember] = []
    if n <= FLAT_ELEMENTS:
        members = [_read_DescribedGroupMember_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            members.append(_read_DescribedGroupMember_0(r))
            if r.elements_ended(1):
                yield
    authorized_operations, = r.fixed(_S_i)
    return _DescribedGroup(error_code, None, group_id, group_state, protocol_type, protocol_data, members, authorized_operations)


def _read_steps_DescribeGroupsResponse_3(r: Reader) -> Generator[None, None, DescribeGroupsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 18)
    groups: list[DescribeGroupsResponse.DescribedGroup] = []
    for _ in range(n):
        groups.append((yield from _read_steps_DescribedGroup_3(r)))
        if r.elements_ended(1):
            yield
    return DescribeGroupsResponse(throttle_time_ms, groups)


def _read_steps_DescribedGroup_4(r: Reader) -> Generator[None, None, _DescribedGroup]:
    error_code, = r.fixed(_S_h)
    group_id = read_string(r)
    group_state = read_string(r)
    protocol_type = read_string(r)
    protocol_data = read_string(r)
    n = read_count(r, 16)
    members: list[DescribeGroupsResponse.DescribedGroup.DescribedGroupMember] = []
    if n <= FLAT_ELEMENTS:
        members = [_read_DescribedGroupMember_4(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            members.append(_read_DescribedGroupMember_4(r))
            if r.elements_ended(1):
                yield
    authorized_operations, = r.fixed(_S_i)
    return _DescribedGroup(error_code, None, group_id, group_state, protocol_type, protocol_data, members, authorized_operations)


def _read_steps_DescribeGroupsResponse_4(r: Reader) -> Generator[None, None, DescribeGroupsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 18)
    groups: list[DescribeGroupsResponse.DescribedGroup] = []
    for _ in range(n):
        groups.append((yield from _read_steps_DescribedGroup_4(r)))
        if r.elements_ended(1):
            yield
    return DescribeGroupsResponse(throttle_time_ms, groups)


def _read_steps_DescribedGroup_5(r: Reader) -> Generator[None, None, _DescribedGroup]:
    error_code, = r.fixed(_S_h)
    group_id = read_c_string(r)
    group_state = read_c_string(r)
    protocol_type = read_c_string(r)
    protocol_data = read_c_string(r)
    n = read_c_count(r, 7)
    members: list[DescribeGroupsResponse.DescribedGroup.DescribedGroupMember] = []
    if n <= FLAT_ELEMENTS:
        members = [_read_DescribedGroupMember_5(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            members.append(_read_DescribedGroupMember_5(r))
            if r.elements_ended(1):
                yield
    authorized_operations, = r.fixed(_S_i)
    skip_tags(r)
    return _DescribedGroup(error_code, None, group_id, group_state, protocol_type, protocol_data, members, authorized_operations)


def _read_steps_DescribeGroupsResponse_5(r: Reader) -> Generator[None, None, DescribeGroupsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 12)
    groups: list[DescribeGroupsResponse.DescribedGroup] = []
    for _ in range(n):
        groups.append((yield from _read_steps_DescribedGroup_5(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return DescribeGroupsResponse(throttle_time_ms, groups)


def _read_steps_DescribedGroup_6(r: Reader) -> Generator[None, None, _DescribedGroup]:
    error_code, = r.fixed(_S_h)
    error_message = read_c_null_string(r)
    group_id = read_c_string(r)
    group_state = read_c_string(r)
    protocol_type = read_c_string(r)
    protocol_data = read_c_string(r)
    n = read_c_count(r, 7)
    members: list[DescribeGroupsResponse.DescribedGroup.DescribedGroupMember] = []
    if n <= FLAT_ELEMENTS:
        members = [_read_DescribedGroupMember_5(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            members.append(_read_DescribedGroupMember_5(r))
            if r.elements_ended(1):
                yield
    authorized_operations, = r.fixed(_S_i)
    skip_tags(r)
    return _DescribedGroup(error_code, error_message, group_id, group_state, protocol_type, protocol_data, members, authorized_operations)


def _read_steps_DescribeGroupsResponse_6(r: Reader) -> Generator[None, None, DescribeGroupsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 13)
    groups: list[DescribeGroupsResponse.DescribedGroup] = []
    for _ in range(n):
        groups.append((yield from _read_steps_DescribedGroup_6(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return DescribeGroupsResponse(throttle_time_ms, groups)


def _write_DescribedGroupMember_0(out: bytearray, m: _DescribedGroupMember) -> None:
    write_string(out, m.member_id)
    write_string(out, m.client_id)
    write_string(out, m.client_host)
    write_blob(out, m.member_metadata)
    write_blob(out, m.member_assignment)


def _write_DescribedGroup_0(out: bytearray, m: _DescribedGroup) -> None:
    out += _P_h(m.error_code)
    write_string(out, m.group_id)
    write_string(out, m.group_state)
    write_string(out, m.protocol_type)
    write_string(out, m.protocol_data)
    write_count(out, len(m.members))
    for it_members in m.members:
        _write_DescribedGroupMember_0(out, it_members)


def _write_DescribeGroupsResponse_0(out: bytearray, m: DescribeGroupsResponse) -> None:
    write_count(out, len(m.groups))
    for it_groups in m.groups:
        _write_DescribedGroup_0(out, it_groups)


def _write_DescribeGroupsResponse_1(out: bytearray, m: DescribeGroupsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.groups))
    for it_groups in m.groups:
        _write_DescribedGroup_0(out, it_groups)


def _write_DescribedGroup_3(out: bytearray, m: _DescribedGroup) -> None:
    out += _P_h(m.error_code)
    write_string(out, m.group_id)
    write_string(out, m.group_state)
    write_string(out, m.protocol_type)
    write_string(out, m.protocol_data)
    write_count(out, len(m.members))
    for it_members in m.members:
        _write_DescribedGroupMember_0(out, it_members)
    out += _P_i(m.authorized_operations)


def _write_DescribeGroupsResponse_3(out: bytearray, m: DescribeGroupsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.groups))
    for it_groups in m.groups:
        _write_DescribedGroup_3(out, it_groups)


def _write_DescribedGroupMember_4(out: bytearray, m: _DescribedGroupMember) -> None:
    write_string(out, m.member_id)
    write_null_string(out, m.group_instance_id)
    write_string(out, m.client_id)
    write_string(out, m.client_host)
    write_blob(out, m.member_metadata)
    write_blob(out, m.member_assignment)


def _write_DescribedGroup_4(out: bytearray, m: _DescribedGroup) -> None:
    out += _P_h(m.error_code)
    write_string(out, m.group_id)
    write_string(out, m.group_state)
    write_string(out, m.protocol_type)
    write_string(out, m.protocol_data)
    write_count(out, len(m.members))
    for it_members in m.members:
        _write_DescribedGroupMember_4(out, it_members)
    out += _P_i(m.authorized_operations)


def _write_DescribeGroupsResponse_4(out: bytearray, m: DescribeGroupsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.groups))
    for it_groups in m.groups:
        _write_DescribedGroup_4(out, it_groups)


def _write_DescribedGroupMember_5(out: bytearray, m: _DescribedGroupMember) -> None:
    write_c_string(out, m.member_id)
    write_c_null_string(out, m.group_instance_id)
    write_c_string(out, m.client_id)
    write_c_string(out, m.client_host)
    write_c_blob(out, m.member_metadata)
    write_c_blob(out, m.member_assignment)
    out.append(0)


def _write_DescribedGroup_5(out: bytearray, m: _DescribedGroup) -> None:
    out += _P_h(m.error_code)
    write_c_string(out, m.group_id)
    write_c_string(out, m.group_state)
    write_c_string(out, m.protocol_type)
    write_c_string(out, m.protocol_data)
    write_c_count(out, len(m.members))
    for it_members in m.members:
        _write_DescribedGroupMember_5(out, it_members)
    out += _P_ix(m.authorized_operations)


def _write_DescribeGroupsResponse_5(out: bytearray, m: DescribeGroupsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.groups))
    for it_groups in m.groups:
        _write_DescribedGroup_5(out, it_groups)
    out.append(0)


def _write_DescribedGroup_6(out: bytearray, m: _DescribedGroup) -> None:
    out += _P_h(m.error_code)
    write_c_null_string(out, m.error_message)
    write_c_string(out, m.group_id)
    write_c_string(out, m.group_state)
    write_c_string(out, m.protocol_type)
    write_c_string(out, m.protocol_data)
    write_c_count(out, len(m.members))
    for it_members in m.members:
        _write_DescribedGroupMember_5(out, it_members)
    out += _P_ix(m.authorized_operations)


def _write_DescribeGroupsResponse_6(out: bytearray, m: DescribeGroupsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.groups))
    for it_groups in m.groups:
        _write_DescribedGroup_6(out, it_groups)
    out.append(0)


def _write_steps_DescribedGroup_0(o: Output, m: _DescribedGroup) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    write_string(out, m.group_id)
    write_string(out, m.group_state)
    write_string(out, m.protocol_type)
    write_string(out, m.protocol_data)
    write_count(out, len(m.members))
    if len(m.members) <= FLAT_ELEMENTS:
        for it_members in m.members:
            _write_DescribedGroupMember_0(out, it_members)
        if o.elements_ended(len(m.members)):
            yield
    else:
        for it_members in m.members:
            _write_DescribedGroupMember_0(out, it_members)
            if o.elements_ended(1):
                yield


def _write_steps_DescribeGroupsResponse_0(o: Output, m: DescribeGroupsResponse) -> Generator[None, None, None]:
    out = o.buffer
    write_count(out, len(m.groups))
    for it_groups in m.groups:
        yield from _write_steps_DescribedGroup_0(o, it_groups)
        if o.elements_ended(1):
            yield


def _write_steps_DescribeGroupsResponse_1(o: Output, m: DescribeGroupsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.groups))
    for it_groups in m.groups:
        yield from _write_steps_DescribedGroup_0(o, it_groups)
        if o.elements_ended(1):
            yield


def _write_steps_DescribedGroup_3(o: Output, m: _DescribedGroup) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    write_string(out, m.group_id)
    write_string(out, m.group_state)
    write_string(out, m.protocol_type)
    write_string(out, m.protocol_data)
    write_count(out, len(m.members))
    if len(m.members) <= FLAT_ELEMENTS:
        for it_members in m.members:
            _write_DescribedGroupMember_0(out, it_members)
        if o.elements_ended(len(m.members)):
            yield
    else:
        for it_members in m.members:
            _write_DescribedGroupMember_0(out, it_members)
            if o.elements_ended(1):
                yield
    out += _P_i(m.authorized_operations)


def _write_steps_DescribeGroupsResponse_3(o: Output, m: DescribeGroupsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.groups))
    for it_groups in m.groups:
        yield from _write_steps_DescribedGroup_3(o, it_groups)
        if o.elements_ended(1):
            yield


def _write_steps_DescribedGroup_4(o: Output, m: _DescribedGroup) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    write_string(out, m.group_id)
    write_string(out, m.group_state)
    write_string(out, m.protocol_type)
    write_string(out, m.protocol_data)
    write_count(out, len(m.members))
    if len(m.members) <= FLAT_ELEMENTS:
        for it_members in m.members:
            _write_DescribedGroupMember_4(out, it_members)
        if o.elements_ended(len(m.members)):
            yield
    else:
        for it_members in m.members:
            _write_DescribedGroupMember_4(out, it_members)
            if o.elements_ended(1):
                yield
    out += _P_i(m.authorized_operations)


def _write_steps_DescribeGroupsResponse_4(o: Output, m: DescribeGroupsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.groups))
    for it_groups in m.groups:
        yield from _write_steps_DescribedGroup_4(o, it_groups)
        if o.elements_ended(1):
            yield


def _write_steps_DescribedGroup_5(o: Output, m: _DescribedGroup) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    write_c_string(out, m.group_id)
    write_c_string(out, m.group_state)
    write_c_string(out, m.protocol_type)
    write_c_string(out, m.protocol_data)
    write_c_count(out, len(m.members))
    if len(m.members) <= FLAT_ELEMENTS:
        for it_members in m.members:
            _write_DescribedGroupMember_5(out, it_members)
        if o.elements_ended(len(m.members)):
            yield
    else:
        for it_members in m.members:
            _write_DescribedGroupMember_5(out, it_members)
            if o.elements_ended(1):
                yield
    out += _P_ix(m.authorized_operations)


def _write_steps_DescribeGroupsResponse_5(o: Output, m: DescribeGroupsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.groups))
    for it_groups in m.groups:
        yield from _write_steps_DescribedGroup_5(o, it_groups)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_DescribedGroup_6(o: Output, m: _DescribedGroup) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    write_c_null_string(out, m.error_message)
    write_c_string(out, m.group_id)
    write_c_string(out, m.group_state)
    write_c_string(out, m.protocol_type)
    write_c_string(out, m.protocol_data)
    write_c_count(out, len(m.members))
    if len(m.members) <= FLAT_ELEMENTS:
        for it_members in m.members:
            _write_DescribedGroupMember_5(out, it_members)
        if o.elements_ended(len(m.members)):
            yield
    else:
        for it_members in m.members:
            _write_DescribedGroupMember_5(out, it_members)
            if o.elements_ended(1):
                yield
    out += _P_ix(m.authorized_operations)


def _write_steps_DescribeGroupsResponse_6(o: Output, m: DescribeGroupsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.groups))
    for it_groups in m.groups:
        yield from _write_steps_DescribedGroup_6(o, it_groups)
        if o.elements_ended(1):
            yield
    out.append(0)


def _error_for(m: DescribeGroupsRequest, code: int) -> DescribeGroupsResponse:
    return DescribeGroupsResponse(groups=[_DescribedGroup(group_id=it0, error_code=code) for it0 in m.groups])


DescribeGroupsRequest.READ = (_read_DescribeGroupsRequest_0, _read_DescribeGroupsRequest_0, _read_DescribeGroupsRequest_0, _read_DescribeGroupsRequest_3, _read_DescribeGroupsRequest_3, _read_DescribeGroupsRequest_5, _read_DescribeGroupsRequest_5,)
DescribeGroupsRequest.READ_STEPS = (_read_steps_DescribeGroupsRequest_0, _read_steps_DescribeGroupsRequest_0, _read_steps_DescribeGroupsRequest_0, _read_steps_DescribeGroupsRequest_3, _read_steps_DescribeGroupsRequest_3, _read_steps_DescribeGroupsRequest_5, _read_steps_DescribeGroupsRequest_5,)
DescribeGroupsRequest.WRITE = (_write_DescribeGroupsRequest_0, _write_DescribeGroupsRequest_0, _write_DescribeGroupsRequest_0, _write_DescribeGroupsRequest_3, _write_DescribeGroupsRequest_3, _write_DescribeGroupsRequest_5, _write_DescribeGroupsRequest_5,)
DescribeGroupsRequest.WRITE_STEPS = (_write_steps_DescribeGroupsRequest_0, _write_steps_DescribeGroupsRequest_0, _write_steps_DescribeGroupsRequest_0, _write_steps_DescribeGroupsRequest_3, _write_steps_DescribeGroupsRequest_3, _write_steps_DescribeGroupsRequest_5, _write_steps_DescribeGroupsRequest_5,)
DescribeGroupsResponse.READ = (_read_DescribeGroupsResponse_0, _read_DescribeGroupsResponse_1, _read_DescribeGroupsResponse_1, _read_DescribeGroupsResponse_3, _read_DescribeGroupsResponse_4, _read_DescribeGroupsResponse_5, _read_DescribeGroupsResponse_6,)
DescribeGroupsResponse.READ_STEPS = (_read_steps_DescribeGroupsResponse_0, _read_steps_DescribeGroupsResponse_1, _read_steps_DescribeGroupsResponse_1, _read_steps_DescribeGroupsResponse_3, _read_steps_DescribeGroupsResponse_4, _read_steps_DescribeGroupsResponse_5, _read_steps_DescribeGroupsResponse_6,)
DescribeGroupsResponse.WRITE = (_write_DescribeGroupsResponse_0, _write_DescribeGroupsResponse_1, _write_DescribeGroupsResponse_1, _write_DescribeGroupsResponse_3, _write_DescribeGroupsResponse_4, _write_DescribeGroupsResponse_5, _write_DescribeGroupsResponse_6,)
DescribeGroupsResponse.WRITE_STEPS = (_write_steps_DescribeGroupsResponse_0, _write_steps_DescribeGroupsResponse_1, _write_steps_DescribeGroupsResponse_1, _write_steps_DescribeGroupsResponse_3, _write_steps_DescribeGroupsResponse_4, _write_steps_DescribeGroupsResponse_5, _write_steps_DescribeGroupsResponse_6,)
DescribeGroupsRequest.ERROR_FOR = _error_for
