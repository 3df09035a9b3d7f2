"""What each target of the Makefile installs before it begins: the demonstration waits for no build of a server."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.environment.__main__ import CHAINS
from tests.environment.paths import ROOT
from tests.environment.spark import SPARK_VERSION

STAGES = {
    "run": "run",
    "demo": "demo",
    "lint": "check",
    "types": "check",
    "imports": "check",
    "tidy": "check",
    "fmt": "check",
    "unit": "check",
    "wheel": "check",
    "slow": "test",
    "integration": "test",
    "e2e": "test",
    "test": "test",
    "bench": "test",
}
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


@pytest.mark.parametrize("target", STAGES)
def test_a_target_installs_what_it_needs(target: str, tmp_path: Path) -> None:
    told = subprocess.run(
        ["make", "--dry-run", f"VENV={tmp_path}", target],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    stages = re.findall(r"\.ci/setup\.sh (\w+)", told.stdout)
    assert stages[0] == STAGES[target]
    assert set(stages[1:]) <= ({"check"} if STAGES[target] == "test" else set())


def test_the_demonstration_needs_spark_and_its_connector() -> None:
    names = {name for chain in CHAINS["demo"] for name, _ in chain}
    assert names == {"Java 17", "Spark's Kafka connector"}
    assert names < {name for chain in CHAINS["test"] for name, _ in chain}


@pytest.mark.parametrize("extra", ["demo", "dev"])
def test_spark_is_the_one_of_the_connector_that_is_brought(extra: str) -> None:
    assert f"pyspark=={SPARK_VERSION}" in EXTRAS[extra]
