"""JoinGroupRequest, JoinGroupResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, read_blob, read_c_blob, read_c_count, read_c_null_string, read_c_string, read_count, read_null_string, read_string, skip_tags
from headrace.protocol.message_writing import Output, write_blob, write_c_blob, write_c_count, write_c_null_string, write_c_string, write_count, write_null_string, write_string
from headrace.protocol.primitives import Reader

class JoinGroupRequest(KafkaMessage):
    """Key 11, versions 0 to 9, flexible from 6 on."""

    class JoinGroupRequestProtocol(MessageStruct):
        """Versions 0+."""

        name: str = ""
        metadata: bytes = b""

    API_KEY: ClassVar[int] = 11
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 6
    group_id: str = ""
    session_timeout_ms: int = 0
    rebalance_timeout_ms: int = -1
    member_id: str = ""
    group_instance_id: str | None = None
    protocol_type: str = ""
    protocols: list[JoinGroupRequest.JoinGroupRequestProtocol] = []
    reason: str | None = None


class JoinGroupResponse(KafkaMessage):
    """Key 11, versions 0 to 9, flexible from 6 on."""

    class JoinGroupResponseMember(MessageStruct):
        """Versions 0+."""

        member_id: str = ""
        group_instance_id: str | None = None
        metadata: bytes = b""

    API_KEY: ClassVar[int] = 11
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 6
    throttle_time_ms: int = 0
    error_code: int = 0
    generation_id: int = -1
    protocol_type: str | None = None
    protocol_name: str | None = ""
    leader: str = ""
    skip_assignment: bool = False
    member_id: str = ""
    members: Collection[JoinGroupResponse.JoinGroupResponseMember] = []


_JoinGroupRequestProtocol = JoinGroupRequest.JoinGroupRequestProtocol
_JoinGroupResponseMember = JoinGroupResponse.JoinGroupResponseMember
_P_hi: Final = Struct(">hi").pack
_P_i: Final = Struct(">i").pack
_P_ihi: Final = Struct(">ihi").pack
_P_ii: Final = Struct(">ii").pack
_P_t: Final = Struct(">?").pack
_S_hi: Final = Struct(">hi")
_S_i: Final = Struct(">i")
_S_ihi: Final = Struct(">ihi")
_S_ii: Final = Struct(">ii")
_S_t: Final = Struct(">?")


def _read_JoinGroupRequestProtocol_0(r: Reader) -> _JoinGroupRequestProtocol:
    name = read_string(r)
    metadata = read_blob(r)
    return _JoinGroupRequestProtocol(name, metadata)


def _read_JoinGroupRequest_0(r: Reader) -> JoinGroupRequest:
    group_id = read_string(r)
    session_timeout_ms, = r.fixed(_S_i)
    member_id = read_string(r)
    protocol_type = read_string(r)
    n = read_count(r, 6)
    protocols = [_read_JoinGroupRequestProtocol_0(r) for _ in range(n)]
    return JoinGroupRequest(group_id, session_timeout_ms, -1, member_id, None, protocol_type, protocols)


def _read_JoinGroupRequest_1(r: Reader) -> JoinGroupRequest:
    group_id = read_string(r)
    session_timeout_ms, rebalance_timeout_ms = r.fixed(_S_ii)
    member_id = read_string(r)
    protocol_type = read_string(r)
    n = read_count(r, 6)
    protocols = [_read_JoinGroupRequestProtocol_0(r) for _ in range(n)]
    return JoinGroupRequest(group_id, session_timeout_ms, rebalance_timeout_ms, member_id, None, protocol_type, protocols)


def _read_JoinGroupRequest_5(r: Reader) -> JoinGroupRequest:
    group_id = read_string(r)
    session_timeout_ms, rebalance_timeout_ms = r.fixed(_S_ii)
    member_id = read_string(r)
    group_instance_id = read_null_string(r)
    protocol_type = read_string(r)
    n = read_count(r, 6)
    protocols = [_read_JoinGroupRequestProtocol_0(r) for _ in range(n)]
    return JoinGroupRequest(group_id, session_timeout_ms, rebalance_timeout_ms, member_id, group_instance_id, protocol_type, protocols)


def _read_JoinGroupRequestProtocol_6(r: Reader) -> _JoinGroupRequestProtocol:
    name = read_c_string(r)
    metadata = read_c_blob(r)
    skip_tags(r)
    return _JoinGroupRequestProtocol(name, metadata)


def _read_JoinGroupRequest_6(r: Reader) -> JoinGroupRequest:
    group_id = read_c_string(r)
    session_timeout_ms, rebalance_timeout_ms = r.fixed(_S_ii)
    member_id = read_c_string(r)
    group_instance_id = read_c_null_string(r)
    protocol_type = read_c_string(r)
    n = read_c_count(r, 3)
    protocols = [_read_JoinGroupRequestProtocol_6(r) for _ in range(n)]
    skip_tags(r)
    return JoinGroupRequest(group_id, session_timeout_ms, rebalance_timeout_ms, member_id, group_instance_id, protocol_type, protocols)


def _read_JoinGroupRequest_8(r: Reader) -> JoinGroupRequest:
    group_id = read_c_string(r)
    session_timeout_ms, rebalance_timeout_ms = r.fixed(_S_ii)
    member_id = read_c_string(r)
    group_instance_id = read_c_null_string(r)
    protocol_type = read_c_string(r)
    n = read_c_count(r, 3)
    protocols = [_read_JoinGroupRequestProtocol_6(r) for _ in range(n)]
    reason = read_c_null_string(r)
    skip_tags(r)
    return JoinGroupRequest(group_id, session_timeout_ms, rebalance_timeout_ms, member_id, group_instance_id, protocol_type, protocols, reason)


def _read_steps_JoinGroupRequest_0(r: Reader) -> Generator[None, None, JoinGroupRequest]:
    group_id = read_string(r)
    session_timeout_ms, = r.fixed(_S_i)
    member_id = read_string(r)
    protocol_type = read_string(r)
    n = read_count(r, 6)
    protocols: list[JoinGroupRequest.JoinGroupRequestProtocol] = []
    if n <= FLAT_ELEMENTS:
        protocols = [_read_JoinGroupRequestProtocol_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            protocols.append(_read_JoinGroupRequestProtocol_0(r))
            if r.elements_ended(1):
                yield
    return JoinGroupRequest(group_id, session_timeout_ms, -1, member_id, None, protocol_type, protocols)


def _read_steps_JoinGroupRequest_1(r: Reader) -> Generator[None, None, JoinGroupRequest]:
    group_id = read_string(r)
    session_timeout_ms, rebalance_timeout_ms = r.fixed(_S_ii)
    member_id = read_string(r)
    protocol_type = read_string(r)
    n = read_count(r, 6)
    protocols: list[JoinGroupRequest.JoinGroupRequestProtocol] = []
    if n <= FLAT_ELEMENTS:
        protocols = [_read_JoinGroupRequestProtocol_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            protocols.append(_read_JoinGroupRequestProtocol_0(r))
            if r.elements_ended(1):
                yield
    return JoinGroupRequest(group_id, session_timeout_ms, rebalance_timeout_ms, member_id, None, protocol_type, protocols)


def _read_steps_JoinGroupRequest_5(r: Reader) -> Generator[None, None, JoinGroupRequest]:
    group_id = read_string(r)
    session_timeout_ms, rebalance_timeout_ms = r.fixed(_S_ii)
    member_id = read_string(r)
    group_instance_id = read_null_string(r)
    protocol_type = read_string(r)
    n = read_count(r, 6)
    protocols: list[JoinGroupRequest.JoinGroupRequestProtocol] = []
    if n <= FLAT_ELEMENTS:
        protocols = [_read_JoinGroupRequestProtocol_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            protocols.append(_read_JoinGroupRequestProtocol_0(r))
            if r.elements_ended(1):
                yield
    return JoinGroupRequest(group_id, session_timeout_ms, rebalance_timeout_ms, member_id, group_instance_id, protocol_type, protocols)


def _read_steps_JoinGroupRequest_6(r: Reader) -> Generator[None, None, JoinGroupRequest]:
    group_id = read_c_string(r)
    session_timeout_ms, rebalance_timeout_ms = r.fixed(_S_ii)
    member_id = read_c_string(r)
    group_instance_id = read_c_null_string(r)
    protocol_type = read_c_string(r)
    n = read_c_count(r, 3)
    protocols: list[JoinGroupRequest.JoinGroupRequestProtocol] = []
    if n <= FLAT_ELEMENTS:
        protocols = [_read_JoinGroupRequestProtocol_6(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            protocols.append(_read_JoinGroupRequestProtocol_6(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return JoinGroupRequest(group_id, session_timeout_ms, rebalance_timeout_ms, member_id, group_instance_id, protocol_type, protocols)


def _read_steps_JoinGroupRequest_8(r: Reader) -> Generator[None, None, JoinGroupRequest]:
    group_id = read_c_string(r)
    session_timeout_ms, rebalance_timeout_ms = r.fixed(_S_ii)
    member_id = read_c_string(r)
    group_instance_id = read_c_null_string(r)
    protocol_type = read_c_string(r)
    n = read_c_count(r, 3)
    protocols: list[JoinGroupRequest.JoinGroupRequestProtocol] = []
    if n <= FLAT_ELEMENTS:
        protocols = [_read_JoinGroupRequestProtocol_6(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            protocols.append(_read_JoinGroupRequestProtocol_6(r))
            if r.elements_ended(1):
                yield
    reason = read_c_null_string(r)
    skip_tags(r)
    return JoinGroupRequest(group_id, session_timeout_ms, rebalance_timeout_ms, member_id, group_instance_id, protocol_type, protocols, reason)


def _write_JoinGroupRequestProtocol_0(out: bytearray, m: _JoinGroupRequestProtocol) -> None:
    write_string(out, m.name)
    write_blob(out, m.metadata)


def _write_JoinGroupRequest_0(out: bytearray, m: JoinGroupRequest) -> None:
    write_string(out, m.group_id)
    out += _P_i(m.session_timeout_ms)
    write_string(out, m.member_id)
    write_string(out, m.protocol_type)
    write_count(out, len(m.protocols))
    for it_protocols in m.protocols:
        _write_JoinGroupRequestProtocol_0(out, it_protocols)


def _write_JoinGroupRequest_1(out: bytearray, m: JoinGroupRequest) -> None:
    write_string(out, m.group_id)
    out += _P_ii(m.session_timeout_ms, m.rebalance_timeout_ms)
    write_string(out, m.member_id)
    write_string(out, m.protocol_type)
    write_count(out, len(m.protocols))
    for it_protocols in m.protocols:
        _write_JoinGroupRequestProtocol_0(out, it_protocols)


def _write_JoinGroupRequest_5(out: bytearray, m: JoinGroupRequest) -> None:
    write_string(out, m.group_id)
    out += _P_ii(m.session_timeout_ms, m.rebalance_timeout_ms)
    write_string(out, m.member_id)
    write_null_string(out, m.group_instance_id)
    write_string(out, m.protocol_type)
    write_count(out, len(m.protocols))
    for it_protocols in m.protocols:
        _write_JoinGroupRequestProtocol_0(out, it_protocols)


def _write_JoinGroupRequestProtocol_6(out: bytearray, m: _JoinGroupRequestProtocol) -> None:
    write_c_string(out, m.name)
    write_c_blob(out, m.metadata)
    out.append(0)


def _write_JoinGroupRequest_6(out: bytearray, m: JoinGroupRequest) -> None:
    write_c_string(out, m.group_id)
    out += _P_ii(m.session_timeout_ms, m.rebalance_timeout_ms)
    write_c_string(out, m.member_id)
    write_c_null_string(out, m.group_instance_id)
    write_c_string(out, m.protocol_type)
    write_c_count(out, len(m.protocols))
    for it_protocols in m.protocols:
        _write_JoinGroupRequestProtocol_6(out, it_protocols)
    out.append(0)


def _write_JoinGroupRequest_8(out: bytearray, m: JoinGroupRequest) -> None:
    write_c_string(out, m.group_id)
    out += _P_ii(m.session_timeout_ms, m.rebalance_timeout_ms)
    write_c_string(out, m.member_id)
    write_c_null_string(out, m.group_instance_id)
    write_c_string(out, m.protocol_type)
    write_c_count(out, len(m.protocols))
    for it_protocols in m.protocols:
        _write_JoinGroupRequestProtocol_6(out, it_protocols)
    write_c_null_string(out, m.reason)
    out.append(0)


def _write_steps_JoinGroupRequest_0(o: Output, m: JoinGroupRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.group_id)
    out += _P_i(m.session_timeout_ms)
    write_string(out, m.member_id)
    write_string(out, m.protocol_type)
    write_count(out, len(m.protocols))
    if len(m.protocols) <= FLAT_ELEMENTS:
        for it_protocols in m.protocols:
            _write_JoinGroupRequestProtocol_0(out, it_protocols)
        if o.elements_ended(len(m.protocols)):
            yield
    else:
        for it_protocols in m.protocols:
            _write_JoinGroupRequestProtocol_0(out, it_protocols)
            if o.elements_ended(1):
                yield


def _write_steps_JoinGroupRequest_1(o: Output, m: JoinGroupRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.group_id)
    out += _P_ii(m.session_timeout_ms, m.rebalance_timeout_ms)
    write_string(out, m.member_id)
    write_string(out, m.protocol_type)
    write_count(out, len(m.protocols))
    if len(m.protocols) <= FLAT_ELEMENTS:
        for it_protocols in m.protocols:
            _write_JoinGroupRequestProtocol_0(out, it_protocols)
        if o.elements_ended(len(m.protocols)):
            yield
    else:
        for it_protocols in m.protocols:
            _write_JoinGroupRequestProtocol_0(out, it_protocols)
            if o.elements_ended(1):
                yield


def _write_steps_JoinGroupRequest_5(o: Output, m: JoinGroupRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.group_id)
    out += _P_ii(m.session_timeout_ms, m.rebalance_timeout_ms)
    write_string(out, m.member_id)
    write_null_string(out, m.group_instance_id)
    write_string(out, m.protocol_type)
    write_count(out, len(m.protocols))
    if len(m.protocols) <= FLAT_ELEMENTS:
        for it_protocols in m.protocols:
            _write_JoinGroupRequestProtocol_0(out, it_protocols)
        if o.elements_ended(len(m.protocols)):
            yield
    else:
        for it_protocols in m.protocols:
            _write_JoinGroupRequestProtocol_0(out, it_protocols)
            if o.elements_ended(1):
                yield


def _write_steps_JoinGroupRequest_6(o: Output, m: JoinGroupRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.group_id)
    out += _P_ii(m.session_timeout_ms, m.rebalance_timeout_ms)
    write_c_string(out, m.member_id)
    write_c_null_string(out, m.group_instance_id)
    write_c_string(out, m.protocol_type)
    write_c_count(out, len(m.protocols))
    if len(m.protocols) <= FLAT_ELEMENTS:
        for it_protocols in m.protocols:
            _write_JoinGroupRequestProtocol_6(out, it_protocols)
        if o.elements_ended(len(m.protocols)):
            yield
    else:
        for it_protocols in m.protocols:
            _write_JoinGroupRequestProtocol_6(out, it_protocols)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_JoinGroupRequest_8(o: Output, m: JoinGroupRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.group_id)
    out += _P_ii(m.session_timeout_ms, m.rebalance_timeout_ms)
    write_c_string(out, m.member_id)
    write_c_null_string(out, m.group_instance_id)
    write_c_string(out, m.protocol_type)
    write_c_count(out, len(m.protocols))
    if len(m.protocols) <= FLAT_ELEMENTS:
        for it_protocols in m.protocols:
            _write_JoinGroupRequestProtocol_6(out, it_protocols)
        if o.elements_ended(len(m.protocols)):
            yield
    else:
        for it_protocols in m.protocols:
            _write_JoinGroupRequestProtocol_6(out, it_protocols)
            if o.elements_ended(1):
                yield
    write_c_null_string(out, m.reason)
    out.append(0)


def _read_JoinGroupResponseMember_0(r: Reader) -> _JoinGroupResponseMember:
    member_id = read_string(r)
    metadata = read_blob(r)
    return _JoinGroupResponseMember(member_id, None, metadata)


def _read_JoinGroupResponse_0(r: Reader) -> JoinGroupResponse:
    error_code, generation_id = r.fixed(_S_hi)
    protocol_name = read_string(r)
    leader = read_string(r)
    member_id = read_string(r)
    n = read_count(r, 6)
    members = [_read_JoinGroupResponseMember_0(r) for _ in range(n)]
    return JoinGroupResponse(0, error_code, generation_id, None, protocol_name, leader, False, member_id, members)


def _read_JoinGroupResponse_2(r: Reader) -> JoinGroupResponse:
    throttle_time_ms, error_code, generation_id = r.fixed(_S_ihi)
    protocol_name = read_string(r)
    leader = read_string(r)
    member_id = read_string(r)
    n = read_count(r, 6)
    members = [_read_JoinGroupResponseMember_0(r) for _ in range(n)]
    return JoinGroupResponse(throttle_time_ms, error_code, generation_id, None, protocol_name, leader, False, member_id, members)


def _read_JoinGroupResponseMember_5(r: Reader) -> _JoinGroupResponseMember:
    member_id = read_string(r)
    group_instance_id = read_null_string(r)
    metadata = read_blob(r)
    return _JoinGroupResponseMember(member_id, group_instance_id, metadata)


def _read_JoinGroupResponse_5(r: Reader) -> JoinGroupResponse:
    throttle_time_ms, error_code, generation_id = r.fixed(_S_ihi)
    protocol_name = read_string(r)
    leader = read_string(r)
    member_id = read_string(r)
    n = read_count(r, 8)
    members = [_read_JoinGroupResponseMember_5(r) for _ in range(n)]
    return JoinGroupResponse(throttle_time_ms, error_code, generation_id, None, protocol_name, leader, False, member_id, members)


def _read_JoinGroupResponseMember_6(r: Reader) -> _JoinGroupResponseMember:
    member_id = read_c_string(r)
    group_instance_id = read_c_null_string(r)
    metadata = read_c_blob(r)
    skip_tags(r)
    return _JoinGroupResponseMember(member_id, group_instance_id, metadata)


def _read_JoinGroupResponse_6(r: Reader) -> JoinGroupResponse:
    throttle_time_ms, error_code, generation_id = r.fixed(_S_ihi)
    protocol_name = read_c_string(r)
    leader = read_c_string(r)
    member_id = read_c_string(r)
    n = read_c_count(r, 4)
    members = [_read_JoinGroupResponseMember_6(r) for _ in range(n)]
    skip_tags(r)
    return JoinGroupResponse(throttle_time_ms, error_code, generation_id, None, protocol_name, leader, False, member_id, members)


def _read_JoinGroupResponse_7(r: Reader) -> JoinGroupResponse:
    throttle_time_ms, error_code, generation_id = r.fixed(_S_ihi)
    protocol_type = read_c_null_string(r)
    protocol_name = read_c_null_string(r)
    leader = read_c_string(r)
    member_id = read_c_string(r)
    n = read_c_count(r, 4)
    members = [_read_JoinGroupResponseMember_6(r) for _ in range(n)]
    skip_tags(r)
    return JoinGroupResponse(throttle_time_ms, error_code, generation_id, protocol_type, protocol_name, leader, False, member_id, members)


def _read_JoinGroupResponse_9(r: Reader) -> JoinGroupResponse:
    throttle_time_ms, error_code, generation_id = r.fixed(_S_ihi)
    protocol_type = read_c_null_string(r)
    protocol_name = read_c_null_string(r)
    leader = read_c_string(r)
    skip_assignment, = r.fixed(_S_t)
    member_id = read_c_string(r)
    n = read_c_count(r, 4)
    members = [_read_JoinGroupResponseMember_6(r) for _ in range(n)]
    skip_tags(r)
    return JoinGroupResponse(throttle_time_ms, error_code, generation_id, protocol_type, protocol_name, leader, skip_assignment, member_id, members)


def _read_steps_JoinGroupResponse_0(r: Reader) -> Generator[None, None, JoinGroupResponse]:
    error_code, generation_id = r.fixed(_S_hi)
    protocol_name = read_string(r)
    leader = read_string(r)
    member_id = read_string(r)
    n = read_count(r, 6)
    members: list[JoinGroupResponse.JoinGroupResponseMember] = []
    if n <= FLAT_ELEMENTS:
        members = [_read_JoinGroupResponseMember_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            members.append(_read_JoinGroupResponseMember_0(r))
            if r.elements_ended(1):
                yield
    return JoinGroupResponse(0, error_code, generation_id, None, protocol_name, leader, False, member_id, members)


def _read_steps_JoinGroupResponse_2(r: Reader) -> Generator[None, None, JoinGroupResponse]:
    throttle_time_ms, error_code, generation_id = r.fixed(_S_ihi)
    protocol_name = read_string(r)
    leader = read_string(r)
    member_id = read_string(r)
    n = read_count(r, 6)
    members: list[JoinGroupResponse.JoinGroupResponseMember] = []
    if n <= FLAT_ELEMENTS:
        members = [_read_JoinGroupResponseMember_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            members.append(_read_JoinGroupResponseMember_0(r))
            if r.elements_ended(1):
                yield
    return JoinGroupResponse(throttle_time_ms, error_code, generation_id, None, protocol_name, leader, False, member_id, members)


def _read_steps_JoinGroupResponse_5(r: Reader) -> Generator[None, None, JoinGroupResponse]:
    throttle_time_ms, error_code, generation_id = r.fixed(_S_ihi)
    protocol_name = read_string(r)
    leader = read_string(r)
    member_id = read_string(r)
    n = read_count(r, 8)
    members: list[JoinGroupResponse.JoinGroupResponseMember] = []
    if n <= FLAT_ELEMENTS:
        members = [_read_JoinGroupResponseMember_5(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            members.append(_read_JoinGroupResponseMember_5(r))
            if r.elements_ended(1):
                yield
    return JoinGroupResponse(throttle_time_ms, error_code, generation_id, None, protocol_name, leader, False, member_id, members)


def _read_steps_JoinGroupResponse_6(r: Reader) -> Generator[None, None, JoinGroupResponse]:
    throttle_time_ms, error_code, generation_id = r.fixed(_S_ihi)
    protocol_name = read_c_string(r)
    leader = read_c_string(r)
    member_id = read_c_string(r)
    n = read_c_count(r, 4)
    members: list[JoinGroupResponse.JoinGroupResponseMember] = []
    if n <= FLAT_ELEMENTS:
        members = [_read_JoinGroupResponseMember_6(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            members.append(_read_JoinGroupResponseMember_6(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return JoinGroupResponse(throttle_time_ms, error_code, generation_id, None, protocol_name, leader, False, member_id, members)


def _read_steps_JoinGroupResponse_7(r: Reader) -> Generator[None, None, JoinGroupResponse]:
    throttle_time_ms, error_code, generation_id = r.fixed(_S_ihi)
    protocol_type = read_c_null_string(r)
    protocol_name = read_c_null_string(r)
    leader = read_c_string(r)
    member_id = read_c_string(r)
    n = read_c_count(r, 4)
    members: list[JoinGroupResponse.JoinGroupResponseMember] = []
    if n <= FLAT_ELEMENTS:
        members = [_read_JoinGroupResponseMember_6(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            members.append(_read_JoinGroupResponseMember_6(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return JoinGroupResponse(throttle_time_ms, error_code, generation_id, protocol_type, protocol_name, leader, False, member_id, members)


def _read_steps_JoinGroupResponse_9(r: Reader) -> Generator[None, None, JoinGroupResponse]:
    throttle_time_ms, error_code, generation_id = r.fixed(_S_ihi)
    protocol_type = read_c_null_string(r)
    protocol_name = read_c_null_string(r)
    leader = read_c_string(r)
    skip_assignment, = r.fixed(_S_t)
    member_id = read_c_string(r)
    n = read_c_count(r, 4)
    members: list[JoinGroupResponse.JoinGroupResponseMember] = []
    if n <= FLAT_ELEMENTS:
        members = [_read_JoinGroupResponseMember_6(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            members.append(_read_JoinGroupResponseMember_6(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return JoinGroupResponse(throttle_time_ms, error_code, generation_id, protocol_type, protocol_name, leader, skip_assignment, member_id, members)


def _write_JoinGroupResponseMember_0(out: bytearray, m: _JoinGroupResponseMember) -> None:
    write_string(out, m.member_id)
    write_blob(out, m.metadata)


def _write_JoinGroupResponse_0(out: bytearray, m: JoinGroupResponse) -> None:
    out += _P_hi(m.error_code, m.generation_id)
    assert m.protocol_name is not None
    write_string(out, m.protocol_name)
    write_string(out, m.leader)
    write_string(out, m.member_id)
    write_count(out, len(m.members))
    for it_members in m.members:
        _write_JoinGroupResponseMember_0(out, it_members)


def _write_JoinGroupResponse_2(out: bytearray, m: JoinGroupResponse) -> None:
    out += _P_ihi(m.throttle_time_ms, m.error_code, m.generation_id)
    assert m.protocol_name is not None
    write_string(out, m.protocol_name)
    write_string(out, m.leader)
    write_string(out, m.member_id)
    write_count(out, len(m.members))
    for it_members in m.members:
        _write_JoinGroupResponseMember_0(out, it_members)


def _write_JoinGroupResponseMember_5(out: bytearray, m: _JoinGroupResponseMember) -> None:
    write_string(out, m.member_id)
    write_null_string(out, m.group_instance_id)
    write_blob(out, m.metadata)


def _write_JoinGroupResponse_5(out: bytearray, m: JoinGroupResponse) -> None:
    out += _P_ihi(m.throttle_time_ms, m.error_code, m.generation_id)
    assert m.protocol_name is not None
    write_string(out, m.protocol_name)
    write_string(out, m.leader)
    write_string(out, m.member_id)
    write_count(out, len(m.members))
    for it_members in m.members:
        _write_JoinGroupResponseMember_5(out, it_members)


def _write_JoinGroupResponseMember_6(out: bytearray, m: _JoinGroupResponseMember) -> None:
    write_c_string(out, m.member_id)
    write_c_null_string(out, m.group_instance_id)
    write_c_blob(out, m.metadata)
    out.append(0)


def _write_JoinGroupResponse_6(out: bytearray, m: JoinGroupResponse) -> None:
    out += _P_ihi(m.throttle_time_ms, m.error_code, m.generation_id)
    assert m.protocol_name is not None
    write_c_string(out, m.protocol_name)
    write_c_string(out, m.leader)
    write_c_string(out, m.member_id)
    write_c_count(out, len(m.members))
    for it_members in m.members:
        _write_JoinGroupResponseMember_6(out, it_members)
    out.append(0)


def _write_JoinGroupResponse_7(out: bytearray, m: JoinGroupResponse) -> None:
    out += _P_ihi(m.throttle_time_ms, m.error_code, m.generation_id)
    write_c_null_string(out, m.protocol_type)
    write_c_null_string(out, m.protocol_name)
    write_c_string(out, m.leader)
    write_c_string(out, m.member_id)
    write_c_count(out, len(m.members))
    for it_members in m.members:
        _write_JoinGroupResponseMember_6(out, it_members)
    out.append(0)


def _write_JoinGroupResponse_9(out: bytearray, m: JoinGroupResponse) -> None:
    out += _P_ihi(m.throttle_time_ms, m.error_code, m.generation_id)
    write_c_null_string(out, m.protocol_type)
    write_c_null_string(out, m.protocol_name)
    write_c_string(out, m.leader)
    out += _P_t(m.skip_assignment)
    write_c_string(out, m.member_id)
    write_c_count(out, len(m.members))
    for it_members in m.members:
        _write_JoinGroupResponseMember_6(out, it_members)
    out.append(0)


def _write_steps_JoinGroupResponse_0(o: Output, m: JoinGroupResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_hi(m.error_code, m.generation_id)
    assert m.protocol_name is not None
    write_string(out, m.protocol_name)
    write_string(out, m.leader)
    write_string(out, m.member_id)
    write_count(out, len(m.members))
    if len(m.members) <= FLAT_ELEMENTS:
        for it_members in m.members:
            _write_JoinGroupResponseMember_0(out, it_members)
        if o.elements_ended(len(m.members)):
            yield
    else:
        for it_members in m.members:
            _write_JoinGroupResponseMember_0(out, it_members)
            if o.elements_ended(1):
                yield


def _write_steps_JoinGroupResponse_2(o: Output, m: JoinGroupResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ihi(m.throttle_time_ms, m.error_code, m.generation_id)
    assert m.protocol_name is not None
    write_string(out, m.protocol_name)
    write_string(out, m.leader)
    write_string(out, m.member_id)
    write_count(out, len(m.members))
    if len(m.members) <= FLAT_ELEMENTS:
        for it_members in m.members:
            _write_JoinGroupResponseMember_0(out, it_members)
        if o.elements_ended(len(m.members)):
            yield
    else:
        for it_members in m.members:
            _write_JoinGroupResponseMember_0(out, it_members)
            if o.elements_ended(1):
                yield


def _write_steps_JoinGroupResponse_5(o: Output, m: JoinGroupResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ihi(m.throttle_time_ms, m.error_code, m.generation_id)
    assert m.protocol_name is not None
    write_string(out, m.protocol_name)
    write_string(out, m.leader)
    write_string(out, m.member_id)
    write_count(out, len(m.members))
    if len(m.members) <= FLAT_ELEMENTS:
        for it_members in m.members:
            _write_JoinGroupResponseMember_5(out, it_members)
        if o.elements_ended(len(m.members)):
            yield
    else:
        for it_members in m.members:
            _write_JoinGroupResponseMember_5(out, it_members)
            if o.elements_ended(1):
                yield


def _write_steps_JoinGroupResponse_6(o: Output, m: JoinGroupResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ihi(m.throttle_time_ms, m.error_code, m.generation_id)
    assert m.protocol_name is not None
    write_c_string(out, m.protocol_name)
    write_c_string(out, m.leader)
    write_c_string(out, m.member_id)
    write_c_count(out, len(m.members))
    if len(m.members) <= FLAT_ELEMENTS:
        for it_members in m.members:
            _write_JoinGroupResponseMember_6(out, it_members)
        if o.elements_ended(len(m.members)):
            yield
    else:
        for it_members in m.members:
            _write_JoinGroupResponseMember_6(out, it_members)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_JoinGroupResponse_7(o: Output, m: JoinGroupResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ihi(m.throttle_time_ms, m.error_code, m.generation_id)
    write_c_null_string(out, m.protocol_type)
    write_c_null_string(out, m.protocol_name)
    write_c_string(out, m.leader)
    write_c_string(out, m.member_id)
    write_c_count(out, len(m.members))
    if len(m.members) <= FLAT_ELEMENTS:
        for it_members in m.members:
            _write_JoinGroupResponseMember_6(out, it_members)
        if o.elements_ended(len(m.members)):
            yield
    else:
        for it_members in m.members:
            _write_JoinGroupResponseMember_6(out, it_members)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_JoinGroupResponse_9(o: Output, m: JoinGroupResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ihi(m.throttle_time_ms, m.error_code, m.generation_id)
    write_c_null_string(out, m.protocol_type)
    write_c_null_string(out, m.protocol_name)
    write_c_string(out, m.leader)
    out += _P_t(m.skip_assignment)
    write_c_string(out, m.member_id)
    write_c_count(out, len(m.members))
    if len(m.members) <= FLAT_ELEMENTS:
        for it_members in m.members:
            _write_JoinGroupResponseMember_6(out, it_members)
        if o.elements_ended(len(m.members)):
            yield
    else:
        for it_members in m.members:
            _write_JoinGroupResponseMember_6(out, it_members)
            if o.elements_ended(1):
                yield
    out.append(0)


def _error_for(m: JoinGroupRequest, code: int) -> JoinGroupResponse:
    return JoinGroupResponse(error_code=code)


JoinGroupRequest.READ = (_read_JoinGroupRequest_0, _read_JoinGroupRequest_1, _read_JoinGroupRequest_1, _read_JoinGroupRequest_1, _read_JoinGroupRequest_1, _read_JoinGroupRequest_5, _read_JoinGroupRequest_6, _read_JoinGroupRequest_6, _read_JoinGroupRequest_8, _read_JoinGroupRequest_8,)
JoinGroupRequest.READ_STEPS = (_read_steps_JoinGroupRequest_0, _read_steps_JoinGroupRequest_1, _read_steps_JoinGroupRequest_1, _read_steps_JoinGroupRequest_1, _read_steps_JoinGroupRequest_1, _read_steps_JoinGroupRequest_5, _read_steps_JoinGroupRequest_6, _read_steps_JoinGroupRequest_6, _read_steps_JoinGroupRequest_8, _read_steps_JoinGroupRequest_8,)
JoinGroupRequest.WRITE = (_write_JoinGroupRequest_0, _write_JoinGroupRequest_1, _write_JoinGroupRequest_1, _write_JoinGroupRequest_1, _write_JoinGroupRequest_1, _write_JoinGroupRequest_5, _write_JoinGroupRequest_6, _write_JoinGroupRequest_6, _write_JoinGroupRequest_8, _write_JoinGroupRequest_8,)
JoinGroupRequest.WRITE_STEPS = (_write_steps_JoinGroupRequest_0, _write_steps_JoinGroupRequest_1, _write_steps_JoinGroupRequest_1, _write_steps_JoinGroupRequest_1, _write_steps_JoinGroupRequest_1, _write_steps_JoinGroupRequest_5, _write_steps_JoinGroupRequest_6, _write_steps_JoinGroupRequest_6, _write_steps_JoinGroupRequest_8, _write_steps_JoinGroupRequest_8,)
JoinGroupResponse.READ = (_read_JoinGroupResponse_0, _read_JoinGroupResponse_0, _read_JoinGroupResponse_2, _read_JoinGroupResponse_2, _read_JoinGroupResponse_2, _read_JoinGroupResponse_5, _read_JoinGroupResponse_6, _read_JoinGroupResponse_7, _read_JoinGroupResponse_7, _read_JoinGroupResponse_9,)
JoinGroupResponse.READ_STEPS = (_read_steps_JoinGroupResponse_0, _read_steps_JoinGroupResponse_0, _read_steps_JoinGroupResponse_2, _read_steps_JoinGroupResponse_2, _read_steps_JoinGroupResponse_2, _read_steps_JoinGroupResponse_5, _read_steps_JoinGroupResponse_6, _read_steps_JoinGroupResponse_7, _read_steps_JoinGroupResponse_7, _read_steps_JoinGroupResponse_9,)
JoinGroupResponse.WRITE = (_write_JoinGroupResponse_0, _write_JoinGroupResponse_0, _write_JoinGroupResponse_2, _write_JoinGroupResponse_2, _write_JoinGroupResponse_2, _write_JoinGroupResponse_5, _write_JoinGroupResponse_6, _write_JoinGroupResponse_7, _write_JoinGroupResponse_7, _write_JoinGroupResponse_9,)
JoinGroupResponse.WRITE_STEPS = (_write_steps_JoinGroupResponse_0, _write_steps_JoinGroupResponse_0, _write_steps_JoinGroupResponse_2, _write_steps_JoinGroupResponse_2, _write_steps_JoinGroupResponse_2, _write_steps_JoinGroupResponse_5, _write_steps_JoinGroupResponse_6, _write_steps_JoinGroupResponse_7, _write_steps_JoinGroupResponse_7, _write_steps_JoinGroupResponse_9,)
JoinGroupRequest.ERROR_FOR = _error_for
