"""What a leader knows of one other member: how far its log agrees, and how to feed it. Pure.

PROBE      Where the logs part is a guess: one question at a time, the first with entries, so that a
           right guess costs no round trip. Unanswered, it is asked again with each heartbeat.
REPLICATE  They agree up to `match_index`; requests are sent ahead of their answers, so many at most.
SNAPSHOT   The entries that it lacks are forgotten: each heartbeat offers the newest snapshot.
"""

from collections import deque
from enum import Enum
from typing import NamedTuple


class ProgressView(NamedTuple):
    """For operators. Times are of this node's clock."""

    match_index: int
    last_contact_ms: int  # when the newest message was sent that has been answered
    last_caught_up_ms: int  # when it last had all that this log had; 0: never


class Feeding(Enum):
    """How a member gets its entries."""

    PROBE = "probe"
    REPLICATE = "replicate"
    SNAPSHOT = "snapshot"


class Progress:
    """Always: 0 <= match_index < next_index."""

    def __init__(self, next_index: int, *, last_index: int, now_ms: int) -> None:
        self.feeding = Feeding.PROBE
        self.match_index = 0
        self.next_index = next_index
        self.asked = False  # PROBE: the question is under way
        self.inflight: deque[int] = deque()  # REPLICATE: the last index of each unanswered request
        self.heartbeat_due = True
        self.sent_commit_index = 0
        self.answered_round = 0
        self.contact_ms = now_ms
        self.caught_up_ms: int | None = None
        self._seen_index = last_index  # the end of our log at its answer before
        self._seen_ms = now_ms

    @property
    def view(self) -> ProgressView:
        """As operators see it."""
        return ProgressView(self.match_index, self.contact_ms, self.caught_up_ms or 0)

    def answered(self, round_: int, sent_ms: int | None) -> None:
        """It follows us in our term, and did when that round was sent."""
        self.answered_round = max(self.answered_round, round_)
        if sent_ms is not None:
            self.contact_ms = max(self.contact_ms, sent_ms)

    def agreed(self, match_index: int) -> None:
        """Its log agrees with ours up to here, durably."""
        if match_index < self.match_index:
            return  # overtaken by a later answer
        self.match_index = match_index
        if self.feeding is Feeding.REPLICATE:
            self.next_index = max(self.next_index, match_index + 1)
            while self.inflight and self.inflight[0] <= match_index:
                self.inflight.popleft()
        else:
            self.feeding = Feeding.REPLICATE
            self.next_index = match_index + 1
            self.inflight.clear()

    def parted(self, refused_index: int, next_index: int) -> None:
        """Its log does not agree with ours at `refused_index`; try at `next_index`."""
        if self.feeding is Feeding.REPLICATE:
            current = self.match_index < refused_index < self.next_index
        else:
            current = self.match_index < refused_index == self.next_index - 1
        if current and self.feeding is not Feeding.SNAPSHOT:
            self.probe(max(self.match_index + 1, min(next_index, refused_index)))

    def probe(self, next_index: int) -> None:
        """Ask where the logs part, beginning here."""
        self.feeding = Feeding.PROBE
        self.next_index = next_index
        self.asked = False
        self.inflight.clear()

    def await_snapshot(self) -> None:
        """Only a snapshot helps it on."""
        if self.feeding is Feeding.SNAPSHOT:
            return
        self.feeding = Feeding.SNAPSHOT
        self.inflight.clear()
        self.heartbeat_due = True

    def note_caught_up(self, last_index: int, now_ms: int) -> None:
        """After an answer: when it last had all that the log had then (KIP-853)."""
        if self.match_index >= last_index:
            self.caught_up_ms = now_ms
        elif self.match_index >= self._seen_index:
            self.caught_up_ms = self._seen_ms
        self._seen_index, self._seen_ms = last_index, now_ms
