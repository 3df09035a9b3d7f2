"""The admin endpoint of a node: stage, readiness, metrics, and its address."""

import asyncio
from contextlib import suppress

from headrace.broker.admin.admin_http import AdminServer
from headrace.broker.collectors.offline_metrics import check_logs
from headrace.broker.node.environment import NodeEnvironment
from headrace.broker.telemetry.loop_turns import LoopTurns
from headrace.broker.telemetry.readiness import CheckResult, Readiness
from headrace.config.node import TelemetryConfig

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
