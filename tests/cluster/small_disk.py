"""A file system of some MiB that a test can fill, for a directory of nodes; needs root."""

import os
import subprocess
from pathlib import Path

from tests.cluster.run_identity import own_label, stale_labels
from tests.environment.paths import MissingComponentError

_LARGEST_BYTES = 1 << 30
_BALLAST = ".ballast"


class SmallDisk:
    """Mounted at `directory`, from `mount` to `close`: in memory, or in a file, for who writes past the cache."""

    def __init__(self, directory: Path, size_bytes: int, *, in_file: bool = False) -> None:
        self.directory = directory
        self._size_bytes = size_bytes
        self._image = directory.parent / f"{directory.name}.{own_label()}" if in_file else None

    def mount(self) -> None:
        """Mount it, empty.

        Raises:
            MissingComponentError: that is not allowed here.
        """
        remove_stale_mounts()
        self.directory.mkdir(parents=True, exist_ok=True)
        try:
            if self._image:
                with self._image.open("wb") as file:
                    file.truncate(self._size_bytes)
                _run("mkfs.ext4", "-q", "-F", "-m", "0", self._image)
                _run("mount", "-o", "loop", self._image, self.directory)
            else:
                options = f"size={self._size_bytes},mode=0700"
                _run("mount", "-t", "tmpfs", "-o", options, own_label(), self.directory)
        except (OSError, subprocess.CalledProcessError) as error:
            why = getattr(error, "stderr", None) or error
            msg = f"no small file systems here (they need root): {why}"
            raise MissingComponentError(msg) from error

    def fill(self) -> None:
        """Leave not a byte."""
        with (self.directory / _BALLAST).open("ab", buffering=0) as file:
            size, at = _LARGEST_BYTES, file.tell()
            while size:
                try:
                    os.posix_fallocate(file.fileno(), at, size)
                    at += size
                except OSError:
                    size //= 2

    def empty(self) -> None:
        """Give the space back."""
        (self.directory / _BALLAST).unlink(missing_ok=True)

    def close(self) -> None:
        """Unmount it, and lose what it held."""
        _unmount(self.directory)
        if self._image:
            self._image.unlink()


def remove_stale_mounts() -> None:
    """Unmount what runs that were killed have left."""
    mounts = [line.split()[:2] for line in Path("/proc/mounts").read_text().splitlines()]
    for source, directory in mounts:
        if stale_labels([source, _image_of(source)]):
            _unmount(Path(os.fsdecode(directory.encode().decode("unicode_escape"))))


def _image_of(source: str) -> str:
    """The file that a loop device is made of; empty: it is none."""
    try:
        return Path(f"/sys/block/{Path(source).name}/loop/backing_file").read_text()
    except OSError:
        return ""


def _run(*command: object) -> None:
    subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)


def _unmount(directory: Path) -> None:
    subprocess.run(["umount", "--lazy", str(directory)], capture_output=True, check=False)
