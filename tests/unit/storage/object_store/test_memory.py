"""MemoryObjectStore keeps copies."""

import asyncio

from headrace.storage.object_store.memory import MemoryObjectStore


def test_the_store_does_not_hold_on_to_the_writer_s_buffers():
    async def main():
        store = MemoryObjectStore()
        buffer = bytearray(b"abc")
        await store.put("a", [memoryview(buffer)])
        buffer[:] = b"xyz"
        assert bytes(await store.get_range("a", 0, 3)) == b"abc"
        await store.close()
        assert store.objects == {"a": b"abc"}

    asyncio.run(main())
