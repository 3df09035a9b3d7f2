import pytest

from tests.unit.metadata.pure_controller import PureController
from tests.unit.metadata.running_cluster import Cluster


@pytest.fixture
def controller():
    """A controller with one active broker, 1."""
    controller = PureController()
    controller.register()
    return controller


@pytest.fixture
def cluster(tmp_path):
    """A controller's directory and clocks; nothing runs yet."""
    return Cluster(tmp_path / "metadata")
