"""Puts one mistake after the other into copies of the project and runs the test that must notice.

A copy comes first on the import path, and a plugin checks that the test imported the changed file
from there. A test that fails is a mistake caught; anything else but a test that ran is an error of
the table.
"""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from queue import SimpleQueue
from typing import Concatenate, ParamSpec, Self, TypeVar

from tests.seeded.bug import ROOT, SeededBug, Simulated
from tests.seeded.plugin import NOTHING_RAN, WRONG_MODULE

PACKAGES = ("broker", "config", "metadata", "pipeline", "protocol", "storage", "wal")
COPIED = (*PACKAGES, "headrace", "tests", "docs")
FILES = ("pyproject.toml", "Makefile", "README.md")
LINKED = (".cache", ".venv")
AT_ONCE = 2
TEST_TIMEOUT_S = 120
RUN_TIMEOUT_S = 600
MAX_MEMORY_BYTES = 4 << 30  # a mistake may well make a test append for ever
_FAILED = 1  # of pytest
_ERRORS = {
    NOTHING_RAN: "the test did not run",
    WRONG_MODULE: "the test did not import the changed file",
}
# A mistake that does not even run says nothing about the tests.
_SLOPPY = ("NameError", "UnboundLocalError", "AttributeError", "ImportError")

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Outcome(Enum):
    """What became of a seeded bug."""

    CAUGHT = "caught"
    MISSED = "MISSED"
    BROKEN = "BROKEN"


@dataclass(frozen=True, slots=True)
class Result:
    """One bug's."""

    bug: SeededBug
    tried: str  # the test, or what was simulated
    outcome: Outcome
    seconds: float
    why: str

    def __str__(self) -> str:
        head = f"{self.outcome.value:7} {self.bug.id:8} {self.seconds:5.1f} s  {self.bug.title}"
        return f"{head}\n        {self.tried}\n        {self.why}"


@contextmanager
def copied_project() -> Iterator[Path]:
    """Copy what tests need to a directory that goes again."""
    with tempfile.TemporaryDirectory(prefix="seeded-") as name:
        copy = Path(name).resolve()
        for directory in COPIED:
            # Byte code comes along, and keeps its validity with the times of the files.
            shutil.copytree(ROOT / directory, copy / directory, symlinks=True)
        for file in FILES:
            shutil.copy2(ROOT / file, copy / file)
        for link in LINKED:
            if (ROOT / link).exists():
                (copy / link).symlink_to(ROOT / link)
        yield copy


class Copies:
    """Copies of the project, each for one call at a time. What has not begun at the end is left out."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(AT_ONCE)
        self._free: SimpleQueue[Path] = SimpleQueue()
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        for _ in range(AT_ONCE):
            self._free.put(self._stack.enter_context(copied_project()))
        self._stack.callback(self._pool.shutdown, cancel_futures=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def submit(
        self, call: Callable[Concatenate[Path, _P], _T], *args: _P.args, **kwargs: _P.kwargs
    ) -> "Future[_T]":
        """Call it with a copy, as soon as one is free."""

        def with_copy() -> _T:
            copy = self._free.get()
            try:
                return call(copy, *args, **kwargs)
            finally:
                self._free.put(copy)

        return self._pool.submit(with_copy)


@contextmanager
def mistake(copy: Path, bug: SeededBug) -> Iterator[None]:
    """Put the bug into the copy, for a while.

    Raises:
        ValueError: the table does not fit the file.
    """
    path = copy / bug.file
    changed = bug.apply(path.read_text())
    original = path.with_suffix(".original")
    path.rename(original)
    try:
        path.write_text(changed)
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink()  # two versions may be of one size and one second
        yield
    finally:
        original.replace(path)


def run_tests(copy: Path, tests: Sequence[str], *options: str) -> tuple[int, str]:
    """Run tests of the copy on the copy; return the exit code and what was printed."""
    command = ["pytest", "-q", "-x", "-p", "tests.seeded.plugin"]
    command += ["-o", f"timeout={TEST_TIMEOUT_S}", "--seeded-root", str(copy), *options, *tests]
    # Of its own: in the common one, the runs beside it remove what is not among the newest.
    command += ["--basetemp", str(copy / "temporary")]
    return _run(copy, command)


def run_simulation(copy: Path, simulated: Simulated) -> tuple[int, str]:
    """Simulate clusters of the copy until something is found; return the exit code and what was printed."""
    command = ["tests.simulation.cluster.swarm", "--start", "1", "--seeds", str(simulated.seeds)]
    command += ["--seconds", str(simulated.seconds), "--nature", simulated.nature, "--until-found"]
    return _run(copy, command)


def run_drawn(copy: Path, seeds: range, seconds: float) -> tuple[int, str]:
    """Simulate clusters of the copy as these seeds draw them, until something is found; return likewise."""
    command = ["tests.simulation.cluster.swarm", "--start", str(seeds.start), "--jobs", "1"]
    command += ["--seeds", str(len(seeds)), "--seconds", str(seconds), "--until-found"]
    return _run(copy, command)


def _run(copy: Path, module: Sequence[str]) -> tuple[int, str]:
    command = [sys.executable, "-m", *module]
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("CI", None)  # pytest prints differences whole there: minutes of work
    with subprocess.Popen(
        command,
        cwd=copy,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        resource.prlimit(process.pid, resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
        try:
            output, _ = process.communicate(timeout=RUN_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            return -1, f"it took more than {RUN_TIMEOUT_S} s"
    return process.returncode, output


def check_sound(copy: Path, tests: Sequence[str]) -> str | None:
    """Run the tests without any mistake; return what is wrong, if they do not all pass."""
    code, output = run_tests(copy, tests)
    return None if code == 0 else f"{_ERRORS.get(code, '')}\n{output[-4000:]}"


def try_bug(copy: Path, bug: SeededBug, test: str) -> Result:
    """Seed one bug and run its test."""
    started = time.monotonic()
    options = ["--seeded-module", bug.module, *([] if bug.in_process else ["--seeded-elsewhere"])]
    try:
        with mistake(copy, bug):
            code, output = run_tests(copy, [test], *options)
    except (ValueError, SyntaxError, OSError) as error:
        return Result(bug, test, Outcome.BROKEN, time.monotonic() - started, str(error))
    seconds = time.monotonic() - started
    if code == 0:
        return Result(bug, test, Outcome.MISSED, seconds, "the test passes all the same")
    if code == _FAILED:
        error = _first_error(output)
        caught = not error.startswith(_SLOPPY)
        return Result(bug, test, Outcome.CAUGHT if caught else Outcome.BROKEN, seconds, error)
    return Result(bug, test, Outcome.BROKEN, seconds, _ERRORS.get(code) or output[-2000:])


def _first_error(output: str) -> str:
    """The line with which pytest says what failed."""
    lines = (line[1:].strip() for line in output.splitlines() if line.startswith("E  "))
    return next(lines, "failed")[:150]


def simulate_bug(copy: Path, bug: SeededBug, simulated: Simulated) -> Result:
    """Seed one bug and simulate clusters."""
    started = time.monotonic()
    try:
        with mistake(copy, bug):
            code, output = run_simulation(copy, simulated)
    except (ValueError, SyntaxError, OSError) as error:
        return Result(bug, str(simulated), Outcome.BROKEN, time.monotonic() - started, str(error))
    seconds = time.monotonic() - started
    found = [it for it in output.splitlines() if it.startswith("seed ")]
    if code == _FAILED and found:
        return Result(bug, str(simulated), Outcome.CAUGHT, seconds, found[0][:150])
    if code == 0:
        return Result(bug, str(simulated), Outcome.MISSED, seconds, "nothing is found")
    return Result(bug, str(simulated), Outcome.BROKEN, seconds, output[-2000:])


def run_simulations(bugs: Sequence[SeededBug]) -> Iterator[Result]:
    """Try those that the simulation must catch, after a run of each nature without any.

    Raises:
        AssertionError: something is found without a mistake.
    """
    natures = sorted({it.simulated for it in bugs if it.simulated}, key=str)
    with Copies() as copies:
        sound = [copies.submit(run_simulation, simulated) for simulated in natures]
        tried = [copies.submit(simulate_bug, it, it.simulated) for it in bugs if it.simulated]
        for simulated, run_without in zip(natures, sound, strict=True):
            code, output = run_without.result()
            assert code == 0, f"{simulated} finds something without a mistake: {output[-4000:]}"
        for result in tried:
            yield result.result()


def run(bugs: Sequence[SeededBug]) -> Iterator[Result]:
    """Try those that have a test, after a run of the tests without any.

    Raises:
        AssertionError: a test fails without a mistake.
    """
    tests = sorted({it.test for it in bugs if it.test})
    if not tests:
        return
    with Copies() as copies:
        sound = copies.submit(check_sound, tests)
        tried = [copies.submit(try_bug, it, it.test) for it in bugs if it.test]
        wrong = sound.result()
        assert wrong is None, f"the tests do not pass without a mistake: {wrong}"
        for result in tried:
            yield result.result()
