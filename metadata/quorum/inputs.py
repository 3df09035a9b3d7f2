"""Passes messages and time to the Raft core."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

from headrace.metadata.quorum.status import QuorumCounters
from headrace.metadata.raft.core import RaftCore
from headrace.metadata.raft.messages import RaftMessage

# Waiting messages; beyond that the oldest is dropped, as the network may drop any message.
MAX_INBOX: Final = 4_096


class CoreInputs:
    """A separate task: an error of the core on bad input ends the node, not a connection."""

    def __init__(
        self,
        core: RaftCore,
        counters: QuorumCounters,
        *,
        clock_ms: Callable[[], int],
        on_input: Callable[[], None],
    ) -> None:
        self._core = core
        self._clock_ms = clock_ms
        self._on_input = on_input
        self._inbox: deque[RaftMessage] = deque()
        self._arrived = asyncio.Event()  # there are messages
        self._leader_heard_ms: int | None = None
        self._counters = counters

    @property
    def leader_silent_ms(self) -> int | None:
        """Time since the last message of the leader; None: there was none yet."""
        return None if self._leader_heard_ms is None else self._clock_ms() - self._leader_heard_ms

    def receive(self, message: RaftMessage) -> None:
        """Receive a message."""
        if len(self._inbox) >= MAX_INBOX:
            self._inbox.popleft()
            self._counters.messages_dropped += 1
        self._inbox.append(message)
        self._arrived.set()

    async def run(self) -> None:
        """Feed the core until cancelled."""
        core = self._core
        while True:
            self._arrived.clear()
            now_ms = self._clock_ms()
            # Messages come first: the leader may have sent some while this process was stopped.
            while self._inbox:
                message = self._inbox.popleft()
                core.step(message, now_ms)
                if message.source == core.leader_id:
                    self._leader_heard_ms = now_ms
            if now_ms >= core.next_tick_ms:
                core.tick(now_ms)
            self._on_input()
            # Only messages and ticks can make the next tick due earlier.
            delay_ms = max(core.next_tick_ms - self._clock_ms(), 1)
            try:
                async with asyncio.timeout(delay_ms / 1000):
                    await self._arrived.wait()
            except TimeoutError:
                continue
