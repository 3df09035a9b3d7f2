"""Walks over the records of a batch without building them: their structure, or their timestamps. Pure.

A producer may send anything under a right CRC, and a few kilobytes may decompress to millions of elements. So a walk is
a generator that does a bounded piece of work at a time: it yields where others should have their turn, and holds one
piece of the decompressed records at a time. Keys, values and headers are skipped.

Records of equal size often follow each other. The bytes at one offset in each are one strided slice, so a run of
such records is checked by its slices: see `headrace.protocol.records.runs`.

Source: DefaultRecord.java and DefaultRecordBatch.java of Apache Kafka 4.4 for what is refused.
"""

from collections.abc import Generator
from typing import Final, NamedTuple

from headrace.protocol.records.batch import BatchHeader
from headrace.protocol.records.errors import CorruptBatchError, TooManyElementsError
from headrace.protocol.records.runs import MIN_RUN, NO_RUN, EqualRun, count_equal
from headrace.protocol.records.window import SLICE_PIECES, Buffer, Slice, Window

SLICE_ELEMENTS: Final = 2_000  # records, or headers, of usual form in one piece of work: about 2 ms
_SLICE_HEADERS: Final = 1_000  # of one record of unusual form
_SLICE_FACTS: Final = 500
_UNUSUAL_WORK: Final = 8  # a record of unusual form takes as long as so many others
_RUN_PAUSE: Final = 32  # records until the next attempt, after one in vain
_COPIED_RECORD_BYTES: Final = 4_096  # average up to which records of many sizes are copied
_USUAL_BITS: Final = 56  # of a varint
_VARLONG_BITS: Final = 64
_SMALLEST: Final = -(1 << 63)
_LARGEST: Final = (1 << 63) - 1


class RecordFacts(NamedTuple):
    """A record as far as rules and look-ups need it."""

    offset_delta: int
    timestamp_delta_ms: int
    has_key: bool


def walk_facts(
    header: BatchHeader, batch: memoryview, max_bytes: int
) -> Generator[Slice | list[RecordFacts], None, None]:
    """Yield the facts of the records, some at a time, and where the next ones belong.

    Raises:
        CorruptBatchError: the records cannot be read so far.
        DecompressionLimitError: they take more than `max_bytes`.
    """
    window = Window(header, batch, max_bytes)
    yield from window.begin()
    found: list[RecordFacts] = []
    for number in range(1, header.records_count + 1):
        length = window.varint()
        end = window.consumed + length
        window.byte()  # attributes
        timestamp_delta = window.varint(_VARLONG_BITS)
        found.append(RecordFacts(window.varint(), timestamp_delta, window.varint() >= 0))
        yield from window.skip(end - window.consumed)
        if number % _SLICE_FACTS == 0:
            yield found
            found = []
            yield Slice.LOOP
    yield found


class StructureWalk(Window):
    """Checks every length of every record, the number of records, and that offsets are consecutive from 0.

    First `is_done_at_once`, and if that is not the case `steps`; then its attributes say what it found.
    """

    newest_delta_ms = _SMALLEST
    oldest_delta_ms = _LARGEST  # at most that of the oldest record
    lacks_key = 0  # 1 if at least one record does
    _index = 0  # of the first record that is not checked
    _pieces_before = 0
    _work = 0

    def __init__(
        self, header: BatchHeader, batch: memoryview, max_bytes: int, max_elements: int
    ) -> None:
        """Begin; records and headers are at most `max_elements`, and take at most `max_bytes`."""
        Window.__init__(self, header, batch, max_bytes)
        self._records_count = header.records_count
        self._elements_left = max_elements

    def is_done_at_once(self) -> bool:
        """Check a batch of few records, if there is nothing unusual about it."""
        count = self._records_count
        if count > SLICE_ELEMENTS or not self.data:
            return False
        self._index = self._quick(0, count)
        return self._index == count and self.position == len(self.data)

    def steps(self) -> Generator[Slice, None, None]:
        """Check what is left.

        Raises:
            CorruptBatchError: the records cannot be read as the header says.
            DecompressionLimitError: they take too many bytes.
            TooManyElementsError: records and headers are too many.
        """
        yield from self.begin()
        count = self._records_count
        while self._index < count:
            stop = min(count, self._index + SLICE_ELEMENTS)
            self._index = self._quick(self._index, stop)
            if self._index < stop:
                yield from self._unusual(self._index)
                self._index += 1
            if self._index < count and self._is_slice_done():
                yield Slice.LOOP
        if not self.is_at_end():
            raise CorruptBatchError("extra bytes after the last record")

    def _is_slice_done(self) -> bool:
        """Whether enough was done since this was last true."""
        pieces = self.pieces_taken - self._pieces_before
        if self._work < SLICE_ELEMENTS and pieces < SLICE_PIECES:
            return False
        self._work = 0
        self._pieces_before = self.pieces_taken
        return True

    def _count(self, elements: int) -> None:
        self._work += elements
        self._elements_left -= elements
        if self._elements_left < 0:
            raise TooManyElementsError("too many records and headers in a batch")

    def _unusual(self, index: int) -> Generator[Slice, None, None]:
        """Check one record of any form, which may continue in further pieces."""
        length = self.varint()
        begin = self.consumed
        self.byte()  # attributes
        delta = self.varint(_VARLONG_BITS)
        offset = self.varint()
        if offset != index:
            raise CorruptBatchError(f"record {index} has the offset {offset}")
        key_bytes = self._length()
        self.lacks_key |= int(key_bytes < 0)
        yield from self.skip(max(key_bytes, 0))
        yield from self.skip(max(self._length(), 0))
        headers = self.varint()
        if not 0 <= headers <= length:
            raise CorruptBatchError("impossible number of headers")
        self._count(_UNUSUAL_WORK + headers)
        for number in range(1, headers + 1):
            yield from self.skip(self.varint())
            yield from self.skip(max(self._length(), 0))
            if number % _SLICE_HEADERS == 0:
                yield Slice.LOOP
        if self.consumed - begin != length:
            raise CorruptBatchError("record length does not match its fields")
        self.newest_delta_ms = max(self.newest_delta_ms, delta)
        self.oldest_delta_ms = min(self.oldest_delta_ms, delta)

    def _length(self) -> int:
        """A length that may be -1, for null.

        Kafka takes any negative one for null. librdkafka delivers nothing of such a batch, nor what is behind it.
        """
        length = self.varint()
        if length < -1:
            raise CorruptBatchError(f"a key or value has the length {length}")
        return length

    def _after_attempt(self, index: int, run: EqualRun) -> tuple[int, Buffer]:
        """When to try again to find a run, and the piece: copied if records of many sizes are many."""
        if run.records:
            return index + 1, self.data
        if len(self.data) <= self._records_count * _COPIED_RECORD_BYTES:
            self.data = bytes(self.data)
        return index + _RUN_PAUSE, self.data

    def _quick(self, index: int, stop: int) -> int:  # noqa: C901, PLR0912, PLR0915  # the hot loop: calls cost too much
        """Check records of the usual form: within the piece, with small lengths and few headers.

        Returns the index of the first record that is not checked: `stop`, or one for `_unusual`.
        """
        data, start = self.data, self.position
        begin, size, lacks_key = index, len(data), self.lacks_key
        newest, oldest, headers = self.newest_delta_ms, self.oldest_delta_ms, 0
        next_attempt, last_attempt = index + 1, stop - MIN_RUN
        try:
            while index < stop:
                length, second = data[start], data[start + 1]
                if length < 0x80:
                    position = start + 1
                elif second < 0x80:
                    length += (second << 7) - 0x80
                    position = start + 2
                else:
                    length, position = _unsigned(data, start)
                end = position + (length >> 1)
                time_at, offset_at = position + 1, position + 2  # after the attributes
                delta = data[time_at]
                if delta >= 0x80:
                    delta, offset_at = _unsigned(data, time_at)
                delta = (delta >> 1) ^ -(delta & 1)
                offset, second = data[offset_at], data[offset_at + 1]
                if offset < 0x80:
                    key_at = offset_at + 1
                elif second < 0x80:
                    offset += (second << 7) - 0x80
                    key_at = offset_at + 2
                else:
                    offset, key_at = _unsigned(data, offset_at)
                if length & 1 or end > size or offset != index + index:
                    break
                key_length, value_at = data[key_at], key_at + 1
                if key_length >= 0x80:
                    key_length, value_at = _unsigned(data, key_at)
                value_at += key_length >> 1  # nothing for -1, which is 1 here
                if key_length & 1 and key_length != 1:
                    break
                length, second = data[value_at], data[value_at + 1]
                if length < 0x80:
                    position = value_at + 1 + (length >> 1)
                elif second < 0x80:
                    position = value_at + 2 + ((length + (second << 7) - 0x80) >> 1)
                else:
                    length, position = _unsigned(data, value_at)
                    position += length >> 1
                if found := data[position]:
                    position = _skip_headers(data, position, found)
                    headers += found >> 1
                if position + 1 != end or headers > SLICE_ELEMENTS or (length & 1 and length != 1):
                    break
                lacks_key |= key_length & 1
                if delta > newest:  # noqa: PLR1730  # a call costs more
                    newest = delta
                if delta < oldest:  # noqa: PLR1730
                    oldest = delta
                index += 1
                if next_attempt <= index <= last_attempt:
                    record = start, end, time_at, offset_at, key_at, value_at
                    run = NO_RUN if found else count_equal(data, index, stop, record)
                    index, end = index + run.records, end + run.records * (end - start)
                    newest = max(newest, run.newest_delta_ms)
                    oldest = min(oldest, run.oldest_delta_ms)
                    next_attempt, data = self._after_attempt(index, run)
                start = end
        except IndexError:
            pass  # the record continues in the next piece, or nowhere
        self.position = start
        self.newest_delta_ms, self.oldest_delta_ms, self.lacks_key = newest, oldest, lacks_key
        self._count(index - begin + headers)
        return index


def _unsigned(data: Buffer, position: int) -> tuple[int, int]:
    """A varint as it is, and the position behind it.

    Raises:
        IndexError: it is not within the data, or longer than usual.
    """
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
        if shift > _USUAL_BITS:
            raise IndexError


def _skip_headers(data: Buffer, position: int, count: int) -> int:
    """The last position of the headers that follow `position`; `count` as it is encoded.

    Raises:
        IndexError: they are not within the data, or not of the usual form.
    """
    if count & 1 or count >= 0x80:
        raise IndexError
    position += 1
    for _ in range(count >> 1):
        length = data[position]
        if length >= 0x80 or length & 1:
            raise IndexError
        position += 1 + (length >> 1)
        length = data[position]
        position += 1
        if length >= 0x80:
            length, position = _unsigned(data, position - 1)
        if length & 1:
            if length != 1:
                raise IndexError
        else:
            position += length >> 1
    return position - 1
