"""One thread that does what blocks, in the order asked, and keeps no process from ending.

A disk may never answer. `ThreadPoolExecutor` would make the interpreter wait for it at its end.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from queue import SimpleQueue
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")


class OneThread(Executor):
    """Started with the first call."""

    def __init__(self, name: str) -> None:
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._lock = threading.Lock()
        self._started = False
        self._is_shut_down = False

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> "Future[_T]":
        """See `Executor`."""
        future: Future[_T] = Future()

        def call() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = fn(*args, **kwargs)
            except BaseException as error:  # noqa: BLE001 - it is the caller's
                future.set_exception(error)
            else:
                future.set_result(result)

        with self._lock:
            if self._is_shut_down:
                raise RuntimeError("the thread is shut down")
            self._calls.put(call)
            if not self._started:
                self._started = True
                self._thread.start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 - `Executor`'s
        """See `Executor`; nothing is cancelled."""
        del cancel_futures
        with self._lock:
            self._is_shut_down = True
            self._calls.put(None)
        if wait and self._started:
            self._thread.join()

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            call()
