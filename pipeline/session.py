"""The Spark session of a job: that of spark-submit, or a local one with a suitable Java, Python and addresses."""

import os
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pyspark
from pyspark.sql import SparkSession

from headrace.pipeline.java import find_java_home
from headrace.pipeline.source.data_source import HeadraceDataSource

CONNECTOR_PACKAGE = "org.apache.spark:spark-sql-kafka-0-10_2.13"
LOOPBACK = "127.0.0.1"
_WHEEL_FOR_SPARK: Final = "pyspark_headrace"
# Of a process that spark-submit has started, and of one that has options of spark-submit for itself.
_SUBMITTED = ("PYSPARK_GATEWAY_PORT", "PYSPARK_SUBMIT_ARGS")


def create_session(
    name: str, *, connector_jars: Path | None = None, cores: int = 2, connector: bool = True
) -> SparkSession:
    """Return the session that runs or that spark-submit has configured; without one, start a local Spark.

    It knows `format("headrace")`, also where the broker's wheel is installed alone.

    The caller of spark-submit chooses master, addresses, packages and all settings: none is set here then. A local
    Spark runs in a JVM of this process.

    Args:
        name: the application's name in a local Spark.
        connector_jars: a directory with the Kafka connector's jars, for a local Spark; without one, it downloads the
            connector of its own version from Maven (10 s the first time, then cached).
        cores: of a local Spark, the number of concurrent tasks, and of partitions of a shuffle.
        connector: whether a local Spark needs the Kafka connector.

    Raises:
        NoJavaError: there is no session, and no suitable Java is installed.
    """
    if SparkSession.getActiveSession() is None and not is_submitted(os.environ):
        session = _local_session(name, connector_jars, cores, connector=connector)
    else:
        session = SparkSession.builder.getOrCreate()
    if (
        find_spec(_WHEEL_FOR_SPARK) is None
    ):  # Spark registers what is in it, and refuses a second one
        session.dataSource.register(HeadraceDataSource)
    return session


def is_submitted(environment: Mapping[str, str]) -> bool:
    """Whether the session of a process with these variables is configured by spark-submit."""
    return any(it in environment for it in _SUBMITTED)


def _local_session(
    name: str, connector_jars: Path | None, cores: int, *, connector: bool
) -> SparkSession:
    os.environ["JAVA_HOME"] = str(find_java_home())
    os.environ["SPARK_LOCAL_IP"] = LOOPBACK
    # By default Spark's workers use the first `python3` on the PATH.
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder: SparkSession.Builder = SparkSession.builder
    builder = builder.appName(name).master(f"local[{cores}]")
    for key, value in _local_settings(connector_jars, cores, connector=connector).items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _local_settings(connector_jars: Path | None, cores: int, *, connector: bool) -> dict[str, str]:
    logging = Path(__file__).with_name("log4j2.properties")
    settings = {
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={logging.as_uri()}",
        "spark.driver.host": LOOPBACK,
        "spark.driver.bindAddress": LOOPBACK,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # The default of 200 tasks per shuffle takes minutes with little data.
        "spark.sql.shuffle.partitions": str(cores),
        "spark.sql.session.timeZone": "UTC",
    }
    if not connector:
        return settings
    if connector_jars is None:
        settings["spark.jars.packages"] = f"{CONNECTOR_PACKAGE}:{pyspark.__version__}"
    else:
        settings["spark.jars"] = ",".join(str(jar) for jar in sorted(connector_jars.glob("*.jar")))
    return settings


def stop_session() -> None:
    """End the session, if there is one: a cluster starts executors anew for a driver that ends without it."""
    session = SparkSession.getActiveSession()
    if session is not None:
        session.stop()
