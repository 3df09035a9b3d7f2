"""The wheels, and environments in which one of them is installed with what it requires and nothing else."""

import email
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement

from tests.environment.paths import ROOT


def build_wheels(directory: Path) -> tuple[Path, Path]:
    """Build the wheels of the broker and of the pipeline for Spark, as `make wheel` does."""
    # What a development installation needs is here.
    command = ["make", "--old-file=setup-check", f"VENV={sys.prefix}", f"DIST={directory}", "wheel"]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (broker,) = directory.glob("headrace-*.whl")
    (spark,) = directory.glob("pyspark_headrace-*.whl")
    return broker, spark


def files_of(wheel: Path) -> list[str]:
    """Paths of the files in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def install(
    wheel: Path, directory: Path, *others: str, extras: frozenset[str] = frozenset()
) -> Path:
    """Make an environment with a wheel, what it and its extras require, and other distributions; return its Python.

    What is required comes from the environment that runs, by links: that takes a second, and no network.
    """
    return _linked(wheel, directory, set(_required_files(wheel, extras, others)))


def install_with(wheel: Path, directory: Path, packages: Path) -> Path:
    """Make an environment with a wheel and the packages of a directory, by links; return its Python."""
    return _linked(wheel, directory, packages.iterdir())


def _linked(wheel: Path, directory: Path, links: Iterable[Path]) -> Path:
    venv.create(directory, symlinks=True)
    (packages,) = directory.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    for path in links:
        (packages / path.name).symlink_to(path)
    return directory / "bin" / "python"


def make_installable(directory: Path) -> dict[str, str]:
    """Make an environment into which `pip install .` can install, without a network; return the variables for it.

    What is required is found in the environment that runs, which stays as it is.
    """
    venv.create(directory, symlinks=True)
    (packages,) = directory.glob("lib/python*/site-packages")
    (packages / "required.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    pip = directory / "bin" / "pip"
    pip.write_text(f'#!/bin/sh\nexec {directory}/bin/python -m pip "$@"\n')
    pip.chmod(0o755)
    return {"PIP_NO_BUILD_ISOLATION": "0", "PIP_NO_INDEX": "1"}  # 0 is what switches it off


def requirements(wheel: Path) -> list[str]:
    """What a wheel says that it requires, with extras."""
    with zipfile.ZipFile(wheel) as archive:
        (told,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(archive.read(told)).get_all("Requires-Dist", [])


def _required_files(wheel: Path, extras: frozenset[str], others: Sequence[str]) -> Iterator[Path]:
    """What these distributions, and those that they require, have in the directory of packages."""
    own = wheel.name.partition("-")[0]
    todo = [(own, extras), *((it.name, frozenset(it.extras)) for it in map(Requirement, others))]
    seen: set[tuple[str, frozenset[str]]] = set()
    while todo:
        name, wanted = todo.pop()
        if (name, wanted) in seen:
            continue
        seen.add((name, wanted))
        found = None if name == own else distribution(name)
        required = requirements(wheel) if found is None else found.requires or []
        for it in map(Requirement, required):
            marker = it.marker
            if marker is None or any(marker.evaluate({"extra": one}) for one in ("", *wanted)):
                todo.append((it.name, frozenset(it.extras)))
        if found is not None:
            for top in {file.parts[0] for file in found.files or () if file.parts[0] != ".."}:
                yield Path(str(found.locate_file(top)))
