"""AddPartitionsToTxnRequest, AddPartitionsToTxnResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from itertools import islice
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, batches, read_c_count, read_c_numbers, read_c_string, read_count, read_numbers, read_string, skip_tags
from headrace.protocol.message_writing import Output, Runs, write_c_count, write_c_string, write_count, write_string
from headrace.protocol.primitives import Reader

class AddPartitionsToTxnRequest(KafkaMessage):
    """Key 24, versions 0 to 5, flexible from 3 on."""

    class AddPartitionsToTxnTopic(MessageStruct):
        """Versions 0+."""

        name: str = ""
        partitions: list[int] = []

    class AddPartitionsToTxnTransaction(MessageStruct):
        """Versions 4+."""

        transactional_id: str = ""
        producer_id: int = 0
        producer_epoch: int = 0
        verify_only: bool = False
        topics: list[AddPartitionsToTxnRequest.AddPartitionsToTxnTopic] = []

    API_KEY: ClassVar[int] = 24
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 3
    transactions: list[AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction] = []
    v3_and_below_transactional_id: str = ""
    v3_and_below_producer_id: int = 0
    v3_and_below_producer_epoch: int = 0
    v3_and_below_topics: list[AddPartitionsToTxnRequest.AddPartitionsToTxnTopic] = []


class AddPartitionsToTxnResponse(KafkaMessage):
    """Key 24, versions 0 to 5, flexible from 3 on."""

    class AddPartitionsToTxnTopicResult(MessageStruct):
        """Versions 0+."""

        name: str = ""
        results_by_partition: Collection[AddPartitionsToTxnResponse.AddPartitionsToTxnPartitionResult] = []

    class AddPartitionsToTxnPartitionResult(MessageStruct):
        """Versions 0+."""

        partition_index: int = 0
        partition_error_code: int = 0

    class AddPartitionsToTxnResult(MessageStruct):
        """Versions 4+."""

        transactional_id: str = ""
        topic_results: Collection[AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult] = []

    API_KEY: ClassVar[int] = 24
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 3
    throttle_time_ms: int = 0
    error_code: int = 0
    results_by_transaction: Collection[AddPartitionsToTxnResponse.AddPartitionsToTxnResult] = []
    results_by_topic_v3_and_below: Collection[AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult] = []


_AddPartitionsToTxnTopic = AddPartitionsToTxnRequest.AddPartitionsToTxnTopic
_AddPartitionsToTxnTransaction = AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction
_AddPartitionsToTxnPartitionResult = AddPartitionsToTxnResponse.AddPartitionsToTxnPartitionResult
_AddPartitionsToTxnTopicResult = AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult
_AddPartitionsToTxnResult = AddPartitionsToTxnResponse.AddPartitionsToTxnResult
_P_i: Final = Struct(">i").pack
_P_ih: Final = Struct(">ih").pack
_P_ihx: Final = Struct(">ihx").pack
_P_qh: Final = Struct(">qh").pack
_P_qht: Final = Struct(">qh?").pack
_R_Bi_x: Final = Runs("Bi", "x", is_array=(True, False))
_R_ii: Final = Runs("ii", is_array=(True,))
_S_i: Final = Struct(">i")
_S_ih: Final = Struct(">ih")
_S_qh: Final = Struct(">qh")
_S_qht: Final = Struct(">qh?")


def _read_AddPartitionsToTxnTopic_0(r: Reader) -> _AddPartitionsToTxnTopic:
    name = read_string(r)
    partitions = read_numbers(r, "i", 4)
    return _AddPartitionsToTxnTopic(name, partitions)


def _read_AddPartitionsToTxnRequest_0(r: Reader) -> AddPartitionsToTxnRequest:
    v3_and_below_transactional_id = read_string(r)
    v3_and_below_producer_id, v3_and_below_producer_epoch = r.fixed(_S_qh)
    n = read_count(r, 6)
    v3_and_below_topics = [_read_AddPartitionsToTxnTopic_0(r) for _ in range(n)]
    return AddPartitionsToTxnRequest([], v3_and_below_transactional_id, v3_and_below_producer_id, v3_and_below_producer_epoch, v3_and_below_topics)


def _read_AddPartitionsToTxnTopic_3(r: Reader) -> _AddPartitionsToTxnTopic:
    name = read_c_string(r)
    partitions = read_c_numbers(r, "i", 4)
    skip_tags(r)
    return _AddPartitionsToTxnTopic(name, partitions)


def _read_AddPartitionsToTxnRequest_3(r: Reader) -> AddPartitionsToTxnRequest:
    v3_and_below_transactional_id = read_c_string(r)
    v3_and_below_producer_id, v3_and_below_producer_epoch = r.fixed(_S_qh)
    n = read_c_count(r, 3)
    v3_and_below_topics = [_read_AddPartitionsToTxnTopic_3(r) for _ in range(n)]
    skip_tags(r)
    return AddPartitionsToTxnRequest([], v3_and_below_transactional_id, v3_and_below_producer_id, v3_and_below_producer_epoch, v3_and_below_topics)


def _read_AddPartitionsToTxnTransaction_4(r: Reader) -> _AddPartitionsToTxnTransaction:
    transactional_id = read_c_string(r)
    producer_id, producer_epoch, verify_only = r.fixed(_S_qht)
    n = read_c_count(r, 3)
    topics = [_read_AddPartitionsToTxnTopic_3(r) for _ in range(n)]
    skip_tags(r)
    return _AddPartitionsToTxnTransaction(transactional_id, producer_id, producer_epoch, verify_only, topics)


def _read_AddPartitionsToTxnRequest_4(r: Reader) -> AddPartitionsToTxnRequest:
    n = read_c_count(r, 14)
    transactions = [_read_AddPartitionsToTxnTransaction_4(r) for _ in range(n)]
    skip_tags(r)
    return AddPartitionsToTxnRequest(transactions)


def _read_steps_AddPartitionsToTxnRequest_0(r: Reader) -> Generator[None, None, AddPartitionsToTxnRequest]:
    v3_and_below_transactional_id = read_string(r)
    v3_and_below_producer_id, v3_and_below_producer_epoch = r.fixed(_S_qh)
    n = read_count(r, 6)
    v3_and_below_topics: list[AddPartitionsToTxnRequest.AddPartitionsToTxnTopic] = []
    if n <= FLAT_ELEMENTS:
        v3_and_below_topics = [_read_AddPartitionsToTxnTopic_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            v3_and_below_topics.append(_read_AddPartitionsToTxnTopic_0(r))
            if r.elements_ended(1):
                yield
    return AddPartitionsToTxnRequest([], v3_and_below_transactional_id, v3_and_below_producer_id, v3_and_below_producer_epoch, v3_and_below_topics)


def _read_steps_AddPartitionsToTxnRequest_3(r: Reader) -> Generator[None, None, AddPartitionsToTxnRequest]:
    v3_and_below_transactional_id = read_c_string(r)
    v3_and_below_producer_id, v3_and_below_producer_epoch = r.fixed(_S_qh)
    n = read_c_count(r, 3)
    v3_and_below_topics: list[AddPartitionsToTxnRequest.AddPartitionsToTxnTopic] = []
    if n <= FLAT_ELEMENTS:
        v3_and_below_topics = [_read_AddPartitionsToTxnTopic_3(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            v3_and_below_topics.append(_read_AddPartitionsToTxnTopic_3(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return AddPartitionsToTxnRequest([], v3_and_below_transactional_id, v3_and_below_producer_id, v3_and_below_producer_epoch, v3_and_below_topics)


def _read_steps_AddPartitionsToTxnTransaction_4(r: Reader) -> Generator[None, None, _AddPartitionsToTxnTransaction]:
    transactional_id = read_c_string(r)
    producer_id, producer_epoch, verify_only = r.fixed(_S_qht)
    n = read_c_count(r, 3)
    topics: list[AddPartitionsToTxnRequest.AddPartitionsToTxnTopic] = []
    if n <= FLAT_ELEMENTS:
        topics = [_read_AddPartitionsToTxnTopic_3(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            topics.append(_read_AddPartitionsToTxnTopic_3(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return _AddPartitionsToTxnTransaction(transactional_id, producer_id, producer_epoch, verify_only, topics)


def _read_steps_AddPartitionsToTxnRequest_4(r: Reader) -> Generator[None, None, AddPartitionsToTxnRequest]:
    n = read_c_count(r, 14)
    transactions: list[AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction] = []
    for _ in range(n):
        transactions.append((yield from _read_steps_AddPartitionsToTxnTransaction_4(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return AddPartitionsToTxnRequest(transactions)


def _write_AddPartitionsToTxnTopic_0(out: bytearray, m: _AddPartitionsToTxnTopic) -> None:
    write_string(out, m.name)
    n1 = len(m.partitions)
    out += _R_ii[n1,](n1, *m.partitions)


def _write_AddPartitionsToTxnRequest_0(out: bytearray, m: AddPartitionsToTxnRequest) -> None:
    write_string(out, m.v3_and_below_transactional_id)
    out += _P_qh(m.v3_and_below_producer_id, m.v3_and_below_producer_epoch)
    write_count(out, len(m.v3_and_below_topics))
    for it_v3_and_below_topics in m.v3_and_below_topics:
        _write_AddPartitionsToTxnTopic_0(out, it_v3_and_below_topics)


def _write_AddPartitionsToTxnTopic_3(out: bytearray, m: _AddPartitionsToTxnTopic) -> None:
    write_c_string(out, m.name)
    n1 = len(m.partitions)
    out += _R_Bi_x[n1,](n1 + 1, *m.partitions)


def _write_AddPartitionsToTxnRequest_3(out: bytearray, m: AddPartitionsToTxnRequest) -> None:
    write_c_string(out, m.v3_and_below_transactional_id)
    out += _P_qh(m.v3_and_below_producer_id, m.v3_and_below_producer_epoch)
    write_c_count(out, len(m.v3_and_below_topics))
    for it_v3_and_below_topics in m.v3_and_below_topics:
        _write_AddPartitionsToTxnTopic_3(out, it_v3_and_below_topics)
    out.append(0)


def _write_AddPartitionsToTxnTransaction_4(out: bytearray, m: _AddPartitionsToTxnTransaction) -> None:
    write_c_string(out, m.transactional_id)
    out += _P_qht(m.producer_id, m.producer_epoch, m.verify_only)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_AddPartitionsToTxnTopic_3(out, it_topics)
    out.append(0)


def _write_AddPartitionsToTxnRequest_4(out: bytearray, m: AddPartitionsToTxnRequest) -> None:
    write_c_count(out, len(m.transactions))
    for it_transactions in m.transactions:
        _write_AddPartitionsToTxnTransaction_4(out, it_transactions)
    out.append(0)


def _write_steps_AddPartitionsToTxnRequest_0(o: Output, m: AddPartitionsToTxnRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.v3_and_below_transactional_id)
    out += _P_qh(m.v3_and_below_producer_id, m.v3_and_below_producer_epoch)
    write_count(out, len(m.v3_and_below_topics))
    if len(m.v3_and_below_topics) <= FLAT_ELEMENTS:
        for it_v3_and_below_topics in m.v3_and_below_topics:
            _write_AddPartitionsToTxnTopic_0(out, it_v3_and_below_topics)
        if o.elements_ended(len(m.v3_and_below_topics)):
            yield
    else:
        for it_v3_and_below_topics in m.v3_and_below_topics:
            _write_AddPartitionsToTxnTopic_0(out, it_v3_and_below_topics)
            if o.elements_ended(1):
                yield


def _write_steps_AddPartitionsToTxnRequest_3(o: Output, m: AddPartitionsToTxnRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.v3_and_below_transactional_id)
    out += _P_qh(m.v3_and_below_producer_id, m.v3_and_below_producer_epoch)
    write_c_count(out, len(m.v3_and_below_topics))
    if len(m.v3_and_below_topics) <= FLAT_ELEMENTS:
        for it_v3_and_below_topics in m.v3_and_below_topics:
            _write_AddPartitionsToTxnTopic_3(out, it_v3_and_below_topics)
        if o.elements_ended(len(m.v3_and_below_topics)):
            yield
    else:
        for it_v3_and_below_topics in m.v3_and_below_topics:
            _write_AddPartitionsToTxnTopic_3(out, it_v3_and_below_topics)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_AddPartitionsToTxnTransaction_4(o: Output, m: _AddPartitionsToTxnTransaction) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.transactional_id)
    out += _P_qht(m.producer_id, m.producer_epoch, m.verify_only)
    write_c_count(out, len(m.topics))
    if len(m.topics) <= FLAT_ELEMENTS:
        for it_topics in m.topics:
            _write_AddPartitionsToTxnTopic_3(out, it_topics)
        if o.elements_ended(len(m.topics)):
            yield
    else:
        for it_topics in m.topics:
            _write_AddPartitionsToTxnTopic_3(out, it_topics)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_AddPartitionsToTxnRequest_4(o: Output, m: AddPartitionsToTxnRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.transactions))
    for it_transactions in m.transactions:
        yield from _write_steps_AddPartitionsToTxnTransaction_4(o, it_transactions)
        if o.elements_ended(1):
            yield
    out.append(0)


def _read_AddPartitionsToTxnPartitionResult_0(r: Reader) -> _AddPartitionsToTxnPartitionResult:
    partition_index, partition_error_code = r.fixed(_S_ih)
    return _AddPartitionsToTxnPartitionResult(partition_index, partition_error_code)


def _read_AddPartitionsToTxnTopicResult_0(r: Reader) -> _AddPartitionsToTxnTopicResult:
    name = read_string(r)
    n = read_count(r, 6)
    results_by_partition = [_read_AddPartitionsToTxnPartitionResult_0(r) for _ in range(n)]
    return _AddPartitionsToTxnTopicResult(name, results_by_partition)


def _read_AddPartitionsToTxnResponse_0(r: Reader) -> AddPartitionsToTxnResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 6)
    results_by_topic_v3_and_below = [_read_AddPartitionsToTxnTopicResult_0(r) for _ in range(n)]
    return AddPartitionsToTxnResponse(throttle_time_ms, 0, [], results_by_topic_v3_and_below)


def _read_AddPartitionsToTxnPartitionResult_3(r: Reader) -> _AddPartitionsToTxnPartitionResult:
    partition_index, partition_error_code = r.fixed(_S_ih)
    skip_tags(r)
    return _AddPartitionsToTxnPartitionResult(partition_index, partition_error_code)


def _read_AddPartitionsToTxnTopicResult_3(r: Reader) -> _AddPartitionsToTxnTopicResult:
    name = read_c_string(r)
    n = read_c_count(r, 7)
    results_by_partition = [_read_AddPartitionsToTxnPartitionResult_3(r) for _ in range(n)]
    skip_tags(r)
    return _AddPartitionsToTxnTopicResult(name, results_by_partition)


def _read_AddPartitionsToTxnResponse_3(r: Reader) -> AddPartitionsToTxnResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 3)
    results_by_topic_v3_and_below = [_read_AddPartitionsToTxnTopicResult_3(r) for _ in range(n)]
    skip_tags(r)
    return AddPartitionsToTxnResponse(throttle_time_ms, 0, [], results_by_topic_v3_and_below)


def _read_AddPartitionsToTxnResult_4(r: Reader) -> _AddPartitionsToTxnResult:
    transactional_id = read_c_string(r)
    n = read_c_count(r, 3)
    topic_results = [_read_AddPartitionsToTxnTopicResult_3(r) for _ in range(n)]
    skip_tags(r)
    return _AddPartitionsToTxnResult(transactional_id, topic_results)


def _read_AddPartitionsToTxnResponse_4(r: Reader) -> AddPartitionsToTxnResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    n = read_c_count(r, 3)
    results_by_transaction = [_read_AddPartitionsToTxnResult_4(r) for _ in range(n)]
    skip_tags(r)
    return AddPartitionsToTxnResponse(throttle_time_ms, error_code, results_by_transaction)


def _read_steps_AddPartitionsToTxnTopicResult_0(r: Reader) -> Generator[None, None, _AddPartitionsToTxnTopicResult]:
    name = read_string(r)
    n = read_count(r, 6)
    results_by_partition: list[AddPartitionsToTxnResponse.AddPartitionsToTxnPartitionResult] = []
    for some in batches(n):
        results_by_partition += [_read_AddPartitionsToTxnPartitionResult_0(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    return _AddPartitionsToTxnTopicResult(name, results_by_partition)


def _read_steps_AddPartitionsToTxnResponse_0(r: Reader) -> Generator[None, None, AddPartitionsToTxnResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 6)
    results_by_topic_v3_and_below: list[AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult] = []
    for _ in range(n):
        results_by_topic_v3_and_below.append((yield from _read_steps_AddPartitionsToTxnTopicResult_0(r)))
        if r.elements_ended(1):
            yield
    return AddPartitionsToTxnResponse(throttle_time_ms, 0, [], results_by_topic_v3_and_below)


def _read_steps_AddPartitionsToTxnTopicResult_3(r: Reader) -> Generator[None, None, _AddPartitionsToTxnTopicResult]:
    name = read_c_string(r)
    n = read_c_count(r, 7)
    results_by_partition: list[AddPartitionsToTxnResponse.AddPartitionsToTxnPartitionResult] = []
    for some in batches(n):
        results_by_partition += [_read_AddPartitionsToTxnPartitionResult_3(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    skip_tags(r)
    return _AddPartitionsToTxnTopicResult(name, results_by_partition)


def _read_steps_AddPartitionsToTxnResponse_3(r: Reader) -> Generator[None, None, AddPartitionsToTxnResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 3)
    results_by_topic_v3_and_below: list[AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult] = []
    for _ in range(n):
        results_by_topic_v3_and_below.append((yield from _read_steps_AddPartitionsToTxnTopicResult_3(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return AddPartitionsToTxnResponse(throttle_time_ms, 0, [], results_by_topic_v3_and_below)


def _read_steps_AddPartitionsToTxnResult_4(r: Reader) -> Generator[None, None, _AddPartitionsToTxnResult]:
    transactional_id = read_c_string(r)
    n = read_c_count(r, 3)
    topic_results: list[AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult] = []
    for _ in range(n):
        topic_results.append((yield from _read_steps_AddPartitionsToTxnTopicResult_3(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return _AddPartitionsToTxnResult(transactional_id, topic_results)


def _read_steps_AddPartitionsToTxnResponse_4(r: Reader) -> Generator[None, None, AddPartitionsToTxnResponse]:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    n = read_c_count(r, 3)
    results_by_transaction: list[AddPartitionsToTxnResponse.AddPartitionsToTxnResult] = []
    for _ in range(n):
        results_by_transaction.append((yield from _read_steps_AddPartitionsToTxnResult_4(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return AddPartitionsToTxnResponse(throttle_time_ms, error_code, results_by_transaction)


def _write_AddPartitionsToTxnPartitionResult_0(out: bytearray, m: _AddPartitionsToTxnPartitionResult) -> None:
    out += _P_ih(m.partition_index, m.partition_error_code)


def _write_AddPartitionsToTxnTopicResult_0(out: bytearray, m: _AddPartitionsToTxnTopicResult) -> None:
    write_string(out, m.name)
    write_count(out, len(m.results_by_partition))
    for it_results_by_partition in m.results_by_partition:
        _write_AddPartitionsToTxnPartitionResult_0(out, it_results_by_partition)


def _write_AddPartitionsToTxnResponse_0(out: bytearray, m: AddPartitionsToTxnResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.results_by_topic_v3_and_below))
    for it_results_by_topic_v3_and_below in m.results_by_topic_v3_and_below:
        _write_AddPartitionsToTxnTopicResult_0(out, it_results_by_topic_v3_and_below)


def _write_AddPartitionsToTxnPartitionResult_3(out: bytearray, m: _AddPartitionsToTxnPartitionResult) -> None:
    out += _P_ihx(m.partition_index, m.partition_error_code)


def _write_AddPartitionsToTxnTopicResult_3(out: bytearray, m: _AddPartitionsToTxnTopicResult) -> None:
    write_c_string(out, m.name)
    write_c_count(out, len(m.results_by_partition))
    for it_results_by_partition in m.results_by_partition:
        _write_AddPartitionsToTxnPartitionResult_3(out, it_results_by_partition)
    out.append(0)


def _write_AddPartitionsToTxnResponse_3(out: bytearray, m: AddPartitionsToTxnResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.results_by_topic_v3_and_below))
    for it_results_by_topic_v3_and_below in m.results_by_topic_v3_and_below:
        _write_AddPartitionsToTxnTopicResult_3(out, it_results_by_topic_v3_and_below)
    out.append(0)


def _write_AddPartitionsToTxnResult_4(out: bytearray, m: _AddPartitionsToTxnResult) -> None:
    write_c_string(out, m.transactional_id)
    write_c_count(out, len(m.topic_results))
    for it_topic_results in m.topic_results:
        _write_AddPartitionsToTxnTopicResult_3(out, it_topic_results)
    out.append(0)


def _write_AddPartitionsToTxnResponse_4(out: bytearray, m: AddPartitionsToTxnResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_count(out, len(m.results_by_transaction))
    for it_results_by_transaction in m.results_by_transaction:
        _write_AddPartitionsToTxnResult_4(out, it_results_by_transaction)
    out.append(0)


def _write_steps_AddPartitionsToTxnTopicResult_0(o: Output, m: _AddPartitionsToTxnTopicResult) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.name)
    write_count(out, len(m.results_by_partition))
    left_results_by_partition = iter(m.results_by_partition)
    for some in batches(len(m.results_by_partition)):
        for it_results_by_partition in islice(left_results_by_partition, some):
            _write_AddPartitionsToTxnPartitionResult_0(out, it_results_by_partition)
        if o.elements_ended(some):
            yield


def _write_steps_AddPartitionsToTxnResponse_0(o: Output, m: AddPartitionsToTxnResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.results_by_topic_v3_and_below))
    for it_results_by_topic_v3_and_below in m.results_by_topic_v3_and_below:
        yield from _write_steps_AddPartitionsToTxnTopicResult_0(o, it_results_by_topic_v3_and_below)
        if o.elements_ended(1):
            yield


def _write_steps_AddPartitionsToTxnTopicResult_3(o: Output, m: _AddPartitionsToTxnTopicResult) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.name)
    write_c_count(out, len(m.results_by_partition))
    left_results_by_partition = iter(m.results_by_partition)
    for some in batches(len(m.results_by_partition)):
        for it_results_by_partition in islice(left_results_by_partition, some):
            _write_AddPartitionsToTxnPartitionResult_3(out, it_results_by_partition)
        if o.elements_ended(some):
            yield
    out.append(0)


def _write_steps_AddPartitionsToTxnResponse_3(o: Output, m: AddPartitionsToTxnResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.results_by_topic_v3_and_below))
    for it_results_by_topic_v3_and_below in m.results_by_topic_v3_and_below:
        yield from _write_steps_AddPartitionsToTxnTopicResult_3(o, it_results_by_topic_v3_and_below)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_AddPartitionsToTxnResult_4(o: Output, m: _AddPartitionsToTxnResult) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.transactional_id)
    write_c_count(out, len(m.topic_results))
    for it_topic_results in m.topic_results:
        yield from _write_steps_AddPartitionsToTxnTopicResult_3(o, it_topic_results)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_AddPartitionsToTxnResponse_4(o: Output, m: AddPartitionsToTxnResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_count(out, len(m.results_by_transaction))
    for it_results_by_transaction in m.results_by_transaction:
        yield from _write_steps_AddPartitionsToTxnResult_4(o, it_results_by_transaction)
        if o.elements_ended(1):
            yield
    out.append(0)


def _error_for(m: AddPartitionsToTxnRequest, code: int) -> AddPartitionsToTxnResponse:
    return AddPartitionsToTxnResponse(error_code=code, results_by_transaction=[_AddPartitionsToTxnResult(transactional_id=it0.transactional_id, topic_results=[_AddPartitionsToTxnTopicResult(name=it1.name, results_by_partition=[_AddPartitionsToTxnPartitionResult(partition_index=it2, partition_error_code=code) for it2 in it1.partitions]) for it1 in it0.topics]) for it0 in m.transactions], results_by_topic_v3_and_below=[_AddPartitionsToTxnTopicResult(name=it0.name, results_by_partition=[_AddPartitionsToTxnPartitionResult(partition_index=it1, partition_error_code=code) for it1 in it0.partitions]) for it0 in m.v3_and_below_topics])


AddPartitionsToTxnRequest.READ = (_read_AddPartitionsToTxnRequest_0, _read_AddPartitionsToTxnRequest_0, _read_AddPartitionsToTxnRequest_0, _read_AddPartitionsToTxnRequest_3, _read_AddPartitionsToTxnRequest_4, _read_AddPartitionsToTxnRequest_4,)
AddPartitionsToTxnRequest.READ_STEPS = (_read_steps_AddPartitionsToTxnRequest_0, _read_steps_AddPartitionsToTxnRequest_0, _read_steps_AddPartitionsToTxnRequest_0, _read_steps_AddPartitionsToTxnRequest_3, _read_steps_AddPartitionsToTxnRequest_4, _read_steps_AddPartitionsToTxnRequest_4,)
AddPartitionsToTxnRequest.WRITE = (_write_AddPartitionsToTxnRequest_0, _write_AddPartitionsToTxnRequest_0, _write_AddPartitionsToTxnRequest_0, _write_AddPartitionsToTxnRequest_3, _write_AddPartitionsToTxnRequest_4, _write_AddPartitionsToTxnRequest_4,)
AddPartitionsToTxnRequest.WRITE_STEPS = (_write_steps_AddPartitionsToTxnRequest_0, _write_steps_AddPartitionsToTxnRequest_0, _write_steps_AddPartitionsToTxnRequest_0, _write_steps_AddPartitionsToTxnRequest_3, _write_steps_AddPartitionsToTxnRequest_4, _write_steps_AddPartitionsToTxnRequest_4,)
AddPartitionsToTxnResponse.READ = (_read_AddPartitionsToTxnResponse_0, _read_AddPartitionsToTxnResponse_0, _read_AddPartitionsToTxnResponse_0, _read_AddPartitionsToTxnResponse_3, _read_AddPartitionsToTxnResponse_4, _read_AddPartitionsToTxnResponse_4,)
AddPartitionsToTxnResponse.READ_STEPS = (_read_steps_AddPartitionsToTxnResponse_0, _read_steps_AddPartitionsToTxnResponse_0, _read_steps_AddPartitionsToTxnResponse_0, _read_steps_AddPartitionsToTxnResponse_3, _read_steps_AddPartitionsToTxnResponse_4, _read_steps_AddPartitionsToTxnResponse_4,)
AddPartitionsToTxnResponse.WRITE = (_write_AddPartitionsToTxnResponse_0, _write_AddPartitionsToTxnResponse_0, _write_AddPartitionsToTxnResponse_0, _write_AddPartitionsToTxnResponse_3, _write_AddPartitionsToTxnResponse_4, _write_AddPartitionsToTxnResponse_4,)
AddPartitionsToTxnResponse.WRITE_STEPS = (_write_steps_AddPartitionsToTxnResponse_0, _write_steps_AddPartitionsToTxnResponse_0, _write_steps_AddPartitionsToTxnResponse_0, _write_steps_AddPartitionsToTxnResponse_3, _write_steps_AddPartitionsToTxnResponse_4, _write_steps_AddPartitionsToTxnResponse_4,)
AddPartitionsToTxnRequest.ERROR_FOR = _error_for
