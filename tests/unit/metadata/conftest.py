import pytest

from tests.unit.metadata.pure_controller import PureController


@pytest.fixture
def controller():
    """A controller with one active broker, 1."""
    controller = PureController()
    controller.register()
    return controller
