"""The broker that the client tests drive, and what they need around it."""

import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.e2e.admin_calls import end_offsets
from tests.e2e.broker_process import HeadraceProcess
from tests.environment.kafka import ApacheKafka, kafka_jars
from tests.environment.kcat import kcat_program
from tests.environment.wheels import build_wheels, install

AnyBroker = HeadraceProcess | ApacheKafka

# Alike on both brokers, so that a test means the same on both.
_OVERRIDES = {
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "5",
    "auto.create.topics.enable": "true",
    "log.retention.ms": "-1",  # records of tests are from long ago
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark everything here as an end-to-end test."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.e2e)


@pytest.fixture(scope="session")
def make_broker(request: pytest.FixtureRequest) -> Callable[[Path], AnyBroker]:
    """Make a broker of the kind that `--against` names; it is not started."""

    def make(directory: Path) -> AnyBroker:
        if request.config.getoption("--against") == "kafka":
            return ApacheKafka(directory, overrides=_OVERRIDES, heap_mib=768)
        return HeadraceProcess(directory, overrides=_OVERRIDES)

    return make


@pytest.fixture(scope="session")
def broker(
    make_broker: Callable[[Path], AnyBroker], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[AnyBroker]:
    """The broker that the tests share; each has its own topics and groups."""
    with make_broker(tmp_path_factory.mktemp("broker")) as running:
        yield running


class Pair(NamedTuple):
    """Headrace and Apache Kafka, where a test compares their answers."""

    ours: HeadraceProcess
    kafka: ApacheKafka


@pytest.fixture(scope="session")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """One of each, alike as far as they can be; tests that share them have their own topics and groups."""
    overrides = {**_OVERRIDES, "auto.create.topics.enable": "false"}
    directory = tmp_path_factory.mktemp("pair")
    with (
        HeadraceProcess(directory / "headrace", overrides=overrides) as ours,
        ApacheKafka(directory / "kafka", overrides=overrides, heap_mib=512) as kafka,
    ):
        yield Pair(ours, kafka)


@pytest.fixture(scope="session")
def bootstrap(broker: AnyBroker) -> str:
    """The shared broker's address."""
    return broker.bootstrap


@pytest.fixture(scope="session")
def admin(bootstrap: str) -> AdminClient:
    """An admin client of the shared broker."""
    return AdminClient({"bootstrap.servers": bootstrap})


@pytest.fixture(scope="session")
def create_topic(
    bootstrap: str,
    admin: AdminClient,
) -> Callable[..., str]:
    """Create a topic whose name is new, and return the name."""
    numbers = itertools.count()

    def create(stem: str, *, partitions: int = 1, config: dict[str, str] | None = None) -> str:
        name = f"{re.sub(r'[^a-z0-9]+', '-', stem.lower())}-{next(numbers)}"
        topic = NewTopic(name, partitions, 1, config=config or {})
        admin.create_topics([topic])[name].result(30)
        end_offsets(bootstrap, name, partitions)  # Kafka answers before it leads the new partitions
        return name

    return create


@pytest.fixture
def topic(create_topic: Callable[..., str], request: pytest.FixtureRequest) -> str:
    """A topic of one partition, named after the test."""
    return create_topic(request.node.name)


@pytest.fixture
def group(request: pytest.FixtureRequest) -> str:
    """A group id of this test alone."""
    return re.sub(r"[^a-z0-9]+", "-", request.node.nodeid.lower())[-80:].strip("-")


@pytest.fixture(scope="session")
def java_tools(component: Callable[[Callable[[], object]], None]) -> None:
    """Kafka's command-line tools are here."""
    component(kafka_jars)


@pytest.fixture(scope="session")
def kcat(component: Callable[[Callable[[], object]], None]) -> None:
    """Kcat is here."""
    component(kcat_program)


@pytest.fixture(scope="session")
def demo_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that has what a demonstration installs, and nothing else."""
    wheel, _ = build_wheels(tmp_path_factory.mktemp("wheels"))
    return install(wheel, tmp_path_factory.mktemp("demo"), extras=frozenset({"demo"}))
