"""The leader's progress of one other member: how far its log matches, and how to replicate to it. Pure.

PROBE      The matching index is a guess: one request at a time, the first with entries, so that a
           right guess costs no round trip. Each heartbeat repeats an unanswered probe.
REPLICATE  The logs match up to `match_index`; a bounded number of requests is sent ahead of answers.
SNAPSHOT   The entries that it lacks are compacted: each heartbeat offers the newest snapshot.
"""

from collections import deque
from enum import Enum
from typing import NamedTuple


class ProgressView(NamedTuple):
    """Progress of a member, for operators. Times are of this node's clock."""

    match_index: int
    last_contact_ms: int  # when the newest answered message was sent
    last_caught_up_ms: int  # when it last had all entries of this log; 0: never


class ProgressState(Enum):
    """How entries are sent to a member."""

    PROBE = "probe"
    REPLICATE = "replicate"
    SNAPSHOT = "snapshot"


class Progress:
    """Always: 0 <= match_index < next_index."""

    def __init__(self, next_index: int, *, last_index: int, now_ms: int) -> None:
        self.state = ProgressState.PROBE
        self.match_index = 0
        self.next_index = next_index
        self.probe_sent = False  # PROBE: the request is unanswered
        self.inflight: deque[int] = deque()  # REPLICATE: the last index of each unanswered request
        self.heartbeat_due = True
        self.sent_commit_index = 0
        self.answered_round = 0
        self.contact_ms = now_ms
        self.caught_up_ms: int | None = None
        self._seen_index = last_index  # the end of our log at its previous answer
        self._seen_ms = now_ms

    @property
    def view(self) -> ProgressView:
        """The progress for operators."""
        return ProgressView(self.match_index, self.contact_ms, self.caught_up_ms or 0)

    def answered(self, round_: int, sent_ms: int | None) -> None:
        """The member follows this leader, and did when that round was sent."""
        self.answered_round = max(self.answered_round, round_)
        if sent_ms is not None:
            self.contact_ms = max(self.contact_ms, sent_ms)

    def agreed(self, match_index: int) -> None:
        """Its log matches ours up to here, durably."""
        if match_index < self.match_index:
            return  # a later answer arrived first
        self.match_index = match_index
        if self.state is ProgressState.REPLICATE:
            self.next_index = max(self.next_index, match_index + 1)
            while self.inflight and self.inflight[0] <= match_index:
                self.inflight.popleft()
        else:
            self.state = ProgressState.REPLICATE
            self.next_index = match_index + 1
            self.inflight.clear()

    def rejected(self, refused_index: int, next_index: int) -> None:
        """Its log does not match ours at `refused_index`; try at `next_index`."""
        if self.state is ProgressState.REPLICATE:
            current = self.match_index < refused_index < self.next_index
        else:
            current = self.match_index < refused_index == self.next_index - 1
        if current and self.state is not ProgressState.SNAPSHOT:
            self.probe(max(self.match_index + 1, min(next_index, refused_index)))

    def probe(self, next_index: int) -> None:
        """Probe for the matching index, beginning here."""
        self.state = ProgressState.PROBE
        self.next_index = next_index
        self.probe_sent = False
        self.inflight.clear()

    def await_snapshot(self) -> None:
        """Switch to SNAPSHOT: its next entries are compacted."""
        if self.state is ProgressState.SNAPSHOT:
            return
        self.state = ProgressState.SNAPSHOT
        self.inflight.clear()
        self.heartbeat_due = True

    def note_caught_up(self, last_index: int, now_ms: int) -> None:
        """After an answer: record when it last had all entries of the log at that time (KIP-853)."""
        if self.match_index >= last_index:
            self.caught_up_ms = now_ms
        elif self.match_index >= self._seen_index:
            self.caught_up_ms = self._seen_ms
        self._seen_index, self._seen_ms = last_index, now_ms
