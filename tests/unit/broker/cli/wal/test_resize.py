"""`headrace wal resize` against an admin listener that says what a node would."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import click
import pytest
from click.testing import CliRunner

from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.sizes import SizeType, size_text
from headrace.broker.cli.wal.resize import resize

MIB = 1 << 20
PLACE = {"s3.wal.path": f"0@file:///data/wal?capacity={512 * MIB}"}
ANSWER = {
    "old": 256 * MIB,
    "new": 512 * MIB,
    "pause_ms": 12.5,
    "uploaded_bytes": 1000,
    "duration_ms": 80.0,
    "configuration": PLACE,
}


@contextmanager
def node(status: int, body: Mapping[str, object] | bytes) -> Iterator[tuple[str, list[object]]]:
    """Yield the address of a listener that gives one answer, and what it was asked."""
    asked: list[object] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            asked.append((self.path, self.headers["Content-Type"], json.loads(content)))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body if isinstance(body, bytes) else json.dumps(body).encode())

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}", asked
        finally:
            server.shutdown()
            thread.join()


def test_it_asks_the_node_and_says_what_to_set() -> None:
    with node(200, ANSWER) as (admin, asked):
        result = CliRunner().invoke(resize, ["512MiB", "--admin", admin])
    assert result.exit_code == 0, result.output
    assert asked == [("/wal/resize", "application/json", {"capacity_bytes": 512 * MIB})]
    assert "resized from 256MiB to 512MiB; producers waited for 12.5 ms" in result.stderr
    assert f"\ns3.wal.path={PLACE['s3.wal.path']}\n" in result.stderr
    assert "uploaded bytes  1000" in result.stdout


def test_its_result_is_for_programs_too() -> None:
    with node(200, ANSWER) as (admin, _):
        result = CliRunner().invoke(
            resize, ["512MiB", "-o", "json"], env={"HEADRACE_ADMIN_SERVER": admin}
        )
    assert json.loads(result.stdout) == ANSWER


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (422, {"error": "the device has 5 bytes"}, "the device has 5 bytes\nThe WAL is as it was."),
        (503, {"error": "away"}, "away\nThe WAL is as it was: try again later."),
        (404, b"404: Not Found", "answers 404 to a resize\nCheck that this is the admin listener"),
        (200, b"no JSON", "no node answers"),
    ],
)
def test_a_refusal_is_told_with_the_next_step(
    status: int, body: Mapping[str, object] | bytes, message: str
) -> None:
    with node(status, body) as (admin, _):
        result = CliRunner().invoke(resize, ["512MiB", "--admin", admin])
    assert isinstance(result.exception, CommandFailedError)
    assert result.exception.exit_code == 1
    assert message in str(result.exception)


def test_nobody_there() -> None:
    result = CliRunner().invoke(resize, ["512MiB", "--admin", "127.0.0.1:1"])
    assert isinstance(result.exception, CommandFailedError)
    assert "no node answers at 127.0.0.1:1" in str(result.exception)
    assert "--admin HOST:PORT" in str(result.exception)


@pytest.mark.parametrize("admin", ["9644", "host", ":9644", "http://host:9644", "host:port"])
def test_an_address_is_host_and_port(admin: str) -> None:
    result = CliRunner().invoke(resize, ["512MiB", "--admin", admin])
    assert result.exit_code == 2
    assert "is not HOST:PORT" in result.output


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1048576", MIB),
        ("512MiB", 512 * MIB),
        ("4GiB", 4 << 30),
        ("4 gib", 4 << 30),
        ("1TiB", 1 << 40),
        ("12KiB", 12 << 10),
        ("7B", 7),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert SizeType().convert(text, None, None) == size
    assert SizeType().convert(size_text(size), None, None) == size


@pytest.mark.parametrize(
    "text", ["", "4GB", "4G", "1.5GiB", "-1", "GiB", "0x10", "4GiBs", "\u0661"]
)
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is not a size"):
        SizeType().convert(text, None, None)


def test_help_says_what_it_does() -> None:
    text = " ".join(CliRunner().invoke(resize, ["--help"]).output.split())
    for part in ("SIZE", "--admin", "HEADRACE_ADMIN_SERVER", "s3.wal.path", "No record is lost"):
        assert part in text
