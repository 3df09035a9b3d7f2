"""ListGroupsRequest, ListGroupsResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, read_c_count, read_c_string, read_count, read_string, skip_tags
from headrace.protocol.message_writing import Output, write_c_count, write_c_string, write_count, write_string
from headrace.protocol.primitives import Reader

class ListGroupsRequest(KafkaMessage):
    """Key 16, versions 0 to 5, flexible from 3 on."""

    API_KEY: ClassVar[int] = 16
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 3
    states_filter: list[str] = []
    types_filter: list[str] = []


class ListGroupsResponse(KafkaMessage):
    """Key 16, versions 0 to 5, flexible from 3 on."""

    class ListedGroup(MessageStruct):
        """Versions 0+."""

        group_id: str = ""
        protocol_type: str = ""
        group_state: str = ""
        group_type: str = ""

    API_KEY: ClassVar[int] = 16
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 3
    throttle_time_ms: int = 0
    error_code: int = 0
    groups: Collection[ListGroupsResponse.ListedGroup] = []


_ListedGroup = ListGroupsResponse.ListedGroup
_P_h: Final = Struct(">h").pack
_P_ih: Final = Struct(">ih").pack
_S_h: Final = Struct(">h")
_S_ih: Final = Struct(">ih")


def _read_ListGroupsRequest_0(r: Reader) -> ListGroupsRequest:
    return ListGroupsRequest()


def _read_ListGroupsRequest_3(r: Reader) -> ListGroupsRequest:
    skip_tags(r)
    return ListGroupsRequest()


def _read_ListGroupsRequest_4(r: Reader) -> ListGroupsRequest:
    n = read_c_count(r, 1)
    states_filter = [read_c_string(r) for _ in range(n)]
    skip_tags(r)
    return ListGroupsRequest(states_filter)


def _read_ListGroupsRequest_5(r: Reader) -> ListGroupsRequest:
    n = read_c_count(r, 1)
    states_filter = [read_c_string(r) for _ in range(n)]
    n = read_c_count(r, 1)
    types_filter = [read_c_string(r) for _ in range(n)]
    skip_tags(r)
    return ListGroupsRequest(states_filter, types_filter)


def _read_steps_ListGroupsRequest_4(r: Reader) -> Generator[None, None, ListGroupsRequest]:
    n = read_c_count(r, 1)
    states_filter: list[str] = []
    if n <= FLAT_ELEMENTS:
        states_filter = [read_c_string(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            states_filter.append(read_c_string(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return ListGroupsRequest(states_filter)


def _read_steps_ListGroupsRequest_5(r: Reader) -> Generator[None, None, ListGroupsRequest]:
    n = read_c_count(r, 1)
    states_filter: list[str] = []
    if n <= FLAT_ELEMENTS:
        states_filter = [read_c_string(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            states_filter.append(read_c_string(r))
            if r.elements_ended(1):
                yield
    n = read_c_count(r, 1)
    types_filter: list[str] = []
    if n <= FLAT_ELEMENTS:
        types_filter = [read_c_string(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            types_filter.append(read_c_string(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return ListGroupsRequest(states_filter, types_filter)


def _write_ListGroupsRequest_0(out: bytearray, m: ListGroupsRequest) -> None:
    pass


def _write_ListGroupsRequest_3(out: bytearray, m: ListGroupsRequest) -> None:
    out.append(0)


def _write_ListGroupsRequest_4(out: bytearray, m: ListGroupsRequest) -> None:
    write_c_count(out, len(m.states_filter))
    for it_states_filter in m.states_filter:
        write_c_string(out, it_states_filter)
    out.append(0)


def _write_ListGroupsRequest_5(out: bytearray, m: ListGroupsRequest) -> None:
    write_c_count(out, len(m.states_filter))
    for it_states_filter in m.states_filter:
        write_c_string(out, it_states_filter)
    write_c_count(out, len(m.types_filter))
    for it_types_filter in m.types_filter:
        write_c_string(out, it_types_filter)
    out.append(0)


def _write_steps_ListGroupsRequest_4(o: Output, m: ListGroupsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.states_filter))
    if len(m.states_filter) <= FLAT_ELEMENTS:
        for it_states_filter in m.states_filter:
            write_c_string(out, it_states_filter)
        if o.elements_ended(len(m.states_filter)):
            yield
    else:
        for it_states_filter in m.states_filter:
            write_c_string(out, it_states_filter)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_ListGroupsRequest_5(o: Output, m: ListGroupsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.states_filter))
    if len(m.states_filter) <= FLAT_ELEMENTS:
        for it_states_filter in m.states_filter:
            write_c_string(out, it_states_filter)
        if o.elements_ended(len(m.states_filter)):
            yield
    else:
        for it_states_filter in m.states_filter:
            write_c_string(out, it_states_filter)
            if o.elements_ended(1):
                yield
    write_c_count(out, len(m.types_filter))
    if len(m.types_filter) <= FLAT_ELEMENTS:
        for it_types_filter in m.types_filter:
            write_c_string(out, it_types_filter)
        if o.elements_ended(len(m.types_filter)):
            yield
    else:
        for it_types_filter in m.types_filter:
            write_c_string(out, it_types_filter)
            if o.elements_ended(1):
                yield
    out.append(0)


def _read_ListedGroup_0(r: Reader) -> _ListedGroup:
    group_id = read_string(r)
    protocol_type = read_string(r)
    return _ListedGroup(group_id, protocol_type)


def _read_ListGroupsResponse_0(r: Reader) -> ListGroupsResponse:
    error_code, = r.fixed(_S_h)
    n = read_count(r, 4)
    groups = [_read_ListedGroup_0(r) for _ in range(n)]
    return ListGroupsResponse(0, error_code, groups)


def _read_ListGroupsResponse_1(r: Reader) -> ListGroupsResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    n = read_count(r, 4)
    groups = [_read_ListedGroup_0(r) for _ in range(n)]
    return ListGroupsResponse(throttle_time_ms, error_code, groups)


def _read_ListedGroup_3(r: Reader) -> _ListedGroup:
    group_id = read_c_string(r)
    protocol_type = read_c_string(r)
    skip_tags(r)
    return _ListedGroup(group_id, protocol_type)


def _read_ListGroupsResponse_3(r: Reader) -> ListGroupsResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    n = read_c_count(r, 3)
    groups = [_read_ListedGroup_3(r) for _ in range(n)]
    skip_tags(r)
    return ListGroupsResponse(throttle_time_ms, error_code, groups)


def _read_ListedGroup_4(r: Reader) -> _ListedGroup:
    group_id = read_c_string(r)
    protocol_type = read_c_string(r)
    group_state = read_c_string(r)
    skip_tags(r)
    return _ListedGroup(group_id, protocol_type, group_state)


def _read_ListGroupsResponse_4(r: Reader) -> ListGroupsResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    n = read_c_count(r, 4)
    groups = [_read_ListedGroup_4(r) for _ in range(n)]
    skip_tags(r)
    return ListGroupsResponse(throttle_time_ms, error_code, groups)


def _read_ListedGroup_5(r: Reader) -> _ListedGroup:
    group_id = read_c_string(r)
    protocol_type = read_c_string(r)
    group_state = read_c_string(r)
    group_type = read_c_string(r)
    skip_tags(r)
    return _ListedGroup(group_id, protocol_type, group_state, group_type)


def _read_ListGroupsResponse_5(r: Reader) -> ListGroupsResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    n = read_c_count(r, 5)
    groups = [_read_ListedGroup_5(r) for _ in range(n)]
    skip_tags(r)
    return ListGroupsResponse(throttle_time_ms, error_code, groups)


def _read_steps_ListGroupsResponse_0(r: Reader) -> Generator[None, None, ListGroupsResponse]:
    error_code, = r.fixed(_S_h)
    n = read_count(r, 4)
    groups: list[ListGroupsResponse.ListedGroup] = []
    if n <= FLAT_ELEMENTS:
        groups = [_read_ListedGroup_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            groups.append(_read_ListedGroup_0(r))
            if r.elements_ended(1):
                yield
    return ListGroupsResponse(0, error_code, groups)


def _read_steps_ListGroupsResponse_1(r: Reader) -> Generator[None, None, ListGroupsResponse]:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    n = read_count(r, 4)
    groups: list[ListGroupsResponse.ListedGroup] = []
    if n <= FLAT_ELEMENTS:
        groups = [_read_ListedGroup_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            groups.append(_read_ListedGroup_0(r))
            if r.elements_ended(1):
                yield
    return ListGroupsResponse(throttle_time_ms, error_code, groups)


def _read_steps_ListGroupsResponse_3(r: Reader) -> Generator[None, None, ListGroupsResponse]:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    n = read_c_count(r, 3)
    groups: list[ListGroupsResponse.ListedGroup] = []
    if n <= FLAT_ELEMENTS:
        groups = [_read_ListedGroup_3(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            groups.append(_read_ListedGroup_3(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return ListGroupsResponse(throttle_time_ms, error_code, groups)


def _read_steps_ListGroupsResponse_4(r: Reader) -> Generator[None, None, ListGroupsResponse]:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    n = read_c_count(r, 4)
    groups: list[ListGroupsResponse.ListedGroup] = []
    if n <= FLAT_ELEMENTS:
        groups = [_read_ListedGroup_4(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            groups.append(_read_ListedGroup_4(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return ListGroupsResponse(throttle_time_ms, error_code, groups)


def _read_steps_ListGroupsResponse_5(r: Reader) -> Generator[None, None, ListGroupsResponse]:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    n = read_c_count(r, 5)
    groups: list[ListGroupsResponse.ListedGroup] = []
    if n <= FLAT_ELEMENTS:
        groups = [_read_ListedGroup_5(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            groups.append(_read_ListedGroup_5(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return ListGroupsResponse(throttle_time_ms, error_code, groups)


def _write_ListedGroup_0(out: bytearray, m: _ListedGroup) -> None:
    write_string(out, m.group_id)
    write_string(out, m.protocol_type)


def _write_ListGroupsResponse_0(out: bytearray, m: ListGroupsResponse) -> None:
    out += _P_h(m.error_code)
    write_count(out, len(m.groups))
    for it_groups in m.groups:
        _write_ListedGroup_0(out, it_groups)


def _write_ListGroupsResponse_1(out: bytearray, m: ListGroupsResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_count(out, len(m.groups))
    for it_groups in m.groups:
        _write_ListedGroup_0(out, it_groups)


def _write_ListedGroup_3(out: bytearray, m: _ListedGroup) -> None:
    write_c_string(out, m.group_id)
    write_c_string(out, m.protocol_type)
    out.append(0)


def _write_ListGroupsResponse_3(out: bytearray, m: ListGroupsResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_count(out, len(m.groups))
    for it_groups in m.groups:
        _write_ListedGroup_3(out, it_groups)
    out.append(0)


def _write_ListedGroup_4(out: bytearray, m: _ListedGroup) -> None:
    write_c_string(out, m.group_id)
    write_c_string(out, m.protocol_type)
    write_c_string(out, m.group_state)
    out.append(0)


def _write_ListGroupsResponse_4(out: bytearray, m: ListGroupsResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_count(out, len(m.groups))
    for it_groups in m.groups:
        _write_ListedGroup_4(out, it_groups)
    out.append(0)


def _write_ListedGroup_5(out: bytearray, m: _ListedGroup) -> None:
    write_c_string(out, m.group_id)
    write_c_string(out, m.protocol_type)
    write_c_string(out, m.group_state)
    write_c_string(out, m.group_type)
    out.append(0)


def _write_ListGroupsResponse_5(out: bytearray, m: ListGroupsResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_count(out, len(m.groups))
    for it_groups in m.groups:
        _write_ListedGroup_5(out, it_groups)
    out.append(0)


def _write_steps_ListGroupsResponse_0(o: Output, m: ListGroupsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    write_count(out, len(m.groups))
    if len(m.groups) <= FLAT_ELEMENTS:
        for it_groups in m.groups:
            _write_ListedGroup_0(out, it_groups)
        if o.elements_ended(len(m.groups)):
            yield
    else:
        for it_groups in m.groups:
            _write_ListedGroup_0(out, it_groups)
            if o.elements_ended(1):
                yield


def _write_steps_ListGroupsResponse_1(o: Output, m: ListGroupsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_count(out, len(m.groups))
    if len(m.groups) <= FLAT_ELEMENTS:
        for it_groups in m.groups:
            _write_ListedGroup_0(out, it_groups)
        if o.elements_ended(len(m.groups)):
            yield
    else:
        for it_groups in m.groups:
            _write_ListedGroup_0(out, it_groups)
            if o.elements_ended(1):
                yield


def _write_steps_ListGroupsResponse_3(o: Output, m: ListGroupsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_count(out, len(m.groups))
    if len(m.groups) <= FLAT_ELEMENTS:
        for it_groups in m.groups:
            _write_ListedGroup_3(out, it_groups)
        if o.elements_ended(len(m.groups)):
            yield
    else:
        for it_groups in m.groups:
            _write_ListedGroup_3(out, it_groups)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_ListGroupsResponse_4(o: Output, m: ListGroupsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_count(out, len(m.groups))
    if len(m.groups) <= FLAT_ELEMENTS:
        for it_groups in m.groups:
            _write_ListedGroup_4(out, it_groups)
        if o.elements_ended(len(m.groups)):
            yield
    else:
        for it_groups in m.groups:
            _write_ListedGroup_4(out, it_groups)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_ListGroupsResponse_5(o: Output, m: ListGroupsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_count(out, len(m.groups))
    if len(m.groups) <= FLAT_ELEMENTS:
        for it_groups in m.groups:
            _write_ListedGroup_5(out, it_groups)
        if o.elements_ended(len(m.groups)):
            yield
    else:
        for it_groups in m.groups:
            _write_ListedGroup_5(out, it_groups)
            if o.elements_ended(1):
                yield
    out.append(0)


def _error_for(m: ListGroupsRequest, code: int) -> ListGroupsResponse:
    return ListGroupsResponse(error_code=code)


ListGroupsRequest.READ = (_read_ListGroupsRequest_0, _read_ListGroupsRequest_0, _read_ListGroupsRequest_0, _read_ListGroupsRequest_3, _read_ListGroupsRequest_4, _read_ListGroupsRequest_5,)
ListGroupsRequest.READ_STEPS = (None, None, None, None, _read_steps_ListGroupsRequest_4, _read_steps_ListGroupsRequest_5,)
ListGroupsRequest.WRITE = (_write_ListGroupsRequest_0, _write_ListGroupsRequest_0, _write_ListGroupsRequest_0, _write_ListGroupsRequest_3, _write_ListGroupsRequest_4, _write_ListGroupsRequest_5,)
ListGroupsRequest.WRITE_STEPS = (None, None, None, None, _write_steps_ListGroupsRequest_4, _write_steps_ListGroupsRequest_5,)
ListGroupsResponse.READ = (_read_ListGroupsResponse_0, _read_ListGroupsResponse_1, _read_ListGroupsResponse_1, _read_ListGroupsResponse_3, _read_ListGroupsResponse_4, _read_ListGroupsResponse_5,)
ListGroupsResponse.READ_STEPS = (_read_steps_ListGroupsResponse_0, _read_steps_ListGroupsResponse_1, _read_steps_ListGroupsResponse_1, _read_steps_ListGroupsResponse_3, _read_steps_ListGroupsResponse_4, _read_steps_ListGroupsResponse_5,)
ListGroupsResponse.WRITE = (_write_ListGroupsResponse_0, _write_ListGroupsResponse_1, _write_ListGroupsResponse_1, _write_ListGroupsResponse_3, _write_ListGroupsResponse_4, _write_ListGroupsResponse_5,)
ListGroupsResponse.WRITE_STEPS = (_write_steps_ListGroupsResponse_0, _write_steps_ListGroupsResponse_1, _write_steps_ListGroupsResponse_1, _write_steps_ListGroupsResponse_3, _write_steps_ListGroupsResponse_4, _write_steps_ListGroupsResponse_5,)
ListGroupsRequest.ERROR_FOR = _error_for
