"""Tests that are marked `alone` run alone, tried on a small run of pytest in two processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.environment.paths import ROOT

CONFTEST = """
from tests.environment.alone import AlonePlugin

def pytest_configure(config):
    config.addinivalue_line("markers", "alone: by itself")
    config.pluginmanager.register(AlonePlugin(config))
"""
# What runs longest begins last of the ordinary ones: the other process has nothing left then but what is alone.
TESTS = """
import os, pathlib, pytest, time

def log(what):
    with open("log", "a") as file:
        file.write(what + "\\n")

def run(name, seconds):
    log(f"{name} begins")
    time.sleep(seconds)
    log(f"{name} ends")

@pytest.mark.alone
def test_alone_1():
    run("alone 1", 0.1)

@pytest.mark.parametrize("number", range(6))
def test_ordinary(number):
    run(f"ordinary {number}", 1 if number == 5 else 0.05)

@pytest.mark.alone
def test_alone_2():
    run("alone 2", 0.1)
"""


def run(directory: Path, options: str) -> list[str]:
    """Run the tests; return what they did, in order."""
    (directory / "pytest.ini").write_text("[pytest]\n")
    (directory / "conftest.py").write_text(CONFTEST)
    (directory / "test_it.py").write_text(TESTS)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options.split()],
        cwd=directory,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return (directory / "log").read_text().splitlines()


@pytest.mark.parametrize("options", ["-n 2 --dist load", "-n 2 --dist worksteal", "-n 0"])
def test_no_other_test_runs_meanwhile(tmp_path: Path, options: str) -> None:
    lines = run(tmp_path, options)
    assert len(lines) == 16
    for name in ("alone 1", "alone 2"):
        begin = lines.index(f"{name} begins")
        before = [it.split()[-1] for it in lines[:begin]]
        assert before.count("begins") == before.count("ends"), f"others run when {name} begins"
        assert lines[begin + 1] == f"{name} ends"
    if options == "-n 0":
        assert {it.split()[0] for it in lines[-4:]} == {"alone"}, "they come last"
