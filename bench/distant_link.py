"""A TCP proxy that simulates a distant server: a delay each way, and a rate that all connections share.

    python -m bench.distant_link PORT DELAY_MS MB_PER_S

Listens on a free port, which it prints. Each direction is a separate line: bytes of all connections
enter it one after the other at the rate, and leave it after the delay. Each connection has at most
`WINDOW_BYTES` in a direction, like a TCP window: beyond that its sender is not read. So one
connection alone gets about 100 MB/s at 7 ms, which is why readers of S3 use several.
"""

import asyncio
import subprocess
import sys
import time
from collections import deque
from types import TracebackType
from typing import NamedTuple, Self, cast

import uvloop

WINDOW_BYTES = 1024 * 1024


class Distance(NamedTuple):
    """Delay and rate of the link."""

    delay_ms: float  # one way
    mb_per_s: float  # 10**6 bytes/s in each direction


class DistantLink:
    """The proxy in a separate process, while entered."""

    def __init__(self, port: int, distance: Distance) -> None:
        arguments = [str(port), str(distance.delay_ms), str(distance.mb_per_s)]
        command = [sys.executable, "-m", "bench.distant_link", *arguments]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.endpoint = f"http://127.0.0.1:{int(self._process.stdout.readline())}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.wait()


class _Line:
    """One direction, first in, first out."""

    def __init__(self, distance: Distance) -> None:
        self._delay_s = distance.delay_ms / 1000
        self._bytes_per_s = distance.mb_per_s * 1e6
        self._free_s = 0.0  # when the last byte so far has entered
        self._inflight: deque[tuple[float, _End, bytes]] = deque()
        self._loop = asyncio.get_running_loop()
        self._is_waiting = False

    def enter(self, end: "_End", data: bytes) -> None:
        self._free_s = max(self._free_s, time.monotonic()) + len(data) / self._bytes_per_s
        self._inflight.append((self._free_s + self._delay_s, end, data))
        if not self._is_waiting:
            self._wait()

    def _wait(self) -> None:
        self._is_waiting = True
        wait_s = self._inflight[0][0] - time.monotonic()
        self._loop.call_later(max(0.0, wait_s), self._leave)

    def _leave(self) -> None:
        self._is_waiting = False
        now_s = time.monotonic()
        while self._inflight and self._inflight[0][0] <= now_s:
            _, end, data = self._inflight.popleft()
            end.arrived(data)
        if self._inflight:
            self._wait()


class _End(asyncio.Protocol):
    """One end of a connection: received bytes go through the line to the other end."""

    def __init__(self, line: _Line) -> None:
        self._line = line
        self.other: _End | None = None
        self._transport: asyncio.Transport | None = None
        self._in_line_bytes = 0
        self._early = b""  # bytes that arrived before the other end existed
        self._is_writable = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport = cast("asyncio.Transport", transport)  # uvloop's is not one by inheritance
        self._transport = transport
        transport.set_write_buffer_limits(WINDOW_BYTES)

    def joined(self, other: "_End") -> None:
        self.other = other
        early, self._early = self._early, b""
        if early:
            self.data_received(early)
        self._pace()

    def data_received(self, data: bytes) -> None:
        if self.other is None:
            self._early += data
            self._pace()
            return
        self._in_line_bytes += len(data)
        self._line.enter(self, data)
        self._pace()

    def arrived(self, data: bytes) -> None:
        """Write bytes that came through the line; empty bytes mean the end."""
        self._in_line_bytes -= len(data)
        assert self.other is not None
        transport = self.other._transport
        if transport is not None and not transport.is_closing():
            transport.write(data) if data else transport.close()
        self._pace()

    def pause_writing(self) -> None:
        self._is_writable = False
        if self.other is not None:
            self.other._pace()

    def resume_writing(self) -> None:
        self._is_writable = True
        if self.other is not None:
            self.other._pace()

    def connection_lost(self, exc: Exception | None) -> None:
        if self.other is not None:
            self._line.enter(self, b"")

    def _pace(self) -> None:
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        may_read = self.other is not None and self.other._is_writable
        if may_read and self._in_line_bytes < WINDOW_BYTES:
            transport.resume_reading()
        else:
            transport.pause_reading()


async def listen(port: int, distance: Distance) -> asyncio.Server:
    """Accept connections, on a free port, for a server of this machine."""
    loop = asyncio.get_running_loop()
    there, back = _Line(distance), _Line(distance)
    joining = set()

    class Near(_End):
        def __init__(self) -> None:
            super().__init__(there)

        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)
            task = loop.create_task(self._join(transport))
            joining.add(task)
            task.add_done_callback(joining.discard)

        async def _join(self, transport: asyncio.BaseTransport) -> None:
            try:
                _, far = await loop.create_connection(lambda: _End(back), "127.0.0.1", port)
            except OSError:
                transport.close()
                return
            far.joined(self)
            self.joined(far)

    return await loop.create_server(Near, "127.0.0.1", 0, backlog=256)


async def serve(port: int, distance: Distance) -> None:
    """Serve until this process is ended."""
    server = await listen(port, distance)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1]), Distance(float(sys.argv[2]), float(sys.argv[3]))))
