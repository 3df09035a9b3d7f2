"""Which of two kinds of IO is faster on this machine now, by the small writes of the log itself. Pure.

Kernel AIO needs no thread and no interpreter lock, but workers of the kernel complete each O_DSYNC write: where
processes compete for the cores, a worker waits for its turn, and a blocking write in a thread is the faster one. Which
it is differs by machine and by hour, so it is measured: now and then two small writes that follow each other go by one
kind each. A window of such pairs counts for the other kind when it took clearly less in sum, without the slowest of
each: a disk that stalls says nothing about either. Medians would not do: beside one busy process half of the writes by
AIO were as fast as ever, and the others took 5 ms. What is compared is the time of most writes, not of the slowest few.

Latencies of a disk have long tails, so windows differ by chance. Several in a row must agree, more after each switch.
"""

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
        self._until_pair = self._between
        self._pairs += 1
        # In turn: what goes on before a pair is before either kind as often.
        first = self.kind if self._pairs % 2 else 1 - self.kind
        self._second = 1 - first
        return first, True

    def note(self, kind: int, latency_ns: int) -> None:
        """A write that was to be measured is done."""
        if len(self._latencies_ns[kind]) < PAIRS:
            self._latencies_ns[kind].append(latency_ns)
        of_used, of_other = self._latencies_ns[self.kind], self._latencies_ns[1 - self.kind]
        if len(of_used) < PAIRS or len(of_other) < PAIRS:
            return
        if _counted_ns(of_other) < MAX_RATIO * _counted_ns(of_used):
            self._in_favour += 1
            self._between = MIN_BETWEEN
            if self._in_favour == self._needed:
                self._switch()
        else:
            self._in_favour = 0
            self._between = min(max(2 * self._between, MIN_BETWEEN), MAX_BETWEEN)
        self._until_pair = self._between
        for latencies in self._latencies_ns:
            latencies.clear()

    def _switch(self) -> None:
        self.kind = 1 - self.kind
        self.switches_total += 1
        self._in_favour = 0
        self._needed = min(2 * self._needed, MAX_WINDOWS)


def _counted_ns(latencies_ns: list[int]) -> int:
    return sum(sorted(latencies_ns)[: PAIRS - STALLS])
