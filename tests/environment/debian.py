"""Installs Debian packages when we are root, and says the one command to run when we are not."""

import os
import shutil
import subprocess

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
    if _apt_get("install", "-y", "--no-install-recommends", *packages).returncode == 0:
        return
    _apt_get("update")
    second = _apt_get("install", "-y", "--no-install-recommends", *packages)
    if second.returncode != 0:
        msg = f"{instruction} failed:\n{second.stderr.strip()}"
        raise MissingComponentError(msg)


def offers(package: str) -> bool:
    """Tell whether this Debian has `package`."""
    shown = subprocess.run(
        ["apt-cache", "show", "--no-all-versions", package], capture_output=True, check=False
    )
    return shown.returncode == 0


def _apt_get(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    return subprocess.run(
        ["apt-get", "-q", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
