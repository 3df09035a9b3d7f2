"""`headrace bucket compact` against an admin listener that says what a node would."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from headrace.broker.cli.bucket import compact as bucket_compact
from headrace.broker.cli.root import run

COUNTERS = dict.fromkeys(bucket_compact._COUNTERS, 10)


class Node:
    """A round takes `polls` looks; then the counters have grown."""

    def __init__(self, polls=2, grown=(), status=200):
        self.polls = polls
        self.grown = dict(grown)
        self.status = status
        self.posts = 0

    def answer(self, method):
        if method == "POST":
            self.posts += 1
            return {"round": 8}
        if self.posts:
            self.polls -= 1
        over = self.posts and self.polls < 0
        counters = {name: 10 + (self.grown.get(name, 0) if over else 0) for name in COUNTERS}
        return {
            "rounds": 8,
            "rounds_finished": 8 if over else 7,
            "group_bytes": 4096,
            "group_done_bytes": 1024,
            **counters,
        }


@contextmanager
def serving(node):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            body = json.dumps(node.answer(self.command)).encode()
            self.send_response(node.status)
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            assert self.headers["Content-Type"] == "application/json"
            self.do_GET()

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(bucket_compact, "POLL_S", 0.001)
    monkeypatch.setattr(bucket_compact, "TOLD_EVERY_S", 0)


def test_it_waits_and_says_what_was_done(capsys):
    with serving(Node(grown={"groups": 2, "bytes_in": 500})) as admin:
        assert run(["bucket", "compact", "--admin", admin, "--json"]) == 0
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert (found["groups"], found["bytes_in"], found["failures"]) == (2, 500, 0)
    assert "1.0 KiB of 4.0 KiB" in said.err


def test_it_need_not_wait(capsys):
    with serving(Node(polls=10**9)) as admin:
        assert run(["bucket", "compact", "--admin", admin, "--no-wait", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"round": 8}


@pytest.mark.parametrize("counter", ["failures", "damaged_objects"])
def test_what_failed_is_an_exit_code(counter):
    with serving(Node(grown={counter: 1})) as admin:
        assert run(["bucket", "compact", "--admin", admin]) == 1


def test_nobody_answers(capsys):
    assert run(["bucket", "compact", "--admin", "127.0.0.1:1"]) == 1
    assert "--admin HOST:PORT" in capsys.readouterr().err
    with serving(Node(status=404)) as admin:
        assert run(["bucket", "compact", "--admin", admin]) == 1
    assert "404" in capsys.readouterr().err
