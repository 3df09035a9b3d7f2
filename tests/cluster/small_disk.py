"""A file system of a few MiB that a test can fill, for one directory of one node; needs root."""

import os
import subprocess
from pathlib import Path

from tests.cluster.run_identity import own_label, stale_labels
from tests.environment.paths import MissingComponentError

_BLOCK = bytes(64 << 10)
_BALLAST = ".ballast"


class SmallDisk:
    """A tmpfs mounted at `directory`, from `mount` to `close`."""

    def __init__(self, directory: Path, size_bytes: int) -> None:
        self.directory = directory
        self._size_bytes = size_bytes

    def mount(self) -> None:
        """Mount it, empty.

        Raises:
            MissingComponentError: that is not allowed here.
        """
        remove_stale_mounts()
        self.directory.mkdir(parents=True, exist_ok=True)
        options = f"size={self._size_bytes},mode=0700"
        command = ["mount", "-t", "tmpfs", "-o", options, own_label(), str(self.directory)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            msg = f"no small file systems here (they need root): {done.stderr.strip()}"
            raise MissingComponentError(msg)

    def fill(self) -> None:
        """Leave not a byte."""
        with (self.directory / _BALLAST).open("ab", buffering=0) as file:
            size = len(_BLOCK)
            while size:
                try:
                    file.write(_BLOCK[:size])
                except OSError:
                    size //= 2

    def empty(self) -> None:
        """Give the space back."""
        (self.directory / _BALLAST).unlink(missing_ok=True)

    def close(self) -> None:
        """Unmount it, and lose what it held."""
        _unmount(self.directory)


def remove_stale_mounts() -> None:
    """Unmount what runs that were killed have left."""
    mounts = [line.split()[:2] for line in Path("/proc/mounts").read_text().splitlines()]
    stale = stale_labels(source for source, _ in mounts)
    for source, directory in mounts:
        if source in stale:
            _unmount(Path(os.fsdecode(directory.encode().decode("unicode_escape"))))


def _unmount(directory: Path) -> None:
    subprocess.run(["umount", "--lazy", str(directory)], capture_output=True, check=False)
