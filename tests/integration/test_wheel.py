"""The wheels, installed where a user has modules of his own with the names of our folders."""

import email
import importlib.metadata
import re
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOREIGN = ("broker", "config", "metadata", "pipeline", "protocol", "storage", "wal")


def built(project: Path, directory: Path) -> Path:
    """Build a wheel as a user's pip does."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(directory)]
    subprocess.run(command, cwd=project, check=True, capture_output=True)
    (wheel,) = directory.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def core_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(ROOT / "distributions" / "core", tmp_path_factory.mktemp("core"))


@pytest.fixture(scope="module")
def python(wheel: Path, core_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install it into an environment of its own, which borrows only the libraries of this one."""
    directory = tmp_path_factory.mktemp("environment")
    venv.create(directory, symlinks=True)
    (packages,) = directory.glob("lib/python*/site-packages")
    for file in (core_wheel, wheel):
        with zipfile.ZipFile(file) as archive:
            archive.extractall(packages)
    libraries = Path(pytest.__file__).parents[1]
    # Not as a site directory: its .pth files would bring the checkout along.
    (packages / "libraries.pth").write_text(f"{libraries}\n")
    return directory / "bin" / "python"


def files_of(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_everything_lies_under_one_name_once(wheel: Path, core_wheel: Path) -> None:
    names = files_of(wheel) + files_of(core_wheel)
    assert len(names) == len(set(names)), "an update of one distribution would break the other"
    assert {name.partition("/")[0].split("-")[0] for name in names} == {"headrace", "headrace_core"}
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


def required_files(wheel: Path) -> Iterator[Path]:
    """What lies in the site directory of an environment that has what a wheel requires, and nothing else."""
    with zipfile.ZipFile(wheel) as archive:
        (told,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(told))
    todo, seen = metadata.get_all("Requires-Dist", []), set()
    while todo:
        requirement = todo.pop()
        name = re.split(r"[^A-Za-z0-9._-]", requirement)[0]
        if ";" in requirement or name in seen:
            continue
        seen.add(name)
        found = importlib.metadata.distribution(name)
        todo += found.requires or []
        for top in {file.parts[0] for file in found.files or () if file.parts[0] != ".."}:
            yield Path(str(found.locate_file(top)))


def test_the_formats_install_without_the_broker(core_wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "environment", symlinks=True)
    (packages,) = tmp_path.glob("environment/lib/python*/site-packages")
    with zipfile.ZipFile(core_wheel) as archive:
        archive.extractall(packages)
    for path in required_files(core_wheel):
        (packages / path.name).symlink_to(path)
    modules = [
        name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for name in files_of(core_wheel)
        if name.endswith(".py")
    ]
    assert "headrace.metadata.log.snapshot_format" in modules
    program = (
        "import importlib, importlib.util\n"
        f"for name in {modules}: importlib.import_module(name)\n"
        "absent = ('aiohttp', 'boto3', 'kafka', 'obstore', 'uvloop', 'headrace.broker', 'headrace.wal')\n"
        "assert not [name for name in absent if importlib.util.find_spec(name)]\n"
    )
    python = tmp_path / "environment" / "bin" / "python"
    done = subprocess.run(
        [python, "-c", program], cwd=tmp_path, env={}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
