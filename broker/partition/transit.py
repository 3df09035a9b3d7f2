"""Partitions that are on their way between two brokers: who asks for one waits a moment instead of being refused.

At the source a partition is held while it is frozen, at the target from when its move is known until it is open there
or the move has ended.
"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import Final
from uuid import UUID

from headrace.broker.partition.opening_queue import PartitionKey

MAX_WAIT_MS: Final = 2_000  # then the client is answered as always, and tries again


class PartitionsInTransit:
    """All of one broker. Truth is whether there are any: without them they cost nothing."""

    def __init__(self) -> None:
        self._held: dict[PartitionKey, asyncio.Future[None]] = {}

    def __bool__(self) -> bool:
        return bool(self._held)

    def __contains__(self, key: PartitionKey | None) -> bool:
        return key in self._held

    def hold(self, key: PartitionKey) -> None:
        """Have those wait who ask for a partition; no effect if they do."""
        if key not in self._held:
            self._held[key] = asyncio.get_running_loop().create_future()

    def release(self, key: PartitionKey) -> None:
        """Let those go on who wait for a partition."""
        held = self._held.pop(key, None)
        if held is not None:
            held.set_result(None)

    def release_topic(self, topic_id: UUID) -> None:
        """Let those go on who wait for partitions of a topic that is gone."""
        for key in [it for it in self._held if it[0] == topic_id]:
            self.release(key)

    async def settled(self, keys: Iterable[PartitionKey]) -> None:
        """Wait until none of these is held any more, at most `MAX_WAIT_MS`.

        One that is released may be held again before who waits for it runs: it has come, and leaves at once.
        """
        wanted = [it for it in dict.fromkeys(keys) if it in self._held]
        if not wanted:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(MAX_WAIT_MS / 1000):
                while waiting := [self._held[it] for it in wanted if it in self._held]:
                    await asyncio.wait(waiting)
