"""The demonstration in a smaller form: by broker, by bucket, SQL and a chart."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.environment.java import java_home
from tests.environment.spark import connector_jars

pytestmark = [pytest.mark.spark, pytest.mark.java, pytest.mark.timeout(600)]


def test_debians_index_becomes_a_table(
    component: Callable[[Callable[[], object]], None], demo_python: Path, tmp_path: Path
) -> None:
    component(java_home)
    component(connector_jars)
    places = ["--output", str(tmp_path / "out"), "--connector-jars", str(connector_jars())]
    ran = subprocess.run(
        [demo_python, "-m", "headrace.pipeline.demo", "--records", "2000", *places],
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
        cwd=tmp_path,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "1,000 rows; 25 dead letters" in ran.stdout
    assert "2,000 rows; lag 0" in ran.stdout
    assert "section" in ran.stdout
    assert (tmp_path / "out/installed-size.png").read_bytes().startswith(b"\x89PNG")
