"""`/compact` over HTTP, and the metrics of what goes on in the background."""

import asyncio

import aiohttp
import pytest
from prometheus_client import CollectorRegistry, generate_latest

from headrace.broker.admin.admin_http import AdminServer
from headrace.broker.collectors.background_metrics import BackgroundCollector
from headrace.broker.partition.leadership import OpeningStatistics
from headrace.broker.partition.retention import RetentionStatistics
from headrace.broker.telemetry.readiness import Readiness
from headrace.network import SocketNetwork
from headrace.storage.compaction.statistics import CompactionStatistics
from headrace.storage.deletion import DeletionStatistics
from headrace.storage.sweep.sweeper import SweepStatistics

JSON = {"Content-Type": "application/json"}


class Compaction:
    def __init__(self) -> None:
        self.statistics = CompactionStatistics(rounds=4, rounds_finished=3, bytes_in=70)
        self.asked = 0

    def ask(self) -> int:
        self.asked += 1
        return 5


def ask(compaction: Compaction | None, method: str, headers=JSON) -> tuple[int, object]:
    async def run() -> tuple[int, object]:
        server = AdminServer(Readiness(), SocketNetwork())
        if compaction is not None:
            server.compaction = compaction
        port = await server.bind("127.0.0.1", 0)
        await server.serve()
        try:
            async with (
                aiohttp.ClientSession() as session,
                session.request(
                    method, f"http://127.0.0.1:{port}/compact", data=b"{}", headers=headers
                ) as response,
            ):
                return response.status, await response.json()
        finally:
            await server.shutdown()

    return asyncio.run(run())


def test_a_round_is_asked_for_and_looked_at() -> None:
    compaction = Compaction()
    assert ask(compaction, "POST") == (202, {"round": 5})
    assert compaction.asked == 1
    status, found = ask(compaction, "GET")
    assert (status, found["rounds"], found["rounds_finished"], found["bytes_in"]) == (200, 4, 3, 70)
    assert compaction.asked == 1


def test_web_pages_may_not_ask() -> None:
    compaction = Compaction()
    assert ask(compaction, "POST", JSON | {"Origin": "http://evil.example"})[0] == 403
    assert ask(compaction, "POST", {"Content-Type": "text/plain"})[0] == 415
    assert compaction.asked == 0


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_node_that_starts(method: str) -> None:
    assert ask(None, method) == (503, {"error": "the node is starting"})


def test_metrics() -> None:
    registry = CollectorRegistry()
    compaction = CompactionStatistics(
        rounds=2, rounds_finished=1, copied_bytes=9, group_bytes=10, group_done_bytes=4
    )
    sweep = SweepStatistics(removed_objects=3, aborted_uploads=2, beyond_metadata=1)
    retention = RetentionStatistics(deletions_total=5, deleted_records_total=6, failures_total=8)
    deletion = DeletionStatistics(deleted_objects=7)
    registry.register(
        BackgroundCollector(OpeningStatistics(), retention, compaction, deletion, sweep, lambda: 0)
    )
    page = generate_latest(registry).decode()
    for line in (
        "headrace_retention_deletions_total 5.0",
        "headrace_retention_deleted_records_total 6.0",
        "headrace_retention_deleted_bytes_total 0.0",
        "headrace_retention_failures_total 8.0",
        "headrace_compaction_running 1.0",
        "headrace_compaction_rounds_total 1.0",
        "headrace_compaction_copied_bytes_total 9.0",
        "headrace_compaction_group_bytes 10.0",
        "headrace_compaction_group_done_bytes 4.0",
        "headrace_deletion_objects_total 7.0",
        "headrace_sweep_removed_objects_total 3.0",
        "headrace_sweep_aborted_uploads_total 2.0",
        "headrace_sweep_beyond_metadata_objects 1.0",
    ):
        assert line in page.splitlines()
