"""`/logs` and `/logs/accept-loss` over HTTP."""

import asyncio
import json
from typing import Any

import aiohttp
import pytest

from headrace.broker.admin.admin_http import AdminServer
from headrace.broker.admin.json_http import MAX_BODY_BYTES
from headrace.broker.admin.logs_http import LOSS_PATH, MAX_GENERATION, PATH
from headrace.broker.telemetry.readiness import Readiness
from headrace.metadata.errors import ControllerUnavailableError
from headrace.metadata.follower.log_admin import LogAdmin
from headrace.metadata.rpc.requests import AcceptLogLoss
from headrace.network import SocketNetwork
from tests.unit.metadata.pure_controller import PureController

JSON = {"Content-Type": "application/json"}


class Cluster:
    """Brokers 1 and 2; 1 leads a topic, and has ended."""

    def __init__(self, level: int = 2) -> None:
        self.controller = PureController(level=level)
        for node_id in (1, 2):
            self.controller.register(node_id)
            if level > 1:
                self.controller.begin_log(node_id, reach=())
        self.controller.led_by(1, "orders", partitions=2)
        self.controller.fence(1)
        self.unavailable = False
        self.logs = LogAdmin(lambda: self.controller.image, self._send)

    def wanted(self, number: int = 1, **changes: object) -> dict[str, object]:
        generation = self.controller.log(number).generation
        return {"log_id": number, "generation": generation, "damaged_only": False} | changes

    async def _send(self, request: AcceptLogLoss) -> object:
        if self.unavailable:
            raise ControllerUnavailableError("no answer")
        return self.controller.do(request)


def ask(
    logs: LogAdmin | None,
    method: str,
    path: str,
    body: object = None,
    headers: dict[str, str] = JSON,
) -> tuple[int, Any]:
    async def run() -> tuple[int, Any]:
        server = AdminServer(Readiness(), SocketNetwork())
        server.logs = logs
        port = await server.bind("127.0.0.1", 0)
        await server.serve()
        url = f"http://127.0.0.1:{port}{path}"
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        try:
            async with (
                aiohttp.ClientSession() as session,
                session.request(method, url, data=data, headers=headers) as response,
            ):
                return response.status, await response.json()
        finally:
            await server.shutdown()

    return asyncio.run(run())


def test_logs_are_shown_with_the_partitions_that_wait() -> None:
    cluster = Cluster()

    status, found = ask(cluster.logs, "GET", PATH)

    assert status == 200
    one, two = found["logs"]
    assert (one["log_id"], one["state"], one["owner_state"]) == (1, "active", "expired")
    assert (one["offline_partitions"], one["partitions"]) == (2, {"orders": [0, 1]})
    assert (two["owner_state"], two["offline_partitions"]) == ("active", 0)


def test_a_loss_is_accepted_and_may_be_repeated() -> None:
    cluster = Cluster()
    wanted = cluster.wanted()

    assert ask(cluster.logs, "POST", LOSS_PATH, wanted) == (200, wanted)
    assert ask(cluster.logs, "POST", LOSS_PATH, wanted) == (200, wanted)

    _, found = ask(cluster.logs, "GET", PATH)
    assert (found["logs"][0]["state"], found["logs"][0]["offline_partitions"]) == ("lost", 0)


def test_damage_alone_is_accepted() -> None:
    cluster = Cluster()

    assert ask(cluster.logs, "POST", LOSS_PATH, cluster.wanted(damaged_only=True))[0] == 200

    _, found = ask(cluster.logs, "GET", PATH)
    assert (found["logs"][0]["state"], found["logs"][0]["damage_accepted"]) == ("active", True)


@pytest.mark.parametrize(
    ("number", "changes", "status", "reason"),
    [
        (1, {"log_id": 9}, 404, "there is no log 9"),
        (1, {"generation": "another"}, 422, "not another"),
        (2, {}, 422, "in use by broker 2"),
    ],
)
def test_a_refusal_says_why(
    number: int, changes: dict[str, object], status: int, reason: str
) -> None:
    cluster = Cluster()
    before = cluster.controller.image

    answered, found = ask(cluster.logs, "POST", LOSS_PATH, cluster.wanted(number, **changes))

    assert answered == status
    assert reason in found["error"]
    assert cluster.controller.image is before


def test_without_a_leader_the_outcome_is_unknown() -> None:
    cluster = Cluster()
    cluster.unavailable = True

    assert ask(cluster.logs, "POST", LOSS_PATH, cluster.wanted()) == (503, {"error": "no answer"})


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"\xff",
        None,
        [],
        {},
        {"log_id": 1, "generation": "g"},
        {"log_id": True, "generation": "g", "damaged_only": False},
        {"log_id": -1, "generation": "g", "damaged_only": False},
        {"log_id": 2**31, "generation": "g", "damaged_only": False},
        {"log_id": 1, "generation": "", "damaged_only": False},
        {"log_id": 1, "generation": "g" * (MAX_GENERATION + 1), "damaged_only": False},
        {"log_id": 1, "generation": "g", "damaged_only": 0},
        {"log_id": 1, "generation": "g", "damaged_only": False, "force": True},
        b" " * (MAX_BODY_BYTES + 1),
    ],
)
def test_another_body_is_refused(body: object) -> None:
    cluster = Cluster()
    before = cluster.controller.image

    assert ask(cluster.logs, "POST", LOSS_PATH, body)[0] == 400
    assert cluster.controller.image is before


@pytest.mark.parametrize(
    ("headers", "status"),
    [(JSON | {"Origin": "http://evil.example"}, 403), ({"Content-Type": "text/plain"}, 415)],
)
def test_web_pages_may_not_ask(headers: dict[str, str], status: int) -> None:
    cluster = Cluster()
    before = cluster.controller.image

    assert ask(cluster.logs, "POST", LOSS_PATH, cluster.wanted(), headers)[0] == status
    assert cluster.controller.image is before


@pytest.mark.parametrize(("method", "path"), [("GET", PATH), ("POST", LOSS_PATH)])
def test_a_node_that_starts(method: str, path: str) -> None:
    wanted = {"log_id": 1, "generation": "g", "damaged_only": False}

    assert ask(None, method, path, wanted) == (503, {"error": "the node is starting"})
