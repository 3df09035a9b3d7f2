"""A proxy between a client and an S3 server that logs every request, as S3 bills it.

    python -m bench.s3_proxy PORT LOG

Listens on a free port, which it prints. A line of the log is [method, target, headers], written
before the request is forwarded. Bodies are forwarded unchanged.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import uvloop

from bench.s3_requests import Tally, parse_log

STEP_BYTES = 256 * 1024
HEADERS = frozenset({"content-length", "range", "x-amz-copy-source", "x-amz-copy-source-range"})


class CountingProxy:
    """The proxy in a separate process, while entered."""

    def __init__(self, port: int, log: Path) -> None:
        log.touch()
        self._log = log.open()
        command = [sys.executable, "-m", "bench.s3_proxy", str(port), str(log)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.endpoint = f"http://127.0.0.1:{int(self._process.stdout.readline())}"

    def take(self) -> Tally:
        """Count the requests since the last call."""
        return Tally.of(parse_log(self._log.readlines()))

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
        self._log.close()


class _Connection:
    """One client's connection, and its connection to the server."""

    def __init__(self, port: int, log: IO[str]) -> None:
        self._port = port
        self._log = log

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_connection("127.0.0.1", self._port)
        answers = asyncio.create_task(self._pass_answers(from_server, writer))
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                rest = self._note(head)
                to_server.write(head)
                while rest:
                    step = await reader.read(min(rest, STEP_BYTES))
                    if not step:
                        return
                    rest -= len(step)
                    to_server.write(step)
                    await to_server.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            answers.cancel()
            to_server.close()
            writer.close()

    def _note(self, head: bytes) -> int:
        """Log a request; return the length of its body."""
        request_line, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
        method, target, _ = request_line.split(" ")
        headers = _headers(lines)
        if "transfer-encoding" in headers:
            raise NotImplementedError("request bodies with chunked encoding")
        kept = {name: value for name, value in headers.items() if name in HEADERS}
        print(json.dumps([method, target, kept]), file=self._log, flush=True)
        return int(headers.get("content-length", 0))

    async def _pass_answers(
        self, from_server: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            while step := await from_server.read(STEP_BYTES):
                writer.write(step)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()


def _headers(lines: list[str]) -> Mapping[str, str]:
    pairs = (line.partition(":") for line in lines)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


async def serve(port: int, log: Path) -> None:
    """Serve until this process is ended."""
    with log.open("a") as file:
        server = await asyncio.start_server(
            lambda reader, writer: _Connection(port, file).serve(reader, writer),
            "127.0.0.1",
            0,
            limit=2 * STEP_BYTES,
        )
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1]), Path(sys.argv[2])))
