"""IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, read_c_count, read_c_null_string, read_c_string, read_count, read_null_string, read_string, skip_tags
from headrace.protocol.message_writing import Output, write_c_count, write_c_null_string, write_c_string, write_count, write_null_string, write_string
from headrace.protocol.primitives import Reader

class IncrementalAlterConfigsRequest(KafkaMessage):
    """Key 44, versions 0 to 1, flexible from 1 on."""

    class AlterConfigsResource(MessageStruct):
        """Versions 0+."""

        class AlterableConfig(MessageStruct):
            """Versions 0+."""

            name: str = ""
            config_operation: int = 0
            value: str | None = ""

        resource_type: int = 0
        resource_name: str = ""
        configs: list[IncrementalAlterConfigsRequest.AlterConfigsResource.AlterableConfig] = []

    API_KEY: ClassVar[int] = 44
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 1
    resources: list[IncrementalAlterConfigsRequest.AlterConfigsResource] = []
    validate_only: bool = False


class IncrementalAlterConfigsResponse(KafkaMessage):
    """Key 44, versions 0 to 1, flexible from 1 on."""

    class AlterConfigsResourceResponse(MessageStruct):
        """Versions 0+."""

        error_code: int = 0
        error_message: str | None = ""
        resource_type: int = 0
        resource_name: str = ""

    API_KEY: ClassVar[int] = 44
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 1
    throttle_time_ms: int = 0
    responses: Collection[IncrementalAlterConfigsResponse.AlterConfigsResourceResponse] = []


_AlterableConfig = IncrementalAlterConfigsRequest.AlterConfigsResource.AlterableConfig
_AlterConfigsResource = IncrementalAlterConfigsRequest.AlterConfigsResource
_AlterConfigsResourceResponse = IncrementalAlterConfigsResponse.AlterConfigsResourceResponse
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
    config_operation, = r.fixed(_S_b)
    value = read_null_string(r)
    return _AlterableConfig(name, config_operation, value)


def _read_AlterConfigsResource_0(r: Reader) -> _AlterConfigsResource:
    resource_type, = r.fixed(_S_b)
    resource_name = read_string(r)
    n = read_count(r, 5)
    configs = [_read_AlterableConfig_0(r) for _ in range(n)]
    return _AlterConfigsResource(resource_type, resource_name, configs)


def _read_IncrementalAlterConfigsRequest_0(r: Reader) -> IncrementalAlterConfigsRequest:
    n = read_count(r, 7)
    resources = [_read_AlterConfigsResource_0(r) for _ in range(n)]
    validate_only, = r.fixed(_S_t)
    return IncrementalAlterConfigsRequest(resources, validate_only)


def _read_AlterableConfig_1(r: Reader) -> _AlterableConfig:
    name = read_c_string(r)
    config_operation, = r.fixed(_S_b)
    value = read_c_null_string(r)
    skip_tags(r)
    return _AlterableConfig(name, config_operation, value)


def _read_AlterConfigsResource_1(r: Reader) -> _AlterConfigsResource:
    resource_type, = r.fixed(_S_b)
    resource_name = read_c_string(r)
    n = read_c_count(r, 4)
    configs = [_read_AlterableConfig_1(r) for _ in range(n)]
    skip_tags(r)
    return _AlterConfigsResource(resource_type, resource_name, configs)


def _read_IncrementalAlterConfigsRequest_1(r: Reader) -> IncrementalAlterConfigsRequest:
    n = read_c_count(r, 4)
    resources = [_read_AlterConfigsResource_1(r) for _ in range(n)]
    validate_only, = r.fixed(_S_t)
    skip_tags(r)
    return IncrementalAlterConfigsRequest(resources, validate_only)


def _read_steps_AlterConfigsResource_0(r: Reader) -> Generator[None, None, _AlterConfigsResource]:
    resource_type, = r.fixed(_S_b)
    resource_name = read_string(r)
    n = read_count(r, 5)
    configs: list[IncrementalAlterConfigsRequest.AlterConfigsResource.AlterableConfig] = []
    if n <= FLAT_ELEMENTS:
        configs = [_read_AlterableConfig_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            configs.append(_read_AlterableConfig_0(r))
            if r.elements_ended(1):
                yield
    return _AlterConfigsResource(resource_type, resource_name, configs)


def _read_steps_IncrementalAlterConfigsRequest_0(r: Reader) -> Generator[None, None, IncrementalAlterConfigsRequest]:
    n = read_count(r, 7)
    resources: list[IncrementalAlterConfigsRequest.AlterConfigsResource] = []
    for _ in range(n):
        resources.append((yield from _read_steps_AlterConfigsResource_0(r)))
        if r.elements_ended(1):
            yield
    validate_only, = r.fixed(_S_t)
    return IncrementalAlterConfigsRequest(resources, validate_only)


def _read_steps_AlterConfigsResource_1(r: Reader) -> Generator[None, None, _AlterConfigsResource]:
    resource_type, = r.fixed(_S_b)
    resource_name = read_c_string(r)
    n = read_c_count(r, 4)
    configs: list[IncrementalAlterConfigsRequest.AlterConfigsResource.AlterableConfig] = []
    if n <= FLAT_ELEMENTS:
        configs = [_read_AlterableConfig_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            configs.append(_read_AlterableConfig_1(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return _AlterConfigsResource(resource_type, resource_name, configs)


def _read_steps_IncrementalAlterConfigsRequest_1(r: Reader) -> Generator[None, None, IncrementalAlterConfigsRequest]:
    n = read_c_count(r, 4)
    resources: list[IncrementalAlterConfigsRequest.AlterConfigsResource] = []
    for _ in range(n):
        resources.append((yield from _read_steps_AlterConfigsResource_1(r)))
        if r.elements_ended(1):
            yield
    validate_only, = r.fixed(_S_t)
    skip_tags(r)
    return IncrementalAlterConfigsRequest(resources, validate_only)


def _write_AlterableConfig_0(out: bytearray, m: _AlterableConfig) -> None:
    write_string(out, m.name)
    out += _P_b(m.config_operation)
    write_null_string(out, m.value)


def _write_AlterConfigsResource_0(out: bytearray, m: _AlterConfigsResource) -> None:
    out += _P_b(m.resource_type)
    write_string(out, m.resource_name)
    write_count(out, len(m.configs))
    for it_configs in m.configs:
        _write_AlterableConfig_0(out, it_configs)


def _write_IncrementalAlterConfigsRequest_0(out: bytearray, m: IncrementalAlterConfigsRequest) -> None:
    write_count(out, len(m.resources))
    for it_resources in m.resources:
        _write_AlterConfigsResource_0(out, it_resources)
    out += _P_t(m.validate_only)


def _write_AlterableConfig_1(out: bytearray, m: _AlterableConfig) -> None:
    write_c_string(out, m.name)
    out += _P_b(m.config_operation)
    write_c_null_string(out, m.value)
    out.append(0)


def _write_AlterConfigsResource_1(out: bytearray, m: _AlterConfigsResource) -> None:
    out += _P_b(m.resource_type)
    write_c_string(out, m.resource_name)
    write_c_count(out, len(m.configs))
    for it_configs in m.configs:
        _write_AlterableConfig_1(out, it_configs)
    out.append(0)


def _write_IncrementalAlterConfigsRequest_1(out: bytearray, m: IncrementalAlterConfigsRequest) -> None:
    write_c_count(out, len(m.resources))
    for it_resources in m.resources:
        _write_AlterConfigsResource_1(out, it_resources)
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


def _write_steps_IncrementalAlterConfigsRequest_0(o: Output, m: IncrementalAlterConfigsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_count(out, len(m.resources))
    for it_resources in m.resources:
        yield from _write_steps_AlterConfigsResource_0(o, it_resources)
        if o.elements_ended(1):
            yield
    out += _P_t(m.validate_only)


def _write_steps_AlterConfigsResource_1(o: Output, m: _AlterConfigsResource) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_b(m.resource_type)
    write_c_string(out, m.resource_name)
    write_c_count(out, len(m.configs))
    if len(m.configs) <= FLAT_ELEMENTS:
        for it_configs in m.configs:
            _write_AlterableConfig_1(out, it_configs)
        if o.elements_ended(len(m.configs)):
            yield
    else:
        for it_configs in m.configs:
            _write_AlterableConfig_1(out, it_configs)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_IncrementalAlterConfigsRequest_1(o: Output, m: IncrementalAlterConfigsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.resources))
    for it_resources in m.resources:
        yield from _write_steps_AlterConfigsResource_1(o, it_resources)
        if o.elements_ended(1):
            yield
    out += _P_tx(m.validate_only)


def _read_AlterConfigsResourceResponse_0(r: Reader) -> _AlterConfigsResourceResponse:
    error_code, = r.fixed(_S_h)
    error_message = read_null_string(r)
    resource_type, = r.fixed(_S_b)
    resource_name = read_string(r)
    return _AlterConfigsResourceResponse(error_code, error_message, resource_type, resource_name)


def _read_IncrementalAlterConfigsResponse_0(r: Reader) -> IncrementalAlterConfigsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 7)
    responses = [_read_AlterConfigsResourceResponse_0(r) for _ in range(n)]
    return IncrementalAlterConfigsResponse(throttle_time_ms, responses)


def _read_AlterConfigsResourceResponse_1(r: Reader) -> _AlterConfigsResourceResponse:
    error_code, = r.fixed(_S_h)
    error_message = read_c_null_string(r)
    resource_type, = r.fixed(_S_b)
    resource_name = read_c_string(r)
    skip_tags(r)
    return _AlterConfigsResourceResponse(error_code, error_message, resource_type, resource_name)


def _read_IncrementalAlterConfigsResponse_1(r: Reader) -> IncrementalAlterConfigsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 6)
    responses = [_read_AlterConfigsResourceResponse_1(r) for _ in range(n)]
    skip_tags(r)
    return IncrementalAlterConfigsResponse(throttle_time_ms, responses)


def _read_steps_IncrementalAlterConfigsResponse_0(r: Reader) -> Generator[None, None, IncrementalAlterConfigsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 7)
    responses: list[IncrementalAlterConfigsResponse.AlterConfigsResourceResponse] = []
    if n <= FLAT_ELEMENTS:
        responses = [_read_AlterConfigsResourceResponse_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            responses.append(_read_AlterConfigsResourceResponse_0(r))
            if r.elements_ended(1):
                yield
    return IncrementalAlterConfigsResponse(throttle_time_ms, responses)


def _read_steps_IncrementalAlterConfigsResponse_1(r: Reader) -> Generator[None, None, IncrementalAlterConfigsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 6)
    responses: list[IncrementalAlterConfigsResponse.AlterConfigsResourceResponse] = []
    if n <= FLAT_ELEMENTS:
        responses = [_read_AlterConfigsResourceResponse_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            responses.append(_read_AlterConfigsResourceResponse_1(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return IncrementalAlterConfigsResponse(throttle_time_ms, responses)


def _write_AlterConfigsResourceResponse_0(out: bytearray, m: _AlterConfigsResourceResponse) -> None:
    out += _P_h(m.error_code)
    write_null_string(out, m.error_message)
    out += _P_b(m.resource_type)
    write_string(out, m.resource_name)


def _write_IncrementalAlterConfigsResponse_0(out: bytearray, m: IncrementalAlterConfigsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.responses))
    for it_responses in m.responses:
        _write_AlterConfigsResourceResponse_0(out, it_responses)


def _write_AlterConfigsResourceResponse_1(out: bytearray, m: _AlterConfigsResourceResponse) -> None:
    out += _P_h(m.error_code)
    write_c_null_string(out, m.error_message)
    out += _P_b(m.resource_type)
    write_c_string(out, m.resource_name)
    out.append(0)


def _write_IncrementalAlterConfigsResponse_1(out: bytearray, m: IncrementalAlterConfigsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.responses))
    for it_responses in m.responses:
        _write_AlterConfigsResourceResponse_1(out, it_responses)
    out.append(0)


def _write_steps_IncrementalAlterConfigsResponse_0(o: Output, m: IncrementalAlterConfigsResponse) -> Generator[None, None, None]:
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


def _write_steps_IncrementalAlterConfigsResponse_1(o: Output, m: IncrementalAlterConfigsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.responses))
    if len(m.responses) <= FLAT_ELEMENTS:
        for it_responses in m.responses:
            _write_AlterConfigsResourceResponse_1(out, it_responses)
        if o.elements_ended(len(m.responses)):
            yield
    else:
        for it_responses in m.responses:
            _write_AlterConfigsResourceResponse_1(out, it_responses)
            if o.elements_ended(1):
                yield
    out.append(0)


def _error_for(m: IncrementalAlterConfigsRequest, code: int) -> IncrementalAlterConfigsResponse:
    return IncrementalAlterConfigsResponse(responses=[_AlterConfigsResourceResponse(error_code=code, error_message=None, resource_type=it0.resource_type, resource_name=it0.resource_name) for it0 in m.resources])


IncrementalAlterConfigsRequest.READ = (_read_IncrementalAlterConfigsRequest_0, _read_IncrementalAlterConfigsRequest_1,)
IncrementalAlterConfigsRequest.READ_STEPS = (_read_steps_IncrementalAlterConfigsRequest_0, _read_steps_IncrementalAlterConfigsRequest_1,)
IncrementalAlterConfigsRequest.WRITE = (_write_IncrementalAlterConfigsRequest_0, _write_IncrementalAlterConfigsRequest_1,)
IncrementalAlterConfigsRequest.WRITE_STEPS = (_write_steps_IncrementalAlterConfigsRequest_0, _write_steps_IncrementalAlterConfigsRequest_1,)
IncrementalAlterConfigsResponse.READ = (_read_IncrementalAlterConfigsResponse_0, _read_IncrementalAlterConfigsResponse_1,)
IncrementalAlterConfigsResponse.READ_STEPS = (_read_steps_IncrementalAlterConfigsResponse_0, _read_steps_IncrementalAlterConfigsResponse_1,)
IncrementalAlterConfigsResponse.WRITE = (_write_IncrementalAlterConfigsResponse_0, _write_IncrementalAlterConfigsResponse_1,)
IncrementalAlterConfigsResponse.WRITE_STEPS = (_write_steps_IncrementalAlterConfigsResponse_0, _write_steps_IncrementalAlterConfigsResponse_1,)
IncrementalAlterConfigsRequest.ERROR_FOR = _error_for
