"""What a job prints: results on standard output; progress and messages on standard error, or all as events.

spark-submit joins both streams of a Python program. `headrace spark` asks for events instead: lines that begin with
the control character RS and are JSON (RFC 7464), which distinguishes them from what Spark and libraries print.
"""

import argparse
import json
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from headrace.pipeline.jobs.metrics_file import MetricsFile
from headrace.pipeline.session import stop_session
from headrace.pipeline.source.errors import OptionError, SourceError
from headrace.storage.errors import StorageError

MARK: Final = "\x1e"
EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
_LINE_EVERY_S: Final = 5.0
_LOOK_EVERY_S: Final = 0.5
# Of a task, as Spark passes it on: the last line of a Python traceback.
_TASK_ERROR: Final = re.compile(
    r"^(?:[\w.]+\.)?(\w*(?:SourceError|DataLossError|OptionError|CutOffError|TargetError)): (.*)$",
    re.MULTILINE,
)


class JobError(Exception):
    """A job cannot do what it was asked; the message says what to do."""


class Told:
    """One per job."""

    def __init__(
        self, *, events: bool, progress: bool = True, metrics: MetricsFile | None = None
    ) -> None:
        """Begin.

        Args:
            events: print all as events.
            progress: print progress by lines, if not by events.
            metrics: where progress and measures go as well.
        """
        self._events = events
        self._progress = progress
        self._metrics = metrics
        self._measured_s = time.monotonic()  # when progress was last written there
        self._line_s = time.monotonic()  # of the last line

    def talk(self, text: str) -> None:
        """Print something that is no result."""
        if self._events:
            self._emit({"talk": text})
        else:
            print(text, file=sys.stderr, flush=True)

    def result(self, text: str) -> None:
        """Print a result."""
        if self._events:
            self._emit({"result": text})
        else:
            print(text, flush=True)

    def document(self, document: dict[str, object]) -> None:
        """Print a result for programs."""
        if self._events:
            self._emit({"document": document})
        else:
            self.result(json.dumps(document, indent=2, default=str))

    def measure(self, **values: float) -> None:
        """Put values of `metrics_file.METRICS` into the file of metrics, if there is one."""
        if self._metrics is not None:
            self._metrics.set(**values)

    def progress(self, label: str, done: int, total: int) -> None:
        """Say how many bytes are done; a line now and then, or each as an event."""
        if done == total or time.monotonic() - self._measured_s >= _LINE_EVERY_S:
            self._measured_s = time.monotonic()
            self.measure(done_bytes=done, total_bytes=total)
        if self._events:
            self._emit({"progress": label, "done": done, "total": total})
            return
        now_s = time.monotonic()
        if self._progress and now_s - self._line_s >= _LINE_EVERY_S:
            self._line_s = now_s
            print(
                f"{label}: {done / 2**20:,.0f} of {total / 2**20:,.0f} MiB",
                file=sys.stderr,
                flush=True,
            )

    @contextmanager
    def watching(self, label: str, done: Callable[[], int], total: int) -> Iterator[None]:
        """Print the progress of what runs meanwhile, by a thread that ends with it."""
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(_LOOK_EVERY_S):
                self.progress(label, min(done(), total), total)

        thread = threading.Thread(target=watch, name="progress", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
            self.progress(label, total, total)

    def _emit(self, event: dict[str, object]) -> None:
        print(f"{MARK}{json.dumps(event, default=str)}", flush=True)


def run_job(parser: argparse.ArgumentParser, run: Callable[[Any, Told], int]) -> int:
    """Run a job's command line: arguments, a session, errors that are printed. Returns the exit code."""
    parser.add_argument("--events", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument(
        "--metrics-file",
        type=Path,
        metavar="FILE.prom",
        help="keep metrics of the run there, for the textfile collector of node_exporter",
    )
    arguments = parser.parse_args()
    # spark-submit would bring progress between the lines of a document.
    progress = not getattr(arguments, "json", False)
    metrics = None
    told = Told(events=arguments.events, progress=progress)
    code = EXIT_FAILED
    try:
        if arguments.metrics_file is not None:
            job = parser.prog.rpartition(" ")[2]
            metrics = MetricsFile(arguments.metrics_file, job, time.time)
            told = Told(events=arguments.events, progress=progress, metrics=metrics)
        code = _run(run, arguments, told)
    except OptionError as error:
        told.talk(f"error: {error}")
        code = EXIT_USAGE
    finally:
        if metrics is not None:
            metrics.end(code)
        stop_session()
    return code


def _run(run: Callable[[Any, Told], int], arguments: argparse.Namespace, told: Told) -> int:
    try:
        return run(arguments, told)
    except OptionError:
        raise
    except (JobError, SourceError, StorageError) as error:
        told.talk(f"error: {error}")
    except Exception as error:
        found = _TASK_ERROR.findall(str(error))
        if not found:
            raise
        told.talk(f"error: {found[-1][1]}")
    return EXIT_FAILED
