"""A local Spark session that can read topics: with a suitable Java, Python, connector and addresses."""

import os
import sys
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

from headrace.pipeline.java import find_java_home

CONNECTOR_PACKAGE = "org.apache.spark:spark-sql-kafka-0-10_2.13"
LOOPBACK = "127.0.0.1"


def create_session(
    name: str, *, connector_jars: Path | None = None, cores: int = 2
) -> SparkSession:
    """Start Spark in a JVM of this process, or return the running session.

    Args:
        name: the application's name in Spark.
        connector_jars: a directory with the Kafka connector's jars; without one, Spark downloads the
            connector of its own version from Maven (10 s the first time, then cached).
        cores: number of concurrent tasks, and of partitions of a shuffle.

    Raises:
        NoJavaError: no suitable Java is installed.
    """
    os.environ["JAVA_HOME"] = str(find_java_home())
    os.environ["SPARK_LOCAL_IP"] = LOOPBACK
    # By default Spark's workers use the first `python3` on the PATH.
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder: SparkSession.Builder = SparkSession.builder
    builder = builder.appName(name).master(f"local[{cores}]")
    for key, value in _settings(connector_jars, cores).items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _settings(connector_jars: Path | None, cores: int) -> dict[str, str]:
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
    if connector_jars is None:
        settings["spark.jars.packages"] = f"{CONNECTOR_PACKAGE}:{pyspark.__version__}"
    else:
        settings["spark.jars"] = ",".join(str(jar) for jar in sorted(connector_jars.glob("*.jar")))
    return settings
