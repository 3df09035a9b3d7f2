"""Logging of a node: text on a terminal, JSON lines elsewhere, written by a separate thread.

A log call on the event loop formats the message and puts the record into a bounded queue; one
thread writes. When the reader of stderr is slower than the node logs, the queue fills, further lines
are dropped and counted, and the count is logged as soon as there is room: the event loop never waits.

Repeated lines are limited: after REPEAT_BURST lines from one statement within REPEAT_WINDOW_MS, the
rest are counted, and the count is added to the first line of a later window.

What a line says may come from a client: each value is cut, and what could forge a line or reach a terminal as a
command (control characters, direction marks, lone surrogates) is written as its code. So a line of text is one
line, but for a traceback below it, which is indented.

JSON fields: ts (ISO 8601, UTC, milliseconds), level, logger, msg, node, the fields that the call passed in
`extra`, and err with the traceback.
"""

import itertools
import json
import logging
import logging.handlers
import queue
import re
import sys
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TextIO

from headrace.daemon_threads import DaemonThread

ROOT = "headrace"
MAX_QUEUE_RECORDS = 8192
STOP_TIMEOUT_S = 5.0  # how long the last lines may take at the end
REPEAT_BURST = 20
REPEAT_WINDOW_MS = 10_000
MAX_REPEAT_PLACES = 1024  # statements that are tracked at once
MAX_TEXT_CHARACTERS = 2_000  # of a message, or of one field
MAX_TRACEBACK_CHARACTERS = 20_000
MAX_ITEMS = 100  # of a list or object in a field
TRACEBACK_INDENT = "  "

_PLAIN_ATTRIBUTES = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
# JSON escapes the first 32 control characters by itself.
_UNSAFE_IN_JSON = re.compile(r"[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_UNSAFE_IN_TEXT = re.compile(_UNSAFE_IN_JSON.pattern.replace("[", "[\\x00-\\x1f", 1))
_COLOURS = {"DEBUG": "2", "WARNING": "33", "ERROR": "31", "CRITICAL": "1;31"}


def _extra_fields(record: logging.LogRecord) -> dict[str, object]:
    return {key: value for key, value in vars(record).items() if key not in _PLAIN_ATTRIBUTES}


def _cut(text: str, max_characters: int = MAX_TEXT_CHARACTERS) -> str:
    if len(text) <= max_characters:
        return text
    return f"{text[:max_characters]}... ({len(text)} characters)"


def _escaped(unsafe: re.Pattern[str], text: str) -> str:
    return unsafe.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def _printable(value: object) -> str:
    """Return any value as text of one line."""
    return _escaped(_UNSAFE_IN_TEXT, _cut(str(_for_json(value))))


def _for_json(value: object) -> object:
    """Return a value as JSON can have it, with its texts cut."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping):
        items = itertools.islice(value.items(), MAX_ITEMS)
        return {_escaped(_UNSAFE_IN_JSON, _cut(str(key))): _for_json(it) for key, it in items}
    if isinstance(value, list | tuple | set | frozenset):
        return [_for_json(it) for it in itertools.islice(value, MAX_ITEMS)]
    return _escaped(_UNSAFE_IN_JSON, _cut(str(value)))


def _time_of(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, UTC)


class JsonFormatter(logging.Formatter):
    """One JSON object per record, on one line."""

    def __init__(self, node_id: int) -> None:
        super().__init__()
        self._node_id = node_id

    def format(self, record: logging.LogRecord) -> str:
        """Write the record as JSON; values that JSON does not have become text."""
        ts = _time_of(record).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line: dict[str, object] = {
            "ts": ts,
            "level": record.levelname,
            "logger": record.name,
            "msg": _for_json(record.getMessage()),
            "node": self._node_id,
        }
        line.update({key: _for_json(value) for key, value in _extra_fields(record).items()})
        if record.exc_text:
            line["err"] = _escaped(_UNSAFE_IN_JSON, _cut(record.exc_text, MAX_TRACEBACK_CHARACTERS))
        return json.dumps(line, ensure_ascii=False)


class TextFormatter(logging.Formatter):
    """One readable line per record, with a traceback below it where there is one."""

    def __init__(self, *, colour: bool) -> None:
        super().__init__()
        self._colour = colour

    def format(self, record: logging.LogRecord) -> str:
        """Write time of day, level, logger, message and extra fields."""
        clock = _time_of(record).astimezone().strftime("%H:%M:%S.%f")[:-3]
        level = f"{record.levelname:<7}"
        if self._colour and record.levelname in _COLOURS:
            level = f"\x1b[{_COLOURS[record.levelname]}m{level}\x1b[0m"
        fields = _extra_fields(record).items()
        extra = "".join(f" {key}={_printable(value)}" for key, value in fields)
        line = f"{clock} {level} {record.name}: {_printable(record.getMessage())}{extra}"
        if not record.exc_text:
            return line
        traceback = _cut(record.exc_text, MAX_TRACEBACK_CHARACTERS).split("\n")
        return "\n".join(
            [line, *(TRACEBACK_INDENT + _escaped(_UNSAFE_IN_TEXT, it) for it in traceback)]
        )


class RepeatFilter(logging.Filter):
    """Passes REPEAT_BURST records per line of code and window, and counts the others."""

    def __init__(self) -> None:
        super().__init__()
        self._places: dict[
            tuple[str, int], list[int]
        ] = {}  # statement -> [window start ms, passed, held]

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the record is written; adds `repeated` to the first of a new window."""
        place = (record.pathname, record.lineno)
        now_ms = int(record.created * 1000)
        state = self._places.get(place)
        if state is None or now_ms - state[0] >= REPEAT_WINDOW_MS:
            if state is None and len(self._places) >= MAX_REPEAT_PLACES:
                self._places.clear()
            if state is not None and state[2]:
                record.__dict__["repeated"] = state[2]
            self._places[place] = [now_ms, 1, 0]
            return True
        if state[1] < REPEAT_BURST:
            state[1] += 1
            return True
        state[2] += 1
        return False


class BoundedQueueHandler(logging.handlers.QueueHandler):
    """Puts records into a bounded queue and drops them, counted, when it is full."""

    def __init__(self, records: "queue.Queue[object]") -> None:
        super().__init__(records)
        self._records = records
        self._dropped = 0

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        """Fix the message and the traceback now: arguments may change before they are written."""
        record.msg = record.getMessage()
        record.args = None
        if record.exc_info:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
            record.exc_info = None
        return record

    def enqueue(self, record: logging.LogRecord) -> None:
        """Add the record, and before it a line about those that were dropped."""
        try:
            if self._dropped:
                self._records.put_nowait(self._drop_notice(record))
                self._dropped = 0
            self._records.put_nowait(record)
        except queue.Full:
            self._dropped += 1

    def _drop_notice(self, record: logging.LogRecord) -> logging.LogRecord:
        return logging.makeLogRecord(
            {
                "name": f"{ROOT}.logs",
                "levelno": logging.WARNING,
                "levelname": "WARNING",
                "msg": f"{self._dropped} log lines were dropped: the reader of the log is too slow",
                "created": record.created,
            }
        )


class _Writer:
    """The thread that takes records out of the queue and writes them."""

    def __init__(self, records: "queue.Queue[object]", handler: logging.Handler) -> None:
        self._records = records
        self._handler = handler
        # A daemon thread: a stream that blocks must not keep the process from ending.
        self._thread = DaemonThread(self._write, "log-writer")

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Write what is queued and end; stops waiting after STOP_TIMEOUT_S without progress."""
        try:
            self._records.put(None, timeout=STOP_TIMEOUT_S)
        except queue.Full:
            return
        self._thread.join(STOP_TIMEOUT_S)

    def _write(self) -> None:
        while True:
            try:
                record = self._records.get()
                if not isinstance(record, logging.LogRecord):
                    return
                self._handler.handle(record)
            except MemoryError as error:
                # The node ends, and this thread writes why.
                details = (MemoryError, error, error.__traceback__, threading.current_thread())
                threading.excepthook(threading.ExceptHookArgs(details))


class Logging:
    """The running pipeline."""

    def __init__(self, writer: _Writer, undo: Callable[[], None]) -> None:
        self._writer = writer
        self._undo = undo

    def stop(self) -> None:
        """Detach from the root logger, write what is queued, and end the thread."""
        self._undo()
        self._writer.stop()


def start_logging(
    *,
    level: str,
    log_format: str,
    node_id: int,
    stream: TextIO | None = None,
    environment: Mapping[str, str] | None = None,
) -> Logging:
    """Send all logging of this process to a stream, by way of a bounded queue and a thread.

    Args:
        level: least severe level of the `headrace` loggers; other libraries log warnings and above.
        log_format: "text", "json", or "auto" for text on a terminal and JSON elsewhere.
        node_id: goes into every JSON line.
        stream: where lines go; stderr by default.
        environment: NO_COLOR in it turns colours off.
    """
    target = stream if stream is not None else sys.stderr
    terminal = target.isatty()
    text = log_format == "text" or (log_format == "auto" and terminal)
    output = logging.StreamHandler(target)
    output.setFormatter(
        TextFormatter(colour=terminal and not (environment or {}).get("NO_COLOR"))
        if text
        else JsonFormatter(node_id)
    )
    records: queue.Queue[object] = queue.Queue(MAX_QUEUE_RECORDS)
    handler = BoundedQueueHandler(records)
    handler.addFilter(RepeatFilter())
    writer = _Writer(records, output)
    root, own = logging.getLogger(), logging.getLogger(ROOT)
    before = (root.handlers[:], root.level, own.level)

    def undo() -> None:
        root.handlers[:], level_of_root, own_level = before
        root.setLevel(level_of_root)
        own.setLevel(own_level)

    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    own.setLevel(level)
    writer.start()
    return Logging(writer, undo)
