"""WriteTxnMarkersRequest, WriteTxnMarkersResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from itertools import islice
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, batches, read_c_count, read_c_numbers, read_c_string, skip_tags
from headrace.protocol.message_writing import Output, Runs, write_c_count, write_c_string
from headrace.protocol.primitives import Reader

class WriteTxnMarkersRequest(KafkaMessage):
    """Key 27, versions 1 to 2, flexible from 1 on."""

    class WritableTxnMarker(MessageStruct):
        """Versions 0+."""

        class WritableTxnMarkerTopic(MessageStruct):
            """Versions 0+."""

            name: str = ""
            partition_indexes: list[int] = []

        producer_id: int = 0
        producer_epoch: int = 0
        transaction_result: bool = False
        topics: list[WriteTxnMarkersRequest.WritableTxnMarker.WritableTxnMarkerTopic] = []
        coordinator_epoch: int = 0
        transaction_version: int = 0

    API_KEY: ClassVar[int] = 27
    MIN_VERSION: ClassVar[int] = 1
    FLEXIBLE_SINCE: ClassVar[int] = 1
    markers: list[WriteTxnMarkersRequest.WritableTxnMarker] = []


class WriteTxnMarkersResponse(KafkaMessage):
    """Key 27, versions 1 to 2, flexible from 1 on."""

    class WritableTxnMarkerResult(MessageStruct):
        """Versions 0+."""

        class WritableTxnMarkerTopicResult(MessageStruct):
            """Versions 0+."""

            class WritableTxnMarkerPartitionResult(MessageStruct):
                """Versions 0+."""

                partition_index: int = 0
                error_code: int = 0

            name: str = ""
            partitions: Collection[WriteTxnMarkersResponse.WritableTxnMarkerResult.WritableTxnMarkerTopicResult.WritableTxnMarkerPartitionResult] = []

        producer_id: int = 0
        topics: Collection[WriteTxnMarkersResponse.WritableTxnMarkerResult.WritableTxnMarkerTopicResult] = []

    API_KEY: ClassVar[int] = 27
    MIN_VERSION: ClassVar[int] = 1
    FLEXIBLE_SINCE: ClassVar[int] = 1
    markers: Collection[WriteTxnMarkersResponse.WritableTxnMarkerResult] = []


_WritableTxnMarkerTopic = WriteTxnMarkersRequest.WritableTxnMarker.WritableTxnMarkerTopic
_WritableTxnMarker = WriteTxnMarkersRequest.WritableTxnMarker
_WritableTxnMarkerPartitionResult = WriteTxnMarkersResponse.WritableTxnMarkerResult.WritableTxnMarkerTopicResult.WritableTxnMarkerPartitionResult
_WritableTxnMarkerTopicResult = WriteTxnMarkersResponse.WritableTxnMarkerResult.WritableTxnMarkerTopicResult
_WritableTxnMarkerResult = WriteTxnMarkersResponse.WritableTxnMarkerResult
_P_ibx: Final = Struct(">ibx").pack
_P_ihx: Final = Struct(">ihx").pack
_P_ix: Final = Struct(">ix").pack
_P_q: Final = Struct(">q").pack
_P_qht: Final = Struct(">qh?").pack
_R_Bi_x: Final = Runs("Bi", "x", is_array=(True, False))
_S_i: Final = Struct(">i")
_S_ib: Final = Struct(">ib")
_S_ih: Final = Struct(">ih")
_S_q: Final = Struct(">q")
_S_qht: Final = Struct(">qh?")


def _read_WritableTxnMarkerTopic_1(r: Reader) -> _WritableTxnMarkerTopic:
    name = read_c_string(r)
    partition_indexes = read_c_numbers(r, "i", 4)
    skip_tags(r)
    return _WritableTxnMarkerTopic(name, partition_indexes)


def _read_WritableTxnMarker_1(r: Reader) -> _WritableTxnMarker:
    producer_id, producer_epoch, transaction_result = r.fixed(_S_qht)
    n = read_c_count(r, 3)
    topics = [_read_WritableTxnMarkerTopic_1(r) for _ in range(n)]
    coordinator_epoch, = r.fixed(_S_i)
    skip_tags(r)
    return _WritableTxnMarker(producer_id, producer_epoch, transaction_result, topics, coordinator_epoch)


def _read_WriteTxnMarkersRequest_1(r: Reader) -> WriteTxnMarkersRequest:
    n = read_c_count(r, 17)
    markers = [_read_WritableTxnMarker_1(r) for _ in range(n)]
    skip_tags(r)
    return WriteTxnMarkersRequest(markers)


def _read_WritableTxnMarker_2(r: Reader) -> _WritableTxnMarker:
    producer_id, producer_epoch, transaction_result = r.fixed(_S_qht)
    n = read_c_count(r, 3)
    topics = [_read_WritableTxnMarkerTopic_1(r) for _ in range(n)]
    coordinator_epoch, transaction_version = r.fixed(_S_ib)
    skip_tags(r)
    return _WritableTxnMarker(producer_id, producer_epoch, transaction_result, topics, coordinator_epoch, transaction_version)


def _read_WriteTxnMarkersRequest_2(r: Reader) -> WriteTxnMarkersRequest:
    n = read_c_count(r, 18)
    markers = [_read_WritableTxnMarker_2(r) for _ in range(n)]
    skip_tags(r)
    return WriteTxnMarkersRequest(markers)


def _read_steps_WritableTxnMarker_1(r: Reader) -> Generator[None, None, _WritableTxnMarker]:
    producer_id, producer_epoch, transaction_result = r.fixed(_S_qht)
    n = read_c_count(r, 3)
    topics: list[WriteTxnMarkersRequest.WritableTxnMarker.WritableTxnMarkerTopic] = []
    if n <= FLAT_ELEMENTS:
        topics = [_read_WritableTxnMarkerTopic_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            topics.append(_read_WritableTxnMarkerTopic_1(r))
            if r.elements_ended(1):
                yield
    coordinator_epoch, = r.fixed(_S_i)
    skip_tags(r)
    return _WritableTxnMarker(producer_id, producer_epoch, transaction_result, topics, coordinator_epoch)


def _read_steps_WriteTxnMarkersRequest_1(r: Reader) -> Generator[None, None, WriteTxnMarkersRequest]:
    n = read_c_count(r, 17)
    markers: list[WriteTxnMarkersRequest.WritableTxnMarker] = []
    for _ in range(n):
        markers.append((yield from _read_steps_WritableTxnMarker_1(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return WriteTxnMarkersRequest(markers)


def _read_steps_WritableTxnMarker_2(r: Reader) -> Generator[None, None, _WritableTxnMarker]:
    producer_id, producer_epoch, transaction_result = r.fixed(_S_qht)
    n = read_c_count(r, 3)
    topics: list[WriteTxnMarkersRequest.WritableTxnMarker.WritableTxnMarkerTopic] = []
    if n <= FLAT_ELEMENTS:
        topics = [_read_WritableTxnMarkerTopic_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            topics.append(_read_WritableTxnMarkerTopic_1(r))
            if r.elements_ended(1):
                yield
    coordinator_epoch, transaction_version = r.fixed(_S_ib)
    skip_tags(r)
    return _WritableTxnMarker(producer_id, producer_epoch, transaction_result, topics, coordinator_epoch, transaction_version)


def _read_steps_WriteTxnMarkersRequest_2(r: Reader) -> Generator[None, None, WriteTxnMarkersRequest]:
    n = read_c_count(r, 18)
    markers: list[WriteTxnMarkersRequest.WritableTxnMarker] = []
    for _ in range(n):
        markers.append((yield from _read_steps_WritableTxnMarker_2(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return WriteTxnMarkersRequest(markers)


def _write_WritableTxnMarkerTopic_1(out: bytearray, m: _WritableTxnMarkerTopic) -> None:
    write_c_string(out, m.name)
    n1 = len(m.partition_indexes)
    out += _R_Bi_x[n1,](n1 + 1, *m.partition_indexes)


def _write_WritableTxnMarker_1(out: bytearray, m: _WritableTxnMarker) -> None:
    out += _P_qht(m.producer_id, m.producer_epoch, m.transaction_result)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_WritableTxnMarkerTopic_1(out, it_topics)
    out += _P_ix(m.coordinator_epoch)


def _write_WriteTxnMarkersRequest_1(out: bytearray, m: WriteTxnMarkersRequest) -> None:
    write_c_count(out, len(m.markers))
    for it_markers in m.markers:
        _write_WritableTxnMarker_1(out, it_markers)
    out.append(0)


def _write_WritableTxnMarker_2(out: bytearray, m: _WritableTxnMarker) -> None:
    out += _P_qht(m.producer_id, m.producer_epoch, m.transaction_result)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_WritableTxnMarkerTopic_1(out, it_topics)
    out += _P_ibx(m.coordinator_epoch, m.transaction_version)


def _write_WriteTxnMarkersRequest_2(out: bytearray, m: WriteTxnMarkersRequest) -> None:
    write_c_count(out, len(m.markers))
    for it_markers in m.markers:
        _write_WritableTxnMarker_2(out, it_markers)
    out.append(0)


def _write_steps_WritableTxnMarker_1(o: Output, m: _WritableTxnMarker) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_qht(m.producer_id, m.producer_epoch, m.transaction_result)
    write_c_count(out, len(m.topics))
    if len(m.topics) <= FLAT_ELEMENTS:
        for it_topics in m.topics:
            _write_WritableTxnMarkerTopic_1(out, it_topics)
        if o.elements_ended(len(m.topics)):
            yield
    else:
        for it_topics in m.topics:
            _write_WritableTxnMarkerTopic_1(out, it_topics)
            if o.elements_ended(1):
                yield
    out += _P_ix(m.coordinator_epoch)


def _write_steps_WriteTxnMarkersRequest_1(o: Output, m: WriteTxnMarkersRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.markers))
    for it_markers in m.markers:
        yield from _write_steps_WritableTxnMarker_1(o, it_markers)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_WritableTxnMarker_2(o: Output, m: _WritableTxnMarker) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_qht(m.producer_id, m.producer_epoch, m.transaction_result)
    write_c_count(out, len(m.topics))
    if len(m.topics) <= FLAT_ELEMENTS:
        for it_topics in m.topics:
            _write_WritableTxnMarkerTopic_1(out, it_topics)
        if o.elements_ended(len(m.topics)):
            yield
    else:
        for it_topics in m.topics:
            _write_WritableTxnMarkerTopic_1(out, it_topics)
            if o.elements_ended(1):
                yield
    out += _P_ibx(m.coordinator_epoch, m.transaction_version)


def _write_steps_WriteTxnMarkersRequest_2(o: Output, m: WriteTxnMarkersRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.markers))
    for it_markers in m.markers:
        yield from _write_steps_WritableTxnMarker_2(o, it_markers)
        if o.elements_ended(1):
            yield
    out.append(0)


def _read_WritableTxnMarkerPartitionResult_1(r: Reader) -> _WritableTxnMarkerPartitionResult:
    partition_index, error_code = r.fixed(_S_ih)
    skip_tags(r)
    return _WritableTxnMarkerPartitionResult(partition_index, error_code)


def _read_WritableTxnMarkerTopicResult_1(r: Reader) -> _WritableTxnMarkerTopicResult:
    name = read_c_string(r)
    n = read_c_count(r, 7)
    partitions = [_read_WritableTxnMarkerPartitionResult_1(r) for _ in range(n)]
    skip_tags(r)
    return _WritableTxnMarkerTopicResult(name, partitions)


def _read_WritableTxnMarkerResult_1(r: Reader) -> _WritableTxnMarkerResult:
    producer_id, = r.fixed(_S_q)
    n = read_c_count(r, 3)
    topics = [_read_WritableTxnMarkerTopicResult_1(r) for _ in range(n)]
    skip_tags(r)
    return _WritableTxnMarkerResult(producer_id, topics)


def _read_WriteTxnMarkersResponse_1(r: Reader) -> WriteTxnMarkersResponse:
    n = read_c_count(r, 10)
    markers = [_read_WritableTxnMarkerResult_1(r) for _ in range(n)]
    skip_tags(r)
    return WriteTxnMarkersResponse(markers)


def _read_steps_WritableTxnMarkerTopicResult_1(r: Reader) -> Generator[None, None, _WritableTxnMarkerTopicResult]:
    name = read_c_string(r)
    n = read_c_count(r, 7)
    partitions: list[WriteTxnMarkersResponse.WritableTxnMarkerResult.WritableTxnMarkerTopicResult.WritableTxnMarkerPartitionResult] = []
    for some in batches(n):
        partitions += [_read_WritableTxnMarkerPartitionResult_1(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    skip_tags(r)
    return _WritableTxnMarkerTopicResult(name, partitions)


def _read_steps_WritableTxnMarkerResult_1(r: Reader) -> Generator[None, None, _WritableTxnMarkerResult]:
    producer_id, = r.fixed(_S_q)
    n = read_c_count(r, 3)
    topics: list[WriteTxnMarkersResponse.WritableTxnMarkerResult.WritableTxnMarkerTopicResult] = []
    for _ in range(n):
        topics.append((yield from _read_steps_WritableTxnMarkerTopicResult_1(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return _WritableTxnMarkerResult(producer_id, topics)


def _read_steps_WriteTxnMarkersResponse_1(r: Reader) -> Generator[None, None, WriteTxnMarkersResponse]:
    n = read_c_count(r, 10)
    markers: list[WriteTxnMarkersResponse.WritableTxnMarkerResult] = []
    for _ in range(n):
        markers.append((yield from _read_steps_WritableTxnMarkerResult_1(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return WriteTxnMarkersResponse(markers)


def _write_WritableTxnMarkerPartitionResult_1(out: bytearray, m: _WritableTxnMarkerPartitionResult) -> None:
    out += _P_ihx(m.partition_index, m.error_code)


def _write_WritableTxnMarkerTopicResult_1(out: bytearray, m: _WritableTxnMarkerTopicResult) -> None:
    write_c_string(out, m.name)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_WritableTxnMarkerPartitionResult_1(out, it_partitions)
    out.append(0)


def _write_WritableTxnMarkerResult_1(out: bytearray, m: _WritableTxnMarkerResult) -> None:
    out += _P_q(m.producer_id)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_WritableTxnMarkerTopicResult_1(out, it_topics)
    out.append(0)


def _write_WriteTxnMarkersResponse_1(out: bytearray, m: WriteTxnMarkersResponse) -> None:
    write_c_count(out, len(m.markers))
    for it_markers in m.markers:
        _write_WritableTxnMarkerResult_1(out, it_markers)
    out.append(0)


def _write_steps_WritableTxnMarkerTopicResult_1(o: Output, m: _WritableTxnMarkerTopicResult) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.name)
    write_c_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_WritableTxnMarkerPartitionResult_1(out, it_partitions)
        if o.elements_ended(some):
            yield
    out.append(0)


def _write_steps_WritableTxnMarkerResult_1(o: Output, m: _WritableTxnMarkerResult) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_q(m.producer_id)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_WritableTxnMarkerTopicResult_1(o, it_topics)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_WriteTxnMarkersResponse_1(o: Output, m: WriteTxnMarkersResponse) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.markers))
    for it_markers in m.markers:
        yield from _write_steps_WritableTxnMarkerResult_1(o, it_markers)
        if o.elements_ended(1):
            yield
    out.append(0)


def _error_for(m: WriteTxnMarkersRequest, code: int) -> WriteTxnMarkersResponse:
    return WriteTxnMarkersResponse(markers=[_WritableTxnMarkerResult(producer_id=it0.producer_id, topics=[_WritableTxnMarkerTopicResult(name=it1.name, partitions=[_WritableTxnMarkerPartitionResult(partition_index=it2, error_code=code) for it2 in it1.partition_indexes]) for it1 in it0.topics]) for it0 in m.markers])


WriteTxnMarkersRequest.READ = (_read_WriteTxnMarkersRequest_1, _read_WriteTxnMarkersRequest_2,)
WriteTxnMarkersRequest.READ_STEPS = (_read_steps_WriteTxnMarkersRequest_1, _read_steps_WriteTxnMarkersRequest_2,)
WriteTxnMarkersRequest.WRITE = (_write_WriteTxnMarkersRequest_1, _write_WriteTxnMarkersRequest_2,)
WriteTxnMarkersRequest.WRITE_STEPS = (_write_steps_WriteTxnMarkersRequest_1, _write_steps_WriteTxnMarkersRequest_2,)
WriteTxnMarkersResponse.READ = (_read_WriteTxnMarkersResponse_1, _read_WriteTxnMarkersResponse_1,)
WriteTxnMarkersResponse.READ_STEPS = (_read_steps_WriteTxnMarkersResponse_1, _read_steps_WriteTxnMarkersResponse_1,)
WriteTxnMarkersResponse.WRITE = (_write_WriteTxnMarkersResponse_1, _write_WriteTxnMarkersResponse_1,)
WriteTxnMarkersResponse.WRITE_STEPS = (_write_steps_WriteTxnMarkersResponse_1, _write_steps_WriteTxnMarkersResponse_1,)
WriteTxnMarkersRequest.ERROR_FOR = _error_for
