"""Controllers and brokers of the last release and of this tree in one cluster, as processes."""

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from kafka.protocol.admin import UpdateFeaturesRequest, UpdateFeaturesResponse

from tests.e2e.wire import WireConnection
from tests.environment.paths import ROOT
from tests.environment.ports import free_port
from tests.environment.processes import ServerProcess
from tests.environment.release import last_release

MIB = 1 << 20
FIRST_CONTROLLER = 101
BROKERS = (1, 2)
INVALID_UPDATE_VERSION = 95
START_WITHIN_S = 60
_POLL_S = 0.05


class MixedNode:
    """One node, across its lives in both releases."""

    def __init__(self, node_id: int, directory: Path, settings: dict[str, str]) -> None:
        self.node_id = node_id
        self.port = free_port()
        self.log = directory / "headrace.log"
        self._admin_port = free_port()
        self._directory = directory
        self._settings = {
            "node.id": str(node_id),
            "headrace.admin.listener": f"127.0.0.1:{self._admin_port}",
            **settings,
        }
        self._releases = {True: self._process(last_release()), False: self._process(ROOT)}
        self.process = self._releases[False]

    def begin(self, *, old: bool = False) -> None:
        """Start the node with the last release or this tree, and wait for nothing."""
        self.process = self._releases[old]
        lines = [f"{key}={value}" for key, value in self._settings.items()]
        self._directory.mkdir(exist_ok=True)
        (self._directory / "server.properties").write_text("\n".join([*lines, ""]))
        self.process.start()

    def wait_ready(self) -> None:
        """Wait until the node says that it is ready."""
        url = f"http://127.0.0.1:{self._admin_port}/readyz"

        def is_ready() -> bool:
            try:
                with urllib.request.urlopen(url, timeout=5):
                    return True
            except OSError:
                return False

        self.process.wait_until(is_ready, url, timeout_s=START_WITHIN_S)

    def stop(self) -> None:
        """Shut the node down in an orderly way."""
        status = self.process.terminate()
        assert status == 0, f"an orderly shutdown of node {self.node_id} ended with {status}"

    def replace(self, *, old: bool = False) -> None:
        """Stop the node, and start it with this tree, or with the last release."""
        self.stop()
        self.begin(old=old)
        self.wait_ready()

    def set(self, **settings: str) -> None:
        """Add settings, with underscores for dots."""
        self._settings |= {key.replace("_", "."): value for key, value in settings.items()}

    def _process(self, root: Path) -> ServerProcess:
        program = [sys.executable, "-m", "headrace.broker", "server", "--config"]
        return ServerProcess(
            [*program, self._directory / "server.properties"],
            log=self.log,
            environment={**os.environ, "PYTHONPATH": str(root)},
            directory=root,
        )


class MixedCluster:
    """Some controllers and two brokers of the last release, which share a bucket of files."""

    def __init__(self, directory: Path, *, controllers: int) -> None:
        self.controllers = tuple(range(FIRST_CONTROLLER, FIRST_CONTROLLER + controllers))
        shared = {
            "s3.data.buckets": f"0@file://{directory / 'bucket'}",
            "controller.listener.names": "CONTROLLER",
            "broker.session.timeout.ms": "6000",
            "broker.heartbeat.interval.ms": "500",
            "metadata.log.max.record.bytes.between.snapshots": "4096",  # so that there are some
        }
        self.nodes = {
            it: MixedNode(it, directory / f"node{it}", shared) for it in self.controllers + BROKERS
        }
        voters = ",".join(f"{it}@127.0.0.1:{self.nodes[it].port}" for it in self.controllers)
        for node_id, node in self.nodes.items():
            own, kind = directory / f"node{node_id}", "broker"
            listener = f"PLAINTEXT://127.0.0.1:{node.port}"
            if node_id in self.controllers:
                kind, listener = "controller", f"CONTROLLER://127.0.0.1:{node.port}"
            node.set(
                process_roles=kind,
                listeners=listener,
                controller_quorum_voters=voters,
                log_dirs=str(own / "data"),
                s3_wal_path=f"0@file://{own / 'wal'}?capacity={64 * MIB}",
                s3_wal_cache_size=str(64 * MIB),
                s3_wal_upload_threshold=str(8 * MIB),
                s3_block_cache_size=str(32 * MIB),
                group_initial_rebalance_delay_ms="0",
                offsets_topic_num_partitions="2",
            )

    @property
    def bootstrap(self) -> str:
        """The addresses of all brokers, for clients."""
        return ",".join(f"127.0.0.1:{self.nodes[it].port}" for it in BROKERS)

    def restart(self, node_ids: Iterable[int]) -> None:
        """Restart these nodes with this tree, one after the other."""
        for node_id in node_ids:
            self.nodes[node_id].replace()

    def refusal(self, level: int, *, broker: int) -> str:
        """Ask one broker to have the level raised, which must be refused; return the reason."""
        update = UpdateFeaturesRequest.FeatureUpdateKey
        request = UpdateFeaturesRequest(
            timeout_ms=10_000,
            feature_updates=[update(feature="headrace.metadata.version", max_version_level=level)],
        )
        with WireConnection(f"127.0.0.1:{self.nodes[broker].port}") as connection:
            answer = connection.ask(request, UpdateFeaturesResponse, 2)
        assert answer.error_code == INVALID_UPDATE_VERSION, answer
        return str(answer.error_message)

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run `headrace cluster` of this tree."""
        return subprocess.run(
            [
                *(sys.executable, "-m", "headrace.broker", "cluster", *arguments),
                *("-b", self.bootstrap, "-o", "json"),
            ],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )

    def level(self) -> int:
        """Return the level of the cluster as some broker tells it."""
        told = self.command("features")
        assert told.returncode == 0, told.stderr
        (feature,) = json.loads(told.stdout)
        return int(feature["level"])

    def __enter__(self) -> Self:
        """Start every node with the last release."""
        for node in self.nodes.values():
            node.begin(old=True)
        for node in self.nodes.values():
            node.wait_ready()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End every node; brokers first, which then upload nothing in vain."""
        for node_id in (*BROKERS, *self.controllers):
            process = self.nodes[node_id].process
            if process.is_running:
                process.kill()


def wait_until(condition: Callable[[], bool], what: str, logs: Sequence[Path] = ()) -> None:
    """Wait for a condition that must come true."""
    deadline = time.monotonic() + START_WITHIN_S
    while not condition():
        if time.monotonic() > deadline:
            tails = [log.read_text(errors="replace")[-3000:] for log in logs]
            raise AssertionError("\n".join([f"not within {START_WITHIN_S} s: {what}", *tails]))
        time.sleep(_POLL_S)
