"""One Spark session for the tests of this run."""

from collections.abc import Callable, Iterator

import pytest
from pyspark.sql import SparkSession

from pipeline.session import create_session
from tests.environment.java import java_home
from tests.environment.spark import connector_jars


@pytest.fixture(scope="session")
def spark(component: Callable[[Callable[[], object]], None]) -> Iterator[SparkSession]:
    """A session with the Kafka connector."""
    component(java_home)
    component(connector_jars)
    session = create_session("tests", connector_jars=connector_jars(), cores=1)
    yield session
    session.stop()
