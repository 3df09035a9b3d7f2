"""The wheel, installed where a user has modules of his own with the names of our folders."""

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOREIGN = ("broker", "config", "metadata", "pipeline", "protocol", "storage", "wal")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel as a user's pip does."""
    directory = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(directory)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = directory.glob("headrace-*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install it into an environment of its own, which borrows only the libraries of this one."""
    directory = tmp_path_factory.mktemp("environment")
    venv.create(directory, symlinks=True)
    (packages,) = directory.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    libraries = Path(pytest.__file__).parents[1]
    # Not as a site directory: its .pth files would bring the checkout along.
    (packages / "libraries.pth").write_text(f"{libraries}\n")
    return directory / "bin" / "python"


def test_everything_lies_under_one_name(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.partition("/")[0].split("-")[0] for name in names} == {"headrace"}
    assert "headrace/daemon_threads.py" in names
    for folder in FOREIGN:
        modules = [path for path in (ROOT / folder).rglob("*") if path.suffix in {".py", ".json"}]
        assert modules
        for path in modules:
            assert f"headrace/{path.relative_to(ROOT)}" in names


def test_a_user_s_modules_of_the_same_names_are_no_obstacle(python: Path, tmp_path: Path) -> None:
    for name in FOREIGN:
        (tmp_path / f"{name}.py").write_text(f"MINE = {name!r}\n")
    program = (
        "import sys\n"
        f"import {', '.join(FOREIGN)}\n"
        "from headrace.broker.cli.root import run\n"
        "import headrace.storage.engine, headrace.pipeline.package_sizes, headrace.broker.app\n"
        f"assert [{', '.join(f'{name}.MINE' for name in FOREIGN)}] == {list(FOREIGN)}\n"
        f"assert {str(ROOT)!r} not in sys.path\n"
        "sys.exit(run(['config', 'check', '--all']))\n"
    )
    done = subprocess.run(
        [python, "-c", program],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "The configuration is valid." in done.stdout + done.stderr


def test_the_command_runs_beside_them(python: Path, tmp_path: Path) -> None:
    for name in FOREIGN:
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a stranger was imported')\n")
    done = subprocess.run(
        [python, "-m", "headrace.broker", "config", "check"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
