"""The wheels, and environments in which one of them is installed with what it requires and nothing else."""

import email
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement

from tests.environment.paths import ROOT


def build_wheels(directory: Path) -> tuple[Path, Path]:
    """Build the wheels of the broker and of the pipeline for Spark, as `make wheel` does."""
    # What a development installation needs is here.
    command = ["make", "--old-file=setup", f"VENV={sys.prefix}", f"DIST={directory}", "wheel"]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (broker,) = directory.glob("headrace-*.whl")
    (spark,) = directory.glob("pyspark_headrace-*.whl")
    return broker, spark


def files_of(wheel: Path) -> list[str]:
    """Paths of the files in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def install(wheel: Path, directory: Path, *others: str) -> Path:
    """Make an environment with a wheel, what it requires, and these other distributions; return its Python.

    What is required comes from the environment that runs, by links: that takes a second, and no network.
    """
    venv.create(directory, symlinks=True)
    (packages,) = directory.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    for path in _required_files([*requirements(wheel), *others]):
        (packages / path.name).symlink_to(path)
    return directory / "bin" / "python"


def requirements(wheel: Path) -> list[str]:
    """What a wheel says that it requires, with extras."""
    with zipfile.ZipFile(wheel) as archive:
        (told,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(archive.read(told)).get_all("Requires-Dist", [])


def _required_files(required: list[str]) -> Iterator[Path]:
    """What these distributions, and those that they require, have in the directory of packages."""
    todo, seen = list(required), set()
    while todo:
        requirement = Requirement(todo.pop())
        is_wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if not is_wanted or requirement.name in seen:
            continue
        seen.add(requirement.name)
        found = distribution(requirement.name)
        todo += found.requires or []
        for top in {file.parts[0] for file in found.files or () if file.parts[0] != ".."}:
            yield Path(str(found.locate_file(top)))
