"""DescribeClientQuotasRequest, DescribeClientQuotasResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, read_c_count, read_c_null_count, read_c_null_string, read_c_string, read_count, read_null_count, read_null_string, read_string, skip_tags
from headrace.protocol.message_writing import Output, write_c_count, write_c_null_string, write_c_string, write_count, write_null_string, write_string
from headrace.protocol.primitives import Reader

class DescribeClientQuotasRequest(KafkaMessage):
    """Key 48, versions 0 to 1, flexible from 1 on."""

    class ComponentData(MessageStruct):
        """Versions 0+."""

        entity_type: str = ""
        match_type: int = 0
        match: str | None = ""

    API_KEY: ClassVar[int] = 48
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 1
    components: list[DescribeClientQuotasRequest.ComponentData] = []
    strict: bool = False


class DescribeClientQuotasResponse(KafkaMessage):
    """Key 48, versions 0 to 1, flexible from 1 on."""

    class EntryData(MessageStruct):
        """Versions 0+."""

        class EntityData(MessageStruct):
            """Versions 0+."""

            entity_type: str = ""
            entity_name: str | None = ""

        class ValueData(MessageStruct):
            """Versions 0+."""

            key: str = ""
            value: float = 0.0

        entity: Collection[DescribeClientQuotasResponse.EntryData.EntityData] = []
        values: Collection[DescribeClientQuotasResponse.EntryData.ValueData] = []

    API_KEY: ClassVar[int] = 48
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 1
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ""
    entries: Collection[DescribeClientQuotasResponse.EntryData] | None = []


_ComponentData = DescribeClientQuotasRequest.ComponentData
_EntityData = DescribeClientQuotasResponse.EntryData.EntityData
_ValueData = DescribeClientQuotasResponse.EntryData.ValueData
_EntryData = DescribeClientQuotasResponse.EntryData
_P_b: Final = Struct(">b").pack
_P_d: Final = Struct(">d").pack
_P_dx: Final = Struct(">dx").pack
_P_ih: Final = Struct(">ih").pack
_P_t: Final = Struct(">?").pack
_P_tx: Final = Struct(">?x").pack
_S_b: Final = Struct(">b")
_S_d: Final = Struct(">d")
_S_ih: Final = Struct(">ih")
_S_t: Final = Struct(">?")


def _read_ComponentData_0(r: Reader) -> _ComponentData:
    entity_type = read_string(r)
    match_type, = r.fixed(_S_b)
    match = read_null_string(r)
    return _ComponentData(entity_type, match_type, match)


def _read_DescribeClientQuotasRequest_0(r: Reader) -> DescribeClientQuotasRequest:
    n = read_count(r, 5)
    components = [_read_ComponentData_0(r) for _ in range(n)]
    strict, = r.fixed(_S_t)
    return DescribeClientQuotasRequest(components, strict)


def _read_ComponentData_1(r: Reader) -> _ComponentData:
    entity_type = read_c_string(r)
    match_type, = r.fixed(_S_b)
    match = read_c_null_string(r)
    skip_tags(r)
    return _ComponentData(entity_type, match_type, match)


def _read_DescribeClientQuotasRequest_1(r: Reader) -> DescribeClientQuotasRequest:
    n = read_c_count(r, 4)
    components = [_read_ComponentData_1(r) for _ in range(n)]
    strict, = r.fixed(_S_t)
    skip_tags(r)
    return DescribeClientQuotasRequest(components, strict)


def _read_steps_DescribeClientQuotasRequest_0(r: Reader) -> Generator[None, None, DescribeClientQuotasRequest]:
    n = read_count(r, 5)
    components: list[DescribeClientQuotasRequest.ComponentData] = []
    if n <= FLAT_ELEMENTS:
        components = [_read_ComponentData_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            components.append(_read_ComponentData_0(r))
            if r.elements_ended(1):
                yield
    strict, = r.fixed(_S_t)
    return DescribeClientQuotasRequest(components, strict)


def _read_steps_DescribeClientQuotasRequest_1(r: Reader) -> Generator[None, None, DescribeClientQuotasRequest]:
    n = read_c_count(r, 4)
    components: list[DescribeClientQuotasRequest.ComponentData] = []
    if n <= FLAT_ELEMENTS:
        components = [_read_ComponentData_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            components.append(_read_ComponentData_1(r))
            if r.elements_ended(1):
                yield
    strict, = r.fixed(_S_t)
    skip_tags(r)
    return DescribeClientQuotasRequest(components, strict)


def _write_ComponentData_0(out: bytearray, m: _ComponentData) -> None:
    write_string(out, m.entity_type)
    out += _P_b(m.match_type)
    write_null_string(out, m.match)


def _write_DescribeClientQuotasRequest_0(out: bytearray, m: DescribeClientQuotasRequest) -> None:
    write_count(out, len(m.components))
    for it_components in m.components:
        _write_ComponentData_0(out, it_components)
    out += _P_t(m.strict)


def _write_ComponentData_1(out: bytearray, m: _ComponentData) -> None:
    write_c_string(out, m.entity_type)
    out += _P_b(m.match_type)
    write_c_null_string(out, m.match)
    out.append(0)


def _write_DescribeClientQuotasRequest_1(out: bytearray, m: DescribeClientQuotasRequest) -> None:
    write_c_count(out, len(m.components))
    for it_components in m.components:
        _write_ComponentData_1(out, it_components)
    out += _P_tx(m.strict)


def _write_steps_DescribeClientQuotasRequest_0(o: Output, m: DescribeClientQuotasRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_count(out, len(m.components))
    if len(m.components) <= FLAT_ELEMENTS:
        for it_components in m.components:
            _write_ComponentData_0(out, it_components)
        if o.elements_ended(len(m.components)):
            yield
    else:
        for it_components in m.components:
            _write_ComponentData_0(out, it_components)
            if o.elements_ended(1):
                yield
    out += _P_t(m.strict)


def _write_steps_DescribeClientQuotasRequest_1(o: Output, m: DescribeClientQuotasRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.components))
    if len(m.components) <= FLAT_ELEMENTS:
        for it_components in m.components:
            _write_ComponentData_1(out, it_components)
        if o.elements_ended(len(m.components)):
            yield
    else:
        for it_components in m.components:
            _write_ComponentData_1(out, it_components)
            if o.elements_ended(1):
                yield
    out += _P_tx(m.strict)


def _read_EntityData_0(r: Reader) -> _EntityData:
    entity_type = read_string(r)
    entity_name = read_null_string(r)
    return _EntityData(entity_type, entity_name)


def _read_ValueData_0(r: Reader) -> _ValueData:
    key = read_string(r)
    value, = r.fixed(_S_d)
    return _ValueData(key, value)


def _read_EntryData_0(r: Reader) -> _EntryData:
    n = read_count(r, 4)
    entity = [_read_EntityData_0(r) for _ in range(n)]
    n = read_count(r, 10)
    values = [_read_ValueData_0(r) for _ in range(n)]
    return _EntryData(entity, values)


def _read_DescribeClientQuotasResponse_0(r: Reader) -> DescribeClientQuotasResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    error_message = read_null_string(r)
    n = read_null_count(r, 8)
    entries = None if n < 0 else [_read_EntryData_0(r) for _ in range(n)]
    return DescribeClientQuotasResponse(throttle_time_ms, error_code, error_message, entries)


def _read_EntityData_1(r: Reader) -> _EntityData:
    entity_type = read_c_string(r)
    entity_name = read_c_null_string(r)
    skip_tags(r)
    return _EntityData(entity_type, entity_name)


def _read_ValueData_1(r: Reader) -> _ValueData:
    key = read_c_string(r)
    value, = r.fixed(_S_d)
    skip_tags(r)
    return _ValueData(key, value)


def _read_EntryData_1(r: Reader) -> _EntryData:
    n = read_c_count(r, 3)
    entity = [_read_EntityData_1(r) for _ in range(n)]
    n = read_c_count(r, 10)
    values = [_read_ValueData_1(r) for _ in range(n)]
    skip_tags(r)
    return _EntryData(entity, values)


def _read_DescribeClientQuotasResponse_1(r: Reader) -> DescribeClientQuotasResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    error_message = read_c_null_string(r)
    n = read_c_null_count(r, 3)
    entries = None if n < 0 else [_read_EntryData_1(r) for _ in range(n)]
    skip_tags(r)
    return DescribeClientQuotasResponse(throttle_time_ms, error_code, error_message, entries)


def _read_steps_EntryData_0(r: Reader) -> Generator[None, None, _EntryData]:
    n = read_count(r, 4)
    entity: list[DescribeClientQuotasResponse.EntryData.EntityData] = []
    if n <= FLAT_ELEMENTS:
        entity = [_read_EntityData_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            entity.append(_read_EntityData_0(r))
            if r.elements_ended(1):
                yield
    n = read_count(r, 10)
    values: list[DescribeClientQuotasResponse.EntryData.ValueData] = []
    if n <= FLAT_ELEMENTS:
        values = [_read_ValueData_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            values.append(_read_ValueData_0(r))
            if r.elements_ended(1):
                yield
    return _EntryData(entity, values)


def _read_steps_DescribeClientQuotasResponse_0(r: Reader) -> Generator[None, None, DescribeClientQuotasResponse]:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    error_message = read_null_string(r)
    n = read_null_count(r, 8)
    entries: list[DescribeClientQuotasResponse.EntryData] | None = None
    if n >= 0:
        entries_: list[DescribeClientQuotasResponse.EntryData] = []
        for _ in range(n):
            entries_.append((yield from _read_steps_EntryData_0(r)))
            if r.elements_ended(1):
                yield
        entries = entries_
    return DescribeClientQuotasResponse(throttle_time_ms, error_code, error_message, entries)


def _read_steps_EntryData_1(r: Reader) -> Generator[None, None, _EntryData]:
    n = read_c_count(r, 3)
    entity: list[DescribeClientQuotasResponse.EntryData.EntityData] = []
    if n <= FLAT_ELEMENTS:
        entity = [_read_EntityData_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            entity.append(_read_EntityData_1(r))
            if r.elements_ended(1):
                yield
    n = read_c_count(r, 10)
    values: list[DescribeClientQuotasResponse.EntryData.ValueData] = []
    if n <= FLAT_ELEMENTS:
        values = [_read_ValueData_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            values.append(_read_ValueData_1(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return _EntryData(entity, values)


def _read_steps_DescribeClientQuotasResponse_1(r: Reader) -> Generator[None, None, DescribeClientQuotasResponse]:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    error_message = read_c_null_string(r)
    n = read_c_null_count(r, 3)
    entries: list[DescribeClientQuotasResponse.EntryData] | None = None
    if n >= 0:
        entries_: list[DescribeClientQuotasResponse.EntryData] = []
        for _ in range(n):
            entries_.append((yield from _read_steps_EntryData_1(r)))
            if r.elements_ended(1):
                yield
        entries = entries_
    skip_tags(r)
    return DescribeClientQuotasResponse(throttle_time_ms, error_code, error_message, entries)


def _write_EntityData_0(out: bytearray, m: _EntityData) -> None:
    write_string(out, m.entity_type)
    write_null_string(out, m.entity_name)


def _write_ValueData_0(out: bytearray, m: _ValueData) -> None:
    write_string(out, m.key)
    out += _P_d(m.value)


def _write_EntryData_0(out: bytearray, m: _EntryData) -> None:
    write_count(out, len(m.entity))
    for it_entity in m.entity:
        _write_EntityData_0(out, it_entity)
    write_count(out, len(m.values))
    for it_values in m.values:
        _write_ValueData_0(out, it_values)


def _write_DescribeClientQuotasResponse_0(out: bytearray, m: DescribeClientQuotasResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_null_string(out, m.error_message)
    if m.entries is None:
        write_count(out, -1)
    else:
        write_count(out, len(m.entries))
        for it_entries in m.entries:
            _write_EntryData_0(out, it_entries)


def _write_EntityData_1(out: bytearray, m: _EntityData) -> None:
    write_c_string(out, m.entity_type)
    write_c_null_string(out, m.entity_name)
    out.append(0)


def _write_ValueData_1(out: bytearray, m: _ValueData) -> None:
    write_c_string(out, m.key)
    out += _P_dx(m.value)


def _write_EntryData_1(out: bytearray, m: _EntryData) -> None:
    write_c_count(out, len(m.entity))
    for it_entity in m.entity:
        _write_EntityData_1(out, it_entity)
    write_c_count(out, len(m.values))
    for it_values in m.values:
        _write_ValueData_1(out, it_values)
    out.append(0)


def _write_DescribeClientQuotasResponse_1(out: bytearray, m: DescribeClientQuotasResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_null_string(out, m.error_message)
    if m.entries is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.entries))
        for it_entries in m.entries:
            _write_EntryData_1(out, it_entries)
    out.append(0)


def _write_steps_EntryData_0(o: Output, m: _EntryData) -> Generator[None, None, None]:
    out = o.buffer
    write_count(out, len(m.entity))
    if len(m.entity) <= FLAT_ELEMENTS:
        for it_entity in m.entity:
            _write_EntityData_0(out, it_entity)
        if o.elements_ended(len(m.entity)):
            yield
    else:
        for it_entity in m.entity:
            _write_EntityData_0(out, it_entity)
            if o.elements_ended(1):
                yield
    write_count(out, len(m.values))
    if len(m.values) <= FLAT_ELEMENTS:
        for it_values in m.values:
            _write_ValueData_0(out, it_values)
        if o.elements_ended(len(m.values)):
            yield
    else:
        for it_values in m.values:
            _write_ValueData_0(out, it_values)
            if o.elements_ended(1):
                yield


def _write_steps_DescribeClientQuotasResponse_0(o: Output, m: DescribeClientQuotasResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_null_string(out, m.error_message)
    if m.entries is None:
        write_count(out, -1)
    else:
        write_count(out, len(m.entries))
        for it_entries in m.entries:
            yield from _write_steps_EntryData_0(o, it_entries)
            if o.elements_ended(1):
                yield


def _write_steps_EntryData_1(o: Output, m: _EntryData) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.entity))
    if len(m.entity) <= FLAT_ELEMENTS:
        for it_entity in m.entity:
            _write_EntityData_1(out, it_entity)
        if o.elements_ended(len(m.entity)):
            yield
    else:
        for it_entity in m.entity:
            _write_EntityData_1(out, it_entity)
            if o.elements_ended(1):
                yield
    write_c_count(out, len(m.values))
    if len(m.values) <= FLAT_ELEMENTS:
        for it_values in m.values:
            _write_ValueData_1(out, it_values)
        if o.elements_ended(len(m.values)):
            yield
    else:
        for it_values in m.values:
            _write_ValueData_1(out, it_values)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_DescribeClientQuotasResponse_1(o: Output, m: DescribeClientQuotasResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_null_string(out, m.error_message)
    if m.entries is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.entries))
        for it_entries in m.entries:
            yield from _write_steps_EntryData_1(o, it_entries)
            if o.elements_ended(1):
                yield
    out.append(0)


def _error_for(m: DescribeClientQuotasRequest, code: int) -> DescribeClientQuotasResponse:
    return DescribeClientQuotasResponse(error_code=code, error_message=None)


DescribeClientQuotasRequest.READ = (_read_DescribeClientQuotasRequest_0, _read_DescribeClientQuotasRequest_1,)
DescribeClientQuotasRequest.READ_STEPS = (_read_steps_DescribeClientQuotasRequest_0, _read_steps_DescribeClientQuotasRequest_1,)
DescribeClientQuotasRequest.WRITE = (_write_DescribeClientQuotasRequest_0, _write_DescribeClientQuotasRequest_1,)
DescribeClientQuotasRequest.WRITE_STEPS = (_write_steps_DescribeClientQuotasRequest_0, _write_steps_DescribeClientQuotasRequest_1,)
DescribeClientQuotasResponse.READ = (_read_DescribeClientQuotasResponse_0, _read_DescribeClientQuotasResponse_1,)
DescribeClientQuotasResponse.READ_STEPS = (_read_steps_DescribeClientQuotasResponse_0, _read_steps_DescribeClientQuotasResponse_1,)
DescribeClientQuotasResponse.WRITE = (_write_DescribeClientQuotasResponse_0, _write_DescribeClientQuotasResponse_1,)
DescribeClientQuotasResponse.WRITE_STEPS = (_write_steps_DescribeClientQuotasResponse_0, _write_steps_DescribeClientQuotasResponse_1,)
DescribeClientQuotasRequest.ERROR_FOR = _error_for
