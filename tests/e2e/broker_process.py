"""Headrace in another process, as its users run it."""

import json
import os
import sys
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self
from urllib.error import HTTPError

from tests.environment.paths import ROOT
from tests.environment.ports import free_port
from tests.environment.processes import ServerProcess

_SERVER_ERROR: Final = 500


class HeadraceProcess:
    """One node with its data in `directory`, on free ports of the loopback interface.

    It is started with `server` and a properties file that this class writes, or with `dev` when its
    arguments are given. What it writes to standard output and error is in `process.log`.
    """

    def __init__(
        self,
        directory: Path,
        *,
        overrides: Mapping[str, str] | None = None,
        dev_arguments: Sequence[str] | None = None,
        environment: Mapping[str, str] | None = None,
        controller_port: int | None = None,
        port: int | None = None,
        code: Path = ROOT,
    ) -> None:
        """Choose ports; `controller_port` is where other nodes reach its controller, if they shall.

        `port` is the broker's, if it is not any that is free. `code` is the checkout that runs.
        """
        self.port = port or free_port()
        self.admin_port = free_port()
        self.bootstrap = f"127.0.0.1:{self.port}"
        self.directory = directory
        self._settings = {**self._default_settings(), **(overrides or {})}
        if controller_port is not None:
            self._settings["listeners"] += f",CONTROLLER://127.0.0.1:{controller_port}"
        self.process = ServerProcess(
            self._command(dev_arguments),
            log=directory / "headrace.log",
            environment={**os.environ, "PYTHONPATH": str(code), **(environment or {})},
            directory=code,
        )

    def start(self, *, timeout_s: float = 60) -> None:
        """Start the broker and wait until it says that it is ready."""
        self.begin()
        self.process.wait_for_url(self.admin_url("/readyz"), timeout_s=timeout_s)

    def begin(self) -> None:
        """Start the broker, and wait for nothing."""
        self.directory.mkdir(parents=True, exist_ok=True)
        lines = [f"{key}={value}" for key, value in self._settings.items()]
        (self.directory / "server.properties").write_text("\n".join([*lines, ""]))
        self.process.start()

    def set(self, key: str, value: str) -> None:
        """Change the configuration of the next start."""
        self._settings[key] = value

    def stop(self) -> None:
        """Shut the broker down in an orderly way."""
        status = self.process.terminate()
        assert status == 0, f"an orderly shutdown ended with {status}"

    def kill(self) -> None:
        """Kill the broker: nothing in it can run any more."""
        self.process.kill()

    def restart(self) -> None:
        """Stop the broker and start it again on the same data and ports."""
        self.stop()
        self.start()

    def __enter__(self) -> Self:
        """Start the broker."""
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the broker, if it runs."""
        if self.process.is_running:
            self.stop()

    def admin_url(self, path: str) -> str:
        """Return the URL of a page of the admin endpoint."""
        return f"http://127.0.0.1:{self.admin_port}{path}"

    def get(self, path: str) -> str:
        """Return a page of the admin endpoint."""
        try:
            with urllib.request.urlopen(self.admin_url(path), timeout=10) as answer:
                return answer.read().decode()
        except HTTPError as error:
            if error.code != _SERVER_ERROR:
                raise
            raise AssertionError(self.process.with_log(f"error 500 for {path}")) from error

    def metrics(self) -> dict[str, float]:
        """Return the samples of /metrics by name; those that differ only by labels are added up."""
        samples: dict[str, float] = {}
        for line in self.get("/metrics").splitlines():
            if line and not line.startswith("#"):
                series, value = line.rsplit(" ", 1)
                name = series.partition("{")[0]
                samples[name] = samples.get(name, 0.0) + float(value)
        return samples

    def log_events(self) -> list[dict[str, object]]:
        """Return the structured log lines so far."""
        text = self.process.log.read_text(errors="replace")
        return [json.loads(line) for line in text.splitlines() if line.startswith("{")]

    def _command(self, dev_arguments: Sequence[str] | None) -> list[str]:
        start = [sys.executable, "-m", "headrace.broker"]
        if dev_arguments is None:
            return [*start, "server", "--config", str(self.directory / "server.properties")]
        ports = ("--port", str(self.port), "--admin-port", str(self.admin_port))
        return [*start, "dev", *ports, "--data-dir", str(self.directory / "data"), *dev_arguments]

    def _default_settings(self) -> dict[str, str]:
        data = self.directory / "data"
        return {
            "node.id": "1",
            "process.roles": "broker,controller",
            "listeners": f"PLAINTEXT://{self.bootstrap}",
            "log.dirs": str(data),
            "log.retention.ms": "-1",  # records of tests are from long ago
            "s3.data.buckets": f"0@file://{data / 'bucket'}",
            "s3.wal.path": f"0@file://{data / 'wal'}?capacity={256 << 20}",
            "s3.wal.cache.size": str(256 << 20),
            "s3.wal.upload.threshold": str(64 << 20),
            "s3.block.cache.size": str(64 << 20),
            "headrace.admin.listener": f"127.0.0.1:{self.admin_port}",
        }
