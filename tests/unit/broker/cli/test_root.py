"""The program as a whole: what help costs, exit codes, interruptions, readers that go away."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import click
import pytest

from headrace.broker.cli.root import run
from headrace.broker.cli.version import program_version
from tests.unit.broker.cli.command_tree import command_at, command_lines

ROOT = Path(__file__).parents[4]
# What takes long to import; help must not need any of it.
SLOW = ("kafka", "rich", "aiohttp", "boto3", "obstore", "uvloop", "prometheus_client", "asyncio")
# What a node loads when its first partition is open, or not at all.
LATER = ("rich", "aiohttp", "boto3", "botocore", "obstore")
OF_THE_PRODUCT = ("config.", "storage.", "wal.", "metadata.", "protocol.", "headrace.broker.app")


def headrace(*arguments, **options):
    """Start the program as its users do."""
    return subprocess.Popen(
        [sys.executable, "-m", "headrace.broker", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def test_help_of_every_command_loads_nothing_slow():
    lines = [list(path) for path in command_lines()]
    assert ["topic", "create"] in lines
    script = f"""
import io, json, sys
from contextlib import redirect_stdout
from headrace.broker.cli.root import run
sys.executable = "/bin/true"  # processes of Spark's jobs add their own options: `test_help`
for line in {lines!r}:
    with redirect_stdout(io.StringIO()) as shown:
        assert run([*line, "--help"]) == 0, line
    assert "Usage: headrace" in shown.getvalue(), line
print(json.dumps(sorted(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, check=True)
    loaded = json.loads(done.stdout)
    assert [name for name in loaded if name.split(".")[0] in SLOW] == []
    assert [name for name in loaded if name.startswith(OF_THE_PRODUCT)] == []


def test_every_command_is_documented():
    for path in command_lines():
        command = command_at(path)
        assert command.help, path
        for parameter in command.params:
            assert isinstance(parameter, click.Argument) or parameter.help, (path, parameter)


def test_the_short_form_of_help_works(capsys):
    assert run(["topic", "-h"]) == 0
    assert "Create topics." in capsys.readouterr().out


def test_the_version_is_an_option_too(capsys):
    assert run(["version"]) == 0
    first = capsys.readouterr().out.split("\n")[0]
    for arguments in (["--version"], ["--version", "no-such-command"]):
        assert run(arguments) == 0
        output = capsys.readouterr()
        assert (output.out, output.err) == (f"{' '.join(first.split())}\n", "")
    assert output.out == f"headrace {program_version()}\n"


def test_the_version_loads_nothing_slow():
    script = """
import json, sys
from headrace.broker.cli.root import run
assert run(["--version"]) == 0
print(json.dumps(sorted(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, check=True)
    loaded = json.loads(done.stdout.splitlines()[-1])
    assert [name for name in loaded if name.split(".")[0] in SLOW] == []
    assert [name for name in loaded if name.startswith(OF_THE_PRODUCT)] == []


def test_the_application_loads_nothing_that_its_first_partition_need_not_wait_for():
    script = "import json, sys, headrace.broker.app; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, check=True)
    loaded = {name.split(".")[0] for name in json.loads(done.stdout)}
    assert loaded & set(LATER) == set()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["version"], 0),
        (["topic", "create"], 2),
        (["topic", "create", "x", "--partitions", "0"], 2),
        (["nope"], 2),
        (["consume", "x", "--offset", "1", "--from-beginning"], 2),
        (["config", "explain", "no.such.key"], 1),
        (["config", "check", "--override", "num.partitions=0"], 2),
    ],
)
def test_exit_codes(arguments, code, capsys):
    assert run(arguments) == code
    output = capsys.readouterr()
    assert bool(output.err) == (code != 0)


def test_no_broker_is_told_with_the_next_step(capsys):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        assert run(["topic", "list", "-b", address]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == (
        f"error: no broker answers at {address} (connection refused)\n"
        "Start one with `headrace dev`, or name another with -b HOST:PORT.\n"
    )


def test_the_bootstrap_server_can_come_from_the_environment(capsys, monkeypatch):
    monkeypatch.setenv("HEADRACE_BOOTSTRAP_SERVER", "no port at all:x")
    assert run(["topic", "list"]) == 2
    assert "'no port at all:x' is not HOST:PORT" in capsys.readouterr().err


def test_a_reader_that_goes_away_is_no_error():
    reading, writing = os.pipe()
    os.close(reading)  # nobody will ever read
    done = subprocess.run(
        [sys.executable, "-m", "headrace.broker", "config", "check", "--all"],
        cwd=ROOT,
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_ctrl_c_ends_a_command_without_a_traceback():
    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts, and never answers
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        process = headrace("topic", "list", "-b", address)
        silent.accept()[0].close()  # the look whether anybody is there
        client, _ = silent.accept()  # the client library waits for its first answer now
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        client.close()
    assert (process.returncode, out, err) == (130, "", "\n")
