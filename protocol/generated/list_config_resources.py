"""ListConfigResourcesRequest, ListConfigResourcesResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, read_c_count, read_c_numbers, read_c_string, skip_tags
from headrace.protocol.message_writing import Output, Runs, write_c_count, write_c_string
from headrace.protocol.primitives import Reader

class ListConfigResourcesRequest(KafkaMessage):
    """Key 74, versions 0 to 1, flexible from 0 on."""

    API_KEY: ClassVar[int] = 74
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    resource_types: list[int] = []


class ListConfigResourcesResponse(KafkaMessage):
    """Key 74, versions 0 to 1, flexible from 0 on."""

    class ConfigResource(MessageStruct):
        """Versions 0+."""

        resource_name: str = ""
        resource_type: int = 16

    API_KEY: ClassVar[int] = 74
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    throttle_time_ms: int = 0
    error_code: int = 0
    config_resources: Collection[ListConfigResourcesResponse.ConfigResource] = []


_ConfigResource = ListConfigResourcesResponse.ConfigResource
_P_bx: Final = Struct(">bx").pack
_P_ih: Final = Struct(">ih").pack
_R_Bb_x: Final = Runs("Bb", "x", is_array=(True, False))
_S_b: Final = Struct(">b")
_S_ih: Final = Struct(">ih")


def _read_ListConfigResourcesRequest_0(r: Reader) -> ListConfigResourcesRequest:
    skip_tags(r)
    return ListConfigResourcesRequest()


def _read_ListConfigResourcesRequest_1(r: Reader) -> ListConfigResourcesRequest:
    resource_types = read_c_numbers(r, "b", 1)
    skip_tags(r)
    return ListConfigResourcesRequest(resource_types)


def _write_ListConfigResourcesRequest_0(out: bytearray, m: ListConfigResourcesRequest) -> None:
    out.append(0)


def _write_ListConfigResourcesRequest_1(out: bytearray, m: ListConfigResourcesRequest) -> None:
    n1 = len(m.resource_types)
    out += _R_Bb_x[n1,](n1 + 1, *m.resource_types)


def _read_ConfigResource_0(r: Reader) -> _ConfigResource:
    resource_name = read_c_string(r)
    skip_tags(r)
    return _ConfigResource(resource_name)


def _read_ListConfigResourcesResponse_0(r: Reader) -> ListConfigResourcesResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    n = read_c_count(r, 2)
    config_resources = [_read_ConfigResource_0(r) for _ in range(n)]
    skip_tags(r)
    return ListConfigResourcesResponse(throttle_time_ms, error_code, config_resources)


def _read_ConfigResource_1(r: Reader) -> _ConfigResource:
    resource_name = read_c_string(r)
    resource_type, = r.fixed(_S_b)
    skip_tags(r)
    return _ConfigResource(resource_name, resource_type)


def _read_ListConfigResourcesResponse_1(r: Reader) -> ListConfigResourcesResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    n = read_c_count(r, 3)
    config_resources = [_read_ConfigResource_1(r) for _ in range(n)]
    skip_tags(r)
    return ListConfigResourcesResponse(throttle_time_ms, error_code, config_resources)


def _read_steps_ListConfigResourcesResponse_0(r: Reader) -> Generator[None, None, ListConfigResourcesResponse]:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    n = read_c_count(r, 2)
    config_resources: list[ListConfigResourcesResponse.ConfigResource] = []
    if n <= FLAT_ELEMENTS:
        config_resources = [_read_ConfigResource_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            config_resources.append(_read_ConfigResource_0(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return ListConfigResourcesResponse(throttle_time_ms, error_code, config_resources)


def _read_steps_ListConfigResourcesResponse_1(r: Reader) -> Generator[None, None, ListConfigResourcesResponse]:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    n = read_c_count(r, 3)
    config_resources: list[ListConfigResourcesResponse.ConfigResource] = []
    if n <= FLAT_ELEMENTS:
        config_resources = [_read_ConfigResource_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            config_resources.append(_read_ConfigResource_1(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return ListConfigResourcesResponse(throttle_time_ms, error_code, config_resources)


def _write_ConfigResource_0(out: bytearray, m: _ConfigResource) -> None:
    write_c_string(out, m.resource_name)
    out.append(0)


def _write_ListConfigResourcesResponse_0(out: bytearray, m: ListConfigResourcesResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_count(out, len(m.config_resources))
    for it_config_resources in m.config_resources:
        _write_ConfigResource_0(out, it_config_resources)
    out.append(0)


def _write_ConfigResource_1(out: bytearray, m: _ConfigResource) -> None:
    write_c_string(out, m.resource_name)
    out += _P_bx(m.resource_type)


def _write_ListConfigResourcesResponse_1(out: bytearray, m: ListConfigResourcesResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_count(out, len(m.config_resources))
    for it_config_resources in m.config_resources:
        _write_ConfigResource_1(out, it_config_resources)
    out.append(0)


def _write_steps_ListConfigResourcesResponse_0(o: Output, m: ListConfigResourcesResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_count(out, len(m.config_resources))
    if len(m.config_resources) <= FLAT_ELEMENTS:
        for it_config_resources in m.config_resources:
            _write_ConfigResource_0(out, it_config_resources)
        if o.elements_ended(len(m.config_resources)):
            yield
    else:
        for it_config_resources in m.config_resources:
            _write_ConfigResource_0(out, it_config_resources)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_ListConfigResourcesResponse_1(o: Output, m: ListConfigResourcesResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_count(out, len(m.config_resources))
    if len(m.config_resources) <= FLAT_ELEMENTS:
        for it_config_resources in m.config_resources:
            _write_ConfigResource_1(out, it_config_resources)
        if o.elements_ended(len(m.config_resources)):
            yield
    else:
        for it_config_resources in m.config_resources:
            _write_ConfigResource_1(out, it_config_resources)
            if o.elements_ended(1):
                yield
    out.append(0)


def _error_for(m: ListConfigResourcesRequest, code: int) -> ListConfigResourcesResponse:
    return ListConfigResourcesResponse(error_code=code)


ListConfigResourcesRequest.READ = (_read_ListConfigResourcesRequest_0, _read_ListConfigResourcesRequest_1,)
ListConfigResourcesRequest.READ_STEPS = (None, None,)
ListConfigResourcesRequest.WRITE = (_write_ListConfigResourcesRequest_0, _write_ListConfigResourcesRequest_1,)
ListConfigResourcesRequest.WRITE_STEPS = (None, None,)
ListConfigResourcesResponse.READ = (_read_ListConfigResourcesResponse_0, _read_ListConfigResourcesResponse_1,)
ListConfigResourcesResponse.READ_STEPS = (_read_steps_ListConfigResourcesResponse_0, _read_steps_ListConfigResourcesResponse_1,)
ListConfigResourcesResponse.WRITE = (_write_ListConfigResourcesResponse_0, _write_ListConfigResourcesResponse_1,)
ListConfigResourcesResponse.WRITE_STEPS = (_write_steps_ListConfigResourcesResponse_0, _write_steps_ListConfigResourcesResponse_1,)
ListConfigResourcesRequest.ERROR_FOR = _error_for
