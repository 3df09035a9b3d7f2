"""Apache Kafka as a cluster on this machine: three controllers and three brokers, each a process."""

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.environment.kafka import ApacheKafka
from tests.environment.ports import free_port

NODES: Final = 3  # controllers, and as many brokers
REPLICAS: Final = 3
MIN_IN_SYNC: Final = 2
_FIRST_CONTROLLER_ID: Final = 101
_CONTROLLER_HEAP_MIB: Final = 256


class KafkaCluster:
    """Brokers with the ids 1, 2, 3; every topic has three replicas, two of which must acknowledge."""

    def __init__(self, directory: Path, settings: Mapping[str, str]) -> None:
        ports = {_FIRST_CONTROLLER_ID + number: free_port() for number in range(NODES)}
        voters = ",".join(f"{node_id}@127.0.0.1:{port}" for node_id, port in ports.items())
        common = {
            "controller.quorum.voters": voters,
            "default.replication.factor": str(REPLICAS),
            "min.insync.replicas": str(MIN_IN_SYNC),
            "offsets.topic.replication.factor": str(REPLICAS),
            "auto.create.topics.enable": "false",
            **settings,
        }
        self._controllers = [
            self._controller(directory / f"c{node_id}", node_id, port, common)
            for node_id, port in ports.items()
        ]
        self.brokers = {
            node_id: self._broker(directory / f"b{node_id}", node_id, common)
            for node_id in range(1, NODES + 1)
        }

    @property
    def bootstrap(self) -> str:
        """The addresses of all brokers, for clients."""
        return ",".join(it.bootstrap for it in self.brokers.values())

    def __enter__(self) -> Self:
        """Start everything; what began is ended when something does not start."""
        nodes = [*self._controllers, *self.brokers.values()]
        try:
            for node in nodes:
                node.begin()
            for node in nodes:
                node.process.wait_for_port(node.port, timeout_s=120)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End everything; nothing of it is needed again."""
        self._end()

    def _end(self) -> None:
        for node in (*self.brokers.values(), *self._controllers):
            if node.process.is_running:
                node.process.kill()

    @staticmethod
    def _controller(
        directory: Path, node_id: int, port: int, common: Mapping[str, str]
    ) -> ApacheKafka:
        own = {
            "node.id": str(node_id),
            "process.roles": "controller",
            "listeners": f"CONTROLLER://127.0.0.1:{port}",
        }
        return ApacheKafka(
            directory, overrides={**common, **own}, heap_mib=_CONTROLLER_HEAP_MIB, port=port
        )

    @staticmethod
    def _broker(directory: Path, node_id: int, common: Mapping[str, str]) -> ApacheKafka:
        port = free_port()
        own = {
            "node.id": str(node_id),
            "process.roles": "broker",
            "listeners": f"PLAINTEXT://127.0.0.1:{port}",
        }
        return ApacheKafka(directory, overrides={**common, **own}, port=port)
