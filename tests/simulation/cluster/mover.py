"""A client that moves partitions between brokers, one after the other or several at once, and takes some moves back."""

import asyncio
from typing import Any, Final

from headrace.broker.partition.internal_topics import OFFSETS_TOPIC
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import AlterPartitionReassignmentsRequest
from tests.simulation.cluster.clients import PAUSE_AFTER_ERROR_S, Client
from tests.simulation.cluster.records import Place
from tests.simulation.cluster.wire import LOST

ASK_S: Final = 5.0
TAKEN_BACK: Final = 0.2  # probability
MAX_AT_ONCE: Final = 4
MOVED_S: Final = (0.1, 0.5)
# The target may be away, the topic not be there yet, the move be over; a cluster of an old level has none.
_ALLOWED: Final = frozenset(
    {
        ErrorCode.INVALID_REPLICA_ASSIGNMENT,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NO_REASSIGNMENT_IN_PROGRESS,
        ErrorCode.UNSUPPORTED_VERSION,
        ErrorCode.INVALID_REQUEST,  # two moves of one partition
    }
)
_Topic = AlterPartitionReassignmentsRequest.ReassignableTopic


class Mover(Client):
    """Asks any broker."""

    def __init__(
        self,
        *arguments: Any,
        asked: set[tuple[Place, int]],
        back: float,
        wanted: list[tuple[Place, int]],
    ) -> None:
        """Begin.

        Args:
            arguments: see `Client`.
            asked: gets each partition that is to move, with its target.
            back: probability that a partition is moved back as soon as it may have moved.
            wanted: moves that faults want, with their targets; they are taken off.
        """
        super().__init__(*arguments)
        self._asked = asked
        self._back = back
        self._wanted = wanted

    async def run(self, places: list[Place], until_s: float, pause_s: tuple[float, float]) -> None:
        """Move partitions until a moment, those of groups' offsets, too."""
        loop, rng = asyncio.get_running_loop(), self.rng
        known = [*places, (OFFSETS_TOPIC, 0), (OFFSETS_TOPIC, 1)]
        while loop.time() < until_s:
            await asyncio.sleep(rng.uniform(*pause_s))
            if self._wanted:
                await self._ask_for_wanted()
            moved = rng.sample(known, rng.randint(1, min(MAX_AT_ONCE, len(known))))
            try:
                if self._back and rng.random() < self._back:
                    await self._there_and_back(moved[0])
                    continue
                await self._ask(moved, to=rng.choice(self._brokers))
                if rng.random() < TAKEN_BACK:
                    await asyncio.sleep(rng.choice((0.0, 0.02, 0.2)) * rng.random())
                    await self._ask(moved, to=None)
            except LOST:
                await asyncio.sleep(PAUSE_AFTER_ERROR_S)

    async def _ask_for_wanted(self) -> None:
        place, to = self._wanted.pop(0)
        try:
            await self._ask([place], to=to)
        except LOST:
            await asyncio.sleep(PAUSE_AFTER_ERROR_S)

    async def _there_and_back(self, place: Place) -> None:
        """Move a partition to another broker, and at once back to the one that may not have heard that it has left."""
        rng = self.rng
        self.forget(place)
        leader, _ = await self.leader(place)
        await self._ask([place], to=rng.choice([it for it in self._brokers if it != leader]))
        await asyncio.sleep(rng.uniform(*MOVED_S))
        await self._ask([place], to=leader)

    async def _ask(self, places: list[Place], *, to: int | None) -> None:
        if to is not None:
            self._asked.update((it, to) for it in places)
        topics = [
            _Topic(
                name=name,
                partitions=[
                    _Topic.ReassignablePartition(
                        partition_index=index, replicas=None if to is None else [to]
                    )
                ],
            )
            for name, index in places
        ]
        request = AlterPartitionReassignmentsRequest(timeout_ms=5_000, topics=topics)
        asked, connection = await self.any_broker()
        try:
            answer = await connection.ask(
                ApiKey.ALTER_PARTITION_REASSIGNMENTS, 0, request, within_s=ASK_S
            )
        except LOST:
            self.drop(asked)
            raise
        codes = [it.error_code for topic in answer.responses for it in topic.partitions]
        for code in (answer.error_code, *codes):
            if code:
                self.seen.note("move", code, _ALLOWED)
