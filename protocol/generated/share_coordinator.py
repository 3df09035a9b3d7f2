"""ShareSnapshotKey, ShareSnapshotValue, ShareUpdateKey, ShareUpdateValue. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Generator
from itertools import islice
from struct import Struct, pack
from typing import ClassVar, Final
from uuid import UUID

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import batches, check_tag_end, read_c_count, read_string, read_tag_count, read_tag_end, skip_tags, uuid_of
from headrace.protocol.message_writing import Output, uuid_bytes, write_c_count, write_string, write_tagged
from headrace.protocol.primitives import Reader

class ShareSnapshotKey(KafkaMessage):
    """Key 0, version 0, none flexible."""

    RECORD_TYPE: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 32768
    group_id: str = ""
    topic_id: UUID | None = None
    partition: int = 0


class ShareSnapshotValue(KafkaMessage):
    """Key 0, version 0, flexible from 0 on."""

    class StateBatch(MessageStruct):
        """Versions 0+."""

        first_offset: int = 0
        last_offset: int = 0
        delivery_state: int = 0
        delivery_count: int = 0

    RECORD_TYPE: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    snapshot_epoch: int = 0
    state_epoch: int = 0
    leader_epoch: int = 0
    start_offset: int = 0
    delivery_complete_count: int = -1
    create_timestamp: int = 0
    write_timestamp: int = 0
    state_batches: list[ShareSnapshotValue.StateBatch] = []


class ShareUpdateKey(KafkaMessage):
    """Key 1, version 0, none flexible."""

    RECORD_TYPE: ClassVar[int] = 1
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 32768
    group_id: str = ""
    topic_id: UUID | None = None
    partition: int = 0


class ShareUpdateValue(KafkaMessage):
    """Key 1, version 0, flexible from 0 on."""

    class StateBatch(MessageStruct):
        """Versions 0+."""

        first_offset: int = 0
        last_offset: int = 0
        delivery_state: int = 0
        delivery_count: int = 0

    RECORD_TYPE: ClassVar[int] = 1
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    snapshot_epoch: int = 0
    leader_epoch: int = 0
    start_offset: int = 0
    delivery_complete_count: int = -1
    state_batches: list[ShareUpdateValue.StateBatch] = []


_ShareSnapshotValueStateBatch = ShareSnapshotValue.StateBatch
_ShareUpdateValueStateBatch = ShareUpdateValue.StateBatch
_P_i: Final = Struct(">i").pack
_P_iiiqqq: Final = Struct(">iiiqqq").pack
_P_iiq: Final = Struct(">iiq").pack
_P_qqbhx: Final = Struct(">qqbhx").pack
_P_ui: Final = Struct(">16si").pack
_S_i: Final = Struct(">i")
_S_iiiqqq: Final = Struct(">iiiqqq")
_S_iiq: Final = Struct(">iiq")
_S_qqbh: Final = Struct(">qqbh")
_S_ui: Final = Struct(">16si")


def _read_ShareSnapshotKey_0(r: Reader) -> ShareSnapshotKey:
    group_id = read_string(r)
    topic_id, partition = r.fixed(_S_ui)
    return ShareSnapshotKey(group_id, uuid_of(topic_id), partition)


def _write_ShareSnapshotKey_0(out: bytearray, m: ShareSnapshotKey) -> None:
    write_string(out, m.group_id)
    out += _P_ui(uuid_bytes(m.topic_id), m.partition)


def _read_ShareSnapshotValueStateBatch_0(r: Reader) -> _ShareSnapshotValueStateBatch:
    first_offset, last_offset, delivery_state, delivery_count = r.fixed(_S_qqbh)
    skip_tags(r)
    return _ShareSnapshotValueStateBatch(first_offset, last_offset, delivery_state, delivery_count)


def _read_ShareSnapshotValue_0(r: Reader) -> ShareSnapshotValue:
    snapshot_epoch, state_epoch, leader_epoch, start_offset, create_timestamp, write_timestamp = r.fixed(_S_iiiqqq)
    n = read_c_count(r, 20)
    state_batches = [_read_ShareSnapshotValueStateBatch_0(r) for _ in range(n)]
    delivery_complete_count: int = -1
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            delivery_complete_count, = r.fixed(_S_i)
            check_tag_end(r, end)
        else:
            r.position = end
    return ShareSnapshotValue(snapshot_epoch, state_epoch, leader_epoch, start_offset, delivery_complete_count, create_timestamp, write_timestamp, state_batches)


def _read_steps_ShareSnapshotValue_0(r: Reader) -> Generator[None, None, ShareSnapshotValue]:
    snapshot_epoch, state_epoch, leader_epoch, start_offset, create_timestamp, write_timestamp = r.fixed(_S_iiiqqq)
    n = read_c_count(r, 20)
    state_batches: list[ShareSnapshotValue.StateBatch] = []
    for some in batches(n):
        state_batches += [_read_ShareSnapshotValueStateBatch_0(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    delivery_complete_count: int = -1
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            delivery_complete_count, = r.fixed(_S_i)
            check_tag_end(r, end)
        else:
            r.position = end
    return ShareSnapshotValue(snapshot_epoch, state_epoch, leader_epoch, start_offset, delivery_complete_count, create_timestamp, write_timestamp, state_batches)


def _write_ShareSnapshotValueStateBatch_0(out: bytearray, m: _ShareSnapshotValueStateBatch) -> None:
    out += _P_qqbhx(m.first_offset, m.last_offset, m.delivery_state, m.delivery_count)


def _write_ShareSnapshotValue_0(out: bytearray, m: ShareSnapshotValue) -> None:
    out += _P_iiiqqq(m.snapshot_epoch, m.state_epoch, m.leader_epoch, m.start_offset, m.create_timestamp, m.write_timestamp)
    write_c_count(out, len(m.state_batches))
    for it_state_batches in m.state_batches:
        _write_ShareSnapshotValueStateBatch_0(out, it_state_batches)
    tags: list[tuple[int, bytearray]] = []
    if m.delivery_complete_count != -1:
        field = bytearray()
        field += _P_i(m.delivery_complete_count)
        tags.append((0, field))
    write_tagged(out, tags)


def _write_steps_ShareSnapshotValue_0(o: Output, m: ShareSnapshotValue) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_iiiqqq(m.snapshot_epoch, m.state_epoch, m.leader_epoch, m.start_offset, m.create_timestamp, m.write_timestamp)
    write_c_count(out, len(m.state_batches))
    left_state_batches = iter(m.state_batches)
    for some in batches(len(m.state_batches)):
        for it_state_batches in islice(left_state_batches, some):
            _write_ShareSnapshotValueStateBatch_0(out, it_state_batches)
        if o.elements_ended(some):
            yield
    tags: list[tuple[int, bytearray]] = []
    if m.delivery_complete_count != -1:
        field = bytearray()
        field += _P_i(m.delivery_complete_count)
        tags.append((0, field))
    write_tagged(out, tags)


def _read_ShareUpdateKey_0(r: Reader) -> ShareUpdateKey:
    group_id = read_string(r)
    topic_id, partition = r.fixed(_S_ui)
    return ShareUpdateKey(group_id, uuid_of(topic_id), partition)


def _write_ShareUpdateKey_0(out: bytearray, m: ShareUpdateKey) -> None:
    write_string(out, m.group_id)
    out += _P_ui(uuid_bytes(m.topic_id), m.partition)


def _read_ShareUpdateValueStateBatch_0(r: Reader) -> _ShareUpdateValueStateBatch:
    first_offset, last_offset, delivery_state, delivery_count = r.fixed(_S_qqbh)
    skip_tags(r)
    return _ShareUpdateValueStateBatch(first_offset, last_offset, delivery_state, delivery_count)


def _read_ShareUpdateValue_0(r: Reader) -> ShareUpdateValue:
    snapshot_epoch, leader_epoch, start_offset = r.fixed(_S_iiq)
    n = read_c_count(r, 20)
    state_batches = [_read_ShareUpdateValueStateBatch_0(r) for _ in range(n)]
    delivery_complete_count: int = -1
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            delivery_complete_count, = r.fixed(_S_i)
            check_tag_end(r, end)
        else:
            r.position = end
    return ShareUpdateValue(snapshot_epoch, leader_epoch, start_offset, delivery_complete_count, state_batches)


def _read_steps_ShareUpdateValue_0(r: Reader) -> Generator[None, None, ShareUpdateValue]:
    snapshot_epoch, leader_epoch, start_offset = r.fixed(_S_iiq)
    n = read_c_count(r, 20)
    state_batches: list[ShareUpdateValue.StateBatch] = []
    for some in batches(n):
        state_batches += [_read_ShareUpdateValueStateBatch_0(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    delivery_complete_count: int = -1
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            delivery_complete_count, = r.fixed(_S_i)
            check_tag_end(r, end)
        else:
            r.position = end
    return ShareUpdateValue(snapshot_epoch, leader_epoch, start_offset, delivery_complete_count, state_batches)


def _write_ShareUpdateValueStateBatch_0(out: bytearray, m: _ShareUpdateValueStateBatch) -> None:
    out += _P_qqbhx(m.first_offset, m.last_offset, m.delivery_state, m.delivery_count)


def _write_ShareUpdateValue_0(out: bytearray, m: ShareUpdateValue) -> None:
    out += _P_iiq(m.snapshot_epoch, m.leader_epoch, m.start_offset)
    write_c_count(out, len(m.state_batches))
    for it_state_batches in m.state_batches:
        _write_ShareUpdateValueStateBatch_0(out, it_state_batches)
    tags: list[tuple[int, bytearray]] = []
    if m.delivery_complete_count != -1:
        field = bytearray()
        field += _P_i(m.delivery_complete_count)
        tags.append((0, field))
    write_tagged(out, tags)


def _write_steps_ShareUpdateValue_0(o: Output, m: ShareUpdateValue) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_iiq(m.snapshot_epoch, m.leader_epoch, m.start_offset)
    write_c_count(out, len(m.state_batches))
    left_state_batches = iter(m.state_batches)
    for some in batches(len(m.state_batches)):
        for it_state_batches in islice(left_state_batches, some):
            _write_ShareUpdateValueStateBatch_0(out, it_state_batches)
        if o.elements_ended(some):
            yield
    tags: list[tuple[int, bytearray]] = []
    if m.delivery_complete_count != -1:
        field = bytearray()
        field += _P_i(m.delivery_complete_count)
        tags.append((0, field))
    write_tagged(out, tags)


ShareSnapshotKey.READ = (_read_ShareSnapshotKey_0,)
ShareSnapshotKey.READ_STEPS = (None,)
ShareSnapshotKey.WRITE = (_write_ShareSnapshotKey_0,)
ShareSnapshotKey.WRITE_STEPS = (None,)
ShareSnapshotValue.READ = (_read_ShareSnapshotValue_0,)
ShareSnapshotValue.READ_STEPS = (_read_steps_ShareSnapshotValue_0,)
ShareSnapshotValue.WRITE = (_write_ShareSnapshotValue_0,)
ShareSnapshotValue.WRITE_STEPS = (_write_steps_ShareSnapshotValue_0,)
ShareUpdateKey.READ = (_read_ShareUpdateKey_0,)
ShareUpdateKey.READ_STEPS = (None,)
ShareUpdateKey.WRITE = (_write_ShareUpdateKey_0,)
ShareUpdateKey.WRITE_STEPS = (None,)
ShareUpdateValue.READ = (_read_ShareUpdateValue_0,)
ShareUpdateValue.READ_STEPS = (_read_steps_ShareUpdateValue_0,)
ShareUpdateValue.WRITE = (_write_ShareUpdateValue_0,)
ShareUpdateValue.WRITE_STEPS = (_write_steps_ShareUpdateValue_0,)
