"""DescribeTransactionsRequest, DescribeTransactionsResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, read_c_count, read_c_numbers, read_c_string, skip_tags
from headrace.protocol.message_writing import Output, Runs, write_c_count, write_c_string
from headrace.protocol.primitives import Reader

class DescribeTransactionsRequest(KafkaMessage):
    """Key 65, version 0, flexible from 0 on."""

    API_KEY: ClassVar[int] = 65
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    transactional_ids: list[str] = []


class DescribeTransactionsResponse(KafkaMessage):
    """Key 65, version 0, flexible from 0 on."""

    class TransactionState(MessageStruct):
        """Versions 0+."""

        class TopicData(MessageStruct):
            """Versions 0+."""

            topic: str = ""
            partitions: Collection[int] = []

        error_code: int = 0
        transactional_id: str = ""
        transaction_state: str = ""
        transaction_timeout_ms: int = 0
        transaction_start_time_ms: int = 0
        producer_id: int = 0
        producer_epoch: int = 0
        topics: Collection[DescribeTransactionsResponse.TransactionState.TopicData] = []

    API_KEY: ClassVar[int] = 65
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    throttle_time_ms: int = 0
    transaction_states: Collection[DescribeTransactionsResponse.TransactionState] = []


_TopicData = DescribeTransactionsResponse.TransactionState.TopicData
_TransactionState = DescribeTransactionsResponse.TransactionState
_P_h: Final = Struct(">h").pack
_P_i: Final = Struct(">i").pack
_P_iqqh: Final = Struct(">iqqh").pack
_R_Bi_x: Final = Runs("Bi", "x", is_array=(True, False))
_S_h: Final = Struct(">h")
_S_i: Final = Struct(">i")
_S_iqqh: Final = Struct(">iqqh")


def _read_DescribeTransactionsRequest_0(r: Reader) -> DescribeTransactionsRequest:
    n = read_c_count(r, 1)
    transactional_ids = [read_c_string(r) for _ in range(n)]
    skip_tags(r)
    return DescribeTransactionsRequest(transactional_ids)


def _read_steps_DescribeTransactionsRequest_0(r: Reader) -> Generator[None, None, DescribeTransactionsRequest]:
    n = read_c_count(r, 1)
    transactional_ids: list[str] = []
    if n <= FLAT_ELEMENTS:
        transactional_ids = [read_c_string(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            transactional_ids.append(read_c_string(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return DescribeTransactionsRequest(transactional_ids)


def _write_DescribeTransactionsRequest_0(out: bytearray, m: DescribeTransactionsRequest) -> None:
    write_c_count(out, len(m.transactional_ids))
    for it_transactional_ids in m.transactional_ids:
        write_c_string(out, it_transactional_ids)
    out.append(0)


def _write_steps_DescribeTransactionsRequest_0(o: Output, m: DescribeTransactionsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.transactional_ids))
    if len(m.transactional_ids) <= FLAT_ELEMENTS:
        for it_transactional_ids in m.transactional_ids:
            write_c_string(out, it_transactional_ids)
        if o.elements_ended(len(m.transactional_ids)):
            yield
    else:
        for it_transactional_ids in m.transactional_ids:
            write_c_string(out, it_transactional_ids)
            if o.elements_ended(1):
                yield
    out.append(0)


def _read_TopicData_0(r: Reader) -> _TopicData:
    topic = read_c_string(r)
    partitions = read_c_numbers(r, "i", 4)
    skip_tags(r)
    return _TopicData(topic, partitions)


def _read_TransactionState_0(r: Reader) -> _TransactionState:
    error_code, = r.fixed(_S_h)
    transactional_id = read_c_string(r)
    transaction_state = read_c_string(r)
    transaction_timeout_ms, transaction_start_time_ms, producer_id, producer_epoch = r.fixed(_S_iqqh)
    n = read_c_count(r, 3)
    topics = [_read_TopicData_0(r) for _ in range(n)]
    skip_tags(r)
    return _TransactionState(error_code, transactional_id, transaction_state, transaction_timeout_ms, transaction_start_time_ms, producer_id, producer_epoch, topics)


def _read_DescribeTransactionsResponse_0(r: Reader) -> DescribeTransactionsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 28)
    transaction_states = [_read_TransactionState_0(r) for _ in range(n)]
    skip_tags(r)
    return DescribeTransactionsResponse(throttle_time_ms, transaction_states)


def _read_steps_TransactionState_0(r: Reader) -> Generator[None, None, _TransactionState]:
    error_code, = r.fixed(_S_h)
    transactional_id = read_c_string(r)
    transaction_state = read_c_string(r)
    transaction_timeout_ms, transaction_start_time_ms, producer_id, producer_epoch = r.fixed(_S_iqqh)
    n = read_c_count(r, 3)
    topics: list[DescribeTransactionsResponse.TransactionState.TopicData] = []
    if n <= FLAT_ELEMENTS:
        topics = [_read_TopicData_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            topics.append(_read_TopicData_0(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return _TransactionState(error_code, transactional_id, transaction_state, transaction_timeout_ms, transaction_start_time_ms, producer_id, producer_epoch, topics)


def _read_steps_DescribeTransactionsResponse_0(r: Reader) -> Generator[None, None, DescribeTransactionsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 28)
    transaction_states: list[DescribeTransactionsResponse.TransactionState] = []
    for _ in range(n):
        transaction_states.append((yield from _read_steps_TransactionState_0(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return DescribeTransactionsResponse(throttle_time_ms, transaction_states)


def _write_TopicData_0(out: bytearray, m: _TopicData) -> None:
    write_c_string(out, m.topic)
    n1 = len(m.partitions)
    out += _R_Bi_x[n1,](n1 + 1, *m.partitions)


def _write_TransactionState_0(out: bytearray, m: _TransactionState) -> None:
    out += _P_h(m.error_code)
    write_c_string(out, m.transactional_id)
    write_c_string(out, m.transaction_state)
    out += _P_iqqh(m.transaction_timeout_ms, m.transaction_start_time_ms, m.producer_id, m.producer_epoch)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_TopicData_0(out, it_topics)
    out.append(0)


def _write_DescribeTransactionsResponse_0(out: bytearray, m: DescribeTransactionsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.transaction_states))
    for it_transaction_states in m.transaction_states:
        _write_TransactionState_0(out, it_transaction_states)
    out.append(0)


def _write_steps_TransactionState_0(o: Output, m: _TransactionState) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    write_c_string(out, m.transactional_id)
    write_c_string(out, m.transaction_state)
    out += _P_iqqh(m.transaction_timeout_ms, m.transaction_start_time_ms, m.producer_id, m.producer_epoch)
    write_c_count(out, len(m.topics))
    if len(m.topics) <= FLAT_ELEMENTS:
        for it_topics in m.topics:
            _write_TopicData_0(out, it_topics)
        if o.elements_ended(len(m.topics)):
            yield
    else:
        for it_topics in m.topics:
            _write_TopicData_0(out, it_topics)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_DescribeTransactionsResponse_0(o: Output, m: DescribeTransactionsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.transaction_states))
    for it_transaction_states in m.transaction_states:
        yield from _write_steps_TransactionState_0(o, it_transaction_states)
        if o.elements_ended(1):
            yield
    out.append(0)


def _error_for(m: DescribeTransactionsRequest, code: int) -> DescribeTransactionsResponse:
    return DescribeTransactionsResponse(transaction_states=[_TransactionState(transactional_id=it0, error_code=code) for it0 in m.transactional_ids])


DescribeTransactionsRequest.READ = (_read_DescribeTransactionsRequest_0,)
DescribeTransactionsRequest.READ_STEPS = (_read_steps_DescribeTransactionsRequest_0,)
DescribeTransactionsRequest.WRITE = (_write_DescribeTransactionsRequest_0,)
DescribeTransactionsRequest.WRITE_STEPS = (_write_steps_DescribeTransactionsRequest_0,)
DescribeTransactionsResponse.READ = (_read_DescribeTransactionsResponse_0,)
DescribeTransactionsResponse.READ_STEPS = (_read_steps_DescribeTransactionsResponse_0,)
DescribeTransactionsResponse.WRITE = (_write_DescribeTransactionsResponse_0,)
DescribeTransactionsResponse.WRITE_STEPS = (_write_steps_DescribeTransactionsResponse_0,)
DescribeTransactionsRequest.ERROR_FOR = _error_for
