"""Reading records until there are enough."""

import io
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from headrace.broker.cli.client.consume import Reader, _seek, consume
from headrace.broker.cli.record_format import record_formatter


class TopicPartition(NamedTuple):
    topic: str
    partition: int


class Record(NamedTuple):
    topic: str
    partition: int
    offset: int
    value: bytes


class Offset(NamedTuple):
    offset: int


P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)


class Consumer:
    """Holds `logs` and hands out at most `step` records per poll."""

    def __init__(self, logs, *, step=2, starts=None):
        self._logs = logs
        self._step = step
        self._starts = starts or dict.fromkeys(logs, 0)
        self.positions = dict(self._starts)
        self.commits = 0
        self.polls = 0

    def poll(self, *, timeout_ms, max_records):
        self.polls += 1
        assert self.polls < 100, "polls for ever"
        found = {}
        for partition, log in self._logs.items():
            at = self.positions[partition]
            taken = log[at : at + min(self._step, max_records)]
            if taken:
                found[partition] = [
                    Record(*partition, at + i, value) for i, value in enumerate(taken)
                ]
                self.positions[partition] = at + len(taken)
                max_records -= len(taken)
        return found

    def assignment(self):
        return set(self._logs)

    def position(self, partition):
        return self.positions[partition]

    def commit(self):
        self.commits += 1

    def beginning_offsets(self, partitions):
        return {p: self._starts[p] for p in partitions}

    def end_offsets(self, partitions):
        return {p: len(self._logs[p]) for p in partitions}

    def offsets_for_times(self, times):
        return {p: Offset(t) if t < len(self._logs[p]) else None for p, t in times.items()}

    def seek(self, partition, offset):
        self.positions[partition] = offset


def read(consumer, *, limit=None, ends=None, commits=False):
    target = io.BytesIO()
    reader = Reader(consumer, record_formatter("raw"), target, limit=limit, commits=commits)
    if ends is not None:
        reader.stop_at(ends)
    reader.read()
    return target.getvalue().split(), reader.count


def test_reading_stops_at_the_limit_exactly():
    consumer = Consumer({P0: [b"a", b"b", b"c", b"d"]})
    assert read(consumer, limit=3) == ([b"a", b"b", b"c"], 3)


def test_the_limit_is_never_polled_past_so_that_nothing_unread_is_committed():
    consumer = Consumer({P0: [b"a", b"b", b"c"]}, step=10)
    read(consumer, limit=2, commits=True)
    assert consumer.positions[P0] == 2
    assert consumer.commits == 1


def test_reading_stops_at_the_end_that_the_topic_had():
    logs = {P0: [b"a", b"b", b"new"], P1: []}
    assert read(Consumer(logs, step=10), ends={P0: 2, P1: 0}) == ([b"a", b"b"], 2)


def test_an_empty_topic_ends_at_once():
    consumer = Consumer({P0: [], P1: []})
    assert read(consumer, ends={P0: 0, P1: 0}) == ([], 0)
    assert consumer.polls == 0


def test_every_partition_is_read_to_its_end():
    logs = {P0: [b"a"] * 5, P1: [b"b"]}
    assert read(Consumer(logs, step=1), ends={P0: 5, P1: 1})[1] == 6


def test_only_a_group_commits():
    consumer = Consumer({P0: [b"a"]})
    read(consumer, limit=1)
    assert consumer.commits == 0


@pytest.mark.parametrize(
    ("offset", "since_ms", "from_beginning", "positions"),
    [
        (None, None, True, (1, 0)),
        (None, None, False, (5, 2)),
        (3, None, False, (3, 2)),
        (0, None, False, (1, 0)),
        (-1, None, False, (4, 1)),
        (-100, None, False, (1, 0)),
        (None, 4, False, (4, 2)),
    ],
)
def test_where_reading_begins(offset, since_ms, from_beginning, positions):
    consumer = Consumer({P0: [b""] * 5, P1: [b""] * 2}, starts={P0: 1, P1: 0})
    _seek(consumer, [P0, P1], offset, since_ms, from_beginning=from_beginning)
    assert (consumer.positions[P0], consumer.positions[P1]) == positions


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["t", "--from-beginning", "--offset", "3"], "Give one of"),
        (["t", "--group", "g", "--offset", "3"], "can only be combined with --from-beginning"),
        (["t", "--group", "g", "-P", "0"], "can only be combined with --from-beginning"),
        (["t", "-o", "xml"], "is not json"),
        (["t", "--from-timestamp", "soon"], "is not a time"),
        (["t", "-n", "0"], "0"),
    ],
)
def test_wrong_usage_is_explained(arguments, part):
    result = CliRunner().invoke(consume, arguments)
    assert result.exit_code == 2
    assert part in result.output
