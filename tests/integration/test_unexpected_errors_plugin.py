"""A run fails when an event loop got what nobody expected, tried on small runs of pytest."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.environment.paths import ROOT

CONFTEST = """
from tests.environment.unexpected_errors import UnexpectedErrorsPlugin

def pytest_configure(config):
    config.addinivalue_line("markers", "unexpected_errors: on purpose")
    config.pluginmanager.register(UnexpectedErrorsPlugin(config))
"""
TESTS = '''
import asyncio, pathlib, pytest, sys, tempfile
from tests.environment.processes import ServerProcess

LOGS = """
import sys
print('{{"level": "ERROR", "msg": "unexpected error: callback", "err": "KeyError: \'planted\'"}}')
"""

async def broken():
    raise KeyError("planted")

def raises():
    raise KeyError("planted")

async def in_a_task():
    asyncio.create_task(broken())
    await asyncio.sleep(0.01)

async def in_a_callback():
    asyncio.get_running_loop().call_soon(raises)
    await asyncio.sleep(0.01)

async def in_a_task_that_is_kept():
    task = asyncio.create_task(broken())
    task.itself = task
    await asyncio.sleep(0.01)

async def in_a_process():
    directory = pathlib.Path(tempfile.mkdtemp(dir="."))
    process = ServerProcess([sys.executable, "-c", LOGS], log=directory / "log")
    process.start()
    process.wait_for_end(timeout_s=30)

async def nowhere():
    await asyncio.gather(broken(), return_exceptions=True)

{mark}
def test_it():
    asyncio.run({where}())
'''


def outcome(directory: Path, where: str, mark: str = "", *options: str) -> tuple[int, str]:
    (directory / "pytest.ini").write_text("[pytest]\n")
    (directory / "conftest.py").write_text(CONFTEST)
    (directory / "test_it.py").write_text(TESTS.format(where=where, mark=mark))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=directory, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("where", ["in_a_task", "in_a_callback", "in_a_process"])
@pytest.mark.parametrize("options", [(), ("-n", "1")], ids=["alone", "xdist"])
def test_a_run_fails_though_every_test_passed(
    where: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    code, text = outcome(tmp_path, where, "", *options)
    assert code == 1, text
    assert "1 passed" in text
    assert "1 exceptions that nobody expected" in text
    assert "test_it.py::test_it" in text
    assert "KeyError: 'planted'" in text


def test_what_is_read_or_brought_about_on_purpose_fails_nothing(tmp_path: Path) -> None:
    assert outcome(tmp_path, "nowhere")[0] == 0
    mark = "@pytest.mark.unexpected_errors"
    assert outcome(tmp_path, "in_a_callback", mark)[0] == 0
    assert outcome(tmp_path, "in_a_task_that_is_kept", mark)[0] == 0
