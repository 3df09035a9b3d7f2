"""Which of two kinds of IO is faster on this machine now, by the small writes of the log itself. Pure.

Kernel AIO needs no thread and no interpreter lock, but workers of the kernel complete each O_DSYNC write: where
processes compete for the cores, a worker waits for its turn, and a blocking write in a thread is the faster one. Which
it is differs by machine and by hour, so it is measured: now and then two small writes that follow each other go by one
kind each. Sums decide, without the two slowest of each kind: a disk that stalls says nothing about either. Medians
would not do: beside one busy process half of the writes by AIO were as fast as ever, and the others took 5 ms.
"""

from collections import deque
from typing import Final

SMALL_BYTES: Final = 64 * 1024  # larger writes take as long as the device needs, by either kind
PAIRS: Final = 16  # that a decision is made of
# Small writes from one pair to the next, once there are so many: of 258 writes one goes by the kind that is slower.
WRITES_BETWEEN: Final = 256
STALLS: Final = 2  # writes of each kind that are not counted, the slowest
MAX_RATIO: Final = 0.8  # of the other kind's time to that of the one in use, at which it takes over


class IoChoice:
    """Chooses for each write; the kinds are 0, which is used at the start, and 1."""

    def __init__(self) -> None:
        self.kind = 0  # in use
        self.switches_total = 0
        self._latencies_ns = (deque[int](maxlen=PAIRS), deque[int](maxlen=PAIRS))  # by kind
        self._pairs = 0  # since the last switch
        self._second: int | None = None  # the kind of the other write of a pair
        self._until_pair = 0  # writes

    def take(self, size_bytes: int) -> tuple[int, bool]:
        """Return the kind of a write that begins now, and whether `note` is to be told what it took."""
        if size_bytes > SMALL_BYTES:
            return self.kind, False
        if self._second is not None:
            second, self._second = self._second, None
            return second, True
        if self._until_pair:
            self._until_pair -= 1
            return self.kind, False
        self._pairs += 1
        if self._pairs >= PAIRS:
            self._until_pair = WRITES_BETWEEN
        # In turn: what goes on before a pair is before either kind as often.
        first = self.kind if self._pairs % 2 else 1 - self.kind
        self._second = 1 - first
        return first, True

    def note(self, kind: int, latency_ns: int) -> None:
        """A write that was to be measured is done."""
        self._latencies_ns[kind].append(latency_ns)
        of_used, of_other = self._latencies_ns[self.kind], self._latencies_ns[1 - self.kind]
        if len(of_used) < PAIRS or len(of_other) < PAIRS:
            return
        if _counted_ns(of_other) < MAX_RATIO * _counted_ns(of_used):
            self.kind = 1 - self.kind
            self.switches_total += 1
            self._pairs = self._until_pair = 0
            for latencies in self._latencies_ns:
                latencies.clear()


def _counted_ns(latencies_ns: deque[int]) -> int:
    return sum(sorted(latencies_ns)[:-STALLS])
