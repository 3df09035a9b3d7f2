"""Linearizable reads by read index (thesis 6.4), in rounds. Pure.

A round of messages that began after a read was requested, and was answered by a majority, proves
that no other node led when it was requested. One round runs at a time; later reads wait for the next
one, since the answers to this one may have been sent before the read was requested.
"""

from headrace.metadata.raft.effects import ReadReady


class Rounds:
    """Numbers of rounds, and when each began: an answer proves contact at that time only."""

    def __init__(self) -> None:
        self.newest = 0
        self._began_ms: dict[int, int] = {}

    def begin(self, now_ms: int, forget_after_ms: int) -> int:
        """Start a round; rounds older than `forget_after_ms` are dropped."""
        while self._began_ms:
            oldest = next(iter(self._began_ms))
            if now_ms - self._began_ms[oldest] <= forget_after_ms:
                break
            del self._began_ms[oldest]
        self.newest += 1
        self._began_ms[self.newest] = now_ms
        return self.newest

    def began_ms(self, round_: int) -> int | None:
        """When a round began, if it is recent."""
        return self._began_ms.get(round_)


class ReadQueue:
    """Reads of one leader, by their tokens, until they are answered or its term ends."""

    def __init__(self) -> None:
        self._waiting: list[int] = []
        self._asked: list[int] = []  # confirmed by the current round
        self._round = 0
        self._index = 0

    def __len__(self) -> int:
        return len(self._waiting) + len(self._asked)

    def add(self, token: int) -> None:
        """Add a read."""
        self._waiting.append(token)

    @property
    def wants_round(self) -> bool:
        """Whether reads wait, and no round runs."""
        return bool(self._waiting) and not self._asked

    def begin(self, round_: int, commit_index: int) -> None:
        """Assign all waiting reads to this round, which begins now."""
        self._asked, self._waiting = self._waiting, []
        self._round, self._index = round_, commit_index

    def confirmed(self, round_: int) -> tuple[ReadReady, ...]:
        """A majority has answered this round or a later one; return the reads to answer now."""
        if round_ < self._round:
            return ()
        tokens, self._asked = self._asked, []
        return tuple(ReadReady(token, self._index) for token in tokens)

    def lost(self) -> tuple[int, ...]:
        """Drop all reads and return their tokens."""
        tokens = (*self._asked, *self._waiting)
        self._asked, self._waiting = [], []
        return tokens
