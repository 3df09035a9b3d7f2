"""Options of the test run, and the rule for components that are missing."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from headrace.pipeline.java import NoJavaError
from tests.environment.alone import AlonePlugin
from tests.environment.garbage import GarbagePlugin
from tests.environment.minio import MinioServer, minio_program
from tests.environment.parts import PartPlugin, parsed_part
from tests.environment.paths import MissingComponentError
from tests.environment.temporary_space import TemporarySpace
from tests.environment.unexpected_errors import UnexpectedErrorsPlugin

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from xdist.scheduler import Scheduling

# Not tests/seeded, whose runs break things on purpose.
WATCHED = (
    "tests/unit/",
    "tests/contracts/",
    "tests/integration/",
)

# Its modules share one cluster.
ONE_PROCESS = ("tests/cluster/",)

# By which `make test ARGS=...` tells the makes below it what it was told.
FOR_OTHER_MAKES = ("MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS")

Component = Callable[[Callable[[], object]], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add our options to pytest's."""
    group = parser.getgroup("headrace")
    group.addoption(
        "--against",
        choices=["headrace", "kafka"],
        default="headrace",
        help="the broker that the client tests drive; kafka shows that a test is right",
    )
    group.addoption("--part", type=parsed_part, help="1/2: the first half of the test modules")
    group.addoption("--crash-rounds", type=int, default=20, help="kills in the crash test")
    group.addoption("--crash-seed", type=int, default=None, help="repeat a run of the crash test")
    group.addoption("--table-kills", type=int, default=4, help="kills of jobs that fill tables")
    group.addoption("--table-seed", type=int, default=None, help="repeat a run of these kills")
    group.addoption(
        "--power-cut-rounds", type=int, default=2, help="times each moment of a power cut is tested"
    )
    group.addoption("--power-cut-seed", type=int, default=None, help="repeat its random choices")
    group.addoption(
        "--temporary-gib", type=int, default=4, help="what temporary files may take at most"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Bound the disk space that the run takes, and watch for exceptions that nobody expects."""
    for name in FOR_OTHER_MAKES:  # those that tests run have arguments of their own
        os.environ.pop(name, None)
    config.pluginmanager.register(AlonePlugin(config), "alone")
    config.pluginmanager.register(GarbagePlugin(), "garbage")
    config.pluginmanager.register(
        UnexpectedErrorsPlugin(config, watched=WATCHED), "unexpected-errors"
    )
    if part := config.getoption("--part"):
        config.pluginmanager.register(PartPlugin(part, config.rootpath), "part")
    max_peak_bytes = config.getoption("--temporary-gib") << 30
    plugin = TemporarySpace(config, max_peak_bytes=max_peak_bytes)
    config.pluginmanager.register(plugin, "temporary-space")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> "Scheduling | None":
    """Let `--dist loadfile` keep modules in one process that share what they have started, too."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Scheduler(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            path: str = super()._split_scope(nodeid)
            return next((it for it in ONE_PROCESS if path.startswith(it)), path)

    return Scheduler(config, log)


@pytest.fixture(scope="session")
def component() -> Component:
    """Make sure that a component is here: `component(minio_program)` installs it if need be.

    A test whose component cannot be installed is skipped, with the instruction that helps. Under
    TEST_REQUIRE_ALL, which `make test` sets, it fails.
    """

    def require(provide: Callable[[], object]) -> None:
        try:
            provide()
        except (MissingComponentError, NoJavaError, subprocess.CalledProcessError) as error:
            if os.environ.get("TEST_REQUIRE_ALL"):
                pytest.fail(str(error))
            pytest.skip(str(error))

    return require


@pytest.fixture(scope="module")
def minio(component: Component, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MinioServer]:
    """An S3 server for the tests of one module; what they store in it goes with it."""
    component(minio_program)
    directory = tmp_path_factory.mktemp("minio")
    with MinioServer(directory) as server:
        yield server
    shutil.rmtree(directory)


@pytest.fixture(scope="session")
def spark(
    component: Component, tmp_path_factory: pytest.TempPathFactory
) -> "Iterator[SparkSession]":
    """One Spark session with the Kafka connector and Iceberg, for all tests of this process."""
    from headrace.pipeline.session import create_session
    from tests.environment.iceberg import iceberg_aws_jar, iceberg_jar
    from tests.environment.java import java_home
    from tests.environment.spark import connector_jars

    component(java_home)
    component(connector_jars)
    component(iceberg_jar)
    component(iceberg_aws_jar)
    jars = tmp_path_factory.mktemp("jars")
    for jar in (*connector_jars().glob("*.jar"), iceberg_jar(), iceberg_aws_jar()):
        (jars / jar.name).symlink_to(jar)
    session = create_session("tests", connector_jars=jars, cores=1)
    yield session
    session.stop()
