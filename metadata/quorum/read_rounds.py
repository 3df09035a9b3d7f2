"""Lets many readers share one read-index round of the quorum. Everything on one loop.

A round proves that this node led at some time after the round was requested. It serves the readers
that joined before it began; later ones wait for the next. At most one round runs at a time.
"""

import asyncio
from collections.abc import Callable, Collection

from headrace.metadata.errors import RefusedError
from headrace.metadata.quorum.applied import AppliedLog
from headrace.metadata.raft.core import RaftCore
from headrace.metadata.raft.effects import ReadReady
from headrace.metadata.raft.errors import NotLeaderError, QuorumBusyError
from headrace.protocol.errors import ErrorCode

Waiter = asyncio.Future[None]


class ReadRounds:
    """Collects readers, begins rounds, and passes the results to the readers."""

    def __init__(
        self,
        core: RaftCore,
        applied: AppliedLog,
        *,
        clock_ms: Callable[[], int],
        on_input: Callable[[], None],
    ) -> None:
        self._core = core
        self._applied = applied
        self._clock_ms = clock_ms
        self._on_input = on_input
        self._token = 0
        self._inflight: list[Waiter] = []
        self._next: list[Waiter] = []
        self._ready: ReadReady | None = None  # the entries that it confirmed may not be applied yet

    async def join(self) -> None:
        """Wait for a round that begins after this call, and until its commit index is applied.

        Raises:
            RefusedError: NOT_CONTROLLER; no round succeeded, and none will.
        """
        waiter: Waiter = asyncio.get_running_loop().create_future()
        self._next.append(waiter)
        if not self._inflight:
            self._start()
        await waiter

    def confirmed(self, ready: ReadReady) -> None:
        """A round succeeded."""
        if self._inflight and ready.token == self._token:
            self._ready = ready
            self.look()

    def look(self) -> None:
        """Answer once the commit index of the round is applied; to be called when more is applied."""
        if self._ready is None or self._ready.index > self._applied.image.index:
            return
        waiters, self._inflight, self._ready = self._inflight, [], None
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)
        if self._next:
            self._start()

    def lost(self, tokens: Collection[int], reason: str) -> None:
        """The rounds with these tokens failed."""
        if self._inflight and self._token in tokens:
            self.fail(reason)

    def fail(self, reason: str) -> None:
        """No round will succeed any more."""
        waiters = [*self._inflight, *self._next]
        self._inflight, self._next, self._ready = [], [], None
        for waiter in waiters:
            if not waiter.done():
                waiter.set_exception(RefusedError(ErrorCode.NOT_CONTROLLER, reason))

    def _start(self) -> None:
        self._token += 1
        self._inflight, self._next = self._next, []
        try:
            self._core.request_read(self._token, self._clock_ms())
        except (NotLeaderError, QuorumBusyError) as error:
            self.fail(str(error))
        self._on_input()
