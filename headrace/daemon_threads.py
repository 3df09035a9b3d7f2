"""Threads for calls that block, which do not keep the process from ending.

A disk may never answer, and a service that says nothing holds a thread for minutes. The standard
pool waits for its threads when the interpreter ends, and so would a broker that is to stop.

A thread that is started while there is no memory may die before its first line, and the standard library waits for
that line for ever. So a node starts spare threads ahead, and pools borrow them: what runs starts none. A thread that is
started nevertheless is waited for during `START_TIMEOUT_S` only.

This module stands below all packages: each of them uses it.
"""

import asyncio
import errno
import importlib
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Executor, Future
from concurrent.futures import wait as wait_for
from functools import partial
from queue import SimpleQueue
from types import ModuleType
from typing import Any, Final, ParamSpec, TypeVar

START_TIMEOUT_S: Final = 5.0
SPARE_NAME: Final = "spare"

_P = ParamSpec("_P")
_T = TypeVar("_T")


class _Begun(threading.Event):
    """What the starter of a thread waits for."""

    def wait(self, timeout: float | None = None) -> bool:
        """Wait, at most `START_TIMEOUT_S`.

        Raises:
            MemoryError: the thread has not begun.
        """
        if not super().wait(START_TIMEOUT_S if timeout is None else timeout):
            raise MemoryError("a thread was started and has not begun")
        return True


class DaemonThread(threading.Thread):
    """A thread that does not keep the process from ending, nor its starter if it cannot begin."""

    def __init__(self, work: Callable[[], None], name: str) -> None:
        """Prepare; `start` raises a MemoryError if it does not begin."""
        super().__init__(target=work, name=name, daemon=True)
        self._started = _Begun()


class _Lent:
    """A thread that does one work after another."""

    def __init__(self, stock: "_Stock") -> None:
        self._stock = stock
        self._works: SimpleQueue[tuple[str, Callable[[], None]]] = SimpleQueue()
        self._thread = DaemonThread(self._run, SPARE_NAME)
        self._thread.start()

    def do(self, name: str, work: Callable[[], None]) -> None:
        self._works.put((name, work))

    def _run(self) -> None:
        while True:
            name, work = self._works.get()
            self._thread.name = name
            work()
            del work  # or what it refers to would stay until the next one
            if not self._stock.take_back(self):
                return
            self._thread.name = SPARE_NAME


class _Stock:
    """The spare threads of this process; none unless they were asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._max_idle = 0
        self._idle: list[_Lent] = []

    def start_ahead(self, count: int) -> None:
        self._max_idle = count
        while len(self._idle) < count:
            self._idle.append(_Lent(self))

    def do(self, name: str, work: Callable[[], None]) -> None:
        with self._lock:
            thread = self._idle.pop() if self._idle else None
        (thread or _Lent(self)).do(name, work)

    def take_back(self, thread: _Lent) -> bool:
        with self._lock:
            if len(self._idle) >= self._max_idle:
                return False
            self._idle.append(thread)
            return True


_stock = _Stock()


def start_ahead(count: int) -> None:
    """Keep so many spare threads in this process from now on.

    Raises:
        RuntimeError, MemoryError: the system does not allow it.
    """
    _stock.start_ahead(count)


def in_daemon_thread(name: str, work: Callable[[], None]) -> None:
    """Do something in a spare thread, which has that name meanwhile; a new one is started if there is none.

    Raises:
        RuntimeError, MemoryError: none can be started.
    """
    _stock.do(name, work)


class DaemonThreads(Executor):
    """Like `ThreadPoolExecutor`; a call that is inflight when the process ends is cut off there.

    One thread makes calls in the order in which they come. The queue before the threads is bounded
    by its users.
    """

    def __init__(self, max_threads: int, name: str) -> None:
        """Take no thread yet: one is taken when a call comes and all others are busy."""
        self._max_threads = max_threads
        self._name = name
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._pending = 0  # calls that are waiting or inflight
        self._alive = 0  # threads that have not ended since `shutdown`
        self._is_shut_down = False
        self.ended: Future[None] = Future()  # done when `shutdown` was called and no thread is left

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> "Future[_T]":
        """See `Executor`.

        Raises:
            RuntimeError: it is shut down.
            RuntimeError, MemoryError: there is no thread, and none can be started; the call is not made.
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
            if self._threads < min(self._pending + 1, self._max_threads):
                number = f"_{self._threads}" if self._max_threads > 1 else ""
                in_daemon_thread(self._name + number, self._work)
                self._threads += 1
            self._pending += 1
            self._calls.put(call)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 - `Executor`'s
        """See `Executor`; nothing is cancelled."""
        del cancel_futures
        with self._lock:
            if not self._is_shut_down:
                self._is_shut_down = True
                self._alive = self._threads
                for _ in range(self._threads):
                    self._calls.put(None)
                if not self._threads:
                    self._end()
        if wait:
            wait_for([self.ended])

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
    """Begin one call in a thread of that name, which is free again when it ends; call it from the loop.

    Cancelling the future does not end a call that has begun.
    """
    executor = DaemonThreads(1, name)
    try:
        # By the loop: one of virtual time, which has no threads, makes the call itself.
        return asyncio.get_running_loop().run_in_executor(executor, partial(fn, *args, **kwargs))
    finally:
        executor.shutdown(wait=False)


async def import_in_thread(name: str, module: str) -> ModuleType:
    """Import a module in a thread of that name.

    Cancellation: takes effect when the import has ended, which is soon. An interpreter that ends while a thread
    imports may crash.
    """
    importing = in_own_thread(name, importlib.import_module, module)
    cancelled: asyncio.CancelledError | None = None
    while not importing.done():
        try:
            await asyncio.wait([importing])
        except asyncio.CancelledError as error:  # maybe more than one
            cancelled = error
    if cancelled is not None:
        raise cancelled from importing.exception()
    return importing.result()


class StillRunningError(OSError):
    """A call that has begun before has not come back yet."""


class OneThreadEach:
    """Calls that may hang, each in a thread of its own: one at a time for each key."""

    def __init__(self, name: str) -> None:
        """Name the threads."""
        self._name = name
        self._running: dict[str, asyncio.Future[Any]] = {}

    def begin(self, key: str, fn: Callable[[], _T]) -> "asyncio.Future[_T]":
        """Begin a call as `in_own_thread` does; cancelling the future has no effect on what is counted.

        Raises:
            StillRunningError: an earlier call for this key has not come back; it keeps the only thread.
        """
        running = self._running.get(key)
        if running is not None and not running.done():
            raise StillRunningError(
                errno.EBUSY, "what was asked for earlier has not come back, so nothing more is", key
            )
        begun = self._running[key] = in_own_thread(self._name, fn)
        begun.add_done_callback(partial(self._forget, key))
        return asyncio.shield(begun)

    def _forget(self, key: str, ended: "asyncio.Future[Any]") -> None:
        if self._running.get(key) is ended:
            del self._running[key]
        if not ended.cancelled():
            ended.exception()  # the caller may have stopped waiting


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
