"""Reading a coordinator partition: every record of the log, replayed in order.

What is damaged or missing is passed over: the groups have what the rest of the log says, mostly older offsets, and
consume some records again. Each record says all of its group or its offset, so none needs an earlier one.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from headrace.broker.coordinator.ports import CoordinatorLog
from headrace.broker.coordinator.record_fields import CorruptRecordError
from headrace.broker.coordinator.record_runs import decode_records
from headrace.broker.coordinator.records import CoordinatorRecord, OffsetRun
from headrace.broker.network.turn_share import ITEMS_PER_LOOK, TurnShare
from headrace.broker.partition.damage import DamagedRange
from headrace.protocol.records.batch import split_batches
from headrace.protocol.records.record import RecordReader

# What one batch may decompress to. The broker writes none compressed; a tool that copies a topic may.
MAX_DECOMPRESSED_BYTES: Final = 64 * 1024 * 1024


class LoadedLog(NamedTuple):
    """What a load has read."""

    records: int
    size_bytes: int
    unknown_records: int  # of kinds that a newer version writes; they were skipped
    damage: tuple[DamagedRange, ...]  # that was passed over; adjacent ranges as one


async def replay_log(
    log: CoordinatorLog, replay: Callable[[CoordinatorRecord | OffsetRun], None], turns: TurnShare
) -> LoadedLog:
    """Replay all records of a log; return how much there was.

    Control batches hold no records of the coordinator. This version does not support offsets that were
    committed in transactions: a log with such batches is refused rather than read wrongly.

    Raises:
        CorruptRecordError: a record cannot be read.
        RecordsError: a batch cannot be read.
        StorageError: the log cannot be read now.
    """
    count = size_bytes = unknown = look_at = 0
    damage: list[DamagedRange] = []
    await turns.pause()
    async for chunk in log.read():
        if isinstance(chunk, DamagedRange):
            _add_damage(damage, chunk)
            continue
        size_bytes += len(chunk)
        for header, batch in split_batches(chunk):
            if header.is_control:
                continue
            if header.is_transactional:
                raise CorruptRecordError(
                    f"transactional batch at offset {header.base_offset}: transactions are not supported"
                )
            reader = RecordReader(batch, header, MAX_DECOMPRESSED_BYTES)
            for decoded, records in decode_records(reader):
                if decoded is None:
                    unknown += 1
                else:
                    replay(decoded)
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
