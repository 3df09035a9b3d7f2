"""Callers that wait until an entry is committed and applied, or its outcome can no longer be known."""

import asyncio
from collections.abc import Callable, Sequence

import msgspec

from headrace.metadata.errors import LeadershipLostError
from headrace.metadata.records.entry import LogEntry


class _Waiter(msgspec.Struct, frozen=True):
    index: int
    term: int | None  # None: any entry
    done: asyncio.Future[None]


class EntryWaiters:
    """Few waiters at a time: one group of proposals, one change of members."""

    def __init__(self) -> None:
        self._waiters: list[_Waiter] = []

    async def wait(self, index: int, term: int | None) -> None:
        """Wait until the entry at an index is applied.

        Args:
            index: of an entry that is not applied yet.
            term: of the expected entry; None: any entry.

        Raises:
            LeadershipLostError: another entry has this index, or `fail` was called.
        """
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(_Waiter(index, term, done))
        await done

    def applied(self, batch: Sequence[LogEntry]) -> None:
        """Wake the waiters whose entry is among these."""
        last_index = batch[-1].index
        for waiter in self._take(lambda it: it.index <= last_index):
            entry = batch[waiter.index - batch[0].index]
            if waiter.term is None or entry.term == waiter.term:
                waiter.done.set_result(None)
            else:
                waiter.done.set_exception(
                    LeadershipLostError("an entry of another leader has replaced this one")
                )

    def fail(self, reason: str, after_index: int) -> None:
        """Fail all that wait for an entry after this one."""
        for waiter in self._take(lambda it: it.index > after_index):
            waiter.done.set_exception(LeadershipLostError(reason))

    def _take(self, concerned: Callable[[_Waiter], bool]) -> list[_Waiter]:
        taken = [it for it in self._waiters if concerned(it)]
        self._waiters = [it for it in self._waiters if not concerned(it)]
        return [it for it in taken if not it.done.done()]
