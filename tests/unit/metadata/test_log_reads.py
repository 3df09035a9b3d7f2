"""Reads of the log by followers, at a leader that may be behind what a follower knows."""

import asyncio

import pytest

from headrace.metadata.errors import RefusedError
from headrace.metadata.follower.entry_buffer import EntryBuffer
from headrace.metadata.image import MetadataImage
from headrace.metadata.leader.log_reads import LogReads
from headrace.metadata.levels import READ_HERE
from headrace.metadata.records.entry import LogEntry
from headrace.metadata.rpc.requests import FetchEntries
from headrace.protocol.errors import ErrorCode


class Leader:
    """Leads, and applies what is in its log when it is waited for."""

    def __init__(self, entries: EntryBuffer, *, not_applied: int) -> None:
        self.image = MetadataImage()
        self._entries = entries
        self._not_applied = not_applied

    def require_leading(self) -> None:
        pass

    async def confirm_leading(self) -> None:
        pass

    async def image_at_end(self) -> MetadataImage:
        await asyncio.sleep(0)
        first = self._entries.end_index + 1
        if self._not_applied:
            self._entries.extend(
                [LogEntry(index, 1, b"") for index in range(first, first + self._not_applied)]
            )
        return self.image


def reads(*, not_applied: int) -> LogReads:
    entries = EntryBuffer(0)
    entries.extend([LogEntry(1, 1, b""), LogEntry(2, 1, b"")])
    leader = Leader(entries, not_applied=not_applied)
    return LogReads(leader, leader.image_at_end, entries, store=None)


def test_a_follower_may_know_of_a_commit_before_the_leader_has_applied_it():
    """The node of a learner: its own controller has applied what a sole voter has committed."""
    found = asyncio.run(reads(not_applied=1).entries(FetchEntries(4, 1, 0, READ_HERE)))

    assert (found.entries, found.end_index) == ((), 3)


def test_a_follower_that_has_entries_that_the_leader_lacks_is_refused():
    with pytest.raises(RefusedError) as refused:
        asyncio.run(reads(not_applied=1).entries(FetchEntries(5, 1, 0, READ_HERE)))

    assert refused.value.code == ErrorCode.POSITION_OUT_OF_RANGE
