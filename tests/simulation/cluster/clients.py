"""What every client has: connections, and a memory of who leads what."""

import random
from collections import Counter
from dataclasses import dataclass, field

from headrace.protocol.errors import ErrorCode
from tests.simulation.cluster import wire
from tests.simulation.cluster.records import Place
from tests.simulation.cluster.refusals import Refusals, Refused
from tests.simulation.cluster.wire import LOST, Connection

PAUSE_AFTER_ERROR_S = 0.1


@dataclass(frozen=True, slots=True)
class Leader:
    """Of a partition, as a client has learned it."""

    node_id: int
    epoch: int


@dataclass(slots=True)
class SeenCodes:
    """What clients were answered, and what they should not have been."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    refusals: Refusals | None = None  # where nothing is wrong: nobody is refused who need not be

    def note(self, where: str, code: int, allowed: frozenset[int] = frozenset()) -> None:
        """Note an error; a fault, if its like is not answered by a repetition, or nothing is wrong."""
        name = ErrorCode(code).name
        self.counts[f"{where}: {name}"] += 1
        if code in allowed:
            return
        if not ErrorCode(code).is_retriable:
            self.faults.append(f"{where} was answered {name}")
        elif self.refusals is not None:
            self.faults.append(f"{where} was answered {name}, and nothing is wrong")

    def refused(self, where: str, code: int, refused: Refused) -> None:
        """Note an error of a request about a partition, likewise."""
        judge = self.refusals
        if judge is None or code not in judge.codes:
            self.note(where, code)
            return
        self.note(where, code, judge.codes)
        wrong = judge.wrong(refused)
        if wrong:
            self.faults.append(f"{where} was answered {ErrorCode(code).name}: {wrong}")


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
        self._leaders: dict[Place, Leader] = {}

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
            for partition, (node_id, epoch) in found.items():
                if node_id >= 0:
                    self._leaders[place[0], partition] = Leader(node_id, epoch)
        if place not in self._leaders:
            raise ConnectionError(f"{place} has no leader")
        node_id = self._leaders[place].node_id
        return node_id, await self.broker(node_id)

    def forget(self, place: Place) -> None:
        """Look for the leader anew."""
        self._leaders.pop(place, None)

    def refused(self, where: str, code: int, place: Place) -> None:
        """Note an error of a request to the leader of a partition, and look for the leader anew."""
        self.refused_by(where, code, place, self._leaders.pop(place))

    def refused_by(self, where: str, code: int, place: Place, leader: Leader) -> None:
        """Note an error of a request about a partition, sent to whom the client takes for its leader."""
        connection = self._connections.get(leader.node_id)
        took_s = 0.0 if connection is None else connection.took_s
        self.seen.refused(where, code, Refused(self, place, leader.epoch, took_s))

    def drop(self, node_id: int) -> None:
        """Close a connection that is of no use any more."""
        connection = self._connections.pop(node_id, None)
        if connection is not None:
            connection.close()
