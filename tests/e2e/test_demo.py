"""The demonstration in a smaller form, on Debian's index and on data of one's own."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.environment.java import java_home
from tests.environment.kcat import kcat_program
from tests.environment.spark import connector_jars

pytestmark = [pytest.mark.spark, pytest.mark.java, pytest.mark.timeout(300)]

Component = Callable[[Callable[[], object]], None]


@pytest.fixture
def run_demo(component: Component, demo_python: Path, tmp_path: Path) -> Callable[..., str]:
    """Run the demonstration with these arguments and return what it prints."""
    for provide in (java_home, kcat_program, connector_jars):
        component(provide)

    def run(*arguments: str) -> str:
        places = ["--output", str(tmp_path / "out"), "--connector-jars", str(connector_jars())]
        ran = subprocess.run(
            [demo_python, "-m", "headrace.pipeline.demo", *places, *arguments],
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
            cwd=tmp_path,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    return run


def test_debians_index(run_demo: Callable[..., str]) -> None:
    printed = run_demo("--records", "3000", "--partitions", "3")
    assert "3,000 records acknowledged" in printed
    assert printed.count("counts and checksums agree") == 4
    assert "section" in printed
    assert "installed_size" in printed


def test_data_of_ones_own(run_demo: Callable[..., str], tmp_path: Path) -> None:
    data = tmp_path / "own.jsonl"
    orders = [{"id": f"o{i}", "shop": f"s{i % 3}", "amount": i / 2} for i in range(90)]
    data.write_text("\n".join(map(json.dumps, orders)))
    printed = run_demo("--data", str(data), "--partitions", "2")
    assert "grouped by 'shop', sum of 'amount'" in printed
    rows = [line.split() for line in printed.splitlines()]
    start = rows.index(["shop", "documents", "amount"])
    assert rows[start + 2 : start + 5] == [
        ["s2", "30", "682.5"],
        ["s1", "30", "667.5"],
        ["s0", "30", "652.5"],
    ]
