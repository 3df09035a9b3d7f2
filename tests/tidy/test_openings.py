"""What a node opens comes from its environment: nothing else opens anything."""

import pytest

from tests.tidy import openings
from tests.tidy.source import ROOT, source, sources

PLANTED = [
    ("import socket", "socket.socket()", "socket.socket"),
    ("import socket", "socket.create_server(('', 0))", "socket.create_server"),
    ("from socket import create_connection as dial", "dial(('h', 1))", "socket.create_connection"),
    ("import asyncio", "loop.create_server(f, sock=s)", "loop.create_server"),
    ("import asyncio", "asyncio.get_running_loop().getaddrinfo(h, 0)", "getaddrinfo"),
    ("import asyncio", "asyncio.start_server(f)", "asyncio.start_server"),
    ("import time", "time.monotonic()", "time.monotonic"),
    ("import time", "clock = time.perf_counter", "time.perf_counter"),
    ("from time import time", "now = time()", "time.time"),
    ("from datetime import datetime", "datetime.now()", "datetime.datetime.now"),
    ("import random", "random.random()", "random.random"),
    ("import random", "random.SystemRandom()", "random.SystemRandom"),
    ("import random", "random.Random()", "random.Random"),
    ("import secrets", "secrets.token_bytes(4)", "secrets.token_bytes"),
    ("import uuid", "uuid.uuid4()", "uuid.uuid4"),
    ("import os", "os.open(path, os.O_RDONLY)", "os.open"),
    ("import os", "os.environ['HOME']", "os.environ"),
    ("import os", "os.urandom(4)", "os.urandom"),
    ("", "open(path)", "open"),
    ("from pathlib import Path", "Path(a).open()", "Path(a).open"),
    ("from pathlib import Path", "path.open('rb')", "path.open"),
    ("from pathlib import Path", "path.read_text()", "path.read_text"),
    ("from pathlib import Path", "(a / b).write_bytes(c)", "write_bytes"),
    ("from pathlib import Path", "path.unlink(missing_ok=True)", "path.unlink"),
    ("import threading", "threading.Lock()", "threading.Lock"),
    (
        "from headrace.daemon_threads import in_daemon_thread",
        "in_daemon_thread('n', f)",
        "in_daemon",
    ),
    ("from headrace.daemon_threads import DaemonThreads", "threads.submit(f)", "threads.submit"),
    ("from headrace.network import SocketNetwork", "network = SocketNetwork()", "SocketNetwork"),
    (
        "from headrace.storage.object_store.factory import open_object_store",
        "open_object_store(uri, rng=rng)",
        "open_object_store",
    ),
    (
        "from headrace.wal.device.open_device import open_device",
        "opener = open_device",
        "open_device",
    ),
]
# A part of a node that knows loops, clocks and threads by their ports.
PART = "broker/api/produce.py"


def test_nothing_else_opens_anything() -> None:
    found = [f"{it.path}: {what}" for it in sources() for what in openings.opens_nothing(it)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(("imports", "code", "says"), PLANTED)
def test_what_is_planted_is_found(imports: str, code: str, says: str) -> None:
    text = (ROOT / PART).read_text()
    found = [*openings.opens_nothing(source(PART, f"{text}\n{imports}\ndef f():\n    {code}\n"))]
    assert found
    assert says in found[0]


@pytest.mark.parametrize(
    "code",
    [
        "import random\nrng: random.Random = random.Random(7)",
        "import socket\nlevel = socket.IPPROTO_TCP",
        "import os\ntext = os.strerror(5)",
        "await stream.open(stream_id, epoch)",
        "store.open(node_id=1)",
        "directory.unlink(name)\ndirectory.open(name)",
        "loop.run_in_executor(threads, f)\nasyncio.sleep(1)\nloop.time()",
        "def f(resource, time):\n    return resource.name, time.value",
    ],
)
def test_what_opens_nothing_is_left_alone(code: str) -> None:
    assert not [*openings.opens_nothing(source(PART, code))]


def test_every_exception_is_needed() -> None:
    """One that nothing uses any more would hide the next mistake."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(openings, "OPENERS", {})
        found = [
            f"{it.path}: {what.partition(' uses ')[2]}"
            for it in sources()
            for what in openings.opens_nothing(it)
        ]
    unused = [it for it in openings.OPENERS if not any(what.startswith(it) for what in found)]
    assert not unused
