"""Installs Debian packages when we are root, and says the one command to run when we are not."""

import os
import shlex
import shutil
import subprocess

from tests.environment.downloads import run_download
from tests.environment.paths import MissingComponentError


def install(*packages: str) -> None:
    """Install `packages`.

    Raises:
        MissingComponentError: this is not Debian, we are not root, or apt-get failed.
    """
    instruction = f"sudo apt-get install -y {' '.join(packages)}"
    if shutil.which("apt-get") is None:
        msg = f"please install what Debian calls: {' '.join(packages)}"
        raise MissingComponentError(msg)
    if os.geteuid() != 0:
        msg = f"please run:  {instruction}"
        raise MissingComponentError(msg)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    command = ("apt-get", "-q", "install", "-y", "--no-install-recommends", *packages)
    if subprocess.run(command, env=environment, capture_output=True, check=False).returncode == 0:
        return
    # `update` succeeds where a mirror is silent, and says so by a warning only: the pair is tried again.
    both = f"apt-get -q update && {shlex.join(command)}"
    run_download(["sh", "-c", both], environment=environment)


def offers(package: str) -> bool:
    """Tell whether this Debian has `package`."""
    shown = subprocess.run(
        ["apt-cache", "show", "--no-all-versions", package], capture_output=True, check=False
    )
    return shown.returncode == 0
