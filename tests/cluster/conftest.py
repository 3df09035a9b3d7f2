"""The one cluster that all scenarios share: starting six processes takes longer than most of them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cluster.cluster import Cluster, Wals
from tests.cluster.scene import Scene
from tests.environment.java import java_home
from tests.environment.kafka import kafka_jars
from tests.environment.minio import minio_program
from tests.environment.paths import MissingComponentError

SEED = 20261121


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark everything here as an end-to-end test."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.e2e)


@pytest.fixture(scope="session")
def resting(
    component: Callable[[Callable[[], object]], None], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    """Three controllers and three brokers, without load."""
    for provide in (minio_program, java_home, kafka_jars):
        component(provide)
    directory = tmp_path_factory.mktemp("cluster")
    with Cluster(directory, wals=Wals.HALF, bucket_fails=True) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def loaded(resting: Cluster) -> Iterator[Scene]:
    """The cluster under load."""
    scene = Scene(resting, SEED)
    try:
        scene.start()
        yield scene
    finally:
        scene.end()


@pytest.fixture
def scene(loaded: Scene) -> Scene:
    """The cluster under load, with nothing wrong: each scenario settles at its end, or has failed."""
    loaded.cluster.heal()
    return loaded


@pytest.fixture
def small_disks(component: Callable[[Callable[[], object]], None], resting: Cluster) -> None:
    """Disks of controllers can be filled here."""

    def require() -> None:
        if not resting.disks:
            raise MissingComponentError("no small file systems here (they need root)")

    component(require)


@pytest.fixture
def cut(component: Callable[[Callable[[], object]], None], resting: Cluster) -> None:
    """Links can be cut here."""

    def require() -> None:
        if not resting.network.can_cut:
            resting.network.cut("b1", "c1")  # says what is missing

    component(require)
