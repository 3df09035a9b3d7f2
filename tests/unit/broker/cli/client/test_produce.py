"""Lines as records."""

import io
import json

import pytest
from click.testing import CliRunner
from kafka import errors

from headrace.broker.cli.client.produce import MAX_LINE_BYTES, Line, Sender, read_lines
from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.root import cli


def lines(data, key=None, separator=None, *, tombstones=False):
    return list(read_lines(io.BytesIO(data), key, separator, tombstones=tombstones))


class Future:
    def __init__(self, error):
        self._error = error

    def add_callback(self, call):
        if self._error is None:
            call("metadata")

    def add_errback(self, call):
        if self._error is not None:
            call(self._error)


class Producer:
    """Accepts every record but those whose value is in `refused`."""

    def __init__(self, refused=None):
        self.records = []
        self.flushed_at = []
        self._refused = refused or {}

    def send(self, topic, *, value, key, headers, partition):
        self.records.append((topic, partition, key, value, headers))
        return Future(self._refused.get(value))

    def flush(self):
        self.flushed_at.append(len(self.records))


def sent(producer, data, *, flush_each=False):
    progress = []
    sender = Sender(producer, "orders", 1, [("h", b"x")], flush_each=flush_each)
    sender.send_all(iter(lines(data)), progress.append)
    return sender, progress


def test_each_line_is_a_record_and_the_last_needs_no_end():
    assert lines(b"a\nb\r\n\nc") == [
        Line(None, b"a"),
        Line(None, b"b"),
        Line(None, b""),
        Line(None, b"c"),
    ]
    assert lines(b"") == []


def test_bytes_stay_as_they_are():
    assert lines(b"\xff\x00\n") == [Line(None, b"\xff\x00")]


def test_a_line_is_split_at_its_first_separator():
    assert lines(b"k:v:w\n:x\n", separator=":") == [Line(b"k", b"v:w"), Line(b"", b"x")]
    assert lines(b"k=>v\n", separator="=>") == [Line(b"k", b"v")]


def test_a_line_without_separator_stops_with_its_number():
    with pytest.raises(CommandFailedError, match="line 2 has no key separator"):
        lines(b"a:1\nb\n", separator=":")


def test_one_key_can_hold_for_all():
    assert lines(b"a\nb\n", key="k") == [Line(b"k", b"a"), Line(b"k", b"b")]


def test_an_empty_value_is_a_tombstone_when_asked():
    assert lines(b"k:\n", separator=":", tombstones=True) == [Line(b"k", None)]
    assert lines(b"k:\n", separator=":") == [Line(b"k", b"")]


def test_a_line_that_no_broker_takes_is_not_kept_in_memory():
    with pytest.raises(CommandFailedError, match="line 1 is longer"):
        lines(b"x" * (MAX_LINE_BYTES + 2))


def test_everything_is_sent_and_flushed_once(capsys):
    producer = Producer()
    sender, progress = sent(producer, b"a\nbb\n")
    assert producer.records == [
        ("orders", 1, None, b"a", [("h", b"x")]),
        ("orders", 1, None, b"bb", [("h", b"x")]),
    ]
    assert producer.flushed_at == [2]
    assert sum(progress) == len(b"a\nbb\n")
    sender.report("table")
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "2 records to orders\n")
    sender.report("json")
    told = capsys.readouterr()
    assert json.loads(told.out) == {"topic": "orders", "records": 2, "failed": 0}
    assert told.err == "2 records to orders\n"


def test_somebody_who_types_sees_each_record_go():
    producer = Producer()
    sent(producer, b"a\nb\n", flush_each=True)
    assert producer.flushed_at == [1, 2, 2]


def test_refused_records_are_counted_and_explained(capsys):
    too_large = errors.MessageSizeTooLargeError()
    sender, _ = sent(Producer({b"b": too_large, b"c": too_large}), b"a\nb\nc\n")
    with pytest.raises(CommandFailedError) as caught:
        sender.report("json")
    told = capsys.readouterr()
    assert json.loads(told.out) == {"topic": "orders", "records": 1, "failed": 2}
    assert told.err == "1 record to orders\n"
    assert str(caught.value).startswith("2 records failed:\n")
    assert str(caught.value).count("a record is larger than the topic accepts") == 1


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["t", "--key", "k", "-K", ":"], "not both"),
        (["t", "-K", ""], "must not be empty"),
        (["t", "-H", "noequals"], "NAME=VALUE"),
        (["t", "-z", "brotli"], "brotli"),
        (["t", "-f", "/does/not/exist"], "does not exist"),
        ([], "Missing argument"),
    ],
)
def test_wrong_usage_is_explained(arguments, part):
    result = CliRunner().invoke(cli, ["produce", *arguments])
    assert result.exit_code == 2
    assert part in result.output
