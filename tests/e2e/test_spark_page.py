"""Every snippet of the pages about Spark is run as it is written, with Spark, a broker and an S3 server."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pyspark
import pytest

from pyspark_headrace.hatch_build import files
from tests.documentation.pages import page
from tests.e2e.docs_scene import make_checkout, required_namespaces
from tests.e2e.spark_page import PAGES, snippets
from tests.environment.duckdb import provide_duckdb_extensions
from tests.environment.iceberg import iceberg_jar
from tests.environment.java import java_home
from tests.environment.kcat import kcat_program
from tests.environment.minio import minio_program
from tests.environment.paths import ROOT
from tests.environment.spark import connector_jars, write_repository
from tests.environment.wheels import make_installable

TIMEOUT_S = 900
pytestmark = [
    pytest.mark.spark,
    pytest.mark.java,
    pytest.mark.s3,
    pytest.mark.timeout(TIMEOUT_S + 30),
]


@pytest.fixture
def environment(
    component: Callable[[Callable[[], object]], None], tmp_path: Path
) -> Iterator[dict[str, str]]:
    """A checkout, a home with a Maven repository, and a Spark whose workers may write into its directory."""
    for provide in (java_home, connector_jars, iceberg_jar, minio_program, kcat_program):
        component(provide)
    checkout, home, spark_home = (tmp_path / it for it in ("headrace", "home", "spark"))
    variables = make_checkout(checkout, home)
    write_repository(home / ".m2" / "repository")
    (checkout / "pyspark_headrace").unlink()
    for place, text in files():  # what the wheel has
        path = checkout / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    spark_home.mkdir()
    for path in Path(pyspark.__file__).parent.iterdir():
        (spark_home / path.name).symlink_to(path)
    provide_duckdb_extensions(home)
    quick = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # for JVMs that end soon
    installable = tmp_path / "environment"
    yield {
        **variables,
        **make_installable(installable),
        "PATH": f"{installable / 'bin'}:{variables['PATH']}",
        "JAVA_HOME": str(java_home()),
        # Java asks the user database for the home, where Maven's repository is.
        "JAVA_TOOL_OPTIONS": f"-Duser.home={home} {quick}",
        "SPARK_HOME": str(spark_home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYTHONPATH": f"{checkout}:{variables['PYTHONPATH']}",
    }
    shutil.rmtree(tmp_path)


@pytest.mark.parametrize("name", PAGES)
def test_every_snippet_of_the_page_runs(
    environment: dict[str, str], tmp_path: Path, name: str
) -> None:
    program = [sys.executable, "-m", "tests.e2e.spark_page", str(tmp_path), name]
    ran = subprocess.run(
        [*required_namespaces(), *program],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert ran.stdout.splitlines()[-1:] == ["done"], ran.stdout[-8_000:] + ran.stderr[-4_000:]


@pytest.mark.parametrize("name", PAGES)
def test_no_snippet_of_the_page_is_excused(name: str) -> None:
    found = page(name).blocks
    assert not [it.place for it in found if it.not_run is not None]
    shown = [it.place for it in found if it not in snippets(name)]
    assert len(shown) == len([it for it in found if it.output is not None]), shown
