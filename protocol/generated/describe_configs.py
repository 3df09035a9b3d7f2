"""DescribeConfigsRequest, DescribeConfigsResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, read_c_count, read_c_null_count, read_c_null_string, read_c_string, read_count, read_null_count, read_null_string, read_string, skip_tags
from headrace.protocol.message_writing import Output, write_c_count, write_c_null_string, write_c_string, write_count, write_null_string, write_string
from headrace.protocol.primitives import Reader

class DescribeConfigsRequest(KafkaMessage):
    """Key 32, versions 1 to 4, flexible from 4 on."""

    class DescribeConfigsResource(MessageStruct):
        """Versions 0+."""

        resource_type: int = 0
        resource_name: str = ""
        configuration_keys: list[str] | None = []

    API_KEY: ClassVar[int] = 32
    MIN_VERSION: ClassVar[int] = 1
    FLEXIBLE_SINCE: ClassVar[int] = 4
    resources: list[DescribeConfigsRequest.DescribeConfigsResource] = []
    include_synonyms: bool = False
    include_documentation: bool = False


class DescribeConfigsResponse(KafkaMessage):
    """Key 32, versions 1 to 4, flexible from 4 on."""

    class DescribeConfigsResult(MessageStruct):
        """Versions 0+."""

        class DescribeConfigsResourceResult(MessageStruct):
            """Versions 0+."""

            class DescribeConfigsSynonym(MessageStruct):
                """Versions 1+."""

                name: str = ""
                value: str | None = ""
                source: int = 0

            name: str = ""
            value: str | None = ""
            read_only: bool = False
            config_source: int = -1
            is_sensitive: bool = False
            synonyms: Collection[DescribeConfigsResponse.DescribeConfigsResult.DescribeConfigsResourceResult.DescribeConfigsSynonym] = []
            config_type: int = 0
            documentation: str | None = ""

        error_code: int = 0
        error_message: str | None = ""
        resource_type: int = 0
        resource_name: str = ""
        configs: Collection[DescribeConfigsResponse.DescribeConfigsResult.DescribeConfigsResourceResult] = []

    API_KEY: ClassVar[int] = 32
    MIN_VERSION: ClassVar[int] = 1
    FLEXIBLE_SINCE: ClassVar[int] = 4
    throttle_time_ms: int = 0
    results: Collection[DescribeConfigsResponse.DescribeConfigsResult] = []


_DescribeConfigsResource = DescribeConfigsRequest.DescribeConfigsResource
_DescribeConfigsSynonym = DescribeConfigsResponse.DescribeConfigsResult.DescribeConfigsResourceResult.DescribeConfigsSynonym
_DescribeConfigsResourceResult = DescribeConfigsResponse.DescribeConfigsResult.DescribeConfigsResourceResult
_DescribeConfigsResult = DescribeConfigsResponse.DescribeConfigsResult
_P_b: Final = Struct(">b").pack
_P_bx: Final = Struct(">bx").pack
_P_h: Final = Struct(">h").pack
_P_i: Final = Struct(">i").pack
_P_t: Final = Struct(">?").pack
_P_tbt: Final = Struct(">?b?").pack
_P_tt: Final = Struct(">??").pack
_P_ttx: Final = Struct(">??x").pack
_S_b: Final = Struct(">b")
_S_h: Final = Struct(">h")
_S_i: Final = Struct(">i")
_S_t: Final = Struct(">?")
_S_tbt: Final = Struct(">?b?")
_S_tt: Final = Struct(">??")


def _read_DescribeConfigsResource_1(r: Reader) -> _DescribeConfigsResource:
    resource_type, = r.fixed(_S_b)
    resource_name = read_string(r)
    n = read_null_count(r, 2)
    configuration_keys = None if n < 0 else [read_string(r) for _ in range(n)]
    return _DescribeConfigsResource(resource_type, resource_name, configuration_keys)


def _read_DescribeConfigsRequest_1(r: Reader) -> DescribeConfigsRequest:
    n = read_count(r, 7)
    resources = [_read_DescribeConfigsResource_1(r) for _ in range(n)]
    include_synonyms, = r.fixed(_S_t)
    return DescribeConfigsRequest(resources, include_synonyms)


def _read_DescribeConfigsRequest_3(r: Reader) -> DescribeConfigsRequest:
    n = read_count(r, 7)
    resources = [_read_DescribeConfigsResource_1(r) for _ in range(n)]
    include_synonyms, include_documentation = r.fixed(_S_tt)
    return DescribeConfigsRequest(resources, include_synonyms, include_documentation)


def _read_DescribeConfigsResource_4(r: Reader) -> _DescribeConfigsResource:
    resource_type, = r.fixed(_S_b)
    resource_name = read_c_string(r)
    n = read_c_null_count(r, 1)
    configuration_keys = None if n < 0 else [read_c_string(r) for _ in range(n)]
    skip_tags(r)
    return _DescribeConfigsResource(resource_type, resource_name, configuration_keys)


def _read_DescribeConfigsRequest_4(r: Reader) -> DescribeConfigsRequest:
    n = read_c_count(r, 4)
    resources = [_read_DescribeConfigsResource_4(r) for _ in range(n)]
    include_synonyms, include_documentation = r.fixed(_S_tt)
    skip_tags(r)
    return DescribeConfigsRequest(resources, include_synonyms, include_documentation)


def _read_steps_DescribeConfigsResource_1(r: Reader) -> Generator[None, None, _DescribeConfigsResource]:
    resource_type, = r.fixed(_S_b)
    resource_name = read_string(r)
    n = read_null_count(r, 2)
    configuration_keys: list[str] | None = None
    if n >= 0:
        configuration_keys_: list[str] = []
        if n <= FLAT_ELEMENTS:
            configuration_keys_ = [read_string(r) for _ in range(n)]
            r.elements_of_step += n
        else:
            for _ in range(n):
                configuration_keys_.append(read_string(r))
                if r.elements_ended(1):
                    yield
        configuration_keys = configuration_keys_
    return _DescribeConfigsResource(resource_type, resource_name, configuration_keys)


def _read_steps_DescribeConfigsRequest_1(r: Reader) -> Generator[None, None, DescribeConfigsRequest]:
    n = read_count(r, 7)
    resources: list[DescribeConfigsRequest.DescribeConfigsResource] = []
    for _ in range(n):
        resources.append((yield from _read_steps_DescribeConfigsResource_1(r)))
        if r.elements_ended(1):
            yield
    include_synonyms, = r.fixed(_S_t)
    return DescribeConfigsRequest(resources, include_synonyms)


def _read_steps_DescribeConfigsRequest_3(r: Reader) -> Generator[None, None, DescribeConfigsRequest]:
    n = read_count(r, 7)
    resources: list[DescribeConfigsRequest.DescribeConfigsResource] = []
    for _ in range(n):
        resources.append((yield from _read_steps_DescribeConfigsResource_1(r)))
        if r.elements_ended(1):
            yield
    include_synonyms, include_documentation = r.fixed(_S_tt)
    return DescribeConfigsRequest(resources, include_synonyms, include_documentation)


def _read_steps_DescribeConfigsResource_4(r: Reader) -> Generator[None, None, _DescribeConfigsResource]:
    resource_type, = r.fixed(_S_b)
    resource_name = read_c_string(r)
    n = read_c_null_count(r, 1)
    configuration_keys: list[str] | None = None
    if n >= 0:
        configuration_keys_: list[str] = []
        if n <= FLAT_ELEMENTS:
            configuration_keys_ = [read_c_string(r) for _ in range(n)]
            r.elements_of_step += n
        else:
            for _ in range(n):
                configuration_keys_.append(read_c_string(r))
                if r.elements_ended(1):
                    yield
        configuration_keys = configuration_keys_
    skip_tags(r)
    return _DescribeConfigsResource(resource_type, resource_name, configuration_keys)


def _read_steps_DescribeConfigsRequest_4(r: Reader) -> Generator[None, None, DescribeConfigsRequest]:
    n = read_c_count(r, 4)
    resources: list[DescribeConfigsRequest.DescribeConfigsResource] = []
    for _ in range(n):
        resources.append((yield from _read_steps_DescribeConfigsResource_4(r)))
        if r.elements_ended(1):
            yield
    include_synonyms, include_documentation = r.fixed(_S_tt)
    skip_tags(r)
    return DescribeConfigsRequest(resources, include_synonyms, include_documentation)


def _write_DescribeConfigsResource_1(out: bytearray, m: _DescribeConfigsResource) -> None:
    out += _P_b(m.resource_type)
    write_string(out, m.resource_name)
    if m.configuration_keys is None:
        write_count(out, -1)
    else:
        write_count(out, len(m.configuration_keys))
        for it_configuration_keys in m.configuration_keys:
            write_string(out, it_configuration_keys)


def _write_DescribeConfigsRequest_1(out: bytearray, m: DescribeConfigsRequest) -> None:
    write_count(out, len(m.resources))
    for it_resources in m.resources:
        _write_DescribeConfigsResource_1(out, it_resources)
    out += _P_t(m.include_synonyms)


def _write_DescribeConfigsRequest_3(out: bytearray, m: DescribeConfigsRequest) -> None:
    write_count(out, len(m.resources))
    for it_resources in m.resources:
        _write_DescribeConfigsResource_1(out, it_resources)
    out += _P_tt(m.include_synonyms, m.include_documentation)


def _write_DescribeConfigsResource_4(out: bytearray, m: _DescribeConfigsResource) -> None:
    out += _P_b(m.resource_type)
    write_c_string(out, m.resource_name)
    if m.configuration_keys is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.configuration_keys))
        for it_configuration_keys in m.configuration_keys:
            write_c_string(out, it_configuration_keys)
    out.append(0)


def _write_DescribeConfigsRequest_4(out: bytearray, m: DescribeConfigsRequest) -> None:
    write_c_count(out, len(m.resources))
    for it_resources in m.resources:
        _write_DescribeConfigsResource_4(out, it_resources)
    out += _P_ttx(m.include_synonyms, m.include_documentation)


def _write_steps_DescribeConfigsResource_1(o: Output, m: _DescribeConfigsResource) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_b(m.resource_type)
    write_string(out, m.resource_name)
    if m.configuration_keys is None:
        write_count(out, -1)
    else:
        write_count(out, len(m.configuration_keys))
        if len(m.configuration_keys) <= FLAT_ELEMENTS:
            for it_configuration_keys in m.configuration_keys:
                write_string(out, it_configuration_keys)
            if o.elements_ended(len(m.configuration_keys)):
                yield
        else:
            for it_configuration_keys in m.configuration_keys:
                write_string(out, it_configuration_keys)
                if o.elements_ended(1):
                    yield


def _write_steps_DescribeConfigsRequest_1(o: Output, m: DescribeConfigsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_count(out, len(m.resources))
    for it_resources in m.resources:
        yield from _write_steps_DescribeConfigsResource_1(o, it_resources)
        if o.elements_ended(1):
            yield
    out += _P_t(m.include_synonyms)


def _write_steps_DescribeConfigsRequest_3(o: Output, m: DescribeConfigsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_count(out, len(m.resources))
    for it_resources in m.resources:
        yield from _write_steps_DescribeConfigsResource_1(o, it_resources)
        if o.elements_ended(1):
            yield
    out += _P_tt(m.include_synonyms, m.include_documentation)


def _write_steps_DescribeConfigsResource_4(o: Output, m: _DescribeConfigsResource) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_b(m.resource_type)
    write_c_string(out, m.resource_name)
    if m.configuration_keys is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.configuration_keys))
        if len(m.configuration_keys) <= FLAT_ELEMENTS:
            for it_configuration_keys in m.configuration_keys:
                write_c_string(out, it_configuration_keys)
            if o.elements_ended(len(m.configuration_keys)):
                yield
        else:
            for it_configuration_keys in m.configuration_keys:
                write_c_string(out, it_configuration_keys)
                if o.elements_ended(1):
                    yield
    out.append(0)


def _write_steps_DescribeConfigsRequest_4(o: Output, m: DescribeConfigsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.resources))
    for it_resources in m.resources:
        yield from _write_steps_DescribeConfigsResource_4(o, it_resources)
        if o.elements_ended(1):
            yield
    out += _P_ttx(m.include_synonyms, m.include_documentation)


def _read_DescribeConfigsSynonym_1(r: Reader) -> _DescribeConfigsSynonym:
    name = read_string(r)
    value = read_null_string(r)
    source, = r.fixed(_S_b)
    return _DescribeConfigsSynonym(name, value, source)


def _read_DescribeConfigsResourceResult_1(r: Reader) -> _DescribeConfigsResourceResult:
    name = read_string(r)
    value = read_null_string(r)
    read_only, config_source, is_sensitive = r.fixed(_S_tbt)
    n = read_count(r, 5)
    synonyms = [_read_DescribeConfigsSynonym_1(r) for _ in range(n)]
    return _DescribeConfigsResourceResult(name, value, read_only, config_source, is_sensitive, synonyms)


def _read_DescribeConfigsResult_1(r: Reader) -> _DescribeConfigsResult:
    error_code, = r.fixed(_S_h)
    error_message = read_null_string(r)
    resource_type, = r.fixed(_S_b)
    resource_name = read_string(r)
    n = read_count(r, 11)
    configs = [_read_DescribeConfigsResourceResult_1(r) for _ in range(n)]
    return _DescribeConfigsResult(error_code, error_message, resource_type, resource_name, configs)


def _read_DescribeConfigsResponse_1(r: Reader) -> DescribeConfigsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 11)
    results = [_read_DescribeConfigsResult_1(r) for _ in range(n)]
    return DescribeConfigsResponse(throttle_time_ms, results)


def _read_DescribeConfigsResourceResult_3(r: Reader) -> _DescribeConfigsResourceResult:
    name = read_string(r)
    value = read_null_string(r)
    read_only, config_source, is_sensitive = r.fixed(_S_tbt)
    n = read_count(r, 5)
    synonyms = [_read_DescribeConfigsSynonym_1(r) for _ in range(n)]
    config_type, = r.fixed(_S_b)
    documentation = read_null_string(r)
    return _DescribeConfigsResourceResult(name, value, read_only, config_source, is_sensitive, synonyms, config_type, documentation)


def _read_DescribeConfigsResult_3(r: Reader) -> _DescribeConfigsResult:
    error_code, = r.fixed(_S_h)
    error_message = read_null_string(r)
    resource_type, = r.fixed(_S_b)
    resource_name = read_string(r)
    n = read_count(r, 14)
    configs = [_read_DescribeConfigsResourceResult_3(r) for _ in range(n)]
    return _DescribeConfigsResult(error_code, error_message, resource_type, resource_name, configs)


def _read_DescribeConfigsResponse_3(r: Reader) -> DescribeConfigsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 11)
    results = [_read_DescribeConfigsResult_3(r) for _ in range(n)]
    return DescribeConfigsResponse(throttle_time_ms, results)


def _read_DescribeConfigsSynonym_4(r: Reader) -> _DescribeConfigsSynonym:
    name = read_c_string(r)
    value = read_c_null_string(r)
    source, = r.fixed(_S_b)
    skip_tags(r)
    return _DescribeConfigsSynonym(name, value, source)


def _read_DescribeConfigsResourceResult_4(r: Reader) -> _DescribeConfigsResourceResult:
    name = read_c_string(r)
    value = read_c_null_string(r)
    read_only, config_source, is_sensitive = r.fixed(_S_tbt)
    n = read_c_count(r, 4)
    synonyms = [_read_DescribeConfigsSynonym_4(r) for _ in range(n)]
    config_type, = r.fixed(_S_b)
    documentation = read_c_null_string(r)
    skip_tags(r)
    return _DescribeConfigsResourceResult(name, value, read_only, config_source, is_sensitive, synonyms, config_type, documentation)


def _read_DescribeConfigsResult_4(r: Reader) -> _DescribeConfigsResult:
    error_code, = r.fixed(_S_h)
    error_message = read_c_null_string(r)
    resource_type, = r.fixed(_S_b)
    resource_name = read_c_string(r)
    n = read_c_count(r, 9)
    configs = [_read_DescribeConfigsResourceResult_4(r) for _ in range(n)]
    skip_tags(r)
    return _DescribeConfigsResult(error_code, error_message, resource_type, resource_name, configs)


def _read_DescribeConfigsResponse_4(r: Reader) -> DescribeConfigsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 7)
    results = [_read_DescribeConfigsResult_4(r) for _ in range(n)]
    skip_tags(r)
    return DescribeConfigsResponse(throttle_time_ms, results)


def _read_steps_DescribeConfigsResourceResult_1(r: Reader) -> Generator[None, None, _DescribeConfigsResourceResult]:
    name = read_string(r)
    value = read_null_string(r)
    read_only, config_source, is_sensitive = r.fixed(_S_tbt)
    n = read_count(r, 5)
    synonyms: list[DescribeConfigsResponse.DescribeConfigsResult.DescribeConfigsResourceResult.DescribeConfigsSynonym] = []
    if n <= FLAT_ELEMENTS:
        synonyms = [_read_DescribeConfigsSynonym_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            synonyms.append(_read_DescribeConfigsSynonym_1(r))
            if r.elements_ended(1):
                yield
    return _DescribeConfigsResourceResult(name, value, read_only, config_source, is_sensitive, synonyms)


def _read_steps_DescribeConfigsResult_1(r: Reader) -> Generator[None, None, _DescribeConfigsResult]:
    error_code, = r.fixed(_S_h)
    error_message = read_null_string(r)
    resource_type, = r.fixed(_S_b)
    resource_name = read_string(r)
    n = read_count(r, 11)
    configs: list[DescribeConfigsResponse.DescribeConfigsResult.DescribeConfigsResourceResult] = []
    for _ in range(n):
        configs.append((yield from _read_steps_DescribeConfigsResourceResult_1(r)))
        if r.elements_ended(1):
            yield
    return _DescribeConfigsResult(error_code, error_message, resource_type, resource_name, configs)


def _read_steps_DescribeConfigsResponse_1(r: Reader) -> Generator[None, None, DescribeConfigsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 11)
    results: list[DescribeConfigsResponse.DescribeConfigsResult] = []
    for _ in range(n):
        results.append((yield from _read_steps_DescribeConfigsResult_1(r)))
        if r.elements_ended(1):
            yield
    return DescribeConfigsResponse(throttle_time_ms, results)


def _read_steps_DescribeConfigsResourceResult_3(r: Reader) -> Generator[None, None, _DescribeConfigsResourceResult]:
    name = read_string(r)
    value = read_null_string(r)
    read_only, config_source, is_sensitive = r.fixed(_S_tbt)
    n = read_count(r, 5)
    synonyms: list[DescribeConfigsResponse.DescribeConfigsResult.DescribeConfigsResourceResult.DescribeConfigsSynonym] = []
    if n <= FLAT_ELEMENTS:
        synonyms = [_read_DescribeConfigsSynonym_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            synonyms.append(_read_DescribeConfigsSynonym_1(r))
            if r.elements_ended(1):
                yield
    config_type, = r.fixed(_S_b)
    documentation = read_null_string(r)
    return _DescribeConfigsResourceResult(name, value, read_only, config_source, is_sensitive, synonyms, config_type, documentation)


def _read_steps_DescribeConfigsResult_3(r: Reader) -> Generator[None, None, _DescribeConfigsResult]:
    error_code, = r.fixed(_S_h)
    error_message = read_null_string(r)
    resource_type, = r.fixed(_S_b)
    resource_name = read_string(r)
    n = read_count(r, 14)
    configs: list[DescribeConfigsResponse.DescribeConfigsResult.DescribeConfigsResourceResult] = []
    for _ in range(n):
        configs.append((yield from _read_steps_DescribeConfigsResourceResult_3(r)))
        if r.elements_ended(1):
            yield
    return _DescribeConfigsResult(error_code, error_message, resource_type, resource_name, configs)


def _read_steps_DescribeConfigsResponse_3(r: Reader) -> Generator[None, None, DescribeConfigsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 11)
    results: list[DescribeConfigsResponse.DescribeConfigsResult] = []
    for _ in range(n):
        results.append((yield from _read_steps_DescribeConfigsResult_3(r)))
        if r.elements_ended(1):
            yield
    return DescribeConfigsResponse(throttle_time_ms, results)


def _read_steps_DescribeConfigsResourceResult_4(r: Reader) -> Generator[None, None, _DescribeConfigsResourceResult]:
    name = read_c_string(r)
    value = read_c_null_string(r)
    read_only, config_source, is_sensitive = r.fixed(_S_tbt)
    n = read_c_count(r, 4)
    synonyms: list[DescribeConfigsResponse.DescribeConfigsResult.DescribeConfigsResourceResult.DescribeConfigsSynonym] = []
    if n <= FLAT_ELEMENTS:
        synonyms = [_read_DescribeConfigsSynonym_4(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            synonyms.append(_read_DescribeConfigsSynonym_4(r))
            if r.elements_ended(1):
                yield
    config_type, = r.fixed(_S_b)
    documentation = read_c_null_string(r)
    skip_tags(r)
    return _DescribeConfigsResourceResult(name, value, read_only, config_source, is_sensitive, synonyms, config_type, documentation)


def _read_steps_DescribeConfigsResult_4(r: Reader) -> Generator[None, None, _DescribeConfigsResult]:
    error_code, = r.fixed(_S_h)
    error_message = read_c_null_string(r)
    resource_type, = r.fixed(_S_b)
    resource_name = read_c_string(r)
    n = read_c_count(r, 9)
    configs: list[DescribeConfigsResponse.DescribeConfigsResult.DescribeConfigsResourceResult] = []
    for _ in range(n):
        configs.append((yield from _read_steps_DescribeConfigsResourceResult_4(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return _DescribeConfigsResult(error_code, error_message, resource_type, resource_name, configs)


def _read_steps_DescribeConfigsResponse_4(r: Reader) -> Generator[None, None, DescribeConfigsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 7)
    results: list[DescribeConfigsResponse.DescribeConfigsResult] = []
    for _ in range(n):
        results.append((yield from _read_steps_DescribeConfigsResult_4(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return DescribeConfigsResponse(throttle_time_ms, results)


def _write_DescribeConfigsSynonym_1(out: bytearray, m: _DescribeConfigsSynonym) -> None:
    write_string(out, m.name)
    write_null_string(out, m.value)
    out += _P_b(m.source)


def _write_DescribeConfigsResourceResult_1(out: bytearray, m: _DescribeConfigsResourceResult) -> None:
    write_string(out, m.name)
    write_null_string(out, m.value)
    out += _P_tbt(m.read_only, m.config_source, m.is_sensitive)
    write_count(out, len(m.synonyms))
    for it_synonyms in m.synonyms:
        _write_DescribeConfigsSynonym_1(out, it_synonyms)


def _write_DescribeConfigsResult_1(out: bytearray, m: _DescribeConfigsResult) -> None:
    out += _P_h(m.error_code)
    write_null_string(out, m.error_message)
    out += _P_b(m.resource_type)
    write_string(out, m.resource_name)
    write_count(out, len(m.configs))
    for it_configs in m.configs:
        _write_DescribeConfigsResourceResult_1(out, it_configs)


def _write_DescribeConfigsResponse_1(out: bytearray, m: DescribeConfigsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.results))
    for it_results in m.results:
        _write_DescribeConfigsResult_1(out, it_results)


def _write_DescribeConfigsResourceResult_3(out: bytearray, m: _DescribeConfigsResourceResult) -> None:
    write_string(out, m.name)
    write_null_string(out, m.value)
    out += _P_tbt(m.read_only, m.config_source, m.is_sensitive)
    write_count(out, len(m.synonyms))
    for it_synonyms in m.synonyms:
        _write_DescribeConfigsSynonym_1(out, it_synonyms)
    out += _P_b(m.config_type)
    write_null_string(out, m.documentation)


def _write_DescribeConfigsResult_3(out: bytearray, m: _DescribeConfigsResult) -> None:
    out += _P_h(m.error_code)
    write_null_string(out, m.error_message)
    out += _P_b(m.resource_type)
    write_string(out, m.resource_name)
    write_count(out, len(m.configs))
    for it_configs in m.configs:
        _write_DescribeConfigsResourceResult_3(out, it_configs)


def _write_DescribeConfigsResponse_3(out: bytearray, m: DescribeConfigsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.results))
    for it_results in m.results:
        _write_DescribeConfigsResult_3(out, it_results)


def _write_DescribeConfigsSynonym_4(out: bytearray, m: _DescribeConfigsSynonym) -> None:
    write_c_string(out, m.name)
    write_c_null_string(out, m.value)
    out += _P_bx(m.source)


def _write_DescribeConfigsResourceResult_4(out: bytearray, m: _DescribeConfigsResourceResult) -> None:
    write_c_string(out, m.name)
    write_c_null_string(out, m.value)
    out += _P_tbt(m.read_only, m.config_source, m.is_sensitive)
    write_c_count(out, len(m.synonyms))
    for it_synonyms in m.synonyms:
        _write_DescribeConfigsSynonym_4(out, it_synonyms)
    out += _P_b(m.config_type)
    write_c_null_string(out, m.documentation)
    out.append(0)


def _write_DescribeConfigsResult_4(out: bytearray, m: _DescribeConfigsResult) -> None:
    out += _P_h(m.error_code)
    write_c_null_string(out, m.error_message)
    out += _P_b(m.resource_type)
    write_c_string(out, m.resource_name)
    write_c_count(out, len(m.configs))
    for it_configs in m.configs:
        _write_DescribeConfigsResourceResult_4(out, it_configs)
    out.append(0)


def _write_DescribeConfigsResponse_4(out: bytearray, m: DescribeConfigsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.results))
    for it_results in m.results:
        _write_DescribeConfigsResult_4(out, it_results)
    out.append(0)


def _write_steps_DescribeConfigsResourceResult_1(o: Output, m: _DescribeConfigsResourceResult) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.name)
    write_null_string(out, m.value)
    out += _P_tbt(m.read_only, m.config_source, m.is_sensitive)
    write_count(out, len(m.synonyms))
    if len(m.synonyms) <= FLAT_ELEMENTS:
        for it_synonyms in m.synonyms:
            _write_DescribeConfigsSynonym_1(out, it_synonyms)
        if o.elements_ended(len(m.synonyms)):
            yield
    else:
        for it_synonyms in m.synonyms:
            _write_DescribeConfigsSynonym_1(out, it_synonyms)
            if o.elements_ended(1):
                yield


def _write_steps_DescribeConfigsResult_1(o: Output, m: _DescribeConfigsResult) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    write_null_string(out, m.error_message)
    out += _P_b(m.resource_type)
    write_string(out, m.resource_name)
    write_count(out, len(m.configs))
    for it_configs in m.configs:
        yield from _write_steps_DescribeConfigsResourceResult_1(o, it_configs)
        if o.elements_ended(1):
            yield


def _write_steps_DescribeConfigsResponse_1(o: Output, m: DescribeConfigsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.results))
    for it_results in m.results:
        yield from _write_steps_DescribeConfigsResult_1(o, it_results)
        if o.elements_ended(1):
            yield


def _write_steps_DescribeConfigsResourceResult_3(o: Output, m: _DescribeConfigsResourceResult) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.name)
    write_null_string(out, m.value)
    out += _P_tbt(m.read_only, m.config_source, m.is_sensitive)
    write_count(out, len(m.synonyms))
    if len(m.synonyms) <= FLAT_ELEMENTS:
        for it_synonyms in m.synonyms:
            _write_DescribeConfigsSynonym_1(out, it_synonyms)
        if o.elements_ended(len(m.synonyms)):
            yield
    else:
        for it_synonyms in m.synonyms:
            _write_DescribeConfigsSynonym_1(out, it_synonyms)
            if o.elements_ended(1):
                yield
    out += _P_b(m.config_type)
    write_null_string(out, m.documentation)


def _write_steps_DescribeConfigsResult_3(o: Output, m: _DescribeConfigsResult) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    write_null_string(out, m.error_message)
    out += _P_b(m.resource_type)
    write_string(out, m.resource_name)
    write_count(out, len(m.configs))
    for it_configs in m.configs:
        yield from _write_steps_DescribeConfigsResourceResult_3(o, it_configs)
        if o.elements_ended(1):
            yield


def _write_steps_DescribeConfigsResponse_3(o: Output, m: DescribeConfigsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.results))
    for it_results in m.results:
        yield from _write_steps_DescribeConfigsResult_3(o, it_results)
        if o.elements_ended(1):
            yield


def _write_steps_DescribeConfigsResourceResult_4(o: Output, m: _DescribeConfigsResourceResult) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.name)
    write_c_null_string(out, m.value)
    out += _P_tbt(m.read_only, m.config_source, m.is_sensitive)
    write_c_count(out, len(m.synonyms))
    if len(m.synonyms) <= FLAT_ELEMENTS:
        for it_synonyms in m.synonyms:
            _write_DescribeConfigsSynonym_4(out, it_synonyms)
        if o.elements_ended(len(m.synonyms)):
            yield
    else:
        for it_synonyms in m.synonyms:
            _write_DescribeConfigsSynonym_4(out, it_synonyms)
            if o.elements_ended(1):
                yield
    out += _P_b(m.config_type)
    write_c_null_string(out, m.documentation)
    out.append(0)


def _write_steps_DescribeConfigsResult_4(o: Output, m: _DescribeConfigsResult) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    write_c_null_string(out, m.error_message)
    out += _P_b(m.resource_type)
    write_c_string(out, m.resource_name)
    write_c_count(out, len(m.configs))
    for it_configs in m.configs:
        yield from _write_steps_DescribeConfigsResourceResult_4(o, it_configs)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_DescribeConfigsResponse_4(o: Output, m: DescribeConfigsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.results))
    for it_results in m.results:
        yield from _write_steps_DescribeConfigsResult_4(o, it_results)
        if o.elements_ended(1):
            yield
    out.append(0)


def _error_for(m: DescribeConfigsRequest, code: int) -> DescribeConfigsResponse:
    return DescribeConfigsResponse(results=[_DescribeConfigsResult(error_code=code, error_message=None, resource_type=it0.resource_type, resource_name=it0.resource_name) for it0 in m.resources])


DescribeConfigsRequest.READ = (_read_DescribeConfigsRequest_1, _read_DescribeConfigsRequest_1, _read_DescribeConfigsRequest_3, _read_DescribeConfigsRequest_4,)
DescribeConfigsRequest.READ_STEPS = (_read_steps_DescribeConfigsRequest_1, _read_steps_DescribeConfigsRequest_1, _read_steps_DescribeConfigsRequest_3, _read_steps_DescribeConfigsRequest_4,)
DescribeConfigsRequest.WRITE = (_write_DescribeConfigsRequest_1, _write_DescribeConfigsRequest_1, _write_DescribeConfigsRequest_3, _write_DescribeConfigsRequest_4,)
DescribeConfigsRequest.WRITE_STEPS = (_write_steps_DescribeConfigsRequest_1, _write_steps_DescribeConfigsRequest_1, _write_steps_DescribeConfigsRequest_3, _write_steps_DescribeConfigsRequest_4,)
DescribeConfigsResponse.READ = (_read_DescribeConfigsResponse_1, _read_DescribeConfigsResponse_1, _read_DescribeConfigsResponse_3, _read_DescribeConfigsResponse_4,)
DescribeConfigsResponse.READ_STEPS = (_read_steps_DescribeConfigsResponse_1, _read_steps_DescribeConfigsResponse_1, _read_steps_DescribeConfigsResponse_3, _read_steps_DescribeConfigsResponse_4,)
DescribeConfigsResponse.WRITE = (_write_DescribeConfigsResponse_1, _write_DescribeConfigsResponse_1, _write_DescribeConfigsResponse_3, _write_DescribeConfigsResponse_4,)
DescribeConfigsResponse.WRITE_STEPS = (_write_steps_DescribeConfigsResponse_1, _write_steps_DescribeConfigsResponse_1, _write_steps_DescribeConfigsResponse_3, _write_steps_DescribeConfigsResponse_4,)
DescribeConfigsRequest.ERROR_FOR = _error_for
