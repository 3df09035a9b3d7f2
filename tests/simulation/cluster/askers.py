"""A client that asks brokers which have no lease: what they must not tell, or take."""

import asyncio
from collections.abc import Callable
from typing import Final

from headrace.protocol.api_keys import ApiKey
from headrace.protocol.messages import FindCoordinatorRequest
from tests.simulation.cluster import wire
from tests.simulation.cluster.clients import Leader
from tests.simulation.cluster.producers import Producer
from tests.simulation.cluster.records import Place
from tests.simulation.cluster.wire import LOST

PAUSE_S: Final = 0.05
ASK_S: Final = 2.0


class Asker(Producer):
    """Knows who has no lease, which no client does; `LeaselessAnswers` judges what it is answered."""

    async def run_without_leases(
        self,
        group: str,
        without: Callable[[], list[int]],
        led: Callable[[int], list[tuple[Place, int]]],
        until_s: float,
    ) -> None:
        """Ask until a moment.

        Args:
            group: whose coordinator is looked for.
            without: brokers that have no lease now.
            led: which partitions a broker leads, with their leader epochs.
            until_s: that moment.
        """
        while asyncio.get_running_loop().time() < until_s:
            await asyncio.sleep(PAUSE_S)
            for node_id in without():
                try:
                    await self._ask(node_id, group, led(node_id))
                except LOST:
                    self.drop(node_id)

    async def _ask(self, node_id: int, group: str, led: list[tuple[Place, int]]) -> None:
        connection = await self.broker(node_id)
        if led:
            place, epoch = self.rng.choice(led)
            self._leaders[place] = Leader(node_id, epoch)
            await self._send(place)
            code, _ = await wire.earliest(connection, *place)
            self._note("earliest", code)
        request = FindCoordinatorRequest(key=group, key_type=0)
        answer = await connection.ask(ApiKey.FIND_COORDINATOR, 2, request, within_s=ASK_S)
        self._note("find coordinator", answer.error_code)

    def _note(self, where: str, code: int) -> None:
        if code:
            self.seen.note(where, code)
