"""How many connections a broker accepts follows the metadata."""

from typing import Any

from headrace.broker.node.connection_settings import ConnectionSettings
from headrace.config.dynamic_keys import dynamic_broker_problem
from headrace.config.node import NetworkConfig, NodeConfig
from headrace.metadata.image import MetadataImage
from headrace.metadata.records.topics import ConfigRecord
from tests.unit.broker.cluster_scene import applied


class Listener:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[int, int]] = []

    def change_bounds(self, *bounds: int) -> None:
        self.told.append((bounds[0], bounds[1]))


def test_its_own_setting_wins_over_that_of_all_and_that_over_the_file() -> None:
    listener: Any = Listener()
    network = NetworkConfig(max_connections=100, max_connections_per_ip=50)
    settings = ConnectionSettings(NodeConfig(node_id=1, network=network), listener)
    image = MetadataImage()

    def change(name: str, key: str, value: str | None) -> None:
        nonlocal image
        new = applied(image, ConfigRecord(4, name, key, value))
        settings.follow(image, new)
        image = new

    change("2", "max.connections", "1")
    change("1", "log.retention.ms", "1")
    assert listener.told == []
    change("", "max.connections", "80")
    change("1", "max.connections", "70")
    change("1", "max.connections.per.ip", "7")
    change("1", "max.connections", None)
    change("", "max.connections", None)
    assert listener.told == [(80, 50), (70, 50), (70, 7), (80, 7), (100, 7)]


def test_a_bound_that_would_keep_every_client_out_is_refused() -> None:
    for value in ("0", "00"):
        assert dynamic_broker_problem("max.connections.per.ip", value) is not None
    assert dynamic_broker_problem("max.connections.per.ip", "1") is None
