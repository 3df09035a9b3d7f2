"""Records by time: the index narrows, headers select, the records of one batch decide."""

import asyncio
import random
from typing import Any

import pytest

from headrace.broker.partition.offset_search import find_by_timestamp, find_newest
from headrace.broker.partition.partition import Partition
from headrace.broker.partition.time_index import TimeIndex
from headrace.protocol.records.batch import (
    HEADER_BYTES,
    encode_header,
    parse_header,
    set_timestamp_type,
)
from headrace.protocol.records.compression import Compression
from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from headrace.protocol.records.walk import RecordFacts, walk_facts
from headrace.protocol.records.window import Slice
from tests.unit.broker.cluster_scene import NOW_MS, ServedPartition, run
from tests.unit.protocol.records.framings import UNUSUAL, Form


@pytest.mark.parametrize("seed", range(20))
def test_what_is_found_is_what_reading_everything_would_find(seed: int) -> None:
    rng = random.Random(seed)
    served = ServedPartition("t", 1, 0)
    served.partition.state.times = TimeIndex(interval_bytes=rng.choice([1, 200, 1 << 20]))
    times: list[int] = []
    for _ in range(rng.randrange(1, 12)):
        batch = [NOW_MS + rng.randrange(30) for _ in range(rng.randrange(1, 6))]
        times += batch
        served.append(
            *(Record(0, it, None, b"v") for it in batch), compression=rng.choice(list(Compression))
        )
    served.data.confirm()
    log_start = served.data.start_offset = rng.choice([0, rng.randrange(len(times))])
    for timestamp in range(NOW_MS - 1, NOW_MS + 32):
        expected = next(
            (
                (offset, found)
                for offset, found in enumerate(times)
                if found >= timestamp and offset >= log_start
            ),
            None,
        )
        assert run(find_by_timestamp(partition_of(served), timestamp)) == expected
    newest = max(times[log_start:])
    first = times.index(newest, log_start)
    assert run(find_newest(partition_of(served))) == (first, newest)


@pytest.mark.parametrize("form", UNUSUAL, ids=lambda form: form.name)
def test_a_look_up_reads_records_in_an_unusual_form(form: Form) -> None:
    """A broker that believes compressed batches has stored them as they were sent."""
    records = [Record(it, NOW_MS + it * 7, None, b"v" * 20) for it in range(30)]
    plain = encode_batch(records, BatchOptions())
    header = parse_header(plain)._replace(attributes=int(form.codec))
    batch = encode_header(header, form.encode(bytes(plain[HEADER_BYTES:])))
    found: list[RecordFacts] = []
    for piece in walk_facts(parse_header(batch), memoryview(batch), 10_000):
        found += [] if isinstance(piece, Slice) else piece
    assert [(it.offset_delta, it.timestamp_delta_ms) for it in found] == [
        (it, it * 7) for it in range(30)
    ]


def test_the_newest_acknowledged_record_is_found_beside_a_newer_one() -> None:
    served = ServedPartition("t", 1, 0)
    served.append(Record(0, NOW_MS + 1, None, b"v"), Record(0, NOW_MS, None, b"v"))
    served.data.confirm()
    served.append(Record(0, NOW_MS + 9, None, b"v"))
    assert run(find_newest(served.partition)) == (0, NOW_MS + 1)


def test_of_a_log_whose_newest_record_is_deleted_one_step_is_read() -> None:
    served = ServedPartition("t", 1, 0)
    served.partition.state.times = TimeIndex(interval_bytes=500)
    served.append(Record(0, NOW_MS + 99, None, bytes(100)))
    for number in range(50):
        served.append(Record(0, NOW_MS + number, None, bytes(100)))
    served.data.confirm()
    run_deletion(served, 1)
    served.data.bucket_reads = 0
    assert run(find_newest(served.partition)) == (50, NOW_MS + 49)
    assert served.data.bucket_reads <= 4


def run_deletion(served: ServedPartition, offset: int) -> None:
    async def scenario() -> None:
        deleting = asyncio.create_task(served.partition.writes.delete_before(offset))
        await asyncio.sleep(0)
        served.meta.confirm()
        assert await deleting == offset

    run(scenario())


def partition_of(served: ServedPartition) -> Partition:
    return served.partition


def test_of_several_newest_records_the_first_is_found() -> None:
    served = ServedPartition("t", 1, 0)
    served.append(*(Record(0, NOW_MS + it, None, b"v") for it in (1, 5, 5, 2)))
    served.append(Record(0, NOW_MS + 5, None, b"v"))
    served.data.confirm()
    assert run(find_newest(served.partition)) == (1, NOW_MS + 5)


def test_an_empty_log_has_no_record_of_any_time() -> None:
    partition = ServedPartition("t", 1, 0).partition
    assert run(find_by_timestamp(partition, 0)) is None
    assert run(find_newest(partition)) is None


def test_a_time_after_the_newest_record_is_answered_without_reading() -> None:
    served = ServedPartition("t", 1, 0)
    served.fill(3)
    assert run(find_by_timestamp(served.partition, NOW_MS + 1)) is None
    assert served.data.bucket_reads == 0


@pytest.mark.parametrize("search", [find_newest, lambda it: find_by_timestamp(it, NOW_MS + 5_999)])
def test_others_get_their_turn_while_a_large_batch_is_decoded(
    search: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        served = ServedPartition("t", 1, 0)
        records = [Record(0, NOW_MS + number, None, b"") for number in range(6_000)]
        served.append(*records, compression=Compression.ZSTD)
        served.data.confirm()
        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        others = asyncio.create_task(other())
        assert await search(served.partition) == (5_999, NOW_MS + 5_999)
        others.cancel()
        assert turns >= 5

    monkeypatch.setattr("headrace.turns.Work.share_s", 0.0)
    run(main())


@pytest.mark.parametrize("claimed", [-1, 1])
def test_a_maximum_that_is_stored_wrong_hides_no_record(claimed: int) -> None:
    """Older versions believed the header."""
    served = ServedPartition("t", 1, 0)
    served.append(Record(0, NOW_MS, None, b"v"), Record(1, NOW_MS + 5, None, b"v"))
    served.data.confirm()
    stored = served.data.batches[0]
    payload = memoryview(bytearray(stored.payload))
    set_timestamp_type(payload, claimed, is_log_append_time=False)
    served.data.batches[0] = stored._replace(payload=payload)
    assert run(find_by_timestamp(served.partition, NOW_MS - 1)) == (0, NOW_MS)
    assert run(find_newest(served.partition)) == (1, NOW_MS + 5)
