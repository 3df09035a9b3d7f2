"""Exceptions that no code expected, in a real process: the node ends, or one client's connection does."""

import subprocess
import sys
from pathlib import Path

import pytest

# Starts a node as the command line does; once it serves, something in it raises.
PROGRAM = """
import asyncio, os, signal, sys, threading
from headrace.broker.admin.admin_http import AdminServer
from headrace.broker.app import run_node
from headrace.broker.telemetry.loop_turns import LoopTurns
from headrace.config.load import load
from headrace.daemon_threads import DaemonThreads

def broken(*_):
    raise KeyError("planted")

class Broken:
    def __del__(self):
        raise KeyError("planted")

async def broken_task():
    raise KeyError("planted")

def plant(address):
    loop = asyncio.get_running_loop()
    print("serving", flush=True)
    match {where!r}:
        case "callback":
            loop.call_soon(broken)
        case "timer":
            loop.call_later(0.01, broken)
        case "task":
            loop.create_task(broken_task())
        case "future":
            loop.create_future().set_exception(KeyError("planted"))
        case "thread":
            threading.Thread(target=broken, name="planted").start()
        case "shutdown":
            original = AdminServer.shutdown
            async def shutdown(server):
                loop.call_soon(broken)
                await asyncio.sleep(0.01)
                await original(server)
            AdminServer.shutdown = shutdown
            os.kill(os.getpid(), signal.SIGTERM)
        case "callback of a future":
            DaemonThreads(1, "planted").submit(int).add_done_callback(broken)
        case "object that goes":
            Broken()
        case "job":
            LoopTurns.look = broken
        case "callback, and no thread can be started":
            # As if memory was short: the system grants a thread, which dies before its first line.
            threading._start_new_thread = lambda *_: 0
            loop.call_soon(broken)
        case "executor callback":
            loop.run_in_executor(None, int).add_done_callback(broken)

overrides = {overrides!r}
sys.exit(run_node(load(overrides=overrides).config, ready=plant))
"""


def settings(directory: Path) -> list[str]:
    return [
        "listeners=PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:0",
        "process.roles=broker,controller",
        "node.id=1",
        f"log.dirs={directory}",
        "s3.wal.path=0@file://wal?capacity=33554432",
        "headrace.admin.listener=none",
    ]


@pytest.mark.parametrize(
    "where",
    [
        "callback",
        "timer",
        "task",
        "future",
        "thread",
        "executor callback",
        "callback of a future",
        "object that goes",
        "job",
        "callback, and no thread can be started",
        "shutdown",
    ],
)
def test_what_belongs_to_the_node_ends_it_with_its_reason(where: str, tmp_path: Path) -> None:
    program = PROGRAM.format(where=where, overrides=settings(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert "serving" in done.stdout, done.stderr
    assert done.returncode == 1, done.stderr
    assert "unexpected error, the node ends" in done.stderr
    assert "KeyError('planted')" in done.stderr
