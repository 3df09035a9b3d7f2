"""A broker for the demonstration, started as users start it: `headrace dev`."""

import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Self

from headrace.pipeline.demo.progress import DemoError

_READY_WITHIN_S = 30
_STOPPED_WITHIN_S = 60
_POLL_S = 0.05


class LocalBroker:
    """One `headrace dev` on free ports, its data and log in `directory`."""

    def __init__(self, directory: Path, port: int, admin_port: int) -> None:
        self.bootstrap = f"127.0.0.1:{port}"
        self.bucket = directory / "data" / "bucket"
        self._log = directory / "broker.log"
        self._admin = f"http://127.0.0.1:{admin_port}"
        ports = ["--port", str(port), "--admin-port", str(admin_port)]
        data = ["--data-dir", str(directory / "data")]
        self._command = [sys.executable, "-m", "headrace.broker", "dev", *ports, *data]
        self._process: subprocess.Popen[bytes] | None = None

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
        """Stop the broker."""
        if self._process is not None:
            self.stop()

    def start(self) -> None:
        """Start the broker and wait until it is ready.

        Raises:
            DemoError: it ended, or was not ready in time; the message includes the end of its log.
        """
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log)
        deadline = time.perf_counter() + _READY_WITHIN_S
        while not self._is_ready():
            if self._process.poll() is not None or time.perf_counter() > deadline:
                tail = "\n".join(self._log.read_text(errors="replace").splitlines()[-20:])
                msg = f"the broker did not start:\n{tail}"
                raise DemoError(msg)
            time.sleep(_POLL_S)

    def stop(self) -> None:
        """Shut the broker down, so that it uploads all its data to the bucket."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(_STOPPED_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            msg = f"the broker did not stop within {_STOPPED_WITHIN_S} s"
            raise DemoError(msg) from None
        finally:
            self._process = None

    def objects_in_bucket(self) -> tuple[int, int]:
        """Return the number and total bytes of the objects in the bucket."""
        files = [path for path in self.bucket.rglob("*") if path.is_file()]
        return len(files), sum(path.stat().st_size for path in files)

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self._admin}/readyz", timeout=1):
                return True
        except (urllib.error.URLError, OSError):
            return False
