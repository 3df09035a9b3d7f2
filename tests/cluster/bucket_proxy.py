"""A proxy before the bucket that can answer in its place: errors, delays, connections that end in the middle.

It runs where the bucket does, so that links to it are cut as before. A request's head is read, and everything else
is passed on as it comes, both ways; who speaks to it does so on connections of HTTP/1.1 without pipelining. It is
told what to do, and tells what it has done, at a path that no bucket has.
"""

import argparse
import asyncio
import json
import random
import re
import socket
import struct
import sys
import urllib.request
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import uvloop

from tests.environment.paths import ROOT
from tests.environment.ports import free_port
from tests.environment.processes import ServerProcess

ERRORS: Final = (
    ("500 Internal Server Error", "InternalError"),
    ("503 Service Unavailable", "SlowDown"),
    ("503 Service Unavailable", "ServiceUnavailable"),
)
DENIED: Final = ("403 Forbidden", "AccessDenied")
_TOLD_AT: Final = "/.faults"
_CHUNK_BYTES: Final = 64 << 10
_MAX_CUT_AFTER_BITS: Final = 18  # an answer ends after so many bytes at most, as a power of two
_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_AT_ONCE: Final = struct.pack("ii", 1, 0)  # what lingers for no time is reset


@dataclass(frozen=True)
class Faults:
    """Shares of the requests that go wrong, each in one way; all others are passed on."""

    failed: float = 0.0  # answered by an error of the server, and not carried out
    denied: float = 0.0  # answered by an error that does not pass by itself, and not carried out
    unheard: float = 0.0  # carried out, and answered by an error of the server
    cut: float = 0.0  # reset in the middle of the request, or of the answer
    slow: float = 0.0  # late by `slow_from_ms` to `slow_ms`
    slow_ms: int = 500
    slow_from_ms: int = 0

    def draw(self, rng: random.Random) -> str:
        """Choose what becomes of a request; empty: it is passed on."""
        chosen = rng.random()
        for name in ("failed", "denied", "unheard", "cut", "slow"):
            chosen -= float(getattr(self, name))
            if chosen < 0:
                return name
        return ""


class BucketProxy:
    """The proxy's process, on a port of `host`; nothing goes wrong until it is told."""

    def __init__(
        self,
        host: str,
        bucket_port: int,
        log: Path,
        as_node: Callable[[Sequence[object]], list[str]],
    ) -> None:
        self.endpoint = f"http://{host}:{free_port()}"
        address = self.endpoint.removeprefix("http://")
        program = [sys.executable, "-m", "tests.cluster.bucket_proxy"]
        command = as_node([*program, address, f"{host}:{bucket_port}"])
        self._process = ServerProcess(command, log=log, directory=ROOT)
        self._direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def start(self) -> None:
        """Start it, and wait until it answers."""

        def answers() -> bool:
            try:
                self.tell(Faults())
            except OSError:
                return False
            return True

        self._process.start()
        self._process.wait_until(answers, "answer of the proxy", timeout_s=30)

    def tell(self, faults: Faults) -> Counter[str]:
        """Set what goes wrong from now on; return how often what has gone wrong since it was told last."""
        body = json.dumps(asdict(faults)).encode()
        request = urllib.request.Request(f"{self.endpoint}{_TOLD_AT}", data=body, method="POST")
        with self._direct.open(request, timeout=10) as answer:
            return Counter(json.load(answer))

    def end(self) -> None:
        """Kill it, if it runs."""
        if self._process.is_running:
            self._process.kill()


class _Proxy:
    def __init__(self, bucket: tuple[str, int]) -> None:
        self.faults = Faults()
        self.done: Counter[str] = Counter()
        self.rng = random.Random()
        self._bucket = bucket

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until either side ends it."""
        writers = [writer]
        with suppress(OSError, asyncio.IncompleteReadError):
            bucket_reader, bucket_writer = await asyncio.open_connection(*self._bucket)
            writers.append(bucket_writer)
            await _Connection(self, reader, writer, bucket_reader, bucket_writer).run()
        for it in writers:
            _reset(it)


class _Connection:
    """One connection of a client, and one to the bucket."""

    def __init__(
        self,
        proxy: _Proxy,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        bucket_reader: asyncio.StreamReader,
        bucket_writer: asyncio.StreamWriter,
    ) -> None:
        self._proxy = proxy
        self._reader, self._writer = reader, writer
        self._bucket_reader, self._bucket_writer = bucket_reader, bucket_writer
        self._passes = sys.maxsize  # so many bytes of answers, before the connection is reset
        self._is_unheard = False  # answers are read, and not passed on

    async def run(self) -> None:
        """Pass everything on, until an end or a fault that is one."""
        tasks = [asyncio.create_task(self._requests()), asyncio.create_task(self._answers())]
        ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for task in ended:
            task.result()
        if self._is_unheard:
            await self._refuse(*self._proxy.rng.choice(ERRORS))

    async def _requests(self) -> None:
        while True:
            head = await self._reader.readuntil(b"\r\n\r\n")
            length = int(found[1]) if (found := _LENGTH.search(head)) else 0
            if head.split(b" ", 2)[1] == _TOLD_AT.encode():
                await self._listen(await self._reader.readexactly(length))
                continue
            fault = self._proxy.faults.draw(self._proxy.rng)
            if fault:
                self._proxy.done[fault] += 1
            if fault in ("failed", "denied"):
                if b"100-continue" not in head:
                    await self._pass_body(length, to_bucket=False)
                error = DENIED if fault == "denied" else self._proxy.rng.choice(ERRORS)
                return await self._refuse(*error)
            if fault == "slow":
                faults = self._proxy.faults
                late_ms = self._proxy.rng.uniform(faults.slow_from_ms, faults.slow_ms)
                await asyncio.sleep(late_ms / 1000)
            if fault == "unheard":
                self._is_unheard = True
                head = head[:-2] + b"Connection: close\r\n\r\n"
            if fault == "cut" and length:
                self._bucket_writer.write(head)
                return await self._pass_body(self._proxy.rng.randrange(length))
            if fault == "cut":
                self._passes = int(2 ** self._proxy.rng.uniform(0, _MAX_CUT_AFTER_BITS))
            self._bucket_writer.write(head)
            await self._pass_body(length)

    async def _pass_body(self, left: int, *, to_bucket: bool = True) -> None:
        while left:
            content = await self._reader.read(min(left, _CHUNK_BYTES))
            if not content:
                raise ConnectionError
            left -= len(content)
            if to_bucket:
                self._bucket_writer.write(content)
                await self._bucket_writer.drain()

    async def _answers(self) -> None:
        while content := await self._bucket_reader.read(_CHUNK_BYTES):
            if self._is_unheard:
                continue
            self._writer.write(content[: self._passes])
            await self._writer.drain()
            self._passes -= len(content)
            if self._passes <= 0:
                return

    async def _refuse(self, status: str, code: str) -> None:
        await self._answer(status, f"<Error><Code>{code}</Code><Message/></Error>", "close")
        self._writer.write_eof()
        await self._reader.read()  # a reset could overtake the answer

    async def _listen(self, told: bytes) -> None:
        self._proxy.faults = Faults(**json.loads(told))
        done, self._proxy.done = self._proxy.done, Counter()
        await self._answer("200 OK", json.dumps(done), "keep-alive")

    async def _answer(self, status: str, body: str, connection: str) -> None:
        head = f"HTTP/1.1 {status}\r\nContent-Type: application/xml\r\nConnection: {connection}"
        self._writer.write(f"{head}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
        await self._writer.drain()


def _reset(writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):  # it is closed already
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
    writer.transport.abort()


async def _run(address: str, bucket: str) -> None:
    host, port = address.rsplit(":", 1)
    bucket_host, bucket_port = bucket.rsplit(":", 1)
    proxy = _Proxy((bucket_host, int(bucket_port)))
    server = await asyncio.start_server(proxy.serve, host, int(port), backlog=1024)
    async with server:
        await server.serve_forever()


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(prog="python -m tests.cluster.bucket_proxy")
    parser.add_argument("address", help="where it listens")
    parser.add_argument("bucket", help="where the bucket is")
    options = parser.parse_args()
    uvloop.run(_run(options.address, options.bucket))


if __name__ == "__main__":
    main()
