"""Python that nobody here may have: what is required has wheels for it, as the index says."""

import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from packaging.requirements import Requirement

from tests.environment import release
from tests.environment.paths import ROOT, MissingComponentError

NEWEST: Final = "3.14"
# Only there as source, all of it Python. A cluster has its own.
WITHOUT_WHEELS: Final = {"pyspark"}
# What is run with: not what checks and tests need.
EXTRAS: Final = ("spark", "tables", "registry", "demo", "aws")
# How uv and pip begin to say that there is no such wheel.
NO_WHEEL: Final = ("no usable wheels", "No solution found", "No matching distribution found")


def required(project: Path) -> list[Requirement]:
    told = tomllib.loads(project.read_text())["project"]
    extras = told["optional-dependencies"]
    lines = [*told["dependencies"], *(it for name in EXTRAS for it in extras.get(name, ()))]
    found = [Requirement(line) for line in lines]
    return [it for it in found if it.name not in WITHOUT_WHEELS | {told["name"]}]


def resolved(directory: Path, requirements: list[Requirement]) -> str:
    """Look all of them up, without fetching any; as setup does it, by uv, and by pip where uv has no index.

    Raises:
        AssertionError: one has no wheel.
        MissingComponentError: the index does not answer.
    """
    asked = directory / "asked.txt"
    asked.write_text("".join(f"{it}\n" for it in requirements))
    wheels_only = ("--python-version", NEWEST, "--only-binary", ":all:")
    by_uv = [Path(sys.executable).with_name("uv"), "pip", "compile", "--quiet", "--no-header"]
    by_pip = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed"]
    said = ""
    for command in (
        [*by_uv, "--system-certs", "--no-python-downloads", *wheels_only, asked],
        [*by_pip, "--target", directory / "none", *wheels_only, "-r", asked],
    ):
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        if ran.returncode == 0:
            return ran.stdout
        said = f"{ran.stdout}\n{ran.stderr}".strip()
        assert not any(it in said for it in NO_WHEEL), said
    raise MissingComponentError(f"the index of Python packages does not answer:\n{said[-2000:]}")


@pytest.mark.parametrize("project", ["pyproject.toml", "pyspark_headrace/pyproject.toml"])
def test_all_that_is_required_has_wheels_for_the_newest_python(
    project: str, component: Callable[[Callable[[], object]], None], tmp_path: Path
) -> None:
    requirements = required(ROOT / project)
    component(lambda: resolved(tmp_path, requirements))


def test_what_has_none_is_named(
    component: Callable[[Callable[[], object]], None], tmp_path: Path
) -> None:
    """Its newest version ends at Python 3.13; that is why it is not used."""

    def refused() -> None:
        with pytest.raises(AssertionError, match="immutables"):
            resolved(tmp_path, [Requirement("immutables<=0.21")])

    component(refused)


def test_the_last_release_has_packages_of_the_interpreter_that_runs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(release, "build_once", lambda name, _build: Path(name))

    assert release.last_release().name.endswith(f"-{sys.implementation.cache_tag}")
