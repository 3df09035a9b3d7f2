"""The admin endpoint of a node: stage, readiness, metrics, and its address."""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from prometheus_client.registry import Collector

from headrace.broker.admin.admin_http import AdminServer
from headrace.broker.collectors.offline_metrics import check_logs
from headrace.broker.node.environment import NodeEnvironment
from headrace.broker.telemetry.loop_turns import LoopTurns
from headrace.broker.telemetry.readiness import Check, CheckResult, Readiness
from headrace.config.node import TelemetryConfig
from headrace.metadata.follower.log_admin import LogAdmin
from headrace.turns import Turns

if TYPE_CHECKING:
    from headrace.broker.admin.balance_http import AskBalance
    from headrace.broker.admin.compaction_http import Compaction
    from headrace.broker.admin.wal_resize_http import Resize

NO_ADMIN_ENDPOINT = -1
SERVING = "serving"
SERVED_AFTER_MS = 2_000  # requests to the endpoint of a node that starts wait no longer


class NodeAdmin:
    """The admin endpoint of one node; its roles add checks and metrics."""

    def __init__(self, config: TelemetryConfig, environment: NodeEnvironment) -> None:
        self._config = config
        self.readiness = Readiness()
        self.server = AdminServer(self.readiness, environment.network)
        self.turns = LoopTurns(environment.monotonic_s, environment.thread_time_s)
        self.server.expose(self.turns)
        self._stage = "starting"
        self.serving = asyncio.Event()  # the node is ready
        self.url = ""  # none, or not started yet
        self.readiness.add(lambda: CheckResult("state", self.stage == SERVING, self.stage))
        self.readiness.add(self._check_logs)

    @property
    def stage(self) -> str:
        """What the node does now, a word or two for its operator."""
        return self._stage

    @stage.setter
    def stage(self, stage: str) -> None:
        self._stage = stage
        if stage == SERVING:
            self.serving.set()

    def _check_logs(self) -> CheckResult:
        logs = self.server.logs
        return check_logs(None if logs is None else logs.image)

    async def bind(self) -> None:
        """Bind, unless the endpoint is disabled.

        Raises:
            OSError: the address is in use, or not an address of this machine.
        """
        if self._config.admin_port == NO_ADMIN_ENDPOINT:
            return
        port = await self.server.bind(self._config.admin_host, self._config.admin_port)
        self.url = f"http://{self._config.admin_host}:{port}"

    async def serve(self) -> None:
        """Answer requests, once the node is ready, or when that takes long.

        To load what the endpoint needs would make the first partitions wait.
        """
        if not self.url:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(SERVED_AFTER_MS / 1000):
                await self.serving.wait()
        await self.server.serve()

    async def shutdown(self) -> None:
        """Close the endpoint."""
        await self.server.shutdown()


class RoleAdmin:
    """What one role adds to the admin endpoint of its node, and takes back when it ends.

    The endpoint outlives the role: what stayed there would keep all of the role in memory, and show it beside the next.
    """

    def __init__(self, node: NodeAdmin) -> None:
        self.node = node
        self._additions = ExitStack()

    def expose(self, *collectors: Collector) -> None:
        """Add metrics."""
        for collector in collectors:
            self.node.server.expose(collector)
            self._additions.callback(self.node.server.withdraw, collector)

    def check(self, *checks: Check) -> None:
        """Add conditions of readiness."""
        for check in checks:
            self.node.readiness.add(check)
            self._additions.callback(self.node.readiness.remove, check)

    def answer_logs(self, logs: LogAdmin, balance: "AskBalance") -> None:
        """Answer what operators ask of the metadata."""
        server = self.node.server
        self._additions.callback(setattr, server, "logs", server.logs)
        self._additions.callback(setattr, server, "balance", server.balance)
        server.logs, server.balance = logs, balance

    def answer_storage(self, compaction: "Compaction", resize: "Resize") -> None:
        """Answer what operators ask of the bucket and the WAL."""
        server = self.node.server
        self._additions.callback(setattr, server, "compaction", None)
        self._additions.callback(setattr, server, "resize", None)
        server.compaction, server.resize = compaction, resize

    def name_turns(self, who: Callable[[], str]) -> None:
        """Name the requests that had long turns of the event loop."""
        turns = self.node.turns
        self._additions.callback(setattr, turns, "who", turns.who)
        turns.who = who

    def measure_turns(self, *works: Turns) -> None:
        """Measure turns from the moment in which this work begins, however long none was done."""
        for work in works:
            work.on_turn.append(self.node.turns.wake)
            self._additions.callback(work.on_turn.remove, self.node.turns.wake)

    def take_back(self) -> None:
        """Take everything back; it may be repeated."""
        self._additions.close()
