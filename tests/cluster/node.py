"""One controller or broker of the cluster under test: a process that can be killed, stopped and watched."""

import json
import os
import signal
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

from tests.environment.paths import ROOT
from tests.environment.processes import ServerProcess

ADMIN_PORT = 9094
_HTTP_TIMEOUT_S = 2
# Nodes are asked where they are: a proxy of this machine knows nothing of their addresses.
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Node:
    """A process of `headrace server`, its properties and its log, across all its lives."""

    def __init__(
        self,
        name: str,
        node_id: int,
        address: str,
        *,
        directory: Path,
        settings: Mapping[str, str],
        command: list[str],
        environment: Mapping[str, str],
    ) -> None:
        self.name = name
        self.node_id = node_id
        self.address = address
        self.directory = directory
        self.settings = dict(settings)
        self.lives = 0
        self.kills = 0
        self.pauses = 0  # those after which it went on
        self._is_paused = False
        without_proxies = {
            key: value
            for key, value in {**os.environ, **environment}.items()
            if not key.lower().endswith("_proxy")
        }
        self.process = ServerProcess(
            command, log=directory / "headrace.log", environment=without_proxies, directory=ROOT
        )

    def begin(self) -> None:
        """Start the process, and wait for nothing."""
        self.directory.mkdir(parents=True, exist_ok=True)
        lines = [f"{key}={value}" for key, value in self.settings.items()]
        (self.directory / "server.properties").write_text("\n".join([*lines, ""]))
        self.lives += 1
        self.process.start()

    def wait_ready(self, *, timeout_s: float = 60) -> None:
        """Wait until the node says that it is ready."""
        self.process.wait_until(self.is_ready, f"/readyz of {self.name}", timeout_s=timeout_s)

    def is_ready(self) -> bool:
        """Whether the node answers that it is ready."""
        try:
            self.get("/readyz")
        except OSError:
            return False
        return True

    def kill(self) -> None:
        """Kill it: nothing in it can run any more."""
        self.kills += 1
        self.process.kill()
        self._is_paused = False

    def pause(self) -> None:
        """Stop it in the middle of whatever it does; none of its threads runs when this returns."""
        self.process.pause()
        self._is_paused = True

    def resume(self) -> None:
        """Let it go on."""
        self.process.resume()
        self.pauses += 1
        self._is_paused = False

    def ask_to_stop(self) -> None:
        """Ask it to end in an orderly way, and wait for nothing."""
        os.killpg(self.process.process_id, signal.SIGTERM)

    def stop(self, *, timeout_s: float = 60) -> None:
        """Shut it down in an orderly way."""
        status = self.process.terminate(timeout_s=timeout_s)
        assert status == 0, f"an orderly shutdown of {self.name} ended with {status}"

    def end(self) -> None:
        """Kill it if it still runs, whatever state it is in."""
        if self.process.is_running:
            self.process.kill()

    @property
    def is_running(self) -> bool:
        """Whether the process is there, paused or not."""
        return self.process.is_running

    @property
    def is_paused(self) -> bool:
        """Whether it was stopped and not continued."""
        return self._is_paused

    def get(self, path: str) -> str:
        """Return a page of the admin endpoint.

        Raises:
            OSError: no answer, or none with success.
        """
        url = f"http://{self.address}:{ADMIN_PORT}{path}"
        with _DIRECT.open(url, timeout=_HTTP_TIMEOUT_S) as answer:
            return str(answer.read().decode())

    def metrics(self) -> dict[str, float]:
        """Return the samples of /metrics by name; those that differ only by labels are added up."""
        samples: dict[str, float] = {}
        for line in self.get("/metrics").splitlines():
            if line and not line.startswith("#"):
                series, value = line.rsplit(" ", 1)
                name = series.partition("{")[0]
                samples[name] = samples.get(name, 0.0) + float(value)
        return samples

    def log_tail(self, lines: int = 15) -> str:
        """Return the last lines of its log, under its name."""
        text = self.process.log.read_text(errors="replace") if self.process.log.exists() else ""
        return "\n".join([f"--- {self.name}", *text.splitlines()[-lines:]])

    def log_events(self) -> list[dict[str, object]]:
        """Return the structured log lines of all its lives."""
        text = self.process.log.read_text(errors="replace")
        return [json.loads(line) for line in text.splitlines() if line.startswith("{")]

    def has_logged(self, message: str) -> bool:
        """Whether one of its lives has logged this."""
        return any(event["msg"] == message for event in self.log_events())
