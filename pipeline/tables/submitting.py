"""The command line of spark-submit for a pipeline."""

import importlib.util
import shutil
from collections.abc import Sequence
from pathlib import Path

import pyspark

from headrace.pipeline.session import CONNECTOR_PACKAGE
from headrace.pipeline.tables.configuration import PipelineConfig

_OPTIONS_OF_JARS = ("--packages", "--jars")


def submit_command(
    config: PipelineConfig,
    file: Path,
    *,
    master: str | None,
    jars: str | None,
    others: Sequence[str],
) -> list[str]:
    """Make the command; the connector comes from Maven, unless jars or packages are given.

    Args:
        config: of the pipeline.
        file: that it was read from.
        master: of Spark; without one, that of Spark's own configuration.
        jars: files, with commas between them, or a directory of them.
        others: arguments that spark-submit gets as they are.
    """
    command = [spark_submit(), "--name", config.name]
    if master is not None:
        command += ["--master", master]
    if jars is not None:
        command += ["--jars", _listed(jars)]
    elif config.source.format == "kafka" and not set(_OPTIONS_OF_JARS) & set(others):
        command += ["--packages", f"{CONNECTOR_PACKAGE}:{pyspark.__version__}"]
    job = Path(__file__).with_name("job.py")
    return [*command, *others, str(job), str(file)]


def spark_submit() -> str:
    """The program: of the PATH, else of the installed pyspark."""
    found = shutil.which("spark-submit")
    if found is not None:
        return found
    spec = importlib.util.find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    return str(Path(spec.origin).with_name("bin") / "spark-submit")


def _listed(jars: str) -> str:
    directory = Path(jars)
    return (
        ",".join(str(it) for it in sorted(directory.glob("*.jar"))) if directory.is_dir() else jars
    )
