"""DescribeAclsRequest, DescribeAclsResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, read_c_count, read_c_null_string, read_c_string, read_count, read_null_string, read_string, skip_tags
from headrace.protocol.message_writing import Output, write_c_count, write_c_null_string, write_c_string, write_count, write_null_string, write_string
from headrace.protocol.primitives import Reader

class DescribeAclsRequest(KafkaMessage):
    """Key 29, versions 1 to 3, flexible from 2 on."""

    API_KEY: ClassVar[int] = 29
    MIN_VERSION: ClassVar[int] = 1
    FLEXIBLE_SINCE: ClassVar[int] = 2
    resource_type_filter: int = 0
    resource_name_filter: str | None = ""
    pattern_type_filter: int = 3
    principal_filter: str | None = ""
    host_filter: str | None = ""
    operation: int = 0
    permission_type: int = 0


class DescribeAclsResponse(KafkaMessage):
    """Key 29, versions 1 to 3, flexible from 2 on."""

    class DescribeAclsResource(MessageStruct):
        """Versions 0+."""

        class AclDescription(MessageStruct):
            """Versions 0+."""

            principal: str = ""
            host: str = ""
            operation: int = 0
            permission_type: int = 0

        resource_type: int = 0
        resource_name: str = ""
        pattern_type: int = 3
        acls: Collection[DescribeAclsResponse.DescribeAclsResource.AclDescription] = []

    API_KEY: ClassVar[int] = 29
    MIN_VERSION: ClassVar[int] = 1
    FLEXIBLE_SINCE: ClassVar[int] = 2
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ""
    resources: Collection[DescribeAclsResponse.DescribeAclsResource] = []


_AclDescription = DescribeAclsResponse.DescribeAclsResource.AclDescription
_DescribeAclsResource = DescribeAclsResponse.DescribeAclsResource
_P_b: Final = Struct(">b").pack
_P_bb: Final = Struct(">bb").pack
_P_bbx: Final = Struct(">bbx").pack
_P_ih: Final = Struct(">ih").pack
_S_b: Final = Struct(">b")
_S_bb: Final = Struct(">bb")
_S_ih: Final = Struct(">ih")


def _read_DescribeAclsRequest_1(r: Reader) -> DescribeAclsRequest:
    resource_type_filter, = r.fixed(_S_b)
    resource_name_filter = read_null_string(r)
    pattern_type_filter, = r.fixed(_S_b)
    principal_filter = read_null_string(r)
    host_filter = read_null_string(r)
    operation, permission_type = r.fixed(_S_bb)
    return DescribeAclsRequest(resource_type_filter, resource_name_filter, pattern_type_filter, principal_filter, host_filter, operation, permission_type)


def _read_DescribeAclsRequest_2(r: Reader) -> DescribeAclsRequest:
    resource_type_filter, = r.fixed(_S_b)
    resource_name_filter = read_c_null_string(r)
    pattern_type_filter, = r.fixed(_S_b)
    principal_filter = read_c_null_string(r)
    host_filter = read_c_null_string(r)
    operation, permission_type = r.fixed(_S_bb)
    skip_tags(r)
    return DescribeAclsRequest(resource_type_filter, resource_name_filter, pattern_type_filter, principal_filter, host_filter, operation, permission_type)


def _write_DescribeAclsRequest_1(out: bytearray, m: DescribeAclsRequest) -> None:
    out += _P_b(m.resource_type_filter)
    write_null_string(out, m.resource_name_filter)
    out += _P_b(m.pattern_type_filter)
    write_null_string(out, m.principal_filter)
    write_null_string(out, m.host_filter)
    out += _P_bb(m.operation, m.permission_type)


def _write_DescribeAclsRequest_2(out: bytearray, m: DescribeAclsRequest) -> None:
    out += _P_b(m.resource_type_filter)
    write_c_null_string(out, m.resource_name_filter)
    out += _P_b(m.pattern_type_filter)
    write_c_null_string(out, m.principal_filter)
    write_c_null_string(out, m.host_filter)
    out += _P_bbx(m.operation, m.permission_type)


def _read_AclDescription_1(r: Reader) -> _AclDescription:
    principal = read_string(r)
    host = read_string(r)
    operation, permission_type = r.fixed(_S_bb)
    return _AclDescription(principal, host, operation, permission_type)


def _read_DescribeAclsResource_1(r: Reader) -> _DescribeAclsResource:
    resource_type, = r.fixed(_S_b)
    resource_name = read_string(r)
    pattern_type, = r.fixed(_S_b)
    n = read_count(r, 6)
    acls = [_read_AclDescription_1(r) for _ in range(n)]
    return _DescribeAclsResource(resource_type, resource_name, pattern_type, acls)


def _read_DescribeAclsResponse_1(r: Reader) -> DescribeAclsResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    error_message = read_null_string(r)
    n = read_count(r, 8)
    resources = [_read_DescribeAclsResource_1(r) for _ in range(n)]
    return DescribeAclsResponse(throttle_time_ms, error_code, error_message, resources)


def _read_AclDescription_2(r: Reader) -> _AclDescription:
    principal = read_c_string(r)
    host = read_c_string(r)
    operation, permission_type = r.fixed(_S_bb)
    skip_tags(r)
    return _AclDescription(principal, host, operation, permission_type)


def _read_DescribeAclsResource_2(r: Reader) -> _DescribeAclsResource:
    resource_type, = r.fixed(_S_b)
    resource_name = read_c_string(r)
    pattern_type, = r.fixed(_S_b)
    n = read_c_count(r, 5)
    acls = [_read_AclDescription_2(r) for _ in range(n)]
    skip_tags(r)
    return _DescribeAclsResource(resource_type, resource_name, pattern_type, acls)


def _read_DescribeAclsResponse_2(r: Reader) -> DescribeAclsResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    error_message = read_c_null_string(r)
    n = read_c_count(r, 5)
    resources = [_read_DescribeAclsResource_2(r) for _ in range(n)]
    skip_tags(r)
    return DescribeAclsResponse(throttle_time_ms, error_code, error_message, resources)


def _read_steps_DescribeAclsResource_1(r: Reader) -> Generator[None, None, _DescribeAclsResource]:
    resource_type, = r.fixed(_S_b)
    resource_name = read_string(r)
    pattern_type, = r.fixed(_S_b)
    n = read_count(r, 6)
    acls: list[DescribeAclsResponse.DescribeAclsResource.AclDescription] = []
    if n <= FLAT_ELEMENTS:
        acls = [_read_AclDescription_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            acls.append(_read_AclDescription_1(r))
            if r.elements_ended(1):
                yield
    return _DescribeAclsResource(resource_type, resource_name, pattern_type, acls)


def _read_steps_DescribeAclsResponse_1(r: Reader) -> Generator[None, None, DescribeAclsResponse]:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    error_message = read_null_string(r)
    n = read_count(r, 8)
    resources: list[DescribeAclsResponse.DescribeAclsResource] = []
    for _ in range(n):
        resources.append((yield from _read_steps_DescribeAclsResource_1(r)))
        if r.elements_ended(1):
            yield
    return DescribeAclsResponse(throttle_time_ms, error_code, error_message, resources)


def _read_steps_DescribeAclsResource_2(r: Reader) -> Generator[None, None, _DescribeAclsResource]:
    resource_type, = r.fixed(_S_b)
    resource_name = read_c_string(r)
    pattern_type, = r.fixed(_S_b)
    n = read_c_count(r, 5)
    acls: list[DescribeAclsResponse.DescribeAclsResource.AclDescription] = []
    if n <= FLAT_ELEMENTS:
        acls = [_read_AclDescription_2(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            acls.append(_read_AclDescription_2(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return _DescribeAclsResource(resource_type, resource_name, pattern_type, acls)


def _read_steps_DescribeAclsResponse_2(r: Reader) -> Generator[None, None, DescribeAclsResponse]:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    error_message = read_c_null_string(r)
    n = read_c_count(r, 5)
    resources: list[DescribeAclsResponse.DescribeAclsResource] = []
    for _ in range(n):
        resources.append((yield from _read_steps_DescribeAclsResource_2(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return DescribeAclsResponse(throttle_time_ms, error_code, error_message, resources)


def _write_AclDescription_1(out: bytearray, m: _AclDescription) -> None:
    write_string(out, m.principal)
    write_string(out, m.host)
    out += _P_bb(m.operation, m.permission_type)


def _write_DescribeAclsResource_1(out: bytearray, m: _DescribeAclsResource) -> None:
    out += _P_b(m.resource_type)
    write_string(out, m.resource_name)
    out += _P_b(m.pattern_type)
    write_count(out, len(m.acls))
    for it_acls in m.acls:
        _write_AclDescription_1(out, it_acls)


def _write_DescribeAclsResponse_1(out: bytearray, m: DescribeAclsResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_null_string(out, m.error_message)
    write_count(out, len(m.resources))
    for it_resources in m.resources:
        _write_DescribeAclsResource_1(out, it_resources)


def _write_AclDescription_2(out: bytearray, m: _AclDescription) -> None:
    write_c_string(out, m.principal)
    write_c_string(out, m.host)
    out += _P_bbx(m.operation, m.permission_type)


def _write_DescribeAclsResource_2(out: bytearray, m: _DescribeAclsResource) -> None:
    out += _P_b(m.resource_type)
    write_c_string(out, m.resource_name)
    out += _P_b(m.pattern_type)
    write_c_count(out, len(m.acls))
    for it_acls in m.acls:
        _write_AclDescription_2(out, it_acls)
    out.append(0)


def _write_DescribeAclsResponse_2(out: bytearray, m: DescribeAclsResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_null_string(out, m.error_message)
    write_c_count(out, len(m.resources))
    for it_resources in m.resources:
        _write_DescribeAclsResource_2(out, it_resources)
    out.append(0)


def _write_steps_DescribeAclsResource_1(o: Output, m: _DescribeAclsResource) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_b(m.resource_type)
    write_string(out, m.resource_name)
    out += _P_b(m.pattern_type)
    write_count(out, len(m.acls))
    if len(m.acls) <= FLAT_ELEMENTS:
        for it_acls in m.acls:
            _write_AclDescription_1(out, it_acls)
        if o.elements_ended(len(m.acls)):
            yield
    else:
        for it_acls in m.acls:
            _write_AclDescription_1(out, it_acls)
            if o.elements_ended(1):
                yield


def _write_steps_DescribeAclsResponse_1(o: Output, m: DescribeAclsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_null_string(out, m.error_message)
    write_count(out, len(m.resources))
    for it_resources in m.resources:
        yield from _write_steps_DescribeAclsResource_1(o, it_resources)
        if o.elements_ended(1):
            yield


def _write_steps_DescribeAclsResource_2(o: Output, m: _DescribeAclsResource) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_b(m.resource_type)
    write_c_string(out, m.resource_name)
    out += _P_b(m.pattern_type)
    write_c_count(out, len(m.acls))
    if len(m.acls) <= FLAT_ELEMENTS:
        for it_acls in m.acls:
            _write_AclDescription_2(out, it_acls)
        if o.elements_ended(len(m.acls)):
            yield
    else:
        for it_acls in m.acls:
            _write_AclDescription_2(out, it_acls)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_DescribeAclsResponse_2(o: Output, m: DescribeAclsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_null_string(out, m.error_message)
    write_c_count(out, len(m.resources))
    for it_resources in m.resources:
        yield from _write_steps_DescribeAclsResource_2(o, it_resources)
        if o.elements_ended(1):
            yield
    out.append(0)


def _error_for(m: DescribeAclsRequest, code: int) -> DescribeAclsResponse:
    return DescribeAclsResponse(error_code=code, error_message=None)


DescribeAclsRequest.READ = (_read_DescribeAclsRequest_1, _read_DescribeAclsRequest_2, _read_DescribeAclsRequest_2,)
DescribeAclsRequest.READ_STEPS = (None, None, None,)
DescribeAclsRequest.WRITE = (_write_DescribeAclsRequest_1, _write_DescribeAclsRequest_2, _write_DescribeAclsRequest_2,)
DescribeAclsRequest.WRITE_STEPS = (None, None, None,)
DescribeAclsResponse.READ = (_read_DescribeAclsResponse_1, _read_DescribeAclsResponse_2, _read_DescribeAclsResponse_2,)
DescribeAclsResponse.READ_STEPS = (_read_steps_DescribeAclsResponse_1, _read_steps_DescribeAclsResponse_2, _read_steps_DescribeAclsResponse_2,)
DescribeAclsResponse.WRITE = (_write_DescribeAclsResponse_1, _write_DescribeAclsResponse_2, _write_DescribeAclsResponse_2,)
DescribeAclsResponse.WRITE_STEPS = (_write_steps_DescribeAclsResponse_1, _write_steps_DescribeAclsResponse_2, _write_steps_DescribeAclsResponse_2,)
DescribeAclsRequest.ERROR_FOR = _error_for
