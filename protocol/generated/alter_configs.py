"""AlterConfigsRequest, AlterConfigsResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, read_c_count, read_c_null_string, read_c_string, read_count, read_null_string, read_string, skip_tags
from headrace.protocol.message_writing import Output, write_c_count, write_c_null_string, write_c_string, write_count, write_null_string, write_string
from headrace.protocol.primitives import Reader

class AlterConfigsRequest(KafkaMessage):
    """Key 33, versions 0 to 2, flexible from 2 on."""

    class AlterConfigsResource(MessageStruct):
        """Versions 0+."""

        class AlterableConfig(MessageStruct):
            """Versions 0+."""

            name: str = ""
            value: str | None = ""

        resource_type: int = 0
        resource_name: str = ""
        configs: list[AlterConfigsRequest.AlterConfigsResource.AlterableConfig] = []

    API_KEY: ClassVar[int] = 33
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 2
    resources: list[AlterConfigsRequest.AlterConfigsResource] = []
    validate_only: bool = False


class AlterConfigsResponse(KafkaMessage):
    """Key 33, versions 0 to 2, flexible from 2 on."""

    class AlterConfigsResourceResponse(MessageStruct):
        """Versions 0+."""

        error_code: int = 0
        error_message: str | None = ""
        resource_type: int = 0
        resource_name: str = ""

    API_KEY: ClassVar[int] = 33
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 2
    throttle_time_ms: int = 0
    responses: Collection[AlterConfigsResponse.AlterConfigsResourceResponse] = []


_AlterableConfig = AlterConfigsRequest.AlterConfigsResource.AlterableConfig
_AlterConfigsResource = AlterConfigsRequest.AlterConfigsResource
_AlterConfigsResourceResponse = AlterConfigsResponse.AlterConfigsResourceResponse
_P_b: Final = Struct(">b").pack
_P_h: Final = Struct(">h").pack
_P_i: Final = Struct(">i").pack
_P_t: Final = Struct(">?").pack
_P_tx: Final = Struct(">?x").pack
_S_b: Final = Struct(">b")
_S_h: Final = Struct(">h")
_S_i: Final = Struct(">i")
_S_t: Final = Struct(">?")


def _read_AlterableConfig_0(r: Reader) -> _AlterableConfig:
    name = read_string(r)
    value = read_null_string(r)
    return _AlterableConfig(name, value)


def _read_AlterConfigsResource_0(r: Reader) -> _AlterConfigsResource:
    resource_type, = r.fixed(_S_b)
    resource_name = read_string(r)
    n = read_count(r, 4)
    configs = [_read_AlterableConfig_0(r) for _ in range(n)]
    return _AlterConfigsResource(resource_type, resource_name, configs)


def _read_AlterConfigsRequest_0(r: Reader) -> AlterConfigsRequest:
    n = read_count(r, 7)
    resources = [_read_AlterConfigsResource_0(r) for _ in range(n)]
    validate_only, = r.fixed(_S_t)
    return AlterConfigsRequest(resources, validate_only)


def _read_AlterableConfig_2(r: Reader) -> _AlterableConfig:
    name = read_c_string(r)
    value = read_c_null_string(r)
    skip_tags(r)
    return _AlterableConfig(name, value)


def _read_AlterConfigsResource_2(r: Reader) -> _AlterConfigsResource:
    resource_type, = r.fixed(_S_b)
    resource_name = read_c_string(r)
    n = read_c_count(r, 3)
    configs = [_read_AlterableConfig_2(r) for _ in range(n)]
    skip_tags(r)
    return _AlterConfigsResource(resource_type, resource_name, configs)


def _read_AlterConfigsRequest_2(r: Reader) -> AlterConfigsRequest:
    n = read_c_count(r, 4)
    resources = [_read_AlterConfigsResource_2(r) for _ in range(n)]
    validate_only, = r.fixed(_S_t)
    skip_tags(r)
    return AlterConfigsRequest(resources, validate_only)


def _read_steps_AlterConfigsResource_0(r: Reader) -> Generator[None, None, _AlterConfigsResource]:
    resource_type, = r.fixed(_S_b)
    resource_name = read_string(r)
    n = read_count(r, 4)
    configs: list[AlterConfigsRequest.AlterConfigsResource.AlterableConfig] = []
    if n <= FLAT_ELEMENTS:
        configs = [_read_AlterableConfig_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            configs.append(_read_AlterableConfig_0(r))
            if r.elements_ended(1):
                yield
    return _AlterConfigsResource(resource_type, resource_name, configs)


def _read_steps_AlterConfigsRequest_0(r: Reader) -> Generator[None, None, AlterConfigsRequest]:
    n = read_count(r, 7)
    resources: list[AlterConfigsRequest.AlterConfigsResource] = []
    for _ in range(n):
        resources.append((yield from _read_steps_AlterConfigsResource_0(r)))
        if r.elements_ended(1):
            yield
    validate_only, = r.fixed(_S_t)
    return AlterConfigsRequest(resources, validate_only)


def _read_steps_AlterConfigsResource_2(r: Reader) -> Generator[None, None, _AlterConfigsResource]:
    resource_type, = r.fixed(_S_b)
    resource_name = read_c_string(r)
    n = read_c_count(r, 3)
    configs: list[AlterConfigsRequest.AlterConfigsResource.AlterableConfig] = []
    if n <= FLAT_ELEMENTS:
        configs = [_read_AlterableConfig_2(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            configs.append(_read_AlterableConfig_2(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return _AlterConfigsResource(resource_type, resource_name, configs)


def _read_steps_AlterConfigsRequest_2(r: Reader) -> Generator[None, None, AlterConfigsRequest]:
    n = read_c_count(r, 4)
    resources: list[AlterConfigsRequest.AlterConfigsResource] = []
    for _ in range(n):
        resources.append((yield from _read_steps_AlterConfigsResource_2(r)))
        if r.elements_ended(1):
            yield
    validate_only, = r.fixed(_S_t)
    skip_tags(r)
    return AlterConfigsRequest(resources, validate_only)


def _write_AlterableConfig_0(out: bytearray, m: _AlterableConfig) -> None:
    write_string(out, m.name)
    write_null_string(out, m.value)


def _write_AlterConfigsResource_0(out: bytearray, m: _AlterConfigsResource) -> None:
    out += _P_b(m.resource_type)
    write_string(out, m.resource_name)
    write_count(out, len(m.configs))
    for it_configs in m.configs:
        _write_AlterableConfig_0(out, it_configs)


def _write_AlterConfigsRequest_0(out: bytearray, m: AlterConfigsRequest) -> None:
    write_count(out, len(m.resources))
    for it_resources in m.resources:
        _write_AlterConfigsResource_0(out, it_resources)
    out += _P_t(m.validate_only)


def _write_AlterableConfig_2(out: bytearray, m: _AlterableConfig) -> None:
    write_c_string(out, m.name)
    write_c_null_string(out, m.value)
    out.append(0)


def _write_AlterConfigsResource_2(out: bytearray, m: _AlterConfigsResource) -> None:
    out += _P_b(m.resource_type)
    write_c_string(out, m.resource_name)
    write_c_count(out, len(m.configs))
    for it_configs in m.configs:
        _write_AlterableConfig_2(out, it_configs)
    out.append(0)


def _write_AlterConfigsRequest_2(out: bytearray, m: AlterConfigsRequest) -> None:
    write_c_count(out, len(m.resources))
    for it_resources in m.resources:
        _write_AlterConfigsResource_2(out, it_resources)
    out += _P_tx(m.validate_only)


def _write_steps_AlterConfigsResource_0(o: Output, m: _AlterConfigsResource) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_b(m.resource_type)
    write_string(out, m.resource_name)
    write_count(out, len(m.configs))
    if len(m.configs) <= FLAT_ELEMENTS:
        for it_configs in m.configs:
            _write_AlterableConfig_0(out, it_configs)
        if o.elements_ended(len(m.configs)):
            yield
    else:
        for it_configs in m.configs:
            _write_AlterableConfig_0(out, it_configs)
            if o.elements_ended(1):
                yield


def _write_steps_AlterConfigsRequest_0(o: Output, m: AlterConfigsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_count(out, len(m.resources))
    for it_resources in m.resources:
        yield from _write_steps_AlterConfigsResource_0(o, it_resources)
        if o.elements_ended(1):
            yield
    out += _P_t(m.validate_only)


def _write_steps_AlterConfigsResource_2(o: Output, m: _AlterConfigsResource) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_b(m.resource_type)
    write_c_string(out, m.resource_name)
    write_c_count(out, len(m.configs))
    if len(m.configs) <= FLAT_ELEMENTS:
        for it_configs in m.configs:
            _write_AlterableConfig_2(out, it_configs)
        if o.elements_ended(len(m.configs)):
            yield
    else:
        for it_configs in m.configs:
            _write_AlterableConfig_2(out, it_configs)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_AlterConfigsRequest_2(o: Output, m: AlterConfigsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.resources))
    for it_resources in m.resources:
        yield from _write_steps_AlterConfigsResource_2(o, it_resources)
        if o.elements_ended(1):
            yield
    out += _P_tx(m.validate_only)


def _read_AlterConfigsResourceResponse_0(r: Reader) -> _AlterConfigsResourceResponse:
    error_code, = r.fixed(_S_h)
    error_message = read_null_string(r)
    resource_type, = r.fixed(_S_b)
    resource_name = read_string(r)
    return _AlterConfigsResourceResponse(error_code, error_message, resource_type, resource_name)


def _read_AlterConfigsResponse_0(r: Reader) -> AlterConfigsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 7)
    responses = [_read_AlterConfigsResourceResponse_0(r) for _ in range(n)]
    return AlterConfigsResponse(throttle_time_ms, responses)


def _read_AlterConfigsResourceResponse_2(r: Reader) -> _AlterConfigsResourceResponse:
    error_code, = r.fixed(_S_h)
    error_message = read_c_null_string(r)
    resource_type, = r.fixed(_S_b)
    resource_name = read_c_string(r)
    skip_tags(r)
    return _AlterConfigsResourceResponse(error_code, error_message, resource_type, resource_name)


def _read_AlterConfigsResponse_2(r: Reader) -> AlterConfigsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 6)
    responses = [_read_AlterConfigsResourceResponse_2(r) for _ in range(n)]
    skip_tags(r)
    return AlterConfigsResponse(throttle_time_ms, responses)


def _read_steps_AlterConfigsResponse_0(r: Reader) -> Generator[None, None, AlterConfigsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 7)
    responses: list[AlterConfigsResponse.AlterConfigsResourceResponse] = []
    if n <= FLAT_ELEMENTS:
        responses = [_read_AlterConfigsResourceResponse_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            responses.append(_read_AlterConfigsResourceResponse_0(r))
            if r.elements_ended(1):
                yield
    return AlterConfigsResponse(throttle_time_ms, responses)


def _read_steps_AlterConfigsResponse_2(r: Reader) -> Generator[None, None, AlterConfigsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 6)
    responses: list[AlterConfigsResponse.AlterConfigsResourceResponse] = []
    if n <= FLAT_ELEMENTS:
        responses = [_read_AlterConfigsResourceResponse_2(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            responses.append(_read_AlterConfigsResourceResponse_2(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return AlterConfigsResponse(throttle_time_ms, responses)


def _write_AlterConfigsResourceResponse_0(out: bytearray, m: _AlterConfigsResourceResponse) -> None:
    out += _P_h(m.error_code)
    write_null_string(out, m.error_message)
    out += _P_b(m.resource_type)
    write_string(out, m.resource_name)


def _write_AlterConfigsResponse_0(out: bytearray, m: AlterConfigsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.responses))
    for it_responses in m.responses:
        _write_AlterConfigsResourceResponse_0(out, it_responses)


def _write_AlterConfigsResourceResponse_2(out: bytearray, m: _AlterConfigsResourceResponse) -> None:
    out += _P_h(m.error_code)
    write_c_null_string(out, m.error_message)
    out += _P_b(m.resource_type)
    write_c_string(out, m.resource_name)
    out.append(0)


def _write_AlterConfigsResponse_2(out: bytearray, m: AlterConfigsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.responses))
    for it_responses in m.responses:
        _write_AlterConfigsResourceResponse_2(out, it_responses)
    out.append(0)


def _write_steps_AlterConfigsResponse_0(o: Output, m: AlterConfigsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.responses))
    if len(m.responses) <= FLAT_ELEMENTS:
        for it_responses in m.responses:
            _write_AlterConfigsResourceResponse_0(out, it_responses)
        if o.elements_ended(len(m.responses)):
            yield
    else:
        for it_responses in m.responses:
            _write_AlterConfigsResourceResponse_0(out, it_responses)
            if o.elements_ended(1):
                yield


def _write_steps_AlterConfigsResponse_2(o: Output, m: AlterConfigsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.responses))
    if len(m.responses) <= FLAT_ELEMENTS:
        for it_responses in m.responses:
            _write_AlterConfigsResourceResponse_2(out, it_responses)
        if o.elements_ended(len(m.responses)):
            yield
    else:
        for it_responses in m.responses:
            _write_AlterConfigsResourceResponse_2(out, it_responses)
            if o.elements_ended(1):
                yield
    out.append(0)


def _error_for(m: AlterConfigsRequest, code: int) -> AlterConfigsResponse:
    return AlterConfigsResponse(responses=[_AlterConfigsResourceResponse(error_code=code, error_message=None, resource_type=it0.resource_type, resource_name=it0.resource_name) for it0 in m.resources])


AlterConfigsRequest.READ = (_read_AlterConfigsRequest_0, _read_AlterConfigsRequest_0, _read_AlterConfigsRequest_2,)
AlterConfigsRequest.READ_STEPS = (_read_steps_AlterConfigsRequest_0, _read_steps_AlterConfigsRequest_0, _read_steps_AlterConfigsRequest_2,)
AlterConfigsRequest.WRITE = (_write_AlterConfigsRequest_0, _write_AlterConfigsRequest_0, _write_AlterConfigsRequest_2,)
AlterConfigsRequest.WRITE_STEPS = (_write_steps_AlterConfigsRequest_0, _write_steps_AlterConfigsRequest_0, _write_steps_AlterConfigsRequest_2,)
AlterConfigsResponse.READ = (_read_AlterConfigsResponse_0, _read_AlterConfigsResponse_0, _read_AlterConfigsResponse_2,)
AlterConfigsResponse.READ_STEPS = (_read_steps_AlterConfigsResponse_0, _read_steps_AlterConfigsResponse_0, _read_steps_AlterConfigsResponse_2,)
AlterConfigsResponse.WRITE = (_write_AlterConfigsResponse_0, _write_AlterConfigsResponse_0, _write_AlterConfigsResponse_2,)
AlterConfigsResponse.WRITE_STEPS = (_write_steps_AlterConfigsResponse_0, _write_steps_AlterConfigsResponse_0, _write_steps_AlterConfigsResponse_2,)
AlterConfigsRequest.ERROR_FOR = _error_for
