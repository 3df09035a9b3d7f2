"""A block device made of a file; needs root."""

import subprocess
from pathlib import Path
from typing import Self

from tests.environment.paths import MissingComponentError


class LoopDevice:
    """Attached while the context lasts; the image stays. Its writes go past the page cache where that is possible."""

    def __init__(self, image: Path, size_bytes: int) -> None:
        self.image = image
        self._size_bytes = size_bytes
        self.path = ""

    def __enter__(self) -> Self:
        """Attach it.

        Raises:
            MissingComponentError: that is not allowed here.
        """
        with self.image.open("ab") as file:
            file.truncate(self._size_bytes)
        command = ["losetup", "--find", "--show"]
        for options in (["--direct-io=on"], []):
            done = subprocess.run(
                [*command, *options, str(self.image)], capture_output=True, text=True, check=False
            )
            if done.returncode == 0:
                self.path = done.stdout.strip()
                return self
        msg = f"no loop devices here (they need root): {done.stderr.strip()}"
        raise MissingComponentError(msg)

    def __exit__(self, *_: object) -> None:
        """Detach it."""
        subprocess.run(["losetup", "--detach", self.path], check=True)
