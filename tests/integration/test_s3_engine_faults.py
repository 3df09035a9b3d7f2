"""The engine's invariants on a bucket that misbehaves in each way, and in all of them at once."""

import asyncio
import random
from contextlib import contextmanager, suppress

import pytest

from headrace.storage.errors import BackPressureError
from headrace.storage.object_store.statistics import Operation
from tests.integration.s3_fault_server import (
    ACCESS_DENIED,
    CUT,
    CUT_AFTER,
    INTERNAL_ERROR,
    OK_WITH_ERROR,
    RESET,
    SILENT,
    SILENT_AFTER,
    SILENT_LATE,
    SLOW_DOWN,
    TOKEN_EXPIRED,
    Answer,
    FaultServer,
)
from tests.integration.s3_world import World, impatient
from tests.unit.storage.fakes import require_dense

# (probability, method, text in the query, answer); no method: any. With 0.2 one request of 600
# fails in all its attempts, so most merges of a hundred requests reach their end.
FAULTS = {
    "503 storm": [(0.2, "", "", SLOW_DOWN)],
    "500 and nothing happened": [(0.2, "", "", INTERNAL_ERROR)],
    "500 and it happened": [(0.2, "", "", Answer(500, "InternalError", done=True))],
    "cut or reset before": [(0.12, "", "", CUT), (0.12, "", "", RESET)],
    "cut after": [(0.2, "", "", CUT_AFTER)],
    "no answer": [(0.04, "", "", SILENT)],
    "no answer and it happened": [(0.06, "", "", SILENT_AFTER)],
    "no answer and it happens later": [(0.05, "PUT", "", SILENT_LATE)],
    "short bodies": [
        (0.2, "GET", "", Answer(body_cut_at=50)),
        (0.2, "GET", "", Answer(short_by=7)),
    ],
    "flipped bits": [(0.15, "GET", "", Answer(flipped_bit=4_321))],
    "not found once": [(0.2, "GET", "", Answer(404, "NoSuchKey"))],
    "wrong tags": [(0.5, "", "", Answer(etag='"wrong"'))],
    "slow": [
        (0.3, "", "", Answer(delay_ms=30)),
        (0.2, "GET", "", Answer(pieces=5, piece_delay_ms=5)),
    ],
    "keys that are not deleted": [],
}
EVERYTHING = [
    (0.03, "", "", SLOW_DOWN),
    (0.03, "", "", INTERNAL_ERROR),
    (0.03, "", "", Answer(500, "InternalError", done=True)),
    (0.03, "", "", RESET),
    (0.03, "", "", CUT_AFTER),
    (0.01, "", "", SILENT_AFTER),
    (0.02, "PUT", "", SILENT_LATE),
    (0.03, "GET", "", Answer(body_cut_at=50)),
    (0.03, "GET", "", Answer(flipped_bit=77_777)),
    (0.03, "GET", "", Answer(404, "NoSuchKey")),
    (0.03, "POST", "delete", OK_WITH_ERROR),
]


MAX_ROUNDS = 100


def run(tmp_path, monkeypatch, scenario, **options):
    """Run a scenario in a world with a server of its own."""
    with FaultServer() as server, impatient(monkeypatch):

        async def main():
            world = World(tmp_path, server, **options)
            async with world.cluster.controller():
                await scenario(world, server)

        asyncio.run(main())


def enough_happened(process):
    """Whether there were faults in uploads, cold reads, compaction and deletion."""
    return (
        process.world.bucket.injected >= 10
        and process.compactor.statistics.groups > 0
        and process.deleter.statistics.deleted_objects > 0
        and process.blocks.statistics.requests > 10
    )


@pytest.mark.parametrize("name", [*FAULTS, "everything"])
def test_nothing_is_lost_damaged_or_left_over(tmp_path, monkeypatch, name):
    """What `s3_world` checks."""

    async def scenario(world, _):
        rng = random.Random(name)
        async with world.process() as process:
            await process.produce(40, rng)
            process.beside(rng)
            world.bucket.fail_at_random(rng, FAULTS.get(name, EVERYTHING))
            world.bucket.undeletable_rate = (
                0.3 if name in ("keys that are not deleted", "everything") else 0
            )
            for _ in range(MAX_ROUNDS):
                await process.produce(50, rng)
                if enough_happened(process):
                    break
            else:
                pytest.fail(f"too little happened: {process.told()}")
            await process.settle()

    run(tmp_path, monkeypatch, scenario)


NOBODY = "nobody listens"
OUTAGES = {
    NOBODY: None,
    "503": SLOW_DOWN,
    "403": ACCESS_DENIED,
    "token expired": TOKEN_EXPIRED,
    "clock": Answer(403, "RequestTimeTooSkewed"),
    "another region": Answer(301, "PermanentRedirect"),
    "silence": SILENT,
}


@contextmanager
def outage(server, name):
    """Nothing works meanwhile."""
    if name != NOBODY:
        with server.bucket.always(OUTAGES[name]):
            yield
        return
    server.stop()
    try:
        yield
    finally:
        server.start()


@pytest.mark.parametrize("name", OUTAGES)
def test_an_outage_stops_producers_in_time_and_nobody_else(tmp_path, monkeypatch, name):
    """Back-pressure within the bounds of memory, hot reads go on, and so does everything afterwards."""

    async def scenario(world, server):
        rng = random.Random(name)
        async with world.process() as process:
            await process.produce(40, rng)
            await process.engine.force_upload()
            with outage(server, name):
                await process.produce(60, rng)
                process.engine._pipeline.archive_aged()
                with suppress(BackPressureError):
                    while True:
                        await process.append_one(rng)
                stats = process.engine.stats()
                assert stats.admission_refused_total > 0
                assert stats.unuploaded_bytes <= stats.log_cache_capacity_bytes
                for stream in process.streams:
                    newest = stream.confirm_offset - 1
                    require_dense(await stream.fetch(newest, 1), newest, newest + 1)
                clock_s = asyncio.get_running_loop().time
                while not (troubles := process.store.statistics.troubles(clock_s())):
                    await asyncio.sleep(0.01)
                assert troubles[0].operation is Operation.PUT
            await process.produce(20, rng)
            await process.settle()
            await process.engine.force_upload()
            assert process.engine.stats().wal_used_bytes == 0

    run(tmp_path, monkeypatch, scenario)


@pytest.mark.parametrize("name", ["silence", NOBODY])
def test_shutting_down_in_an_outage_takes_its_time_and_no_more(tmp_path, monkeypatch, name):
    """What could not be uploaded is in the WAL for the next start."""

    async def scenario(world, server):
        rng = random.Random(name)
        loop = asyncio.get_running_loop()
        async with world.process(shutdown_timeout_ms=300) as process:
            await process.produce(20, rng)
            await process.engine.force_upload()
            with outage(server, name):
                await process.produce(30, rng)
                begin_s = loop.time()
                await process.stop()
                assert 0.3 <= loop.time() - begin_s < 3
        async with world.process() as process:
            assert process.report.records == 30
            await process.settle()
        async with world.process() as process:
            assert process.report.records == process.report.dropped == 0

    run(tmp_path, monkeypatch, scenario)


@pytest.mark.parametrize("name", ["503", "403", NOBODY])
def test_a_start_waits_for_the_bucket_and_can_be_given_up(tmp_path, monkeypatch, name):
    async def scenario(world, server):
        rng = random.Random(name)
        async with world.process(shutdown_timeout_ms=1) as process:
            with outage(server, name):
                await process.produce(30, rng)
                await process.stop()
        with outage(server, name), pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3), world.process():
                raise AssertionError("it has started without its records")
        async with world.process() as process:
            assert process.report.records == 30
            await process.settle()

    run(tmp_path, monkeypatch, scenario)


def test_a_put_that_lands_when_its_object_is_forgotten_is_swept(tmp_path, monkeypatch):
    """Compacted away, deleted and forgotten, and then the first attempt at it comes true."""

    async def scenario(world, _):
        rng = random.Random(21)
        async with world.process() as process:
            world.bucket.fail("PUT", SILENT_LATE)
            for _ in range(8):
                await process.produce(5, rng)
                await process.engine.force_upload()
            late = next(it.key for it in world.bucket.requests if it.method == "PUT")
            assert late in world.bucket.objects
            await process.compactor.compact()
            await process.delete_everything_destroyed()
            assert late not in world.bucket.objects
            await process.check_nothing_is_left()
            assert world.bucket.land() == 1
            assert late in world.bucket.objects
            await process.check_bucket()
            await process.settle(left_for_the_sweep=True)
            assert process.sweeper.statistics.removed_objects == 1

    run(tmp_path, monkeypatch, scenario)


def test_an_object_that_expires_while_its_put_is_tried_is_put_under_another_id(
    tmp_path, monkeypatch
):
    """The commit of the old id is refused, and what lies under it is garbage."""

    async def scenario(world, _):
        rng = random.Random(28)
        async with world.process() as process:
            with world.bucket.always(SLOW_DOWN, "PUT"):
                await process.produce(20, rng)
                uploading = asyncio.create_task(process.engine.force_upload())
                while not process.engine.stats().upload_retries_total:
                    await asyncio.sleep(0.01)
                await process.delete_everything_destroyed()
            await uploading
            assert process.engine.stats().upload_expired_total > 0
            await process.check_bucket()
            await process.settle(left_for_the_sweep=True)
            assert process.sweeper.statistics.removed_objects > 0

    run(tmp_path, monkeypatch, scenario)
