"""`headrace cluster balance`, against the admin endpoint with an answer like a controller's."""

import asyncio
import json
import threading

import pytest

from headrace.broker.admin.admin_http import AdminServer
from headrace.broker.cli.root import run
from headrace.broker.telemetry.readiness import Readiness
from headrace.metadata.errors import ControllerUnavailableError
from headrace.metadata.rpc.responses import BalanceDescribed, BalanceMove, BrokerShare
from headrace.network import SocketNetwork

MOVE = BalanceMove(1_767_225_600_000, "orders", 3, 1, 2, "traffic", "broker 1 has much", "moved")
SHARES = (BrokerShare(1, "a", True, 12, 120 << 20), BrokerShare(2, "", False, 0, 0))


@pytest.fixture
def ask():
    """Run the command against a node that answers so, and return its exit code and what the node was asked."""

    def asked(answer, *arguments):
        seen = []

        async def balance(request):
            seen.append(request.dry_run)
            if isinstance(answer, Exception):
                raise answer
            return answer

        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever)
        thread.start()
        server = AdminServer(Readiness(), SocketNetwork())
        server.balance = None if answer is None else balance

        async def serve():
            port = await server.bind("127.0.0.1", 0)
            await server.serve()
            return port

        try:
            port = asyncio.run_coroutine_threadsafe(serve(), loop).result(30)
            code = run(["cluster", "balance", "--admin", f"127.0.0.1:{port}", *arguments])
        finally:
            asyncio.run_coroutine_threadsafe(server.shutdown(), loop).result(30)
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()
        return code, seen

    return asked


def test_it_shows_shares_and_decisions_with_their_reasons(ask, capsys):
    answer = BalanceDescribed(None, ("traffic",), (), 2, SHARES, (MOVE,), None)
    assert ask(answer) == (0, [False])
    shown = capsys.readouterr().out
    assert "evening out traffic" in shown
    assert "120.0 MiB/s" in shown
    assert "broker 1 has much" in shown
    assert "It would begin" not in shown


def test_a_dry_run_shows_what_it_would_do(ask, capsys):
    answer = BalanceDescribed("it is switched off", (), (), 0, SHARES, (), (MOVE,))
    assert ask(answer, "--dry-run") == (0, [True])
    shown = capsys.readouterr().out
    assert "it is switched off" in shown
    assert "It would begin" in shown


def test_programs_get_all_fields(ask, capsys):
    answer = BalanceDescribed(None, (), (), 0, SHARES, (MOVE,), None)
    assert ask(answer, "--output", "json")[0] == 0
    told = json.loads(capsys.readouterr().out)
    assert told["decisions"][0]["reason"] == "broker 1 has much"
    assert told["brokers"][1]["takes_part"] is False


@pytest.mark.parametrize("answer", [None, ControllerUnavailableError("no controller answers")])
def test_no_answer_is_an_error(ask, answer, capsys):
    assert ask(answer)[0] != 0
    assert "starting" in (err := capsys.readouterr().err) or "no controller answers" in err
