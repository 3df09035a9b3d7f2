"""A fence by a command of the operator, such as one that detaches a volume or ends a virtual machine."""

import asyncio
import logging
import os
import select
import shlex
import signal
import subprocess
from contextlib import suppress
from typing import Final

from headrace.daemon_threads import OneThreadEach
from headrace.wal.errors import WalFenceError
from headrace.wal.fence.port import TAKE_TIMEOUT_S

logger = logging.getLogger("headrace.wal")

MAX_OUTPUT_BYTES: Final = 1_000  # the end of it is shown
_READ_BYTES: Final = 64 * 1024
_LOOK_MS: Final = 50  # how often an end is looked for when there is no output
_LAST_READS: Final = 16


class CommandFence:
    """See `headrace.wal.fence.port.DeviceFence`. Called with: path, epoch, node that takes it, node whose log it is."""

    def __init__(self, command: str, node_id: int, *, timeout_s: float = TAKE_TIMEOUT_S) -> None:
        """Make the fence of a node.

        Args:
            command: a program, maybe with first arguments, separated as in a shell, which does not run it.
            node_id: of this node.
            timeout_s: then it is killed.
        """
        self._command = shlex.split(command)
        self._node_id = node_id
        self._timeout_s = timeout_s
        self._threads = OneThreadEach("wal-fence")

    @property
    def description(self) -> str:
        """What it is, for display."""
        return f"the command {shlex.join(self._command)}"

    async def take(self, place: str, epoch: int, *, owner: int) -> None:
        """Run the command; exit code 0 means that no other writer reaches the device any more."""
        arguments = [place, str(epoch), str(self._node_id), str(owner)]
        run = _Run([*self._command, *arguments])
        try:
            async with asyncio.timeout(self._timeout_s):
                code = await self._threads.begin(place, run.run)
            problem = f"it ended with exit code {code}" if code else ""
        except TimeoutError:
            problem = f"it took more than {self._timeout_s:g} s"
        except OSError as error:
            problem = str(error)
        finally:
            run.end()
        if problem:
            msg = f"{self.description} did not fence {place} at epoch {epoch}: {problem}{run.wrote}"
            raise WalFenceError(msg)
        logger.info(
            "device fenced by a command%s",
            run.wrote,
            extra={"place": place, "epoch": epoch, "owner": owner},
        )


class _Run:
    """One run of a command, with the end of what it writes."""

    def __init__(self, command: list[str]) -> None:
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._is_ended = False
        self._output = b""

    @property
    def wrote(self) -> str:
        """What it has written, for a message."""
        text = self._output.decode(errors="replace").strip()
        return f"; it wrote: {text}" if text else ""

    def run(self) -> int:
        """Run it, and return its exit code.

        Raises:
            OSError: it cannot be started.
        """
        self._process = process = subprocess.Popen(  # noqa: S603 - the operator's own
            self._command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        if self._is_ended:
            self.end()
        assert process.stdout is not None
        with process.stdout as output:
            ready = select.poll()
            ready.register(output, select.POLLIN)
            while process.poll() is None:
                if ready.poll(_LOOK_MS) and not self._read(output.fileno()):
                    break
            # What it has started in the background may keep the output open.
            for _ in range(_LAST_READS):
                if not ready.poll(0) or not self._read(output.fileno()):
                    break
        return process.wait()

    def end(self) -> None:
        """Kill it, and what it has started, unless it has ended; called on the loop."""
        self._is_ended = True
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _read(self, fd: int) -> bytes:
        data = os.read(fd, _READ_BYTES)
        self._output = (self._output + data)[-MAX_OUTPUT_BYTES:]
        return data
