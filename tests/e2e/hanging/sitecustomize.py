"""Imported by the interpreter of a broker that finds this directory first: one system call of an upload hangs.

The first call of the name in HANGING_CALL by the first thread that writes to the bucket returns only when
HANGING_FOLDER has a file `go`. There it says `hung`, and `over` when that thread has removed its temporary file. An
attempt at an object is given up after a second.
"""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from headrace.storage.object_store import retrying

POLL_S = 0.05
ATTEMPT_MS = 1_000
_folder = Path(os.environ["HANGING_FOLDER"])
_lock = threading.Lock()
_hung: list[threading.Thread] = []


def _hanging(call: Callable[..., object]) -> Callable[..., object]:
    def hanging(*arguments: object, **named: object) -> object:
        thread = threading.current_thread()
        with _lock:
            is_first = not _hung and thread.name.startswith("bucket-write") and _is_ready()
            if is_first:
                _hung.append(thread)
        if is_first:
            (_folder / "hung").touch()
            while not (_folder / "go").exists():
                time.sleep(POLL_S)
        return call(*arguments, **named)

    return hanging


def _is_ready() -> bool:
    """Whether the broker has started: what it tries before does not count."""
    return (_folder / "armed").exists()


def _telling(unlink: Callable[..., None]) -> Callable[..., None]:
    def telling(*arguments: object, **named: object) -> None:
        try:
            unlink(*arguments, **named)
        finally:
            if threading.current_thread() in _hung:
                (_folder / "over").touch()

    return telling


_name = os.environ["HANGING_CALL"]
setattr(os, _name, _hanging(getattr(os, _name)))
os.unlink = _telling(os.unlink)  # type: ignore[assignment]


class _Impatient(retrying.RetryPolicy, frozen=True, kw_only=True):
    attempt_ms_base: int = ATTEMPT_MS


retrying.RetryPolicy = _Impatient  # type: ignore[misc]  # before the modules that take its name are loaded
