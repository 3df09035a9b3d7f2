"""Which of two kinds of IO is faster on this machine now, by the small writes of the log itself. Pure.

Kernel AIO needs no thread and no interpreter lock, but workers of the kernel complete each O_DSYNC write: where
processes compete for the cores, a worker waits for its turn, and a blocking write in a thread is the faster one. Which
it is differs by machine and by hour, so it is measured: now and then two small writes that follow each other go by one
kind each. A window of such pairs counts for the other kind when it took clearly less in sum, without the slowest of
each: a disk that stalls says nothing about either. Medians would not do: beside one busy process half of the writes by
AIO were as fast as ever, and the others took 5 ms. What is compared is the time of most writes, not of the slowest few.

Latencies of a disk have long tails, so windows differ by chance. Several in a row must agree, more after each switch.

Windows of a log that has run for a while are seconds apart, so one in a few writes of the kind in use is watched
between them. Once these take twice what they took in the last window, the next window begins at once.
"""

from collections.abc import Callable
from typing import Final

SMALL_BYTES: Final = 64 * 1024  # larger writes take as long as the device needs, by either kind
PAIRS: Final = 16  # of a window
STALLS: Final = 2  # writes of each kind in a window that are not counted, the slowest
# Of the other kind's time to that of the one in use: below it a window counts for the other kind.
MAX_RATIO: Final = 0.8
# So many windows in a row let the other kind take over; twice as many after each switch.
MIN_WINDOWS: Final = 2
MAX_WINDOWS: Final = 8
# Small writes between two pairs: none in the first window, then so many. A slow probe holds up the confirmation of all
# writes behind it, so they become rare while windows speak for the kind in use.
MIN_BETWEEN: Final = 256
MAX_BETWEEN: Final = 2048
FAVOURED_BETWEEN: Final = (
    64  # while windows speak for the other kind: a probe of it is no loss then
)
WATCHED: Final = 16  # one write in so many
SLOWER: Final = 2  # times what the kind in use took in the last window

Note = Callable[[int, int], None]  # takes kind and latency of a write that is done, in ns


class IoChoice:
    """Chooses for each write; the kinds are 0, which is used at the start, and 1."""

    def __init__(self) -> None:
        self.kind = 0  # in use
        self.switches_total = 0
        self._latencies_ns: tuple[list[int], list[int]] = ([], [])  # of the window, by kind
        self._in_favour = 0  # windows in a row that speak for the other kind
        self._needed = MIN_WINDOWS
        self._pairs = 0
        self._second: int | None = None  # the kind of the other write of a pair
        self._between = 0
        self._until_pair = 0  # writes
        self._watched_ns: list[int] = []  # of the kind in use, between pairs
        self._known_ns = 0  # what it took in the last window; 0: that is not known

    def take(self, size_bytes: int) -> tuple[int, Note | None]:
        """Return the kind of a write that begins now, and what records its latency, if anything."""
        if size_bytes > SMALL_BYTES:
            return self.kind, None
        if self._second is not None:
            second, self._second = self._second, None
            return second, self._compare
        if self._until_pair:
            self._until_pair -= 1
            return self.kind, None if self._until_pair % WATCHED else self._watch
        self._until_pair = self._between
        self._pairs += 1
        # In turn: what goes on before a pair is before either kind as often.
        first = self.kind if self._pairs % 2 else 1 - self.kind
        self._second = 1 - first
        return first, self._compare

    def _compare(self, kind: int, latency_ns: int) -> None:
        """A write of a pair is done."""
        if len(self._latencies_ns[kind]) < PAIRS:
            self._latencies_ns[kind].append(latency_ns)
        of_used, of_other = self._latencies_ns[self.kind], self._latencies_ns[1 - self.kind]
        if len(of_used) < PAIRS or len(of_other) < PAIRS:
            return
        used_ns, other_ns = _counted_ns(of_used), _counted_ns(of_other)
        # What has begun a window early is forgotten by halves, so that noise begins only few.
        self._known_ns = max(used_ns, self._known_ns // 2 if self._between else self._known_ns)
        if other_ns < MAX_RATIO * used_ns:
            self._in_favour += 1
            self._between = FAVOURED_BETWEEN
            if self._in_favour == self._needed:
                self._switch()
        else:
            self._in_favour = 0
            self._between = min(max(2 * self._between, MIN_BETWEEN), MAX_BETWEEN)
        self._until_pair = self._between
        self._watched_ns.clear()
        for latencies in self._latencies_ns:
            latencies.clear()

    def _watch(self, kind: int, latency_ns: int) -> None:
        """A write between pairs is done."""
        if kind != self.kind:
            return
        self._watched_ns.append(latency_ns)
        if len(self._watched_ns) == PAIRS:
            took_ns = _counted_ns(self._watched_ns)
            if self._known_ns and took_ns > SLOWER * self._known_ns:
                self._known_ns = took_ns
                self._between = self._until_pair = 0
                for latencies in self._latencies_ns:
                    latencies.clear()
            self._watched_ns.clear()

    def _switch(self) -> None:
        self.kind = 1 - self.kind
        self.switches_total += 1
        self._in_favour = 0
        self._between = MIN_BETWEEN
        self._known_ns = 0  # of the other kind
        self._needed = min(2 * self._needed, MAX_WINDOWS)


def _counted_ns(latencies_ns: list[int]) -> int:
    return sum(sorted(latencies_ns)[: PAIRS - STALLS])
