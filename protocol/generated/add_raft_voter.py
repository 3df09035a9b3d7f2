"""AddRaftVoterRequest, AddRaftVoterResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Generator
from struct import Struct, pack
from typing import ClassVar, Final
from uuid import UUID

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, read_c_count, read_c_null_string, read_c_string, skip_tags, uuid_of
from headrace.protocol.message_writing import Output, uuid_bytes, write_c_count, write_c_null_string, write_c_string
from headrace.protocol.primitives import Reader

class AddRaftVoterRequest(KafkaMessage):
    """Key 80, versions 0 to 1, flexible from 0 on."""

    class Listener(MessageStruct):
        """Versions 0+."""

        name: str = ""
        host: str = ""
        port: int = 0

    API_KEY: ClassVar[int] = 80
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    cluster_id: str | None = ""
    timeout_ms: int = 0
    voter_id: int = 0
    voter_directory_id: UUID | None = None
    listeners: list[AddRaftVoterRequest.Listener] = []
    ack_when_committed: bool = True


class AddRaftVoterResponse(KafkaMessage):
    """Key 80, versions 0 to 1, flexible from 0 on."""

    API_KEY: ClassVar[int] = 80
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ""


_Listener = AddRaftVoterRequest.Listener
_P_Hx: Final = Struct(">Hx").pack
_P_ih: Final = Struct(">ih").pack
_P_iiu: Final = Struct(">ii16s").pack
_P_tx: Final = Struct(">?x").pack
_S_H: Final = Struct(">H")
_S_ih: Final = Struct(">ih")
_S_iiu: Final = Struct(">ii16s")
_S_t: Final = Struct(">?")


def _read_Listener_0(r: Reader) -> _Listener:
    name = read_c_string(r)
    host = read_c_string(r)
    port, = r.fixed(_S_H)
    skip_tags(r)
    return _Listener(name, host, port)


def _read_AddRaftVoterRequest_0(r: Reader) -> AddRaftVoterRequest:
    cluster_id = read_c_null_string(r)
    timeout_ms, voter_id, voter_directory_id = r.fixed(_S_iiu)
    n = read_c_count(r, 5)
    listeners = [_read_Listener_0(r) for _ in range(n)]
    skip_tags(r)
    return AddRaftVoterRequest(cluster_id, timeout_ms, voter_id, uuid_of(voter_directory_id), listeners)


def _read_AddRaftVoterRequest_1(r: Reader) -> AddRaftVoterRequest:
    cluster_id = read_c_null_string(r)
    timeout_ms, voter_id, voter_directory_id = r.fixed(_S_iiu)
    n = read_c_count(r, 5)
    listeners = [_read_Listener_0(r) for _ in range(n)]
    ack_when_committed, = r.fixed(_S_t)
    skip_tags(r)
    return AddRaftVoterRequest(cluster_id, timeout_ms, voter_id, uuid_of(voter_directory_id), listeners, ack_when_committed)


def _read_steps_AddRaftVoterRequest_0(r: Reader) -> Generator[None, None, AddRaftVoterRequest]:
    cluster_id = read_c_null_string(r)
    timeout_ms, voter_id, voter_directory_id = r.fixed(_S_iiu)
    n = read_c_count(r, 5)
    listeners: list[AddRaftVoterRequest.Listener] = []
    if n <= FLAT_ELEMENTS:
        listeners = [_read_Listener_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            listeners.append(_read_Listener_0(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return AddRaftVoterRequest(cluster_id, timeout_ms, voter_id, uuid_of(voter_directory_id), listeners)


def _read_steps_AddRaftVoterRequest_1(r: Reader) -> Generator[None, None, AddRaftVoterRequest]:
    cluster_id = read_c_null_string(r)
    timeout_ms, voter_id, voter_directory_id = r.fixed(_S_iiu)
    n = read_c_count(r, 5)
    listeners: list[AddRaftVoterRequest.Listener] = []
    if n <= FLAT_ELEMENTS:
        listeners = [_read_Listener_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            listeners.append(_read_Listener_0(r))
            if r.elements_ended(1):
                yield
    ack_when_committed, = r.fixed(_S_t)
    skip_tags(r)
    return AddRaftVoterRequest(cluster_id, timeout_ms, voter_id, uuid_of(voter_directory_id), listeners, ack_when_committed)


def _write_Listener_0(out: bytearray, m: _Listener) -> None:
    write_c_string(out, m.name)
    write_c_string(out, m.host)
    out += _P_Hx(m.port)


def _write_AddRaftVoterRequest_0(out: bytearray, m: AddRaftVoterRequest) -> None:
    write_c_null_string(out, m.cluster_id)
    out += _P_iiu(m.timeout_ms, m.voter_id, uuid_bytes(m.voter_directory_id))
    write_c_count(out, len(m.listeners))
    for it_listeners in m.listeners:
        _write_Listener_0(out, it_listeners)
    out.append(0)


def _write_AddRaftVoterRequest_1(out: bytearray, m: AddRaftVoterRequest) -> None:
    write_c_null_string(out, m.cluster_id)
    out += _P_iiu(m.timeout_ms, m.voter_id, uuid_bytes(m.voter_directory_id))
    write_c_count(out, len(m.listeners))
    for it_listeners in m.listeners:
        _write_Listener_0(out, it_listeners)
    out += _P_tx(m.ack_when_committed)


def _write_steps_AddRaftVoterRequest_0(o: Output, m: AddRaftVoterRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_null_string(out, m.cluster_id)
    out += _P_iiu(m.timeout_ms, m.voter_id, uuid_bytes(m.voter_directory_id))
    write_c_count(out, len(m.listeners))
    if len(m.listeners) <= FLAT_ELEMENTS:
        for it_listeners in m.listeners:
            _write_Listener_0(out, it_listeners)
        if o.elements_ended(len(m.listeners)):
            yield
    else:
        for it_listeners in m.listeners:
            _write_Listener_0(out, it_listeners)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_AddRaftVoterRequest_1(o: Output, m: AddRaftVoterRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_null_string(out, m.cluster_id)
    out += _P_iiu(m.timeout_ms, m.voter_id, uuid_bytes(m.voter_directory_id))
    write_c_count(out, len(m.listeners))
    if len(m.listeners) <= FLAT_ELEMENTS:
        for it_listeners in m.listeners:
            _write_Listener_0(out, it_listeners)
        if o.elements_ended(len(m.listeners)):
            yield
    else:
        for it_listeners in m.listeners:
            _write_Listener_0(out, it_listeners)
            if o.elements_ended(1):
                yield
    out += _P_tx(m.ack_when_committed)


def _read_AddRaftVoterResponse_0(r: Reader) -> AddRaftVoterResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    error_message = read_c_null_string(r)
    skip_tags(r)
    return AddRaftVoterResponse(throttle_time_ms, error_code, error_message)


def _write_AddRaftVoterResponse_0(out: bytearray, m: AddRaftVoterResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_null_string(out, m.error_message)
    out.append(0)


def _error_for(m: AddRaftVoterRequest, code: int) -> AddRaftVoterResponse:
    return AddRaftVoterResponse(error_code=code, error_message=None)


AddRaftVoterRequest.READ = (_read_AddRaftVoterRequest_0, _read_AddRaftVoterRequest_1,)
AddRaftVoterRequest.READ_STEPS = (_read_steps_AddRaftVoterRequest_0, _read_steps_AddRaftVoterRequest_1,)
AddRaftVoterRequest.WRITE = (_write_AddRaftVoterRequest_0, _write_AddRaftVoterRequest_1,)
AddRaftVoterRequest.WRITE_STEPS = (_write_steps_AddRaftVoterRequest_0, _write_steps_AddRaftVoterRequest_1,)
AddRaftVoterResponse.READ = (_read_AddRaftVoterResponse_0, _read_AddRaftVoterResponse_0,)
AddRaftVoterResponse.READ_STEPS = (None, None,)
AddRaftVoterResponse.WRITE = (_write_AddRaftVoterResponse_0, _write_AddRaftVoterResponse_0,)
AddRaftVoterResponse.WRITE_STEPS = (None, None,)
AddRaftVoterRequest.ERROR_FOR = _error_for
