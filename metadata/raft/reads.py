"""Reads that must see all that was committed when they were asked for (thesis 6.4), in rounds. Pure.

A round of messages that began after a read was asked for, and was answered by a majority, proves
that nobody else led when it was asked for. One round is under way; what comes meanwhile waits for
the next, as the answers to this one may have been sent before it came.
"""

from headrace.metadata.raft.effects import ReadReady


class Rounds:
    """Numbers of rounds, and when each began: an answer proves no more than that."""

    def __init__(self) -> None:
        self.newest = 0
        self._began_ms: dict[int, int] = {}

    def begin(self, now_ms: int, forget_after_ms: int) -> int:
        """Start a round; those that began so long ago are forgotten."""
        while self._began_ms:
            oldest = next(iter(self._began_ms))
            if now_ms - self._began_ms[oldest] <= forget_after_ms:
                break
            del self._began_ms[oldest]
        self.newest += 1
        self._began_ms[self.newest] = now_ms
        return self.newest

    def began_ms(self, round_: int) -> int | None:
        """When a round began, if that is not long ago."""
        return self._began_ms.get(round_)


class ReadQueue:
    """Reads of one leader, by their tokens, until they are answered or its term is over."""

    def __init__(self) -> None:
        self._waiting: list[int] = []
        self._asked: list[int] = []  # confirmed by the round under way
        self._round = 0
        self._index = 0

    def __len__(self) -> int:
        return len(self._waiting) + len(self._asked)

    def add(self, token: int) -> None:
        """Take a read in."""
        self._waiting.append(token)

    @property
    def wants_round(self) -> bool:
        """Whether reads wait, and none are under way."""
        return bool(self._waiting) and not self._asked

    def begin(self, round_: int, commit_index: int) -> None:
        """All that wait are asked for in this round, which begins now."""
        self._asked, self._waiting = self._waiting, []
        self._round, self._index = round_, commit_index

    def confirmed(self, round_: int) -> tuple[ReadReady, ...]:
        """A majority has answered this round or a later one; returns what may be answered now."""
        if round_ < self._round:
            return ()
        tokens, self._asked = self._asked, []
        return tuple(ReadReady(token, self._index) for token in tokens)

    def lost(self) -> tuple[int, ...]:
        """Give up all."""
        tokens = (*self._asked, *self._waiting)
        self._asked, self._waiting = [], []
        return tokens
