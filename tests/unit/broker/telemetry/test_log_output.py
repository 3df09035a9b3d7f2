"""Logging of a node."""

import io
import json
import logging
import queue
import threading

import pytest

from headrace.broker.telemetry.log_output import (
    MAX_REPEAT_PLACES,
    REPEAT_BURST,
    REPEAT_WINDOW_MS,
    BoundedQueueHandler,
    JsonFormatter,
    RepeatFilter,
    TextFormatter,
    start_logging,
)

CREATED = 1_795_268_874.206


class Terminal(io.StringIO):
    def isatty(self):
        return True


def record(message="hello", *, line=1, at=CREATED, level=logging.INFO, args=None, **extra):
    made = logging.LogRecord("headrace.test", level, "file.py", line, message, args, None)
    made.created = at
    made.__dict__.update(extra)
    return made


@pytest.fixture
def logged():
    """Log through the whole pipeline into a stream; gives (start, lines)."""
    running = []

    def start(stream=None, **options):
        target = stream if stream is not None else io.StringIO()
        settings = {"level": "INFO", "log_format": "auto", "node_id": 3} | options
        running.append(start_logging(stream=target, **settings))
        return target

    def finish():
        while running:
            running.pop().stop()

    yield start, finish
    finish()


def test_json_has_the_documented_fields():
    text = JsonFormatter(3).format(record("%s of %d", args=("one", 2), topic="orders", partition=1))
    assert json.loads(text) == {
        "ts": "2026-11-21T13:47:54.206Z",
        "level": "INFO",
        "logger": "headrace.test",
        "msg": "one of 2",
        "node": 3,
        "topic": "orders",
        "partition": 1,
    }


def test_json_stays_one_line_whatever_is_logged():
    text = JsonFormatter(1).format(record("two\nlines \u2028 ü", thing=object(), raw=b"\xff"))
    assert len(text.splitlines()) == 1
    assert json.loads(text)["msg"] == "two\nlines \\u2028 ü"


HOSTILE = "g\r\n2026-01-01 CRITICAL headrace: forged\x1b[31m\x9b0m\u2028\u202e\ud800\x00\x7f"


def test_what_a_client_has_named_forges_no_line_and_reaches_no_terminal():
    text = TextFormatter(colour=True).format(record("group %s", args=(HOSTILE,), member=HOSTILE))
    for line in (text, JsonFormatter(1).format(record(HOSTILE, nested={HOSTILE: [HOSTILE]}))):
        assert len(line.splitlines()) == 1
        assert line.isprintable()
        line.encode()
    assert "g\\r\\n2026-01-01 CRITICAL headrace: forged\\x1b[31m" in text


def test_a_traceback_with_what_a_client_has_named_forges_no_line_either():
    made = record("failed")
    made.exc_text = f"Traceback:\nValueError: {HOSTILE}"
    first, *below = TextFormatter(colour=False).format(made).splitlines()
    assert first.endswith("headrace.test: failed")
    assert all(line.startswith("  ") and line.isprintable() for line in below)


def test_long_values_are_cut():
    long = "x" * 5_000_000
    made = record(long, group=long, many=[long] * 200)
    made.exc_text = long
    for line in (TextFormatter(colour=False).format(made), JsonFormatter(1).format(made)):
        assert len(line) < 300_000
        assert "xxx... (5000000 characters)" in line


def test_text_has_the_extra_fields_behind_the_message():
    text = TextFormatter(colour=False).format(record("opened", topic="orders"))
    assert text.endswith("INFO    headrace.test: opened topic=orders")


def test_only_a_terminal_gets_colours():
    warning = record("careful", level=logging.WARNING)
    assert "\x1b[33mWARNING\x1b[0m" in TextFormatter(colour=True).format(warning)
    assert "\x1b" not in TextFormatter(colour=False).format(warning)


def test_a_pipe_gets_json_and_a_terminal_text(logged):
    start, finish = logged
    pipe = start()
    logging.getLogger("headrace.x").info("to the pipe")
    finish()
    assert json.loads(pipe.getvalue())["msg"] == "to the pipe"
    terminal = start(Terminal())
    logging.getLogger("headrace.x").info("to the terminal")
    finish()
    assert "INFO    headrace.x: to the terminal" in terminal.getvalue()


def test_the_format_can_be_chosen(logged):
    start, finish = logged
    forced = start(Terminal(), log_format="json")
    logging.getLogger("headrace").info("x")
    finish()
    assert json.loads(forced.getvalue())["msg"] == "x"


def test_no_color_is_respected(logged):
    start, finish = logged
    terminal = start(Terminal(), environment={"NO_COLOR": "1"})
    logging.getLogger("headrace").warning("x")
    finish()
    assert "\x1b" not in terminal.getvalue()


def test_a_traceback_goes_with_its_line(logged):
    start, finish = logged
    stream = start()
    try:
        raise ValueError("broken")
    except ValueError:
        logging.getLogger("headrace").exception("failed")
    finish()
    line = json.loads(stream.getvalue())
    assert line["msg"] == "failed"
    assert "ValueError: broken" in line["err"]


def test_arguments_are_fixed_when_the_call_is_made(logged):
    start, finish = logged
    stream = start()
    values = [1]
    logging.getLogger("headrace").info("values %s", values)
    values.append(2)
    finish()
    assert json.loads(stream.getvalue())["msg"] == "values [1]"


def test_our_level_counts_for_us_and_warnings_for_others(logged):
    start, finish = logged
    stream = start(level="DEBUG")
    logging.getLogger("headrace.a").debug("ours")
    logging.getLogger("aiohttp.access").info("theirs")
    logging.getLogger("aiohttp.access").warning("their warning")
    finish()
    assert [json.loads(line)["msg"] for line in stream.getvalue().splitlines()] == [
        "ours",
        "their warning",
    ]


def test_stopping_gives_logging_back(logged):
    start, finish = logged
    before = (logging.getLogger().handlers[:], logging.getLogger("headrace").level)
    start(level="ERROR")
    finish()
    assert (logging.getLogger().handlers[:], logging.getLogger("headrace").level) == before


def test_a_full_queue_drops_lines_and_says_how_many():
    records = queue.Queue(2)
    handler = BoundedQueueHandler(records)
    for number in range(5):
        handler.handle(record(f"line {number}"))
    assert [records.get().msg for _ in range(2)] == ["line 0", "line 1"]
    handler.handle(record("later"))
    assert [records.get().msg for _ in range(2)] == [
        "3 log lines were dropped: the reader of the log is too slow",
        "later",
    ]


def test_the_caller_never_waits_for_a_reader_that_does_not_read(logged):
    start, finish = logged
    reading = threading.Event()

    class Stuck(io.StringIO):
        def write(self, text):
            reading.wait(30)
            return super().write(text)

    stuck = start(Stuck())
    logger = logging.getLogger("headrace.flood")
    for number in range(20_000):  # more than fit; each from a place of its own
        logger.handle(record(f"line {number}", line=number))
    reading.set()
    finish()
    assert "line 0" in stuck.getvalue()
    assert "line 19999" not in stuck.getvalue()


def test_a_place_that_repeats_is_thinned_and_counted():
    thinning = RepeatFilter()
    passed = [thinning.filter(record()) for _ in range(REPEAT_BURST + 5)]
    assert passed == [True] * REPEAT_BURST + [False] * 5
    assert thinning.filter(record(line=2))
    later = record(at=CREATED + REPEAT_WINDOW_MS / 1000)
    assert thinning.filter(later)
    assert later.repeated == 5
    again = record(at=CREATED + REPEAT_WINDOW_MS / 1000)
    assert thinning.filter(again)
    assert not hasattr(again, "repeated")


def test_the_number_of_places_that_are_tracked_is_bounded():
    thinning = RepeatFilter()
    for line in range(3 * MAX_REPEAT_PLACES):
        assert thinning.filter(record(line=line))
    assert len(thinning._places) <= MAX_REPEAT_PLACES


def test_a_lack_of_memory_ends_the_node_and_not_what_writes_why(logged, monkeypatch):
    start, finish = logged
    take = queue.Queue.get
    short, told = [MemoryError()], []

    def get(records):
        if short:
            raise short.pop()
        return take(records)

    monkeypatch.setattr(queue.Queue, "get", get)
    monkeypatch.setattr(threading, "excepthook", told.append)
    stream = start()
    logging.getLogger("headrace.test").info("the node ends")
    finish()
    assert "the node ends" in stream.getvalue()
    assert [it.exc_type for it in told] == [MemoryError]
