"""A disk with a volatile cache that can be cut off, and that fails on demand: as a file and as a raw device.

`FaultDisk` runs `tests.environment.fault_disk_server`, a FUSE file system of one file, in a process of its own.
A loop device on top of the file makes it a block device: a durable write (`O_DSYNC`, a flush) arrives as a sync there.
"""

import errno
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.environment.paths import ROOT, MissingComponentError
from tests.environment.unix_addresses import short_address

_WITHIN_S = 10.0
_POLL_S = 0.002


def fault_disk_support() -> None:
    """Make sure that this machine can have a fault disk.

    Raises:
        MissingComponentError: it cannot; mounting FUSE and attaching loop devices are for root.
    """
    if os.geteuid() != 0:
        msg = "fault disks need root (FUSE mounts, loop devices): run the tests as root"
        raise MissingComponentError(msg)
    for device in ("/dev/fuse", "/dev/loop-control"):
        if not Path(device).exists():
            msg = f"fault disks need {device}, which this kernel or container does not offer"
            raise MissingComponentError(msg)
    if shutil.which("losetup") is None:
        msg = "fault disks need losetup, which Debian has in the package mount"
        raise MissingComponentError(msg)


class FaultDisk:
    """One disk of `size_bytes` of zeros with its files in `directory`. A context manager: leaves nothing behind."""

    def __init__(self, directory: Path, size_bytes: int, *, seed: int = 0) -> None:
        self.directory = directory
        self.image = directory / "image"  # what is durable
        self.file = directory / "mount" / "disk"
        self.size_bytes = size_bytes
        self._seed = seed
        self._loop_device: str | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None

    def __enter__(self) -> Self:
        """Mount it."""
        (self.directory / "mount").mkdir(parents=True)
        with self.image.open("wb") as image:
            image.truncate(self.size_bytes)
        arguments = (str(self.directory), str(self.size_bytes), str(self._seed))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.environment.fault_disk_server", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            start_new_session=True,  # Ctrl-C is for the tests, which then close its input
        )
        try:
            assert self._process.stdout is not None
            assert self._process.stdout.readline() == b"ready\n", "the fault disk did not start"
            self._socket = socket.socket(socket.AF_UNIX)
            self._socket.settimeout(_WITHIN_S)
            with short_address(self.directory / "control") as address:
                self._socket.connect(address)
            self._lines = self._socket.makefile("rb")
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Unmount it, whatever still uses it."""
        self.close()

    @property
    def device(self) -> str:
        """The disk as a block device; attached when it is first asked for."""
        if self._loop_device is None:
            command = ["losetup", "--find", "--show", "--direct-io=on", str(self.file)]
            shown = subprocess.run(command, check=True, capture_output=True, text=True)
            self._loop_device = shown.stdout.strip()
            self._do("attached", loop_device=self._loop_device)
        return self._loop_device

    def cut(self, *, survive: float, seed: int) -> None:
        """Cut the power: each unsynced sector survives with probability `survive`, then all IO fails with EIO."""
        self._do("cut", survive=survive, seed=seed)

    def heal(self) -> None:
        """Let the power come back, with no fault armed."""
        self._do("heal")

    def arm(self, op: str, action: str, **details: float) -> None:
        """Let operations go wrong; see `fault_disk_state.Fault`."""
        self._do("arm", op=op, action=action, **details)

    def disarm(self) -> None:
        """Forget all faults."""
        self._do("disarm")

    def release(self) -> None:
        """Let what hangs complete."""
        self._do("release")

    def blank(self) -> None:
        """Zero the disk."""
        self._do("blank")

    def state(self) -> dict[str, Any]:
        """Counters, faults, unsynced bytes."""
        state: dict[str, Any] = self._do("state")
        return state

    def journal(self) -> list[tuple[str, int, int, str]]:
        """Writes and syncs since `forget_journal`: op, position, size, what became of it."""
        return [tuple(entry) for entry in self._do("journal")]

    def forget_journal(self) -> None:
        """Begin a new journal."""
        self._do("forget_journal")

    def fired(self) -> int:
        """How many operations the armed faults have struck."""
        return sum(fault["fired"] for fault in self.state()["faults"])

    def wait_until(self, condition: Callable[[], object], what: str) -> None:
        """Wait a bounded time for a condition."""
        deadline = time.monotonic() + _WITHIN_S
        while not condition():
            assert time.monotonic() < deadline, f"no {what} within {_WITHIN_S:g} s"
            time.sleep(_POLL_S)

    def close(self) -> None:
        """Detach, unmount, end the process. By force, if it does not go otherwise."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        if self._socket is not None:
            self._socket.close()
        try:
            process.wait(_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()  # which fails every operation that is still waited for
            process.wait()
        process.stdout.close()
        self._run("losetup", "--detach", self._loop_device)
        self._run("umount", "--lazy", str(self.directory / "mount"))
        self._loop_device = None

    @staticmethod
    def _run(program: str, option: str, what: str | None) -> None:
        """Do again what the process should have done; an error says that it has."""
        if what is not None:
            subprocess.run([program, option, what], check=False, capture_output=True)

    def _do(self, what: str, **arguments: object) -> Any:
        assert self._socket is not None
        self._socket.sendall(json.dumps({"do": what, **arguments}).encode() + b"\n")
        answer = self._lines.readline()
        assert answer, "the fault disk has ended"
        return json.loads(answer)


EIO, ENOSPC = errno.EIO, errno.ENOSPC
