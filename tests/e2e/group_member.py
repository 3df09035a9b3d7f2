"""A member of a consumer group in a process of its own, whose events the test waits for."""

import json
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from tests.e2e.client_programs import LibraryClient
from tests.environment.paths import ROOT

Event = dict[str, object]


class GroupMember:
    """Joins on entering `with`, leaves in an orderly way on leaving it."""

    def __init__(self, client: LibraryClient, bootstrap: str, topic: str, group: str) -> None:
        self.partitions: list[int] = []
        self.values: list[str] = []
        self.committed: dict[int, int] = {}
        self._command = [
            *client.command("join"),
            *("--bootstrap", bootstrap, "--topic", topic, "--group", group),
        ]
        self._events: queue.Queue[Event] = queue.Queue()
        self._process: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None
        self._is_told_to_end = False

    def __enter__(self) -> Self:
        """Start the process."""
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let the member leave its group, and take in its last events."""
        self._end(signal.SIGTERM)
        self.take_events()

    def kill(self) -> None:
        """End the process without its leaving the group."""
        self._end(signal.SIGKILL)

    def wait_until_assigned(self, count: int, *, timeout_s: float = 40) -> None:
        """Wait until the member owns exactly `count` partitions."""
        self._wait(lambda: len(self.partitions) == count, f"{count} partitions", timeout_s)

    def wait_until_read(self, values: set[str], *, timeout_s: float = 40) -> None:
        """Wait until the member has read, and committed, at least these values."""
        self._wait(lambda: values <= set(self.values), f"{len(values)} values", timeout_s)

    def take_events(self) -> None:
        """Apply what the member has told so far."""
        while not self._events.empty():
            self._apply(self._events.get_nowait())

    def _wait(self, condition: Callable[[], bool], what: str, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        while True:
            self.take_events()
            if condition():
                return
            try:
                self._apply(self._events.get(timeout=max(0.01, deadline - time.monotonic())))
            except queue.Empty:
                state = f"has partitions {self.partitions} and {len(self.values)} values"
                msg = f"after {timeout_s} s the member {state}, not {what}"
                raise AssertionError(msg) from None

    def _apply(self, event: Event) -> None:
        if event["event"] == "ended":
            msg = f"{' '.join(self._command)} ended with {self._process.wait(10)}"
            assert self._is_told_to_end, msg
        elif event["event"] == "assigned":
            self.partitions = event["partitions"]
        elif event["event"] == "revoked":
            self.partitions = []
        else:
            self.values += event["values"]
            self.committed |= {int(key): offset for key, offset in event["offsets"].items()}

    def _read(self) -> None:
        for line in self._process.stdout:
            self._events.put(json.loads(line))
        self._events.put({"event": "ended"})

    def _end(self, signal_number: int) -> None:
        self._is_told_to_end = True
        if self._process.poll() is None:
            self._process.send_signal(signal_number)
        self._process.wait(30)
        self._reader.join(10)
        self._process.stdout.close()
