"""Reading a coordinator's log: every record of it, replayed in order.

What is damaged or missing is passed over: the shard has what the rest of the log says. Each record says all of what
has its key, so none needs an earlier one: groups have mostly older offsets then, and consume some records again.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from headrace.broker.coordinator.runtime.ports import CoordinatorLog
from headrace.broker.coordinator.runtime.shard import NO_PRODUCER_EPOCH, Shard
from headrace.broker.partition.damage import DamagedRange
from headrace.protocol.records.batch import NO_PRODUCER_ID, split_batches
from headrace.protocol.records.control import decode_marker
from headrace.protocol.records.record import RecordReader
from headrace.turns import ITEMS_PER_LOOK, Turns

# What one batch may decompress to. The broker writes none compressed; a tool that copies a topic may.
MAX_DECOMPRESSED_BYTES: Final = 64 * 1024 * 1024


class LoadedLog(NamedTuple):
    """What a load has read."""

    records: int
    size_bytes: int
    unknown_records: int  # of kinds that a newer version writes; they were skipped
    damage: tuple[DamagedRange, ...]  # that was passed over; adjacent ranges as one


async def replay_log(
    log: CoordinatorLog,
    shard: Shard[Any],
    decode: Callable[[RecordReader], Iterator[tuple[object | None, int]]],
    turns: Turns,
) -> LoadedLog:
    """Replay all records of a log, and the ends of transactions; return how much there was.

    Raises:
        CorruptRecordError: a record cannot be read, or is none that the shard can have.
        RecordsError: a batch cannot be read.
        StorageError: the log cannot be read now.
    """
    count = size_bytes = unknown = look_at = 0
    damage: list[DamagedRange] = []
    replay = shard.replay
    await turns.pause()
    async for chunk in log.read():
        if isinstance(chunk, DamagedRange):
            _add_damage(damage, chunk)
            continue
        size_bytes += len(chunk)
        for header, batch in split_batches(chunk):
            producer_id, producer_epoch = NO_PRODUCER_ID, NO_PRODUCER_EPOCH
            if header.is_transactional:
                producer_id, producer_epoch = header.producer_id, header.producer_epoch
            if header.is_control:
                marker = decode_marker(batch)
                if marker is not None:
                    shard.replay_end_transaction(producer_id, producer_epoch, marker)
                continue
            reader = RecordReader(batch, header, MAX_DECOMPRESSED_BYTES)
            offset = header.base_offset
            for decoded, records in decode(reader):
                if decoded is None:
                    unknown += 1
                else:
                    replay(offset, producer_id, producer_epoch, decoded)
                offset += records
                count += records
                # After the first as well: what all partitions read may come at once.
                if count >= look_at:
                    await turns.pause()
                    look_at = count + ITEMS_PER_LOOK
    return LoadedLog(count, size_bytes, unknown, tuple(damage))


def _add_damage(damage: list[DamagedRange], found: DamagedRange) -> None:
    if damage and damage[-1].end_offset == found.start_offset:
        damage[-1] = damage[-1]._replace(end_offset=found.end_offset)
    else:
        damage.append(found)
