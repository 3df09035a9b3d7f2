"""`POST /wal/resize` over HTTP: what it takes, what it refuses, and what it answers."""

import asyncio
from collections.abc import Mapping

import aiohttp
import pytest

from headrace.broker.admin.admin_http import AdminServer
from headrace.broker.admin.json_http import MAX_BODY_BYTES
from headrace.broker.admin.wal_resize_http import PATH
from headrace.broker.telemetry.readiness import Readiness
from headrace.network import SocketNetwork
from headrace.storage.errors import EngineFailedError, ResizeRefusedError, RetriableStorageError

JSON = {"Content-Type": "application/json"}
GOOD = b'{"capacity_bytes": 4096}'


class Wal:
    def __init__(self, error: Exception | None = None) -> None:
        self.asked: list[int] = []
        self.error = error

    async def resize(self, capacity_bytes: int) -> Mapping[str, object]:
        self.asked.append(capacity_bytes)
        if self.error is not None:
            raise self.error
        return {"old": 1, "new": capacity_bytes}


def ask(
    wal: Wal | None,
    body: bytes = GOOD,
    headers: Mapping[str, str] = JSON,
    method: str = "POST",
) -> tuple[int, object]:
    async def run() -> tuple[int, object]:
        server = AdminServer(Readiness(), SocketNetwork())
        if wal is not None:
            server.resize = wal.resize
        port = await server.bind("127.0.0.1", 0)
        await server.serve()
        try:
            async with (
                aiohttp.ClientSession() as session,
                session.request(
                    method, f"http://127.0.0.1:{port}{PATH}", data=body, headers=headers
                ) as response,
            ):
                is_json = response.content_type == "application/json"
                return response.status, await (response.json() if is_json else response.text())
        finally:
            await server.shutdown()

    return asyncio.run(run())


def test_a_resize_is_answered_with_what_happened() -> None:
    wal = Wal()
    assert ask(wal) == (200, {"old": 1, "new": 4096})
    assert wal.asked == [4096]
    assert ask(wal, headers={"Content-Type": "application/json; charset=utf-8"})[0] == 200


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"4096",
        b"null",
        b"[]",
        b"{}",
        b"{",
        b"\xff\xfe",
        b'{"capacity_bytes": "4096"}',
        b'{"capacity_bytes": 4096.0}',
        b'{"capacity_bytes": true}',
        b'{"capacity_bytes": -4096}',
        b'{"capacity_bytes": 9223372036854775808}',
        b'{"capacity_bytes": 4096, "force": true}',
        b'{"capacity": 4096}',
        GOOD + b" " * MAX_BODY_BYTES,
    ],
)
def test_another_body_is_refused(body: bytes) -> None:
    wal = Wal()
    status, answer = ask(wal, body)
    assert status == 400
    assert isinstance(answer, dict)
    assert answer["error"]
    assert wal.asked == []


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content-Type": "multipart/form-data; boundary=x"}, 415),
        ({}, 415),
        ({**JSON, "Origin": "http://evil.example"}, 403),
        ({**JSON, "Origin": "null"}, 403),
    ],
)
def test_what_a_web_page_can_send_is_refused(headers: Mapping[str, str], status: int) -> None:
    wal = Wal()
    assert ask(wal, headers=headers)[0] == status
    assert wal.asked == []


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS", "HEAD"])
def test_no_other_method_resizes_or_is_allowed_to_pages(method: str) -> None:
    wal = Wal()
    assert ask(wal, method=method)[0] == 405
    assert wal.asked == []


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ValueError("too small"), 422),
        (ResizeRefusedError("the device has 5 bytes"), 422),
        (RetriableStorageError("the bucket is away"), 503),
        (EngineFailedError("over"), 503),
    ],
)
def test_a_resize_that_did_not_happen_says_why(error: Exception, status: int) -> None:
    assert ask(Wal(error)) == (status, {"error": str(error)})


def test_a_node_that_is_starting_asks_for_patience() -> None:
    assert ask(None) == (503, {"error": "the node is starting"})


def test_the_least_capacity_is_for_the_node_to_say() -> None:
    wal = Wal()
    wal.error = ResizeRefusedError("at least 16 MiB")
    status, answer = ask(wal, b'{"capacity_bytes": 0}')
    assert (status, answer["error"]) == (422, "at least 16 MiB")
