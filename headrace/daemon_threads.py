"""Threads for calls that block, which do not keep the process from ending.

A disk may never answer, and a service that says nothing holds a thread for minutes. The standard
pool waits for its threads when the interpreter ends, and so would a broker that was told to stop.

This module stands below all packages: each of them uses it.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Executor, Future
from functools import partial
from queue import SimpleQueue
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")


class DaemonThreads(Executor):
    """Like `ThreadPoolExecutor`; a call that is inflight when the process ends is cut off there.

    One thread makes calls in the order in which they come. The queue before the threads is bounded
    by its users.
    """

    def __init__(self, max_threads: int, name: str) -> None:
        """Start nothing yet: a thread is started when a call comes and all others are busy."""
        self._max_threads = max_threads
        self._name = name
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._pending = 0  # calls that are waiting or inflight
        self._alive = 0  # threads that have not ended since `shutdown`
        self._is_shut_down = False
        self.ended: Future[None] = Future()  # done when `shutdown` was called and no thread is left

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> "Future[_T]":
        """See `Executor`.

        Raises:
            RuntimeError: it is shut down.
        """
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
                raise RuntimeError("the threads are shut down")
            self._pending += 1
            self._calls.put(call)
            if len(self._threads) < min(self._pending, self._max_threads):
                self._start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 - `Executor`'s
        """See `Executor`; nothing is cancelled."""
        del cancel_futures
        with self._lock:
            if not self._is_shut_down:
                self._is_shut_down = True
                self._alive = len(self._threads)
                for _ in self._threads:
                    self._calls.put(None)
                if not self._threads:
                    self._end()
        if wait:
            for thread in self._threads:
                thread.join()

    def _start(self) -> None:
        name = f"{self._name}_{len(self._threads)}" if self._max_threads > 1 else self._name
        thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            call()
            del call  # or what it was called with would stay until the next one
            with self._lock:
                self._pending -= 1
        with self._lock:
            self._alive -= 1
            if not self._alive:
                self._end()

    def _end(self) -> None:
        if self.ended.set_running_or_notify_cancel():
            self.ended.set_result(None)


def in_own_thread(
    name: str, fn: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs
) -> "asyncio.Future[_T]":
    """Begin one call in a thread of that name, which ends with it; call it from the loop.

    Cancelling the future does not end a call that has begun.
    """
    executor = DaemonThreads(1, name)
    try:
        # By the loop: one of virtual time, which has no threads, makes the call itself.
        return asyncio.get_running_loop().run_in_executor(executor, partial(fn, *args, **kwargs))
    finally:
        executor.shutdown(wait=False)


async def stepwise(step: Callable[[], _T | None], name: str) -> AsyncIterator[_T]:
    """Take steps that block in a thread of that name, one at a time, until one gives None.

    Raises:
        Exception: what the step raises.
    """
    loop = asyncio.get_running_loop()
    executor = DaemonThreads(1, name)
    try:
        while (found := await loop.run_in_executor(executor, step)) is not None:
            yield found
    finally:
        executor.shutdown(wait=False)
