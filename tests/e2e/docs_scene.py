"""Runs the commands of the documentation as they are written, in namespaces of their own.

A scene is one shell that runs blocks one after the other, in an empty directory that looks like a
checkout. Its network namespace has nothing but a loopback interface, so the ports of the pages are
free; its process namespace ends with the shell, so nothing that a page starts stays.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.documentation.pages import Block
from tests.environment.paths import ROOT

NAMESPACES = ("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
_TIMEOUT_S = 240
_FOREGROUND = re.compile(r"^(make run|headrace (?:server|dev)\b[^&\n]*?)( *#.*)?$", re.MULTILINE)
# A server that the page leaves in the foreground of another terminal.
_AND_WAIT = (
    r"\1 &" + "\n" + "until curl -fs http://127.0.0.1:9644/readyz; do kill -0 $!; sleep 0.2; done"
)


def namespaces() -> list[str] | None:
    """The command that makes the namespaces, by the rights that we have; None without them."""
    for command in (list(NAMESPACES), [*NAMESPACES, "--map-root-user"]):
        probe = [*command, "ip", "link", "set", "lo", "up"]
        try:
            done = subprocess.run(probe, capture_output=True, timeout=20, check=False)
        except FileNotFoundError:
            return None
        if done.returncode == 0:
            return command
    return None


def required_namespaces() -> list[str]:
    """The command that makes the namespaces; the test is skipped without them, or fails where nothing may be."""
    isolated = namespaces()
    if isolated is None:
        missing = "the commands of the pages need root or user namespaces"
        (pytest.fail if os.environ.get("TEST_REQUIRE_ALL") else pytest.skip)(missing)
    return isolated


# By what somebody has run in this checkout: it is not there in a fresh one.
MADE_HERE = ("build", "dist", "spark-warehouse")


def make_checkout(directory: Path, home: Path) -> dict[str, str]:
    """Make a directory that looks like a checkout; return the environment in which commands run there."""
    environment = directory / ".venv"
    for made in (environment, home):
        made.mkdir(parents=True)
    for entry in ROOT.iterdir():
        if entry.name[0] != "." and entry.name not in MADE_HERE:
            (directory / entry.name).symlink_to(entry)
    for part in ("bin", "lib", "pyvenv.cfg"):  # so that its Python has its packages
        (environment / part).symlink_to(Path(sys.prefix) / part)
    for stage in ("run", "demo", "check", "test"):  # or `make` would install into the environment
        (environment / f".complete-{stage}").touch()
    return {
        **os.environ,
        "HOME": str(home),
        "PATH": f"{environment}/bin:{os.environ['PATH']}",
        "PYTHONPATH": os.environ.get("PYTHONPATH", str(ROOT)),
    }


class Scene:
    """A directory that looks like a checkout, and the shell in it."""

    def __init__(self, directory: Path, isolated: Sequence[str]) -> None:
        self._directory = directory / "headrace"
        self._outputs = directory / "outputs"
        self._isolated = isolated
        self._outputs.mkdir()
        self._environment = make_checkout(self._directory, directory / "home")

    def run(self, blocks: Sequence[Block], variables: dict[str, str], texts: dict[str, str]) -> str:
        """Run blocks in one shell, and return what it said itself: which block it ended in.

        `texts` are what a page can only show an example of, and what stands for it here.
        """
        script = ["set -eo pipefail", "ip link set lo up"]
        for number, block in enumerate(blocks):
            text = _FOREGROUND.sub(_AND_WAIT, block.text)
            for example, meant in texts.items():
                text = text.replace(example, meant)
            script += [f"echo '{block.place}'", "{", text, f"}} >{self._output(number)} 2>&1"]
        script.append("echo done")
        done = subprocess.run(
            [*self._isolated, shutil.which("bash") or "bash", "-c", "\n".join(script)],
            cwd=self._directory,
            env={**self._environment, **variables},
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
        return done.stdout + done.stderr

    def output(self, number: int) -> str:
        """What the commands of a block wrote."""
        path = self._output(number)
        return path.read_text(errors="replace") if path.exists() else ""

    def _output(self, number: int) -> Path:
        return self._outputs / str(number)
