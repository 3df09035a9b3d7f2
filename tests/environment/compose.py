"""Runs the services of a compose file as processes, where there is no container engine.

Each service gets a loopback address of its own and listens there on the ports that it would have in
its container. Names of services, `0.0.0.0`, `127.0.0.1` inside a container, and published ports of
`localhost` are replaced by those addresses, paths of mounts by directories; the rest of a command,
an environment and a health check runs as it is written. The environment of the test is not passed
on. As root, where mount namespaces may be made, a `read_only` service sees a file system of which
only its mounts can be written.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import yaml

from tests.environment.dockerfile import Image, read_image
from tests.environment.minio import minio_program
from tests.environment.paths import CACHE, ROOT
from tests.environment.processes import ServerProcess

DOCKERFILE = ROOT / "docker" / "Dockerfile"
OWN_IMAGE = "headrace"
MINIO_IMAGE = "quay.io/minio/minio"

Service = dict[str, Any]
Document = dict[str, Any]


def load(path: Path, variables: Mapping[str, str] | None = None) -> Document:
    """Read a compose file, with `${NAME:-default}` replaced."""

    def value(match: re.Match[str]) -> str:
        return (variables or {}).get(match["name"]) or match["default"]

    text = re.sub(r"\$\{(?P<name>\w+):-(?P<default>[^}]*)\}", value, path.read_text())
    document: Document = yaml.safe_load(text)
    return document


def seconds(duration: str) -> float:
    """Return the seconds of a compose duration such as `1m30s`."""
    units = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
    return sum(
        float(number) * units[unit] for number, unit in re.findall(r"(\d+)(ms|h|m|s)", duration)
    )


class ServiceProcess:
    """One service."""

    def __init__(self, name: str, service: Service, project: "ComposeProject") -> None:
        self.name = name
        self.address = project.addresses[name]
        self._service = service
        self._project = project
        self._image = project.image_of(service)
        self._mounts = self._prepare_mounts()
        self._process = ServerProcess(
            self._command(),
            log=project.directory / "logs" / f"{name}.log",
            environment=self._environment(),
            directory=self._mounts.get(self._image.directory, project.directory),
        )

    @property
    def log(self) -> Path:
        """What it has written."""
        return self._process.log

    @property
    def process_id(self) -> int:
        """The id of its process."""
        return self._process.process_id

    def start(self) -> None:
        """Start it."""
        self._process.start()

    def wait_until_healthy(self, *, timeout_s: float = 90) -> None:
        """Wait until its health check succeeds."""
        self._process.wait_until(self.is_healthy, "healthy", timeout_s=timeout_s)

    def is_healthy(self) -> bool:
        """Run its health check once."""
        check = self._service.get("healthcheck", {}).get("test") or [
            "CMD",
            *self._image.healthcheck,
        ]
        assert check[0] == "CMD", "a health check is in exec form"
        return subprocess.run(self._health_command(check[1:]), **_SILENT).returncode == 0

    def stop(self) -> int:
        """Stop it as the engine does, and return the exit status."""
        assert self._image.stop_signal == "SIGTERM"
        grace_s = seconds(self._service.get("stop_grace_period", "10s"))
        return self._process.terminate(timeout_s=grace_s)

    def kill(self) -> None:
        """Kill it, if it runs."""
        if self._process.is_running:
            self._process.kill()

    def reachable(self, port: int) -> str:
        """The address for clients outside, of a port that the service publishes."""
        published = {binding.rpartition(":")[2] for binding in self._service.get("ports", ())}
        assert str(port) in published, f"{self.name} does not publish {port}"
        return f"{self.address}:{port}"

    def _command(self) -> list[str]:
        service, image = self._service, self._image
        entrypoint = service.get("entrypoint", image.entrypoint)
        words = [
            self._placed(word) for word in (*entrypoint, *service.get("command", image.command))
        ]
        words[0] = _program(words[0])
        if self._project.is_minio(service):
            words += ["--address", f"{self.address}:9000"]  # where it listens by default
        if service.get("read_only") and can_mount():
            return [*_read_only_but(*self._mounts.values(), tmpfs=service["tmpfs"]), *words]
        return words

    def _environment(self) -> dict[str, str]:
        own = self._service.get("environment", {})
        merged = {**self._image.environment, **own}
        placed = {name: self._placed(str(value)) for name, value in merged.items()}
        return {**placed, "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}

    def _prepare_mounts(self) -> dict[str, Path]:
        mounts = {}
        for mount in self._service.get("volumes", ()):
            volume, target = mount.split(":")
            assert volume in self._project.document["volumes"], f"{volume} is not declared"
            mounts[target] = self._project.directory / "volumes" / volume
        for directory in mounts.values():
            directory.mkdir(parents=True, exist_ok=True)
        return mounts

    def _placed(self, text: str) -> str:
        """Replace what means something else outside of the container."""
        for port in re.findall(
            r"127\.0\.0\.1:(\d+):\1\b", "\n".join(self._service.get("ports", ()))
        ):
            text = text.replace(f"localhost:{port}", f"{self.address}:{port}")
        for name, address in self._project.addresses.items():
            text = re.sub(rf"(?<![\w.-]){re.escape(name)}(?=:\d)", address, text)
        text = re.sub(r"0\.0\.0\.0|(?<=[^\d.])127\.0\.0\.1(?=[^\d.])", self.address, text)
        text = re.sub(r"^(?=:\d+$)", self.address, text)
        targets = "|".join(map(re.escape, self._mounts))
        return re.sub(
            rf"(^|(?<=://))({targets})(?=/|$)", lambda match: str(self._mounts[match[2]]), text
        )

    def _health_command(self, words: list[str]) -> list[str]:
        if words == ["mc", "ready", "local"]:  # MinIO's client, which is only in its image
            return ["curl", "-fs", f"http://{self.address}:9000/minio/health/cluster"]
        return [_program(words[0]), *map(self._placed, words[1:])]


class ComposeProject:
    """Every service of one file, in processes of this machine."""

    def __init__(self, path: Path) -> None:
        self.document = load(path)
        self.directory = Path(tempfile.mkdtemp(prefix="compose-", dir="/var/tmp"))
        pid = os.getpid()
        net = f"127.{64 + pid % 64}.{pid // 64 % 250 + 1}"
        names = list(self.document["services"])
        self.addresses = {name: f"{net}.{number}" for number, name in enumerate(names, 1)}
        self.services = {
            name: ServiceProcess(name, self.document["services"][name], self) for name in names
        }

    def up(self) -> None:
        """Start every service when what it depends on is as it says; wait until all are healthy."""
        for name in self._order():
            for needed, how in self.document["services"][name].get("depends_on", {}).items():
                assert how == {"condition": "service_healthy"}
                self.services[needed].wait_until_healthy()
            self.services[name].start()
        for service in self.services.values():
            service.wait_until_healthy()

    def down(self) -> dict[str, int]:
        """Stop every service, those that depend on others first; return the exit statuses."""
        return {name: self.services[name].stop() for name in reversed(self._order())}

    def volume(self, name: str) -> Path:
        """Where the content of a volume lies."""
        return self.directory / "volumes" / name

    def image_of(self, service: Service) -> Image:
        """What the image of a service brings with it."""
        if service["image"] == OWN_IMAGE:
            return read_image(DOCKERFILE)
        assert self.is_minio(service), f"nobody knows what {service['image']} runs"
        return Image(entrypoint=[str(minio_program())])

    def is_minio(self, service: Service) -> bool:
        """Whether a service is MinIO."""
        return str(service["image"]).startswith(f"{MINIO_IMAGE}:")

    def __enter__(self) -> Self:
        """Nothing is started yet."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Kill what still runs, and remove everything."""
        for service in self.services.values():
            service.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _order(self) -> list[str]:
        services = self.document["services"]
        graph = {name: set(service.get("depends_on", ())) for name, service in services.items()}
        return list(TopologicalSorter(graph).static_order())


_SILENT: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


@cache
def can_mount() -> bool:
    """Whether this process may make mount namespaces, so that `read_only` can be put to the test."""
    command = [*_read_only_but(), "true"]
    return os.geteuid() == 0 and subprocess.run(command, **_SILENT).returncode == 0


def _read_only_but(*directories: Path, tmpfs: Iterable[str] = ()) -> list[str]:
    steps = ["set -e"]
    needed = (ROOT, Path(sys.prefix), Path(sys.base_prefix), CACHE)
    for target in tmpfs:
        hidden = [place for place in needed if place.is_relative_to(target)]
        if not hidden:
            steps.append(f"mount -t tmpfs none '{target}'")
            continue
        # What runs lies there (a checkout in /tmp): it stays to be seen, and is not written.
        steps.append(f"mount --bind '{target}' '{target}'")
        for place in hidden:
            steps.append(f"mount --bind '{place}' '{place}'")
            steps.append(f"mount -o remount,bind,ro '{place}'")
    steps += [f"mount --bind '{directory}' '{directory}'" for directory in directories]
    steps += ["mount -o remount,bind,ro /", 'exec "$@"']
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", "; ".join(steps), "sh"]


def _program(name: str) -> str:
    """Where a program of the image is outside of it."""
    here = Path(sys.executable)
    places = {"python": here, "headrace": here.parent / "headrace"}
    return str(places.get(name, name))
