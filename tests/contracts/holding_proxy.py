"""A proxy before an S3 server that holds one request up, and sends it on when it is told to: long after its client has
given up, perhaps."""

import asyncio
from typing import Self
from urllib.parse import urlsplit

STEP_BYTES = 256 * 1024
HEAD_END = b"\r\n\r\n"


class HoldingProxy:
    """Runs in the loop while entered. The client that is held up hears nothing until `land`."""

    def __init__(self, endpoint: str) -> None:
        self._port = urlsplit(endpoint).port
        self._nth = 0
        self._count = 0
        self._land = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self.is_holding = asyncio.Event()
        self.endpoint = ""

    def hold(self, nth: int) -> None:
        """Hold up the n-th request from now on; no other."""
        self._count, self._nth = 0, nth

    def hold_no_more(self) -> None:
        """Let all pass that come from now on."""
        self._nth = 0

    async def land(self) -> None:
        """Send on what was held up, and wait for all answers."""
        self._land.set()
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=2 * STEP_BYTES)
        self.endpoint = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await self.land()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        try:
            head, body = await _request(reader, writer)
            self._tasks.add(task)
            self._count += 1
            if self._count == self._nth:
                self.is_holding.set()
                await self._land.wait()
            answer = await self._answer(head + body)
            writer.write(answer.replace(b"\r\n", b"\r\nConnection: close\r\n", 1))
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client is gone
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _answer(self, request: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        writer.write(request)
        try:
            return await reader.read()
        finally:
            writer.close()


async def _request(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> tuple[bytes, bytes]:
    """Read a whole request; return its head, which asks for a connection of its own, and its body."""
    head = await reader.readuntil(HEAD_END)
    request_line, *lines = head.removesuffix(HEAD_END).split(b"\r\n")
    headers = {line.partition(b":")[0].strip().lower(): line for line in lines}
    if headers.pop(b"expect", None):
        writer.write(b"HTTP/1.1 100 Continue" + HEAD_END)
    headers[b"connection"] = b"Connection: close"
    _, _, length = headers.get(b"content-length", b":0").partition(b":")
    body = await reader.readexactly(int(length))
    return b"\r\n".join((request_line, *headers.values())) + HEAD_END, body
