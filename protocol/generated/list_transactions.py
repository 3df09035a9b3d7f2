"""ListTransactionsRequest, ListTransactionsResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, read_c_count, read_c_null_string, read_c_numbers, read_c_string, skip_tags
from headrace.protocol.message_writing import Output, Runs, write_c_count, write_c_null_string, write_c_string
from headrace.protocol.primitives import Reader

class ListTransactionsRequest(KafkaMessage):
    """Key 66, versions 0 to 2, flexible from 0 on."""

    API_KEY: ClassVar[int] = 66
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    state_filters: list[str] = []
    producer_id_filters: list[int] = []
    duration_filter: int = -1
    transactional_id_pattern: str | None = None


class ListTransactionsResponse(KafkaMessage):
    """Key 66, versions 0 to 2, flexible from 0 on."""

    class TransactionState(MessageStruct):
        """Versions 0+."""

        transactional_id: str = ""
        producer_id: int = 0
        transaction_state: str = ""

    API_KEY: ClassVar[int] = 66
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    throttle_time_ms: int = 0
    error_code: int = 0
    unknown_state_filters: Collection[str] = []
    transaction_states: Collection[ListTransactionsResponse.TransactionState] = []


_TransactionState = ListTransactionsResponse.TransactionState
_P_ih: Final = Struct(">ih").pack
_P_q: Final = Struct(">q").pack
_R_Bq_q: Final = Runs("Bq", "q", is_array=(True, False))
_R_Bq_qx: Final = Runs("Bq", "qx", is_array=(True, False))
_R_Bq_x: Final = Runs("Bq", "x", is_array=(True, False))
_S_ih: Final = Struct(">ih")
_S_q: Final = Struct(">q")


def _read_ListTransactionsRequest_0(r: Reader) -> ListTransactionsRequest:
    n = read_c_count(r, 1)
    state_filters = [read_c_string(r) for _ in range(n)]
    producer_id_filters = read_c_numbers(r, "q", 8)
    skip_tags(r)
    return ListTransactionsRequest(state_filters, producer_id_filters)


def _read_ListTransactionsRequest_1(r: Reader) -> ListTransactionsRequest:
    n = read_c_count(r, 1)
    state_filters = [read_c_string(r) for _ in range(n)]
    producer_id_filters = read_c_numbers(r, "q", 8)
    duration_filter, = r.fixed(_S_q)
    skip_tags(r)
    return ListTransactionsRequest(state_filters, producer_id_filters, duration_filter)


def _read_ListTransactionsRequest_2(r: Reader) -> ListTransactionsRequest:
    n = read_c_count(r, 1)
    state_filters = [read_c_string(r) for _ in range(n)]
    producer_id_filters = read_c_numbers(r, "q", 8)
    duration_filter, = r.fixed(_S_q)
    transactional_id_pattern = read_c_null_string(r)
    skip_tags(r)
    return ListTransactionsRequest(state_filters, producer_id_filters, duration_filter, transactional_id_pattern)


def _read_steps_ListTransactionsRequest_0(r: Reader) -> Generator[None, None, ListTransactionsRequest]:
    n = read_c_count(r, 1)
    state_filters: list[str] = []
    if n <= FLAT_ELEMENTS:
        state_filters = [read_c_string(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            state_filters.append(read_c_string(r))
            if r.elements_ended(1):
                yield
    producer_id_filters = read_c_numbers(r, "q", 8)
    skip_tags(r)
    return ListTransactionsRequest(state_filters, producer_id_filters)


def _read_steps_ListTransactionsRequest_1(r: Reader) -> Generator[None, None, ListTransactionsRequest]:
    n = read_c_count(r, 1)
    state_filters: list[str] = []
    if n <= FLAT_ELEMENTS:
        state_filters = [read_c_string(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            state_filters.append(read_c_string(r))
            if r.elements_ended(1):
                yield
    producer_id_filters = read_c_numbers(r, "q", 8)
    duration_filter, = r.fixed(_S_q)
    skip_tags(r)
    return ListTransactionsRequest(state_filters, producer_id_filters, duration_filter)


def _read_steps_ListTransactionsRequest_2(r: Reader) -> Generator[None, None, ListTransactionsRequest]:
    n = read_c_count(r, 1)
    state_filters: list[str] = []
    if n <= FLAT_ELEMENTS:
        state_filters = [read_c_string(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            state_filters.append(read_c_string(r))
            if r.elements_ended(1):
                yield
    producer_id_filters = read_c_numbers(r, "q", 8)
    duration_filter, = r.fixed(_S_q)
    transactional_id_pattern = read_c_null_string(r)
    skip_tags(r)
    return ListTransactionsRequest(state_filters, producer_id_filters, duration_filter, transactional_id_pattern)


def _write_ListTransactionsRequest_0(out: bytearray, m: ListTransactionsRequest) -> None:
    write_c_count(out, len(m.state_filters))
    for it_state_filters in m.state_filters:
        write_c_string(out, it_state_filters)
    n1 = len(m.producer_id_filters)
    out += _R_Bq_x[n1,](n1 + 1, *m.producer_id_filters)


def _write_ListTransactionsRequest_1(out: bytearray, m: ListTransactionsRequest) -> None:
    write_c_count(out, len(m.state_filters))
    for it_state_filters in m.state_filters:
        write_c_string(out, it_state_filters)
    n1 = len(m.producer_id_filters)
    out += _R_Bq_qx[n1,](n1 + 1, *m.producer_id_filters, m.duration_filter)


def _write_ListTransactionsRequest_2(out: bytearray, m: ListTransactionsRequest) -> None:
    write_c_count(out, len(m.state_filters))
    for it_state_filters in m.state_filters:
        write_c_string(out, it_state_filters)
    n1 = len(m.producer_id_filters)
    out += _R_Bq_q[n1,](n1 + 1, *m.producer_id_filters, m.duration_filter)
    write_c_null_string(out, m.transactional_id_pattern)
    out.append(0)


def _write_steps_ListTransactionsRequest_0(o: Output, m: ListTransactionsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.state_filters))
    if len(m.state_filters) <= FLAT_ELEMENTS:
        for it_state_filters in m.state_filters:
            write_c_string(out, it_state_filters)
        if o.elements_ended(len(m.state_filters)):
            yield
    else:
        for it_state_filters in m.state_filters:
            write_c_string(out, it_state_filters)
            if o.elements_ended(1):
                yield
    n1 = len(m.producer_id_filters)
    out += _R_Bq_x[n1,](n1 + 1, *m.producer_id_filters)


def _write_steps_ListTransactionsRequest_1(o: Output, m: ListTransactionsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.state_filters))
    if len(m.state_filters) <= FLAT_ELEMENTS:
        for it_state_filters in m.state_filters:
            write_c_string(out, it_state_filters)
        if o.elements_ended(len(m.state_filters)):
            yield
    else:
        for it_state_filters in m.state_filters:
            write_c_string(out, it_state_filters)
            if o.elements_ended(1):
                yield
    n1 = len(m.producer_id_filters)
    out += _R_Bq_qx[n1,](n1 + 1, *m.producer_id_filters, m.duration_filter)


def _write_steps_ListTransactionsRequest_2(o: Output, m: ListTransactionsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.state_filters))
    if len(m.state_filters) <= FLAT_ELEMENTS:
        for it_state_filters in m.state_filters:
            write_c_string(out, it_state_filters)
        if o.elements_ended(len(m.state_filters)):
            yield
    else:
        for it_state_filters in m.state_filters:
            write_c_string(out, it_state_filters)
            if o.elements_ended(1):
                yield
    n1 = len(m.producer_id_filters)
    out += _R_Bq_q[n1,](n1 + 1, *m.producer_id_filters, m.duration_filter)
    write_c_null_string(out, m.transactional_id_pattern)
    out.append(0)


def _read_TransactionState_0(r: Reader) -> _TransactionState:
    transactional_id = read_c_string(r)
    producer_id, = r.fixed(_S_q)
    transaction_state = read_c_string(r)
    skip_tags(r)
    return _TransactionState(transactional_id, producer_id, transaction_state)


def _read_ListTransactionsResponse_0(r: Reader) -> ListTransactionsResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    n = read_c_count(r, 1)
    unknown_state_filters = [read_c_string(r) for _ in range(n)]
    n = read_c_count(r, 11)
    transaction_states = [_read_TransactionState_0(r) for _ in range(n)]
    skip_tags(r)
    return ListTransactionsResponse(throttle_time_ms, error_code, unknown_state_filters, transaction_states)


def _read_steps_ListTransactionsResponse_0(r: Reader) -> Generator[None, None, ListTransactionsResponse]:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    n = read_c_count(r, 1)
    unknown_state_filters: list[str] = []
    if n <= FLAT_ELEMENTS:
        unknown_state_filters = [read_c_string(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            unknown_state_filters.append(read_c_string(r))
            if r.elements_ended(1):
                yield
    n = read_c_count(r, 11)
    transaction_states: list[ListTransactionsResponse.TransactionState] = []
    if n <= FLAT_ELEMENTS:
        transaction_states = [_read_TransactionState_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            transaction_states.append(_read_TransactionState_0(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return ListTransactionsResponse(throttle_time_ms, error_code, unknown_state_filters, transaction_states)


def _write_TransactionState_0(out: bytearray, m: _TransactionState) -> None:
    write_c_string(out, m.transactional_id)
    out += _P_q(m.producer_id)
    write_c_string(out, m.transaction_state)
    out.append(0)


def _write_ListTransactionsResponse_0(out: bytearray, m: ListTransactionsResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_count(out, len(m.unknown_state_filters))
    for it_unknown_state_filters in m.unknown_state_filters:
        write_c_string(out, it_unknown_state_filters)
    write_c_count(out, len(m.transaction_states))
    for it_transaction_states in m.transaction_states:
        _write_TransactionState_0(out, it_transaction_states)
    out.append(0)


def _write_steps_ListTransactionsResponse_0(o: Output, m: ListTransactionsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_count(out, len(m.unknown_state_filters))
    if len(m.unknown_state_filters) <= FLAT_ELEMENTS:
        for it_unknown_state_filters in m.unknown_state_filters:
            write_c_string(out, it_unknown_state_filters)
        if o.elements_ended(len(m.unknown_state_filters)):
            yield
    else:
        for it_unknown_state_filters in m.unknown_state_filters:
            write_c_string(out, it_unknown_state_filters)
            if o.elements_ended(1):
                yield
    write_c_count(out, len(m.transaction_states))
    if len(m.transaction_states) <= FLAT_ELEMENTS:
        for it_transaction_states in m.transaction_states:
            _write_TransactionState_0(out, it_transaction_states)
        if o.elements_ended(len(m.transaction_states)):
            yield
    else:
        for it_transaction_states in m.transaction_states:
            _write_TransactionState_0(out, it_transaction_states)
            if o.elements_ended(1):
                yield
    out.append(0)


def _error_for(m: ListTransactionsRequest, code: int) -> ListTransactionsResponse:
    return ListTransactionsResponse(error_code=code)


ListTransactionsRequest.READ = (_read_ListTransactionsRequest_0, _read_ListTransactionsRequest_1, _read_ListTransactionsRequest_2,)
ListTransactionsRequest.READ_STEPS = (_read_steps_ListTransactionsRequest_0, _read_steps_ListTransactionsRequest_1, _read_steps_ListTransactionsRequest_2,)
ListTransactionsRequest.WRITE = (_write_ListTransactionsRequest_0, _write_ListTransactionsRequest_1, _write_ListTransactionsRequest_2,)
ListTransactionsRequest.WRITE_STEPS = (_write_steps_ListTransactionsRequest_0, _write_steps_ListTransactionsRequest_1, _write_steps_ListTransactionsRequest_2,)
ListTransactionsResponse.READ = (_read_ListTransactionsResponse_0, _read_ListTransactionsResponse_0, _read_ListTransactionsResponse_0,)
ListTransactionsResponse.READ_STEPS = (_read_steps_ListTransactionsResponse_0, _read_steps_ListTransactionsResponse_0, _read_steps_ListTransactionsResponse_0,)
ListTransactionsResponse.WRITE = (_write_ListTransactionsResponse_0, _write_ListTransactionsResponse_0, _write_ListTransactionsResponse_0,)
ListTransactionsResponse.WRITE_STEPS = (_write_steps_ListTransactionsResponse_0, _write_steps_ListTransactionsResponse_0, _write_steps_ListTransactionsResponse_0,)
ListTransactionsRequest.ERROR_FOR = _error_for
