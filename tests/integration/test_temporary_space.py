"""The bounds on what a run takes of the disk, tried on small runs of pytest."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.environment.paths import ROOT
from tests.environment.temporary_space import used_bytes

MIB = 1 << 20
SETTINGS = "[pytest]\ntmp_path_retention_policy = failed\ntmp_path_retention_count = 1\n"
CONFTEST = """
from pathlib import Path
from tests.environment.temporary_space import TemporarySpace

def pytest_configure(config):
    limits = {{"max_peak_bytes": {peak}, "max_left_bytes": {left}, "shared": (Path("{shared}"),)}}
    config.pluginmanager.register(TemporarySpace(config, **limits), "temporary-space")
"""


class Project:
    """A project of a few tests, with a temporary directory of its own."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.temporary = directory / "project", directory / "temporary"
        self.shared = directory / "shared"
        for made in (self.directory, self.temporary, self.shared):
            made.mkdir()
        (self.directory / "pytest.ini").write_text(SETTINGS)

    def run(
        self, tests: str, *, peak: int = MIB, left: int = MIB, options: str = "", **variables: str
    ) -> tuple[int, str]:
        """Run tests; return the exit code and what was printed."""
        limits = {"peak": peak, "left": left, "shared": self.shared}
        (self.directory / "conftest.py").write_text(CONFTEST.format(**limits))
        (self.directory / "test_it.py").write_text(tests)
        inherited = {name: value for name, value in os.environ.items() if name != "CI"}
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options.split()],
            cwd=self.directory,
            env=inherited | {"TMPDIR": str(self.temporary), "PYTHONPATH": str(ROOT)} | variables,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


# A child process shows that it is told the place, too.
LEAVING = """
import subprocess, sys, tempfile
from pathlib import Path
import pytest

CHILD = "import tempfile; f = tempfile.mkstemp()[1]; open(f, 'wb').write(bytes(1 << 19)); print(f)"

@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    return tmp_path_factory.mktemp("shared")

def test_leaves_something(tmp_path, shared):
    for directory in (tmp_path, shared, Path(tempfile.mkdtemp())):
        (directory / "file").write_bytes(bytes(1 << 19))
    ran = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True)
    assert shared.parent in Path(ran.stdout).parents
    assert shared.parent in Path(tempfile.mkdtemp()).parents
"""


@pytest.mark.parametrize("options", ["", "-n 2"])
def test_of_a_run_that_passes_nothing_is_left(project: Project, options: str) -> None:
    code, printed = project.run(LEAVING, peak=4 * MIB, options=options)
    assert code == 0, printed
    assert used_bytes(project.temporary) < MIB // 8
    if not options:
        assert "temporary files: 2 MB at most" in printed


def test_what_a_passed_test_left_goes_before_the_next(project: Project) -> None:
    tests = "def test_it(tmp_path): (tmp_path / 'file').write_bytes(bytes(1 << 19))\n"
    code, printed = project.run("\n".join(tests.replace("it(", f"{n}(") for n in range(4)))
    assert code == 0, printed


def test_files_of_a_failed_test_stay_until_the_next_run(project: Project) -> None:
    failing = LEAVING + "    assert False\n"
    for _ in range(3):
        code, printed = project.run(failing, peak=4 * MIB)
        assert code == 1
        assert "1 failed" in printed
        assert "error" not in printed
        assert MIB < used_bytes(project.temporary) < 3 * MIB
    assert project.run(LEAVING, peak=4 * MIB)[0] == 0
    assert used_bytes(project.temporary) < MIB // 8


@pytest.mark.parametrize("options", ["", "-n 2"])
def test_the_test_that_goes_beyond_the_limit_is_named(project: Project, options: str) -> None:
    code, printed = project.run(LEAVING + "\ndef test_small(): pass\n", options=options)
    assert code == 1
    assert "ERROR test_it.py::test_leaves_something - Failed: temporary files take 2 MB" in printed
    assert "at the end of this test; at most 1 MB" in printed
    assert "2 passed, 1 error" in printed
    assert "test_small" not in printed


BESIDE = "def test_it(): open('{file}', 'wb').write(bytes({size}))\n"


@pytest.mark.parametrize("options", ["", "-n 2"])
def test_what_is_left_beside_the_base_directory_fails_a_run_of_ci(
    project: Project, options: str
) -> None:
    (project.shared / "not ours").write_bytes(bytes(3 * MIB))
    small, large = project.shared / "small", project.shared / "large"
    assert project.run(BESIDE.format(file=small, size=MIB // 2), options=options, CI="true")[0] == 0
    tests = BESIDE.format(file=large, size=2 * MIB)
    assert project.run(tests, options=options)[0] == 0
    large.unlink()
    code, printed = project.run(tests, options=options, CI="true")
    assert code == 1
    assert "1 passed" in printed
    assert "The run leaves more than 1 MB on the disk:" in printed
    assert f"2 MB  {large}" in printed
    assert "not ours" not in printed


def test_space_is_what_is_allocated(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(bytes(MIB))
    os.truncate(file, 1000 * MIB)
    assert MIB <= used_bytes(file) < 2 * MIB
    (tmp_path / "again").hardlink_to(file)
    (tmp_path / "link").symlink_to(file)
    (tmp_path / "ring").symlink_to(tmp_path)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "more").write_bytes(bytes(MIB))
    assert 2 * MIB <= used_bytes(tmp_path) < 3 * MIB
    assert used_bytes(tmp_path / "missing") == 0
