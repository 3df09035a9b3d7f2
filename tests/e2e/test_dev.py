"""`headrace dev` and `headrace server` as users start them: banner, ports, restarts, mistakes."""

import json
import os
import re
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Self

import pytest

from tests.environment.paths import ROOT
from tests.environment.ports import free_port
from tests.environment.processes import ServerProcess


class Dev:
    """One `headrace dev`, whose output is read while it runs."""

    def __init__(self, directory: Path, *arguments: str, home: Path | None = None) -> None:
        self.log = directory / "dev.log"
        data = ["--data-dir", str(directory / "data")] if home is None else []
        environment = dict(os.environ)
        if home is not None:
            environment |= {"HOME": str(home)}
            environment.pop("XDG_DATA_HOME", None)
        self.process = ServerProcess(
            [sys.executable, "-m", "headrace.broker", "dev", *data, *arguments],
            log=self.log,
            environment=environment,
            directory=ROOT,
        )

    def __enter__(self) -> Self:
        before = self._banners()
        self.process.start()
        self.process.wait_until(lambda: self._banners() > before, "banner", timeout_s=60)
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.is_running:
            assert self.process.terminate() == 0

    def text(self) -> str:
        """Everything it has said."""
        return self.log.read_text()

    def _banners(self) -> int:
        """How often it was ready; the log goes on across restarts."""
        return self.text().count("Stop with Ctrl-C") if self.log.exists() else 0

    def said(self, label: str) -> str:
        """What stands behind a label of the last banner."""
        return re.findall(rf"^  {label} +(\S+)", self.text(), re.MULTILINE)[-1]


def run(*arguments: str, stdin: str = "", shell: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "headrace.broker", *arguments]
    return subprocess.run(
        shell or command,
        shell=bool(shell),
        cwd=ROOT,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def free_ports() -> list[str]:
    return ["--port", str(free_port()), "--admin-port", str(free_port())]


def test_the_commands_of_the_banner_work_as_they_stand(tmp_path):
    with Dev(tmp_path, *free_ports()) as dev:
        banner = dev.text().splitlines()
        assert len(banner) <= 12
        commands = [line.strip() for line in banner if re.search(r"topic|produce|consume", line)]
        assert len(commands) == 3
        for command in commands:
            done = run(shell=command if "consume" not in command else f"{command} -n 1")
            assert done.returncode == 0, done
        assert done.stdout == "hello\n"
        with urllib.request.urlopen(f"{dev.said('Admin')}/readyz", timeout=10) as answer:
            assert answer.status == 200


def test_everything_is_there_again_after_a_restart(tmp_path):
    ports = free_ports()
    with Dev(tmp_path, *ports) as dev:
        address = dev.said("Kafka")
        cluster = re.search(r"cluster (\S+)", dev.text())
        assert run("produce", "kept", "-b", address, stdin="a\nb\n").returncode == 0
        assert run("consume", "kept", "-b", address, "-g", "g", "--from-beginning", "-n", "1")
    with Dev(tmp_path, *ports) as dev:
        assert re.findall(r"cluster (\S+)", dev.text()) == [cluster[1]] * 2
        assert run("consume", "kept", "-b", address, "-g", "g", "-n", "1").stdout == "b\n"


def test_a_killed_broker_comes_back_with_every_record(tmp_path):
    ports = free_ports()
    lines = "".join(f"{number}\n" for number in range(2000))
    with Dev(tmp_path, *ports) as dev:
        address = dev.said("Kafka")
        assert run("produce", "kept", "-b", address, stdin=lines).returncode == 0
        dev.process.kill()
    with Dev(tmp_path, *ports):
        done = run("consume", "kept", "-b", address, "--from-beginning", "--until-end")
        assert done.stdout == lines


def test_a_second_one_on_the_same_data_is_pointed_to_the_first(tmp_path):
    with Dev(tmp_path, *free_ports()) as dev:
        second = run("dev", "--data-dir", str(tmp_path / "data"))
        assert second.returncode == 1
        assert f"is already running on {tmp_path / 'data'} at {dev.said('Kafka')}" in second.stderr


def test_a_taken_port_is_an_error_when_it_was_asked_for(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        done = run("dev", "--data-dir", str(tmp_path), "--port", port)
    assert done.returncode == 1
    assert f"port {port} on 127.0.0.1 is taken" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def usual_port_taken() -> Iterator[None]:
    """Somebody listens on 9092."""
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with suppress(OSError):  # somebody else does already
            server.bind(("127.0.0.1", 9092))
            server.listen()
        yield


@pytest.mark.usefixtures("usual_port_taken")
def test_without_a_wish_it_finds_ports_and_a_home_for_its_data(tmp_path):
    with Dev(tmp_path, home=tmp_path / "home") as dev:
        assert "port 9092 is taken, using" in dev.text()
        assert dev.said("Kafka") != "127.0.0.1:9092"
        assert dev.text().count(f" -b {dev.said('Kafka')}") == 3
        assert (tmp_path / "home/.local/share/headrace/dev/wal").exists()


@pytest.fixture
def server_file(tmp_path: Path) -> Path:
    """A properties file for `headrace server`."""
    file = tmp_path / "server.properties"
    file.write_text(
        f"listeners=PLAINTEXT://127.0.0.1:{free_port()}\n"
        f"headrace.admin.listener=127.0.0.1:{free_port()}\n"
        f"log.dirs={tmp_path / 'data'}\n"
        "s3.wal.path=0@file://wal?capacity=268435456\n"
        "num.io.threads=8\n"
    )
    return file


def test_a_server_logs_json_where_nobody_looks(server_file):
    log = server_file.parent / "server.log"
    process = ServerProcess(
        [sys.executable, "-m", "headrace.broker", "server", "--config", server_file],
        log=log,
        directory=ROOT,
    )
    process.start()
    process.wait_until(lambda: '"msg": "ready"' in log.read_text(), "ready line", timeout_s=60)
    assert process.terminate() == 0
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert all({"ts", "level", "logger", "msg", "node"} <= event.keys() for event in events)
    assert any("num.io.threads is accepted but has no effect" in e["msg"] for e in events)


def test_a_server_that_cannot_start_says_why(server_file):
    with server_file.open("a") as file:
        file.write("num.partitions=none\n")
    done = run("server", "--config", str(server_file))
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{server_file}:6: num.partitions=none: must be a whole number" in done.stderr
