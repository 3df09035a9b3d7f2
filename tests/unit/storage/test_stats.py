"""What the engine tells about itself."""

import asyncio

from tests.simulation.virtual_time import run
from tests.unit.storage.fakes import Node, settle


def test_a_snapshot_follows_what_happens():
    async def scenario():
        node = await Node(auto_confirm=False).start()
        stream, other = await node.open(1), await node.open(2)
        idle = node.engine.stats()
        assert idle.open_streams == 2
        assert idle.wal_capacity_bytes == node.wal.capacity_bytes
        assert idle.log_cache_capacity_bytes == node.config.log_cache_bytes
        assert (idle.wal_used_bytes, idle.log_cache_bytes, idle.unuploaded_bytes) == (0, 0, 0)
        assert (idle.oldest_unuploaded_age_ms, idle.open_appends, idle.failed) == (0, 0, False)

        node.append(stream, 1000)
        node.append(other, 2000)
        written = node.engine.stats()
        assert written.open_appends == 2
        assert written.confirmed_total == 0
        assert written.wal_used_bytes > 3000

        node.wal.confirm()
        await asyncio.sleep(7)
        confirmed = node.engine.stats()
        assert (confirmed.confirmed_total, confirmed.confirmed_bytes_total) == (2, 3000)
        assert confirmed.open_appends == 0
        assert confirmed.unuploaded_bytes == confirmed.log_cache_bytes > 3000
        assert confirmed.oldest_unuploaded_age_ms == 7000

        node.store.hold()
        uploading = asyncio.create_task(node.engine.force_upload())
        await settle()
        assert node.engine.stats().uploads_inflight == 1
        node.store.release_all()
        await uploading
        done = node.engine.stats()
        assert (done.uploads_inflight, done.uploaded_blocks_total) == (0, 1)
        assert done.uploaded_objects_total == 1
        assert done.uploaded_bytes_total == sum(map(len, node.store.objects.values()))
        assert (done.unuploaded_bytes, done.oldest_unuploaded_age_ms) == (0, 0)
        assert done.log_cache_bytes == confirmed.log_cache_bytes
        assert done.wal_used_bytes == 0

        node.wal.fail(OSError("EIO"))
        assert node.engine.stats().failed

    run(scenario())


def test_stream_objects_are_counted_one_by_one():
    async def scenario():
        node = await Node().start()
        for stream_id in (1, 2):
            node.append(await node.open(stream_id), node.config.stream_split_bytes)
        node.append(await node.open(3), 10)
        node.append(await node.open(4), 10)
        await settle()
        await node.engine.force_upload()
        assert node.engine.stats().uploaded_objects_total == 3
        assert node.engine.stats().uploaded_bytes_total == sum(
            map(len, node.store.objects.values())
        )

    run(scenario())
