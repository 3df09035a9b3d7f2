"""ReadAhead: windows grow with sequential waits, rest after waste, and stay bounded."""

from headrace.storage.cache.read_ahead import (
    COOL_DOWN_MS,
    MAX_REFILL_BYTES,
    MIN_WINDOW_BYTES,
    ReadAhead,
)

MAX = 8 * MIN_WINDOW_BYTES
STEP = 100_000


class Reader:
    """Reads a stream in steps, one offset per byte."""

    def __init__(self, ahead, stream_id=1, offset=0):
        self.ahead = ahead
        self.stream_id = stream_id
        self.offset = offset

    def read(self, size=STEP, waited=True, now_ms=0):
        start, self.offset = self.offset, self.offset + size
        return self.ahead.observe(
            self.stream_id, (start, self.offset), size, waited=waited, now_ms=now_ms
        )

    def read_and_fill(self, **read):
        """Read, and let what is asked for arrive."""
        request = self.read(**read)
        if request is not None:
            self.ahead.finished(
                request.sequence, request.offset + request.size_bytes, request.size_bytes
            )
        return request


def test_a_first_or_random_read_reads_nothing_ahead():
    ahead = ReadAhead(MAX)
    for offset in (0, 5_000_000, 900):
        assert Reader(ahead, offset=offset).read() is None


def test_a_sequential_reader_that_waits_gets_a_window_behind_what_it_read():
    reader = Reader(ReadAhead(MAX))
    reader.read()
    request = reader.read()
    assert (request.offset, request.size_bytes) == (2 * STEP, MIN_WINDOW_BYTES)


def test_the_window_quadruples_while_the_reader_waits_up_to_the_maximum():
    reader = Reader(ReadAhead(MAX))
    reader.read()
    windows = []
    for _ in range(6):
        request = reader.read(size=MAX)  # consumes everything that was read ahead
        windows.append(request.size_bytes)
        reader.ahead.finished(
            request.sequence, request.offset + request.size_bytes, request.size_bytes
        )
    assert windows == [MIN_WINDOW_BYTES * it for it in (1, 4, 8, 8, 8, 8)]


def test_the_window_stays_while_the_reader_does_not_wait():
    reader = Reader(ReadAhead(MAX))
    reader.read()
    reader.read_and_fill()
    for _ in range(50):
        request = reader.read_and_fill(waited=False)
        assert request is None or request.size_bytes <= MIN_WINDOW_BYTES


def test_the_window_is_refilled_when_half_of_it_is_used():
    reader = Reader(ReadAhead(MAX))
    reader.read()
    first = reader.read_and_fill()
    used = 0
    while (request := reader.read_and_fill(waited=False)) is None:
        used += STEP
    used += STEP
    assert used > MIN_WINDOW_BYTES // 2
    assert used - STEP <= MIN_WINDOW_BYTES // 2
    assert request.offset == first.offset + first.size_bytes
    assert request.size_bytes == used


def test_a_large_window_is_refilled_a_request_at_a_time():
    """So that several are under way, instead of none while the first half is used up."""
    reader = Reader(ReadAhead(4 * MAX_REFILL_BYTES))
    reader.read()
    for _ in range(10):
        reader.read_and_fill(size=MAX_REFILL_BYTES)
    while reader.read_and_fill(waited=False) is None:
        continue
    used = 0
    while (request := reader.read_and_fill(waited=False)) is None:
        used += STEP
    assert used <= MAX_REFILL_BYTES < used + STEP
    assert request.size_bytes == used + STEP


def test_one_request_at_a_time_per_reader():
    reader = Reader(ReadAhead(MAX))
    reader.read()
    request = reader.read()
    assert request is not None
    assert reader.read() is None
    reader.ahead.finished(request.sequence, request.offset, 0)  # nothing could be put under way
    assert reader.read() is not None


def test_readers_of_one_stream_are_told_apart():
    ahead = ReadAhead(MAX)
    near, far = Reader(ahead), Reader(ahead, offset=10_000_000)
    for _ in range(3):
        near_request, far_request = near.read_and_fill(), far.read_and_fill()
    assert near_request.offset < 10_000_000 < far_request.offset
    assert near_request.sequence is not far_request.sequence


def test_streams_are_told_apart():
    ahead = ReadAhead(MAX)
    Reader(ahead, stream_id=1).read()
    assert Reader(ahead, stream_id=2, offset=STEP).read() is None


def test_waste_halves_the_window_and_lets_it_rest():
    reader = Reader(ReadAhead(MAX))
    reader.read()
    for _ in range(2):
        request = reader.read(size=MAX)
        reader.ahead.finished(request.sequence, request.offset, 0)
    assert request.sequence.window_bytes == 4 * MIN_WINDOW_BYTES
    reader.ahead.wasted(request.sequence, now_ms=1000)
    reader.ahead.wasted(request.sequence, now_ms=1001)  # of the same mishap
    assert request.sequence.window_bytes == 2 * MIN_WINDOW_BYTES
    assert reader.read(now_ms=1000 + COOL_DOWN_MS - 1, waited=False) is None
    again = reader.read(now_ms=1000 + COOL_DOWN_MS, waited=False)
    assert again.size_bytes == 2 * MIN_WINDOW_BYTES


def test_only_so_many_readers_are_remembered():
    ahead = ReadAhead(MAX, max_sequences=2)
    readers = [Reader(ahead, stream_id=it) for it in range(3)]
    for it in readers:
        it.read()
    assert [it.read() is not None for it in readers[1:]] == [True, True]
    assert readers[0].read() is None


def test_without_memory_nothing_is_read_ahead():
    reader = Reader(ReadAhead(0))
    assert [reader.read() for _ in range(5)] == [None] * 5
