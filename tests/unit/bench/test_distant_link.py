"""The link that puts a bucket far away: nothing is lost or mixed up, and delay, rate and window are as told."""

import asyncio
import random
import time

import pytest

from bench.distant_link import WINDOW_BYTES, Distance, listen

# A server of `asyncio.streams` reports each of its tasks that is cancelled.
pytestmark = pytest.mark.unexpected_errors


def through(distance, serve, scenario):
    """Run `scenario(connect)` against a server of `serve(reader, writer)` behind a link."""

    async def main():
        far = await asyncio.start_server(serve, "127.0.0.1", 0)
        near = await listen(far.sockets[0].getsockname()[1], distance)
        port = near.sockets[0].getsockname()[1]
        async with asyncio.timeout(20):
            await scenario(lambda: asyncio.open_connection("127.0.0.1", port))
        near.close()
        far.close()

    asyncio.run(main())


async def echo(reader, writer):
    while data := await reader.read(100_000):
        writer.write(data)
        await writer.drain()
    writer.close()


def test_connections_share_the_rate_and_nothing_is_mixed_up():
    contents = [random.Random(n).randbytes(1_000_000) for n in range(3)]

    async def exchange(connect, content):
        reader, writer = await connect()
        writer.write(content)
        assert await reader.readexactly(len(content)) == content
        writer.close()
        assert await reader.read() == b""

    async def scenario(connect):
        began = time.monotonic()
        await asyncio.gather(*(exchange(connect, content) for content in contents))
        # 3 MB at 30 MB/s one way, and at the same time the other; half of a second at the utmost of our doing.
        assert time.monotonic() - began > 3 / 30

    through(Distance(1, 30), echo, scenario)


@pytest.mark.parametrize("delay_ms", [5, 40])
def test_an_answer_takes_the_delay_of_both_ways(delay_ms):
    async def scenario(connect):
        reader, writer = await connect()
        times = []
        for _ in range(3):
            began = time.monotonic()
            writer.write(b"ask")
            await reader.readexactly(3)
            times.append(time.monotonic() - began)
        assert min(times) > 2 * delay_ms / 1000
        writer.close()

    through(Distance(delay_ms, 100), echo, scenario)


def test_of_a_connection_that_is_not_read_no_more_than_windows_are_kept():
    taken = 0

    async def never_read(reader, writer):
        await asyncio.sleep(60)

    async def scenario(connect):
        nonlocal taken
        _, writer = await connect()
        step = bytes(WINDOW_BYTES)
        try:
            async with asyncio.timeout(0.5):
                while taken < 100 * WINDOW_BYTES:
                    writer.write(step)
                    await writer.drain()
                    taken += WINDOW_BYTES
        except TimeoutError:
            pass
        writer.transport.abort()
        # In the link, in its own buffer, and in those of the kernel and of both ends.
        assert taken < 40 * WINDOW_BYTES

    through(Distance(1, 10_000), never_read, scenario)


def test_a_server_that_is_not_there_ends_the_connection():
    async def main():
        gone = await asyncio.start_server(echo, "127.0.0.1", 0)
        port = gone.sockets[0].getsockname()[1]
        gone.close()
        await gone.wait_closed()
        near = await listen(port, Distance(1, 100))
        reader, writer = await asyncio.open_connection(*near.sockets[0].getsockname())
        async with asyncio.timeout(10):
            assert await reader.read() == b""
        writer.close()
        near.close()

    asyncio.run(main())
