"""Batches of transactions and their markers, appended at a partition as coordinators do."""

import struct

from headrace.broker.partition.append_rules import AppendOrigin, Rejection
from headrace.broker.partition.partition import Partition
from headrace.broker.partition.write_side import Accepted
from headrace.protocol.records.control import Marker
from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from tests.unit.broker.cluster_scene import NOW_MS

ABORT, COMMIT = Marker.ABORT, Marker.COMMIT


def data_batch(
    producer_id: int,
    records: int = 1,
    *,
    epoch: int = 0,
    sequence: int = -1,
    is_transactional: bool = True,
) -> memoryview:
    options = BatchOptions(
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
        is_transactional=is_transactional,
    )
    made = [Record(it, NOW_MS, b"k", b"v") for it in range(records)]
    return memoryview(encode_batch(made, options))


def marker_batch(
    producer_id: int,
    marker: int,
    *,
    epoch: int = 0,
    sequence: int = -1,
    coordinator_epoch: int = 0,
    value: bytes | None = None,
    is_transactional: bool = True,
    records: int = 1,
) -> memoryview:
    options = BatchOptions(
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
        is_transactional=is_transactional,
        is_control=True,
    )
    if value is None:
        value = struct.pack(">hi", 0, coordinator_epoch)
    made = [Record(it, NOW_MS, struct.pack(">hh", 0, marker), value) for it in range(records)]
    return memoryview(encode_batch(made, options))


def append(partition: Partition, batch: memoryview, origin: AppendOrigin) -> Accepted | Rejection:
    """Append a batch, which is not confirmed by that."""
    return partition.writes.append(batch, origin, now_ms=NOW_MS, on_done=lambda _error: None)


def write(partition: Partition, producer_id: int, records: int = 1) -> int:
    """Append records of a transaction; their offset."""
    result = append(partition, data_batch(producer_id, records), AppendOrigin.COORDINATOR)
    assert isinstance(result, Accepted), result
    return result.base_offset


def end(partition: Partition, producer_id: int, marker: Marker) -> int:
    """Append a marker; its offset."""
    result = append(partition, marker_batch(producer_id, marker), AppendOrigin.MARKER)
    assert isinstance(result, Accepted), result
    return result.base_offset
