"""The admin endpoint of a node: stage, readiness, metrics, and its address."""

from prometheus_client import CollectorRegistry

from headrace.broker.admin.admin_http import AdminServer
from headrace.broker.telemetry.loop_turns import LoopTurns
from headrace.broker.telemetry.readiness import CheckResult, Readiness
from headrace.config.node import TelemetryConfig

NO_ADMIN_ENDPOINT = -1
SERVING = "serving"


class NodeAdmin:
    """The admin endpoint of one node; its roles add checks and metrics."""

    def __init__(self, config: TelemetryConfig) -> None:
        self._config = config
        self.readiness = Readiness()
        self.server = AdminServer(CollectorRegistry(), self.readiness)
        self.turns = LoopTurns()
        self.server.expose(self.turns)
        self.stage = "starting"
        self.url = ""  # none, or not started yet
        self.readiness.add(lambda: CheckResult("state", self.stage == SERVING, self.stage))

    async def start(self) -> None:
        """Bind, unless the endpoint is disabled.

        Raises:
            OSError: the address is in use, or not an address of this machine.
        """
        if self._config.admin_port == NO_ADMIN_ENDPOINT:
            return
        port = await self.server.start(self._config.admin_host, self._config.admin_port)
        self.url = f"http://{self._config.admin_host}:{port}"

    async def shutdown(self) -> None:
        """Close the endpoint."""
        await self.server.shutdown()
