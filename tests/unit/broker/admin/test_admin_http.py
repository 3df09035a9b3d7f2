"""The admin endpoint over HTTP: metrics, liveness, readiness with reasons."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from prometheus_client import Metric
from prometheus_client.registry import Collector

from headrace.broker.admin.admin_http import AdminServer
from headrace.broker.telemetry.readiness import CheckResult, Readiness
from headrace.broker.telemetry.unexpected_errors import UnexpectedErrors
from headrace.network import SocketNetwork
from tests.unit.broker.telemetry.node_parts import FakeEngine, node_collector


class Endpoint:
    def __init__(self) -> None:
        self.readiness = Readiness()
        self.server = AdminServer(self.readiness, SocketNetwork())
        self.port = 0
        self.session: aiohttp.ClientSession

    @asynccontextmanager
    async def serving(self) -> AsyncIterator["Endpoint"]:
        self.port = await self.server.bind("127.0.0.1", 0)
        await self.server.serve()
        try:
            async with aiohttp.ClientSession() as self.session:
                yield self
        finally:
            await self.server.shutdown()

    async def get(self, path: str) -> tuple[int, str]:
        async with self.session.get(f"http://127.0.0.1:{self.port}{path}") as response:
            return response.status, await response.text()


def test_a_node_is_alive_as_soon_as_it_listens() -> None:
    async def run() -> None:
        async with Endpoint().serving() as endpoint:
            assert await endpoint.get("/livez") == (200, "ok\n")
            assert (await endpoint.get("/no"))[0] == 404
            assert await endpoint.get("/metrics") == (200, "")

    asyncio.run(run())


def test_readiness_is_told_with_the_reason_of_each_condition() -> None:
    async def run() -> None:
        async with Endpoint().serving() as endpoint:
            state = "recovering"
            endpoint.readiness.add(lambda: CheckResult("state", state == "serving", state))
            endpoint.readiness.add(lambda: CheckResult("lease", ok=True, reason="held"))
            lease = '{"name": "lease", "ok": true, "reason": "held"}'
            assert await endpoint.get("/readyz") == (
                503,
                '{"ready": false, "checks": [{"name": "state", "ok": false, '
                f'"reason": "recovering"}}, {lease}]}}\n',
            )
            state = "serving"
            assert await endpoint.get("/readyz") == (
                200,
                '{"ready": true, "checks": [{"name": "state", "ok": true, '
                f'"reason": "serving"}}, {lease}]}}\n',
            )

    asyncio.run(run())


def test_metrics_are_fresh_from_the_loop_and_not_rendered_for_every_request() -> None:
    async def run() -> None:
        async with Endpoint().serving() as endpoint:
            engine = FakeEngine()
            collector = node_collector(engine)
            endpoint.server.expose(collector)
            asked = engine.asked
            status, text = await endpoint.get("/metrics")
            assert status == 200
            assert "# TYPE headrace_wal_used_bytes gauge" in text
            assert await endpoint.get("/metrics") == (200, text)
            assert engine.asked == asked + 1

    asyncio.run(run())


class SlowCollector(Collector):
    """Holds up the thread that renders until the test lets it go."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.loop = asyncio.get_running_loop()
        self.begun = asyncio.Event()

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        self.loop.call_soon_threadsafe(self.begun.set)
        self.go_on.wait(5)
        metric = Metric("slow", "", "gauge")
        metric.add_sample("slow", {}, 1)
        yield metric


class WhereCollector(Collector):
    """Notes the threads in which it is called."""

    def __init__(self) -> None:
        self.taken_in: list[str] = []
        self.collected_in: list[str] = []

    def take(self) -> None:
        self.taken_in.append(threading.current_thread().name)

    def collect(self) -> Iterator[Metric]:
        self.collected_in.append(threading.current_thread().name)
        metric = Metric("where", "", "gauge")
        metric.add_sample("where", {}, 1)
        yield metric


def test_metrics_are_collected_on_the_loop_but_for_those_that_took_what_they_need() -> None:
    """A thread that went through what the loop changes met dicts that grew: the page was an error 500."""

    async def run() -> None:
        async with Endpoint().serving() as endpoint:
            one, other = WhereCollector(), WhereCollector()
            endpoint.server.expose(one)
            endpoint.server.expose(other, other.take)
            assert (await endpoint.get("/metrics"))[1].count("where 1.0") == 2
            here = threading.current_thread().name
            assert (one.taken_in, one.collected_in) == ([], [here])
            assert other.taken_in == [here]
            assert len(other.collected_in) == 1
            assert other.collected_in != [here]

    asyncio.run(run())


def test_a_scrape_that_comes_while_the_first_page_is_rendered_waits_for_it() -> None:
    async def run() -> None:
        async with Endpoint().serving() as endpoint:
            slow = SlowCollector()
            endpoint.server.expose(slow, take=lambda: None)
            first = asyncio.create_task(endpoint.get("/metrics"))
            await slow.begun.wait()
            second = asyncio.create_task(endpoint.get("/metrics"))
            await endpoint.get("/livez")  # by now the second has been looked at
            done, _ = await asyncio.wait([second], timeout=0.05)
            slow.go_on.set()
            assert not done
            assert "slow 1.0" in (await first)[1]
            assert await second == await first

    asyncio.run(run())


def test_an_address_that_is_taken_is_an_error() -> None:
    async def run() -> None:
        async with Endpoint().serving() as endpoint:
            second = Endpoint()
            with pytest.raises(OSError):
                await second.server.bind("127.0.0.1", endpoint.port)
            await second.server.shutdown()

    asyncio.run(run())


def test_requests_that_come_before_the_pages_are_loaded_wait() -> None:
    async def run() -> None:
        server = AdminServer(Readiness(), SocketNetwork())
        port = await server.bind("127.0.0.1", 0)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /livez HTTP/1.0\r\n\r\n")
        await server.serve()
        assert b" 200 " in await reader.readline()
        writer.close()
        await server.shutdown()

    asyncio.run(run())


def test_an_endpoint_that_never_answered_is_closed() -> None:
    async def run() -> None:
        first, second = (AdminServer(Readiness(), SocketNetwork()) for _ in range(2))
        port = await first.bind("127.0.0.1", 0)
        await first.shutdown()
        assert await second.bind("127.0.0.1", port) == port
        await second.shutdown()

    asyncio.run(run())


def test_what_a_request_raises_is_its_client_s_whose_connection_ends() -> None:
    def broken() -> CheckResult:
        raise KeyError("a bug")

    async def run() -> None:
        errors = UnexpectedErrors(lambda _reason: None)
        endpoint = Endpoint()
        endpoint.server.expose(errors)
        endpoint.readiness.add(broken)
        async with endpoint.serving():
            with errors.watching(asyncio.get_running_loop()):
                address = f"http://127.0.0.1:{endpoint.port}/readyz"
                async with endpoint.session.get(address) as response:
                    assert (response.status, response.headers["Connection"]) == (500, "close")
                reader, writer = await asyncio.open_connection("127.0.0.1", endpoint.port)
                writer.write(b"GET / HTTP/1.1\r\nno header\r\n\r\n")  # that is no mistake of ours
                assert b" 400 " in await reader.readline()
                writer.close()
                _, page = await endpoint.get("/metrics")
        assert 'headrace_unexpected_errors_total{owner="client"} 1.0' in page
        assert 'headrace_unexpected_errors_total{owner="node"} 0.0' in page

    asyncio.run(run())
