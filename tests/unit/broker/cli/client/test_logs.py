"""`headrace cluster accept-loss`, and the logs of `headrace cluster describe`, against a listener like a node's."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from headrace.broker.cli.client import cluster
from headrace.broker.cli.root import run

GENERATION = "0123456789abcdef"
LOG = {
    "log_id": 3,
    "owner": 3,
    "owner_state": "expired",
    "owner_ended_ms": 1_767_225_600_000,
    "state": "active",
    "generation": GENERATION,
    "medium": "file",
    "places": ["host:/wal"],
    "drainer": None,
    "draining_since_ms": None,
    "waiting": "waits for its owner (broker 2: not there)",
    "damage_accepted": False,
    "refusals": ["broker 2: not there"],
    "offline_partitions": 33,
    "partitions": {"orders": list(range(25)), **{f"topic{it:02}": [0] for it in range(21)}},
}


class Node:
    """Shows one log, and answers a POST with a status."""

    def __init__(self, status=200, error=None, log=LOG):
        self.log = log
        self.status = status
        self.error = error
        self.asked = []


@contextmanager
def serving(node):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            assert self.path == "/logs"
            self.tell(200, {"logs": [node.log]})

        def do_POST(self):
            assert self.path == "/logs/accept-loss"
            assert self.headers["Content-Type"] == "application/json"
            node.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.tell(node.status, {} if node.error is None else {"error": node.error})

        def tell(self, status, body):
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *args):
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def accept(node, *options, log="3"):
    with serving(node) as admin:
        arguments = ["cluster", "accept-loss", log, "--generation", GENERATION, "--admin", admin]
        return run([*arguments, *options])


@pytest.mark.parametrize(("option", "damaged_only"), [((), False), (("--damaged-only",), True)])
def test_it_says_what_is_lost_and_gives_the_log_up(capsys, option, damaged_only):
    node = Node()
    assert accept(node, "--yes", "--json", *option) == 0
    wanted = {"log_id": 3, "generation": GENERATION, "damaged_only": damaged_only}
    assert node.asked == [wanted]
    told = capsys.readouterr()
    assert json.loads(told.out) == {**wanted, "result": "accepted"}
    assert "log 3 of broker 3 (expired since 2026-01-01T00:00:00.000Z): active" in told.err
    assert "not read by broker 2: not there" in told.err
    assert "lost for good" in told.err
    assert "Partitions that wait for it: 33" in told.err
    assert "18, 19 and 5 more\n" in told.err
    assert "and of 2 more topics" in told.err


def test_without_a_terminal_it_is_confirmed_by_an_option(capsys):
    node = Node()
    assert accept(node) == 2
    assert "confirm it with --yes" in capsys.readouterr().err
    assert node.asked == []


def test_an_unknown_log_is_not_asked_for(capsys):
    node = Node()
    assert accept(node, "--yes", log="4") == 1
    assert "there is no log 4" in capsys.readouterr().err
    assert node.asked == []


@pytest.mark.parametrize(
    ("status", "error", "told"),
    [
        (422, "log 3 is in use by broker 3", "in use by broker 3\nNothing was changed."),
        (503, "no answer", "run the command again"),
        (500, None, "answers 500 to the acceptance of a loss"),
    ],
)
def test_a_refusal_is_told_with_the_next_step(capsys, status, error, told):
    assert accept(Node(status, error), "--yes") == 1
    assert told in capsys.readouterr().err


class Admin:
    def describe_cluster(self):
        return {"cluster_id": "c", "brokers": [{"broker_id": 3, "is_fenced": True}]}

    def describe_topics(self):
        leaders = {"a": (3, -1, 3), "__consumer_offsets": (-1,)}
        return [
            {
                "is_internal": name.startswith("__"),
                "partitions": [{"leader_id": leader_id} for leader_id in led],
            }
            for name, led in leaders.items()
        ]


@pytest.fixture
def kafka(monkeypatch):
    @contextmanager
    def client(_bootstrap):
        yield Admin()

    monkeypatch.setattr(cluster, "admin_client", client)
    quorum = ({"leader_id": 101, "current_voters": [101]}, None)
    monkeypatch.setattr(cluster, "describe_quorum", lambda _admin: quorum)
    monkeypatch.delenv("HEADRACE_ADMIN_SERVER", raising=False)


@pytest.mark.usefixtures("kafka")
def test_describe_shows_the_logs_that_an_admin_listener_tells(capsys):
    with serving(Node()) as admin:
        assert run(["cluster", "describe", "--admin", admin]) == 0
        table, told = capsys.readouterr()
        assert run(["cluster", "describe", "--admin", admin, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["brokers_fenced"], found["logs"][0]["generation"]) == (1, GENERATION)
    assert found["logs"][0]["owner_ended"] == "2026-01-01T00:00:00.000Z"
    row = table.splitlines()[-1].split()
    assert row == [
        "3", "3", "expired", "2026-01-01T00:00:00.000Z", "active", GENERATION, "host:/wal", "-", "-",
        "33",
    ]  # fmt: skip
    assert "log 3 waits for its owner (broker 2: not there)" in told


@pytest.mark.usefixtures("kafka")
def test_describe_shows_who_drains_a_log_and_since_when(capsys):
    drained = {**LOG, "state": "draining", "drainer": 2, "draining_since_ms": 1_767_225_601_000}
    with serving(Node(log={**drained, "waiting": None})) as admin:
        assert run(["cluster", "describe", "--admin", admin]) == 0
    row = capsys.readouterr().out.splitlines()[-1].split()
    assert row[-3:] == ["2", "2026-01-01T00:00:01.000Z", "33"]


@pytest.mark.usefixtures("kafka")
def test_describe_counts_partitions_without_a_leader_and_says_how_to_see_the_logs(capsys):
    assert run(["cluster", "describe"]) == 0
    told = capsys.readouterr()
    assert "why partitions wait for a leader: --admin HOST:PORT" in told.err
    assert run(["cluster", "describe", "--json"]) == 0
    described = json.loads(capsys.readouterr().out)
    assert "logs" not in described
    assert (described["partitions"], described["partitions_without_leader"]) == (3, 2)
