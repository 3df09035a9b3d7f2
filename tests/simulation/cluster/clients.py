"""What every client has: connections, and a memory of who leads what."""

import random
from collections import Counter
from dataclasses import dataclass, field

from headrace.protocol.errors import ErrorCode
from tests.simulation.cluster import wire
from tests.simulation.cluster.records import Place
from tests.simulation.cluster.wire import LOST, Connection

PAUSE_AFTER_ERROR_S = 0.1


@dataclass(slots=True)
class SeenCodes:
    """What clients were answered, and what they should not have been."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def note(self, where: str, code: int, allowed: frozenset[int] = frozenset()) -> None:
        """Note an error; a fault, if its like is not answered by a repetition."""
        name = ErrorCode(code).name
        self.counts[f"{where}: {name}"] += 1
        if code not in allowed and not ErrorCode(code).is_retriable:
            self.faults.append(f"{where} was answered {name}")


class Client:
    """A process that asks brokers; it remembers who leads what."""

    def __init__(
        self, number: int, brokers: list[int], rng: random.Random, seen: SeenCodes
    ) -> None:
        self.number = number
        self.seen = seen
        self.rng = rng
        self._brokers = brokers
        self._connections: dict[int, Connection] = {}
        self._leaders: dict[Place, int] = {}

    async def broker(self, node_id: int) -> Connection:
        """Return a connection to a broker.

        Raises:
            OSError, TimeoutError: it does not answer.
        """
        connection = self._connections.get(node_id)
        if connection is None:
            connection = self._connections[node_id] = await Connection.open(node_id)
        return connection

    async def any_broker(self) -> tuple[int, Connection]:
        """Return a broker that answers, whichever."""
        node_id = self.rng.choice(self._brokers)
        return node_id, await self.broker(node_id)

    async def leader(self, place: Place) -> tuple[int, Connection]:
        """Return the leader of a partition.

        Raises:
            OSError, TimeoutError, IncompleteReadError: nobody says, or it does not answer.
        """
        if place not in self._leaders:
            asked, connection = await self.any_broker()
            try:
                found = await wire.leaders(connection, place[0])
            except LOST:
                self.drop(asked)
                raise
            for partition, node_id in found.items():
                if node_id >= 0:
                    self._leaders[place[0], partition] = node_id
        if place not in self._leaders:
            raise ConnectionError(f"{place} has no leader")
        return self._leaders[place], await self.broker(self._leaders[place])

    def forget(self, place: Place) -> None:
        """Look for the leader anew."""
        self._leaders.pop(place, None)

    def drop(self, node_id: int) -> None:
        """Close a connection that is of no use any more."""
        connection = self._connections.pop(node_id, None)
        if connection is not None:
            connection.close()
