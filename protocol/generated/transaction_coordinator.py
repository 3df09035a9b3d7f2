"""TransactionLogKey, TransactionLogValue. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Generator
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, check_tag_end, read_c_null_count, read_c_numbers, read_c_string, read_null_count, read_numbers, read_string, read_tag_count, read_tag_end, skip_tags
from headrace.protocol.message_writing import Output, Runs, write_c_count, write_c_string, write_count, write_string, write_tagged
from headrace.protocol.primitives import Reader

class TransactionLogKey(KafkaMessage):
    """Key 0, version 0, none flexible."""

    RECORD_TYPE: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 32768
    transactional_id: str = ""


class TransactionLogValue(KafkaMessage):
    """Key 0, versions 0 to 1, flexible from 1 on."""

    class PartitionsSchema(MessageStruct):
        """Versions 0+."""

        topic: str = ""
        partition_ids: list[int] = []

    RECORD_TYPE: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 1
    producer_id: int = 0
    previous_producer_id: int = -1
    next_producer_id: int = -1
    producer_epoch: int = 0
    next_producer_epoch: int = -1
    transaction_timeout_ms: int = 0
    transaction_status: int = 0
    transaction_partitions: list[TransactionLogValue.PartitionsSchema] | None = []
    transaction_last_update_timestamp_ms: int = 0
    transaction_start_timestamp_ms: int = 0
    client_transaction_version: int = 0


_PartitionsSchema = TransactionLogValue.PartitionsSchema
_P_h: Final = Struct(">h").pack
_P_q: Final = Struct(">q").pack
_P_qhib: Final = Struct(">qhib").pack
_P_qq: Final = Struct(">qq").pack
_R_Bi_x: Final = Runs("Bi", "x", is_array=(True, False))
_R_ii: Final = Runs("ii", is_array=(True,))
_S_h: Final = Struct(">h")
_S_q: Final = Struct(">q")
_S_qhib: Final = Struct(">qhib")
_S_qq: Final = Struct(">qq")


def _read_TransactionLogKey_0(r: Reader) -> TransactionLogKey:
    transactional_id = read_string(r)
    return TransactionLogKey(transactional_id)


def _write_TransactionLogKey_0(out: bytearray, m: TransactionLogKey) -> None:
    write_string(out, m.transactional_id)


def _read_PartitionsSchema_0(r: Reader) -> _PartitionsSchema:
    topic = read_string(r)
    partition_ids = read_numbers(r, "i", 4)
    return _PartitionsSchema(topic, partition_ids)


def _read_TransactionLogValue_0(r: Reader) -> TransactionLogValue:
    producer_id, producer_epoch, transaction_timeout_ms, transaction_status = r.fixed(_S_qhib)
    n = read_null_count(r, 6)
    transaction_partitions = None if n < 0 else [_read_PartitionsSchema_0(r) for _ in range(n)]
    transaction_last_update_timestamp_ms, transaction_start_timestamp_ms = r.fixed(_S_qq)
    return TransactionLogValue(producer_id, -1, -1, producer_epoch, -1, transaction_timeout_ms, transaction_status, transaction_partitions, transaction_last_update_timestamp_ms, transaction_start_timestamp_ms)


def _read_PartitionsSchema_1(r: Reader) -> _PartitionsSchema:
    topic = read_c_string(r)
    partition_ids = read_c_numbers(r, "i", 4)
    skip_tags(r)
    return _PartitionsSchema(topic, partition_ids)


def _read_TransactionLogValue_1(r: Reader) -> TransactionLogValue:
    producer_id, producer_epoch, transaction_timeout_ms, transaction_status = r.fixed(_S_qhib)
    n = read_c_null_count(r, 3)
    transaction_partitions = None if n < 0 else [_read_PartitionsSchema_1(r) for _ in range(n)]
    transaction_last_update_timestamp_ms, transaction_start_timestamp_ms = r.fixed(_S_qq)
    previous_producer_id: int = -1
    next_producer_id: int = -1
    client_transaction_version: int = 0
    next_producer_epoch: int = -1
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            previous_producer_id, = r.fixed(_S_q)
            check_tag_end(r, end)
        elif tag == 1:
            next_producer_id, = r.fixed(_S_q)
            check_tag_end(r, end)
        elif tag == 2:
            client_transaction_version, = r.fixed(_S_h)
            check_tag_end(r, end)
        elif tag == 3:
            next_producer_epoch, = r.fixed(_S_h)
            check_tag_end(r, end)
        else:
            r.position = end
    return TransactionLogValue(producer_id, previous_producer_id, next_producer_id, producer_epoch, next_producer_epoch, transaction_timeout_ms, transaction_status, transaction_partitions, transaction_last_update_timestamp_ms, transaction_start_timestamp_ms, client_transaction_version)


def _read_steps_TransactionLogValue_0(r: Reader) -> Generator[None, None, TransactionLogValue]:
    producer_id, producer_epoch, transaction_timeout_ms, transaction_status = r.fixed(_S_qhib)
    n = read_null_count(r, 6)
    transaction_partitions: list[TransactionLogValue.PartitionsSchema] | None = None
    if n >= 0:
        transaction_partitions_: list[TransactionLogValue.PartitionsSchema] = []
        if n <= FLAT_ELEMENTS:
            transaction_partitions_ = [_read_PartitionsSchema_0(r) for _ in range(n)]
            r.elements_of_step += n
        else:
            for _ in range(n):
                transaction_partitions_.append(_read_PartitionsSchema_0(r))
                if r.elements_ended(1):
                    yield
        transaction_partitions = transaction_partitions_
    transaction_last_update_timestamp_ms, transaction_start_timestamp_ms = r.fixed(_S_qq)
    return TransactionLogValue(producer_id, -1, -1, producer_epoch, -1, transaction_timeout_ms, transaction_status, transaction_partitions, transaction_last_update_timestamp_ms, transaction_start_timestamp_ms)


def _read_steps_TransactionLogValue_1(r: Reader) -> Generator[None, None, TransactionLogValue]:
    producer_id, producer_epoch, transaction_timeout_ms, transaction_status = r.fixed(_S_qhib)
    n = read_c_null_count(r, 3)
    transaction_partitions: list[TransactionLogValue.PartitionsSchema] | None = None
    if n >= 0:
        transaction_partitions_: list[TransactionLogValue.PartitionsSchema] = []
        if n <= FLAT_ELEMENTS:
            transaction_partitions_ = [_read_PartitionsSchema_1(r) for _ in range(n)]
            r.elements_of_step += n
        else:
            for _ in range(n):
                transaction_partitions_.append(_read_PartitionsSchema_1(r))
                if r.elements_ended(1):
                    yield
        transaction_partitions = transaction_partitions_
    transaction_last_update_timestamp_ms, transaction_start_timestamp_ms = r.fixed(_S_qq)
    previous_producer_id: int = -1
    next_producer_id: int = -1
    client_transaction_version: int = 0
    next_producer_epoch: int = -1
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            previous_producer_id, = r.fixed(_S_q)
            check_tag_end(r, end)
        elif tag == 1:
            next_producer_id, = r.fixed(_S_q)
            check_tag_end(r, end)
        elif tag == 2:
            client_transaction_version, = r.fixed(_S_h)
            check_tag_end(r, end)
        elif tag == 3:
            next_producer_epoch, = r.fixed(_S_h)
            check_tag_end(r, end)
        else:
            r.position = end
    return TransactionLogValue(producer_id, previous_producer_id, next_producer_id, producer_epoch, next_producer_epoch, transaction_timeout_ms, transaction_status, transaction_partitions, transaction_last_update_timestamp_ms, transaction_start_timestamp_ms, client_transaction_version)


def _write_PartitionsSchema_0(out: bytearray, m: _PartitionsSchema) -> None:
    write_string(out, m.topic)
    n1 = len(m.partition_ids)
    out += _R_ii[n1,](n1, *m.partition_ids)


def _write_TransactionLogValue_0(out: bytearray, m: TransactionLogValue) -> None:
    out += _P_qhib(m.producer_id, m.producer_epoch, m.transaction_timeout_ms, m.transaction_status)
    if m.transaction_partitions is None:
        write_count(out, -1)
    else:
        write_count(out, len(m.transaction_partitions))
        for it_transaction_partitions in m.transaction_partitions:
            _write_PartitionsSchema_0(out, it_transaction_partitions)
    out += _P_qq(m.transaction_last_update_timestamp_ms, m.transaction_start_timestamp_ms)


def _write_PartitionsSchema_1(out: bytearray, m: _PartitionsSchema) -> None:
    write_c_string(out, m.topic)
    n1 = len(m.partition_ids)
    out += _R_Bi_x[n1,](n1 + 1, *m.partition_ids)


def _write_TransactionLogValue_1(out: bytearray, m: TransactionLogValue) -> None:
    out += _P_qhib(m.producer_id, m.producer_epoch, m.transaction_timeout_ms, m.transaction_status)
    if m.transaction_partitions is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.transaction_partitions))
        for it_transaction_partitions in m.transaction_partitions:
            _write_PartitionsSchema_1(out, it_transaction_partitions)
    out += _P_qq(m.transaction_last_update_timestamp_ms, m.transaction_start_timestamp_ms)
    tags: list[tuple[int, bytearray]] = []
    if m.previous_producer_id != -1:
        field = bytearray()
        field += _P_q(m.previous_producer_id)
        tags.append((0, field))
    if m.next_producer_id != -1:
        field = bytearray()
        field += _P_q(m.next_producer_id)
        tags.append((1, field))
    if m.client_transaction_version != 0:
        field = bytearray()
        field += _P_h(m.client_transaction_version)
        tags.append((2, field))
    if m.next_producer_epoch != -1:
        field = bytearray()
        field += _P_h(m.next_producer_epoch)
        tags.append((3, field))
    write_tagged(out, tags)


def _write_steps_TransactionLogValue_0(o: Output, m: TransactionLogValue) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_qhib(m.producer_id, m.producer_epoch, m.transaction_timeout_ms, m.transaction_status)
    if m.transaction_partitions is None:
        write_count(out, -1)
    else:
        write_count(out, len(m.transaction_partitions))
        if len(m.transaction_partitions) <= FLAT_ELEMENTS:
            for it_transaction_partitions in m.transaction_partitions:
                _write_PartitionsSchema_0(out, it_transaction_partitions)
            if o.elements_ended(len(m.transaction_partitions)):
                yield
        else:
            for it_transaction_partitions in m.transaction_partitions:
                _write_PartitionsSchema_0(out, it_transaction_partitions)
                if o.elements_ended(1):
                    yield
    out += _P_qq(m.transaction_last_update_timestamp_ms, m.transaction_start_timestamp_ms)


def _write_steps_TransactionLogValue_1(o: Output, m: TransactionLogValue) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_qhib(m.producer_id, m.producer_epoch, m.transaction_timeout_ms, m.transaction_status)
    if m.transaction_partitions is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.transaction_partitions))
        if len(m.transaction_partitions) <= FLAT_ELEMENTS:
            for it_transaction_partitions in m.transaction_partitions:
                _write_PartitionsSchema_1(out, it_transaction_partitions)
            if o.elements_ended(len(m.transaction_partitions)):
                yield
        else:
            for it_transaction_partitions in m.transaction_partitions:
                _write_PartitionsSchema_1(out, it_transaction_partitions)
                if o.elements_ended(1):
                    yield
    out += _P_qq(m.transaction_last_update_timestamp_ms, m.transaction_start_timestamp_ms)
    tags: list[tuple[int, bytearray]] = []
    if m.previous_producer_id != -1:
        field = bytearray()
        field += _P_q(m.previous_producer_id)
        tags.append((0, field))
    if m.next_producer_id != -1:
        field = bytearray()
        field += _P_q(m.next_producer_id)
        tags.append((1, field))
    if m.client_transaction_version != 0:
        field = bytearray()
        field += _P_h(m.client_transaction_version)
        tags.append((2, field))
    if m.next_producer_epoch != -1:
        field = bytearray()
        field += _P_h(m.next_producer_epoch)
        tags.append((3, field))
    write_tagged(out, tags)


TransactionLogKey.READ = (_read_TransactionLogKey_0,)
TransactionLogKey.READ_STEPS = (None,)
TransactionLogKey.WRITE = (_write_TransactionLogKey_0,)
TransactionLogKey.WRITE_STEPS = (None,)
TransactionLogValue.READ = (_read_TransactionLogValue_0, _read_TransactionLogValue_1,)
TransactionLogValue.READ_STEPS = (_read_steps_TransactionLogValue_0, _read_steps_TransactionLogValue_1,)
TransactionLogValue.WRITE = (_write_TransactionLogValue_0, _write_TransactionLogValue_1,)
TransactionLogValue.WRITE_STEPS = (_write_steps_TransactionLogValue_0, _write_steps_TransactionLogValue_1,)
