"""AlterClientQuotasRequest, AlterClientQuotasResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, read_c_count, read_c_null_string, read_c_string, read_count, read_null_string, read_string, skip_tags
from headrace.protocol.message_writing import Output, write_c_count, write_c_null_string, write_c_string, write_count, write_null_string, write_string
from headrace.protocol.primitives import Reader

class AlterClientQuotasRequest(KafkaMessage):
    """Key 49, versions 0 to 1, flexible from 1 on."""

    class EntryData(MessageStruct):
        """Versions 0+."""

        class EntityData(MessageStruct):
            """Versions 0+."""

            entity_type: str = ""
            entity_name: str | None = ""

        class OpData(MessageStruct):
            """Versions 0+."""

            key: str = ""
            value: float = 0.0
            remove: bool = False

        entity: list[AlterClientQuotasRequest.EntryData.EntityData] = []
        ops: list[AlterClientQuotasRequest.EntryData.OpData] = []

    API_KEY: ClassVar[int] = 49
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 1
    entries: list[AlterClientQuotasRequest.EntryData] = []
    validate_only: bool = False


class AlterClientQuotasResponse(KafkaMessage):
    """Key 49, versions 0 to 1, flexible from 1 on."""

    class EntryData(MessageStruct):
        """Versions 0+."""

        class EntityData(MessageStruct):
            """Versions 0+."""

            entity_type: str = ""
            entity_name: str | None = ""

        error_code: int = 0
        error_message: str | None = ""
        entity: Collection[AlterClientQuotasResponse.EntryData.EntityData] = []

    API_KEY: ClassVar[int] = 49
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 1
    throttle_time_ms: int = 0
    entries: Collection[AlterClientQuotasResponse.EntryData] = []


_AlterClientQuotasRequestEntityData = AlterClientQuotasRequest.EntryData.EntityData
_AlterClientQuotasRequestOpData = AlterClientQuotasRequest.EntryData.OpData
_AlterClientQuotasRequestEntryData = AlterClientQuotasRequest.EntryData
_AlterClientQuotasResponseEntityData = AlterClientQuotasResponse.EntryData.EntityData
_AlterClientQuotasResponseEntryData = AlterClientQuotasResponse.EntryData
_P_dt: Final = Struct(">d?").pack
_P_dtx: Final = Struct(">d?x").pack
_P_h: Final = Struct(">h").pack
_P_i: Final = Struct(">i").pack
_P_t: Final = Struct(">?").pack
_P_tx: Final = Struct(">?x").pack
_S_dt: Final = Struct(">d?")
_S_h: Final = Struct(">h")
_S_i: Final = Struct(">i")
_S_t: Final = Struct(">?")


def _read_AlterClientQuotasRequestEntityData_0(r: Reader) -> _AlterClientQuotasRequestEntityData:
    entity_type = read_string(r)
    entity_name = read_null_string(r)
    return _AlterClientQuotasRequestEntityData(entity_type, entity_name)


def _read_AlterClientQuotasRequestOpData_0(r: Reader) -> _AlterClientQuotasRequestOpData:
    key = read_string(r)
    value, remove = r.fixed(_S_dt)
    return _AlterClientQuotasRequestOpData(key, value, remove)


def _read_AlterClientQuotasRequestEntryData_0(r: Reader) -> _AlterClientQuotasRequestEntryData:
    n = read_count(r, 4)
    entity = [_read_AlterClientQuotasRequestEntityData_0(r) for _ in range(n)]
    n = read_count(r, 11)
    ops = [_read_AlterClientQuotasRequestOpData_0(r) for _ in range(n)]
    return _AlterClientQuotasRequestEntryData(entity, ops)


def _read_AlterClientQuotasRequest_0(r: Reader) -> AlterClientQuotasRequest:
    n = read_count(r, 8)
    entries = [_read_AlterClientQuotasRequestEntryData_0(r) for _ in range(n)]
    validate_only, = r.fixed(_S_t)
    return AlterClientQuotasRequest(entries, validate_only)


def _read_AlterClientQuotasRequestEntityData_1(r: Reader) -> _AlterClientQuotasRequestEntityData:
    entity_type = read_c_string(r)
    entity_name = read_c_null_string(r)
    skip_tags(r)
    return _AlterClientQuotasRequestEntityData(entity_type, entity_name)


def _read_AlterClientQuotasRequestOpData_1(r: Reader) -> _AlterClientQuotasRequestOpData:
    key = read_c_string(r)
    value, remove = r.fixed(_S_dt)
    skip_tags(r)
    return _AlterClientQuotasRequestOpData(key, value, remove)


def _read_AlterClientQuotasRequestEntryData_1(r: Reader) -> _AlterClientQuotasRequestEntryData:
    n = read_c_count(r, 3)
    entity = [_read_AlterClientQuotasRequestEntityData_1(r) for _ in range(n)]
    n = read_c_count(r, 11)
    ops = [_read_AlterClientQuotasRequestOpData_1(r) for _ in range(n)]
    skip_tags(r)
    return _AlterClientQuotasRequestEntryData(entity, ops)


def _read_AlterClientQuotasRequest_1(r: Reader) -> AlterClientQuotasRequest:
    n = read_c_count(r, 3)
    entries = [_read_AlterClientQuotasRequestEntryData_1(r) for _ in range(n)]
    validate_only, = r.fixed(_S_t)
    skip_tags(r)
    return AlterClientQuotasRequest(entries, validate_only)


def _read_steps_AlterClientQuotasRequestEntryData_0(r: Reader) -> Generator[None, None, _AlterClientQuotasRequestEntryData]:
    n = read_count(r, 4)
    entity: list[AlterClientQuotasRequest.EntryData.EntityData] = []
    if n <= FLAT_ELEMENTS:
        entity = [_read_AlterClientQuotasRequestEntityData_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            entity.append(_read_AlterClientQuotasRequestEntityData_0(r))
            if r.elements_ended(1):
                yield
    n = read_count(r, 11)
    ops: list[AlterClientQuotasRequest.EntryData.OpData] = []
    if n <= FLAT_ELEMENTS:
        ops = [_read_AlterClientQuotasRequestOpData_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            ops.append(_read_AlterClientQuotasRequestOpData_0(r))
            if r.elements_ended(1):
                yield
    return _AlterClientQuotasRequestEntryData(entity, ops)


def _read_steps_AlterClientQuotasRequest_0(r: Reader) -> Generator[None, None, AlterClientQuotasRequest]:
    n = read_count(r, 8)
    entries: list[AlterClientQuotasRequest.EntryData] = []
    for _ in range(n):
        entries.append((yield from _read_steps_AlterClientQuotasRequestEntryData_0(r)))
        if r.elements_ended(1):
            yield
    validate_only, = r.fixed(_S_t)
    return AlterClientQuotasRequest(entries, validate_only)


def _read_steps_AlterClientQuotasRequestEntryData_1(r: Reader) -> Generator[None, None, _AlterClientQuotasRequestEntryData]:
    n = read_c_count(r, 3)
    entity: list[AlterClientQuotasRequest.EntryData.EntityData] = []
    if n <= FLAT_ELEMENTS:
        entity = [_read_AlterClientQuotasRequestEntityData_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            entity.append(_read_AlterClientQuotasRequestEntityData_1(r))
            if r.elements_ended(1):
                yield
    n = read_c_count(r, 11)
    ops: list[AlterClientQuotasRequest.EntryData.OpData] = []
    if n <= FLAT_ELEMENTS:
        ops = [_read_AlterClientQuotasRequestOpData_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            ops.append(_read_AlterClientQuotasRequestOpData_1(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return _AlterClientQuotasRequestEntryData(entity, ops)


def _read_steps_AlterClientQuotasRequest_1(r: Reader) -> Generator[None, None, AlterClientQuotasRequest]:
    n = read_c_count(r, 3)
    entries: list[AlterClientQuotasRequest.EntryData] = []
    for _ in range(n):
        entries.append((yield from _read_steps_AlterClientQuotasRequestEntryData_1(r)))
        if r.elements_ended(1):
            yield
    validate_only, = r.fixed(_S_t)
    skip_tags(r)
    return AlterClientQuotasRequest(entries, validate_only)


def _write_AlterClientQuotasRequestEntityData_0(out: bytearray, m: _AlterClientQuotasRequestEntityData) -> None:
    write_string(out, m.entity_type)
    write_null_string(out, m.entity_name)


def _write_AlterClientQuotasRequestOpData_0(out: bytearray, m: _AlterClientQuotasRequestOpData) -> None:
    write_string(out, m.key)
    out += _P_dt(m.value, m.remove)


def _write_AlterClientQuotasRequestEntryData_0(out: bytearray, m: _AlterClientQuotasRequestEntryData) -> None:
    write_count(out, len(m.entity))
    for it_entity in m.entity:
        _write_AlterClientQuotasRequestEntityData_0(out, it_entity)
    write_count(out, len(m.ops))
    for it_ops in m.ops:
        _write_AlterClientQuotasRequestOpData_0(out, it_ops)


def _write_AlterClientQuotasRequest_0(out: bytearray, m: AlterClientQuotasRequest) -> None:
    write_count(out, len(m.entries))
    for it_entries in m.entries:
        _write_AlterClientQuotasRequestEntryData_0(out, it_entries)
    out += _P_t(m.validate_only)


def _write_AlterClientQuotasRequestEntityData_1(out: bytearray, m: _AlterClientQuotasRequestEntityData) -> None:
    write_c_string(out, m.entity_type)
    write_c_null_string(out, m.entity_name)
    out.append(0)


def _write_AlterClientQuotasRequestOpData_1(out: bytearray, m: _AlterClientQuotasRequestOpData) -> None:
    write_c_string(out, m.key)
    out += _P_dtx(m.value, m.remove)


def _write_AlterClientQuotasRequestEntryData_1(out: bytearray, m: _AlterClientQuotasRequestEntryData) -> None:
    write_c_count(out, len(m.entity))
    for it_entity in m.entity:
        _write_AlterClientQuotasRequestEntityData_1(out, it_entity)
    write_c_count(out, len(m.ops))
    for it_ops in m.ops:
        _write_AlterClientQuotasRequestOpData_1(out, it_ops)
    out.append(0)


def _write_AlterClientQuotasRequest_1(out: bytearray, m: AlterClientQuotasRequest) -> None:
    write_c_count(out, len(m.entries))
    for it_entries in m.entries:
        _write_AlterClientQuotasRequestEntryData_1(out, it_entries)
    out += _P_tx(m.validate_only)


def _write_steps_AlterClientQuotasRequestEntryData_0(o: Output, m: _AlterClientQuotasRequestEntryData) -> Generator[None, None, None]:
    out = o.buffer
    write_count(out, len(m.entity))
    if len(m.entity) <= FLAT_ELEMENTS:
        for it_entity in m.entity:
            _write_AlterClientQuotasRequestEntityData_0(out, it_entity)
        if o.elements_ended(len(m.entity)):
            yield
    else:
        for it_entity in m.entity:
            _write_AlterClientQuotasRequestEntityData_0(out, it_entity)
            if o.elements_ended(1):
                yield
    write_count(out, len(m.ops))
    if len(m.ops) <= FLAT_ELEMENTS:
        for it_ops in m.ops:
            _write_AlterClientQuotasRequestOpData_0(out, it_ops)
        if o.elements_ended(len(m.ops)):
            yield
    else:
        for it_ops in m.ops:
            _write_AlterClientQuotasRequestOpData_0(out, it_ops)
            if o.elements_ended(1):
                yield


def _write_steps_AlterClientQuotasRequest_0(o: Output, m: AlterClientQuotasRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_count(out, len(m.entries))
    for it_entries in m.entries:
        yield from _write_steps_AlterClientQuotasRequestEntryData_0(o, it_entries)
        if o.elements_ended(1):
            yield
    out += _P_t(m.validate_only)


def _write_steps_AlterClientQuotasRequestEntryData_1(o: Output, m: _AlterClientQuotasRequestEntryData) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.entity))
    if len(m.entity) <= FLAT_ELEMENTS:
        for it_entity in m.entity:
            _write_AlterClientQuotasRequestEntityData_1(out, it_entity)
        if o.elements_ended(len(m.entity)):
            yield
    else:
        for it_entity in m.entity:
            _write_AlterClientQuotasRequestEntityData_1(out, it_entity)
            if o.elements_ended(1):
                yield
    write_c_count(out, len(m.ops))
    if len(m.ops) <= FLAT_ELEMENTS:
        for it_ops in m.ops:
            _write_AlterClientQuotasRequestOpData_1(out, it_ops)
        if o.elements_ended(len(m.ops)):
            yield
    else:
        for it_ops in m.ops:
            _write_AlterClientQuotasRequestOpData_1(out, it_ops)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_AlterClientQuotasRequest_1(o: Output, m: AlterClientQuotasRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.entries))
    for it_entries in m.entries:
        yield from _write_steps_AlterClientQuotasRequestEntryData_1(o, it_entries)
        if o.elements_ended(1):
            yield
    out += _P_tx(m.validate_only)


def _read_AlterClientQuotasResponseEntityData_0(r: Reader) -> _AlterClientQuotasResponseEntityData:
    entity_type = read_string(r)
    entity_name = read_null_string(r)
    return _AlterClientQuotasResponseEntityData(entity_type, entity_name)


def _read_AlterClientQuotasResponseEntryData_0(r: Reader) -> _AlterClientQuotasResponseEntryData:
    error_code, = r.fixed(_S_h)
    error_message = read_null_string(r)
    n = read_count(r, 4)
    entity = [_read_AlterClientQuotasResponseEntityData_0(r) for _ in range(n)]
    return _AlterClientQuotasResponseEntryData(error_code, error_message, entity)


def _read_AlterClientQuotasResponse_0(r: Reader) -> AlterClientQuotasResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 8)
    entries = [_read_AlterClientQuotasResponseEntryData_0(r) for _ in range(n)]
    return AlterClientQuotasResponse(throttle_time_ms, entries)


def _read_AlterClientQuotasResponseEntityData_1(r: Reader) -> _AlterClientQuotasResponseEntityData:
    entity_type = read_c_string(r)
    entity_name = read_c_null_string(r)
    skip_tags(r)
    return _AlterClientQuotasResponseEntityData(entity_type, entity_name)


def _read_AlterClientQuotasResponseEntryData_1(r: Reader) -> _AlterClientQuotasResponseEntryData:
    error_code, = r.fixed(_S_h)
    error_message = read_c_null_string(r)
    n = read_c_count(r, 3)
    entity = [_read_AlterClientQuotasResponseEntityData_1(r) for _ in range(n)]
    skip_tags(r)
    return _AlterClientQuotasResponseEntryData(error_code, error_message, entity)


def _read_AlterClientQuotasResponse_1(r: Reader) -> AlterClientQuotasResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 5)
    entries = [_read_AlterClientQuotasResponseEntryData_1(r) for _ in range(n)]
    skip_tags(r)
    return AlterClientQuotasResponse(throttle_time_ms, entries)


def _read_steps_AlterClientQuotasResponseEntryData_0(r: Reader) -> Generator[None, None, _AlterClientQuotasResponseEntryData]:
    error_code, = r.fixed(_S_h)
    error_message = read_null_string(r)
    n = read_count(r, 4)
    entity: list[AlterClientQuotasResponse.EntryData.EntityData] = []
    if n <= FLAT_ELEMENTS:
        entity = [_read_AlterClientQuotasResponseEntityData_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            entity.append(_read_AlterClientQuotasResponseEntityData_0(r))
            if r.elements_ended(1):
                yield
    return _AlterClientQuotasResponseEntryData(error_code, error_message, entity)


def _read_steps_AlterClientQuotasResponse_0(r: Reader) -> Generator[None, None, AlterClientQuotasResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 8)
    entries: list[AlterClientQuotasResponse.EntryData] = []
    for _ in range(n):
        entries.append((yield from _read_steps_AlterClientQuotasResponseEntryData_0(r)))
        if r.elements_ended(1):
            yield
    return AlterClientQuotasResponse(throttle_time_ms, entries)


def _read_steps_AlterClientQuotasResponseEntryData_1(r: Reader) -> Generator[None, None, _AlterClientQuotasResponseEntryData]:
    error_code, = r.fixed(_S_h)
    error_message = read_c_null_string(r)
    n = read_c_count(r, 3)
    entity: list[AlterClientQuotasResponse.EntryData.EntityData] = []
    if n <= FLAT_ELEMENTS:
        entity = [_read_AlterClientQuotasResponseEntityData_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            entity.append(_read_AlterClientQuotasResponseEntityData_1(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return _AlterClientQuotasResponseEntryData(error_code, error_message, entity)


def _read_steps_AlterClientQuotasResponse_1(r: Reader) -> Generator[None, None, AlterClientQuotasResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 5)
    entries: list[AlterClientQuotasResponse.EntryData] = []
    for _ in range(n):
        entries.append((yield from _read_steps_AlterClientQuotasResponseEntryData_1(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return AlterClientQuotasResponse(throttle_time_ms, entries)


def _write_AlterClientQuotasResponseEntityData_0(out: bytearray, m: _AlterClientQuotasResponseEntityData) -> None:
    write_string(out, m.entity_type)
    write_null_string(out, m.entity_name)


def _write_AlterClientQuotasResponseEntryData_0(out: bytearray, m: _AlterClientQuotasResponseEntryData) -> None:
    out += _P_h(m.error_code)
    write_null_string(out, m.error_message)
    write_count(out, len(m.entity))
    for it_entity in m.entity:
        _write_AlterClientQuotasResponseEntityData_0(out, it_entity)


def _write_AlterClientQuotasResponse_0(out: bytearray, m: AlterClientQuotasResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.entries))
    for it_entries in m.entries:
        _write_AlterClientQuotasResponseEntryData_0(out, it_entries)


def _write_AlterClientQuotasResponseEntityData_1(out: bytearray, m: _AlterClientQuotasResponseEntityData) -> None:
    write_c_string(out, m.entity_type)
    write_c_null_string(out, m.entity_name)
    out.append(0)


def _write_AlterClientQuotasResponseEntryData_1(out: bytearray, m: _AlterClientQuotasResponseEntryData) -> None:
    out += _P_h(m.error_code)
    write_c_null_string(out, m.error_message)
    write_c_count(out, len(m.entity))
    for it_entity in m.entity:
        _write_AlterClientQuotasResponseEntityData_1(out, it_entity)
    out.append(0)


def _write_AlterClientQuotasResponse_1(out: bytearray, m: AlterClientQuotasResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.entries))
    for it_entries in m.entries:
        _write_AlterClientQuotasResponseEntryData_1(out, it_entries)
    out.append(0)


def _write_steps_AlterClientQuotasResponseEntryData_0(o: Output, m: _AlterClientQuotasResponseEntryData) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    write_null_string(out, m.error_message)
    write_count(out, len(m.entity))
    if len(m.entity) <= FLAT_ELEMENTS:
        for it_entity in m.entity:
            _write_AlterClientQuotasResponseEntityData_0(out, it_entity)
        if o.elements_ended(len(m.entity)):
            yield
    else:
        for it_entity in m.entity:
            _write_AlterClientQuotasResponseEntityData_0(out, it_entity)
            if o.elements_ended(1):
                yield


def _write_steps_AlterClientQuotasResponse_0(o: Output, m: AlterClientQuotasResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.entries))
    for it_entries in m.entries:
        yield from _write_steps_AlterClientQuotasResponseEntryData_0(o, it_entries)
        if o.elements_ended(1):
            yield


def _write_steps_AlterClientQuotasResponseEntryData_1(o: Output, m: _AlterClientQuotasResponseEntryData) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    write_c_null_string(out, m.error_message)
    write_c_count(out, len(m.entity))
    if len(m.entity) <= FLAT_ELEMENTS:
        for it_entity in m.entity:
            _write_AlterClientQuotasResponseEntityData_1(out, it_entity)
        if o.elements_ended(len(m.entity)):
            yield
    else:
        for it_entity in m.entity:
            _write_AlterClientQuotasResponseEntityData_1(out, it_entity)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_AlterClientQuotasResponse_1(o: Output, m: AlterClientQuotasResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.entries))
    for it_entries in m.entries:
        yield from _write_steps_AlterClientQuotasResponseEntryData_1(o, it_entries)
        if o.elements_ended(1):
            yield
    out.append(0)


def _error_for(m: AlterClientQuotasRequest, code: int) -> AlterClientQuotasResponse:
    return AlterClientQuotasResponse(entries=[_AlterClientQuotasResponseEntryData(error_code=code, error_message=None) for it0 in m.entries])


AlterClientQuotasRequest.READ = (_read_AlterClientQuotasRequest_0, _read_AlterClientQuotasRequest_1,)
AlterClientQuotasRequest.READ_STEPS = (_read_steps_AlterClientQuotasRequest_0, _read_steps_AlterClientQuotasRequest_1,)
AlterClientQuotasRequest.WRITE = (_write_AlterClientQuotasRequest_0, _write_AlterClientQuotasRequest_1,)
AlterClientQuotasRequest.WRITE_STEPS = (_write_steps_AlterClientQuotasRequest_0, _write_steps_AlterClientQuotasRequest_1,)
AlterClientQuotasResponse.READ = (_read_AlterClientQuotasResponse_0, _read_AlterClientQuotasResponse_1,)
AlterClientQuotasResponse.READ_STEPS = (_read_steps_AlterClientQuotasResponse_0, _read_steps_AlterClientQuotasResponse_1,)
AlterClientQuotasResponse.WRITE = (_write_AlterClientQuotasResponse_0, _write_AlterClientQuotasResponse_1,)
AlterClientQuotasResponse.WRITE_STEPS = (_write_steps_AlterClientQuotasResponse_0, _write_steps_AlterClientQuotasResponse_1,)
AlterClientQuotasRequest.ERROR_FOR = _error_for
