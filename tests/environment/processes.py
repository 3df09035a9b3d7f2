"""A server in another process: started, waited for, stopped or killed, and started again."""

import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

_POLL_S = 0.02
_LOG_TAIL_LINES = 40

# Each is called with what a process has written since its start, once it has been seen to have ended.
log_readers: list[Callable[[str], None]] = []


class ServerFailedError(Exception):
    """A server did not start or stop, or ended by itself; the message has the tail of its log."""


class ServerProcess:
    """One server process. Its log file is appended to across restarts."""

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        log: Path,
        environment: Mapping[str, str] | None = None,
        directory: Path | None = None,
    ) -> None:
        self.command = [str(part) for part in command]
        self.log = log
        self._environment = dict(os.environ if environment is None else environment)
        self._directory = directory
        self._process: subprocess.Popen[bytes] | None = None
        self._log_begin = 0  # of the running process, in bytes

    @property
    def process_id(self) -> int:
        """The id of the running process."""
        return self._running().pid

    def start(self) -> None:
        """Start the process, in a process group of its own, so that signals reach its children."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as output:
            self._log_begin = output.tell()
            self._process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=self._environment,
                cwd=self._directory,
                start_new_session=True,
            )

    def wait_for_port(self, port: int, *, timeout_s: float) -> None:
        """Wait until something listens on `port`."""

        def listening() -> bool:
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0

        self.wait_until(listening, f"port {port} open", timeout_s=timeout_s)

    def wait_for_url(self, url: str, *, timeout_s: float) -> None:
        """Wait until a GET of `url` is answered with success."""

        def answers() -> bool:
            try:
                with urllib.request.urlopen(url, timeout=2):
                    return True
            except (urllib.error.URLError, OSError):
                return False

        self.wait_until(answers, f"success from {url}", timeout_s=timeout_s)

    def wait_until(self, condition: Callable[[], bool], what: str, *, timeout_s: float) -> None:
        """Wait for a condition while the process lives.

        Raises:
            ServerFailedError: the process ended, or the condition did not come true in time.
        """
        deadline = time.monotonic() + timeout_s
        while not condition():
            status = self._running().poll()
            if status is not None:
                raise ServerFailedError(self.with_log(f"ended with status {status}"))
            if time.monotonic() > deadline:
                raise ServerFailedError(self.with_log(f"no {what} after {timeout_s} s"))
            time.sleep(_POLL_S)

    def terminate(self, *, timeout_s: float = 30) -> int:
        """Ask the process to stop, and return its exit status; kill it when it does not stop."""
        process = self._running()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
        try:
            status = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.kill()
            raise ServerFailedError(self.with_log(f"did not stop in {timeout_s} s")) from None
        self._ended()
        return status

    def wait_for_end(self, *, timeout_s: float) -> int:
        """Wait until the process ends by itself, and return its exit status."""
        try:
            status = self._running().wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise ServerFailedError(self.with_log(f"did not end in {timeout_s} s")) from None
        self._ended()
        return status

    def kill(self) -> None:
        """Kill the process as a power switch would: no handler of its own runs."""
        process = self._running()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self._ended()

    def pause(self) -> None:
        """Stop the process in the middle of whatever it does; none of its threads runs when this returns."""
        os.killpg(self.process_id, signal.SIGSTOP)
        tasks = Path(f"/proc/{self.process_id}/task")
        self.wait_until(
            lambda: all(_is_stopped(task) for task in tasks.iterdir()), "stop", timeout_s=5
        )

    def resume(self) -> None:
        """Let a process that was paused go on."""
        os.killpg(self.process_id, signal.SIGCONT)

    @property
    def is_running(self) -> bool:
        """Whether the process was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def _ended(self) -> None:
        self._process = None
        if log_readers and self.log.exists():
            with self.log.open("rb") as log:
                log.seek(self._log_begin)
                written = log.read().decode(errors="replace")
            for read in log_readers:
                read(written)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            msg = f"not started: {' '.join(self.command)}"
            raise ServerFailedError(msg)
        return self._process

    def with_log(self, what: str) -> str:
        lines = self.log.read_text(errors="replace").splitlines()[-_LOG_TAIL_LINES:]
        return "\n".join([f"{' '.join(self.command)}: {what}; {self.log} ends with:", *lines])


def _is_stopped(task: Path) -> bool:
    try:
        return (task / "stat").read_text().rpartition(")")[2].split()[0] == "T"
    except FileNotFoundError:
        return True  # a thread that ended meanwhile


def cpu_seconds(process_id: int) -> float:
    """Return the processor time that a process has used, its threads included."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    user, system = int(fields[11]), int(fields[12])
    return (user + system) / os.sysconf("SC_CLK_TCK")


def processes_with(variable: str) -> list[int]:
    """Ids of the processes that have a variable in their environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if variable.encode() in (process / "environ").read_bytes().split(b"\0"):
                found.append(int(process.name))
    return found


def command_line(process_id: int) -> str:
    """The command line of a process; empty when it has gone."""
    with suppress(OSError):
        return Path(f"/proc/{process_id}/cmdline").read_text().replace("\0", " ")
    return ""
