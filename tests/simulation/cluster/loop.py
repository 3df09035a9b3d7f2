"""The loop of a simulated cluster: virtual time, one thread, and every callback belongs to a process.

The same seed gives the same order of everything: nothing depends on addresses in memory or on hashes of strings.
A run makes some hundred thousand callbacks, so a turn does what asyncio's does and nothing else: it looks for no file
descriptors, and keeps timers where they are compared without a call.
"""

import asyncio
import contextvars
import heapq
import itertools
from collections import deque
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from tests.simulation.cluster.process import Process, current, of_context
from tests.simulation.virtual_time import VirtualTimeLoop

if TYPE_CHECKING:
    from tests.simulation.cluster.leaseless import LeaselessAnswers
    from tests.simulation.cluster.network import ClusterNetwork


TURN_S = 1e-5  # what a turn takes: who asks again in every turn comes to an end of it, and costs time that others see
_RESOLUTION_S = 1e-9  # of the clock: timers this close to now go off
# So many timers, of which so many are cancelled, are gone through to remove those.
_MANY_TIMERS = 100
_CANCELLED_SHARE = 0.5


class _Handle(asyncio.Handle):
    """A callback of a process, or of the world."""

    __slots__ = ("process",)
    process: Process | None

    def __init__(
        self,
        callback: Callable[..., object],
        args: tuple[Any, ...],
        loop: "ClusterLoop",
        context: contextvars.Context | None,
    ) -> None:
        _fill(self, callback, args, loop, context)


class _Timer(asyncio.TimerHandle):
    """A timer of a process, or of the world; those of one moment are compared for the heap, and then by identity."""

    __slots__ = ("process",)
    __eq__ = object.__eq__
    __hash__ = object.__hash__
    process: Process | None

    def __init__(
        self,
        when: float,
        callback: Callable[..., object],
        args: tuple[Any, ...],
        loop: "ClusterLoop",
        context: contextvars.Context | None,
    ) -> None:
        _fill(self, callback, args, loop, context)
        self._when = when
        self._scheduled = True


def _fill(
    handle: _Handle | _Timer,
    callback: Callable[..., object],
    args: tuple[Any, ...],
    loop: "ClusterLoop",
    context: contextvars.Context | None,
) -> None:
    """Do what asyncio's constructor does, without asking whether the loop debugs; and note the process."""
    handle._callback = callback
    handle._args = args
    handle._loop = loop
    handle._context = contextvars.copy_context() if context is None else context
    handle._cancelled = False
    handle._repr = None
    handle._source_traceback = None
    handle.process = of_context(context)


class _Task(asyncio.Task[Any]):
    """Hashed by its number: a task group cancels its tasks in the order of a set."""

    _numbers = itertools.count(1)

    def __init__(self, coro: Coroutine[Any, Any, Any], **options: Any) -> None:
        self._number = next(_Task._numbers)
        super().__init__(coro, **options)

    def __hash__(self) -> int:
        return self._number

    __eq__ = object.__eq__


class ClusterLoop(VirtualTimeLoop):
    """Runs every process of the cluster, its clients and the world between them."""

    network: "ClusterNetwork"
    leaseless: "LeaselessAnswers"

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 0.0
        self._ready: deque[asyncio.Handle] = deque()
        self._scheduled: list[tuple[float, _Timer]] = []
        self._timer_cancelled_count = 0
        self.get_debug = bool  # type: ignore[method-assign,assignment] # False, asked for with each future
        self.set_task_factory(_new_task)

    def time(self) -> float:
        return self.now_s

    def go_on(self, handles: list[asyncio.Handle]) -> None:
        """Run what was due while its process was stopped."""
        self._ready.extend(handles)

    def _run_once(self) -> None:
        """A turn takes time, so that work which asks again in each turn meets its deadline."""
        ready = self._ready
        timers = self._without_cancelled()
        now_s = self.now_s + TURN_S
        if timers and not ready and not self._stopping:  # type: ignore[attr-defined]
            now_s += max(0.0, timers[0][0] - now_s)
        self.now_s = now_s
        until_s = now_s + _RESOLUTION_S
        while timers and timers[0][0] < until_s:
            timer = heapq.heappop(timers)[1]
            timer._scheduled = False
            ready.append(timer)
        assert ready, "nothing will ever happen"
        for _ in range(len(ready)):
            self._run_one(ready.popleft())

    def _run_one(self, handle: Any) -> None:
        """Run a callback: later if its process is stopped, and never if that has ended."""
        if handle._cancelled:
            return
        process = handle.process
        if process is not None:
            if not process.is_alive:
                return
            if process.is_stopped:
                process.waiting.append(handle)
                return
        try:
            handle._context.run(handle._callback, *handle._args)
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:
            message = f"Exception in callback {handle._callback}"
            self.call_exception_handler({"message": message, "exception": error, "handle": handle})

    def _without_cancelled(self) -> list[tuple[float, _Timer]]:
        """Forget cancelled timers: at the head, or everywhere if they are too many."""
        timers = self._scheduled
        size = len(timers)
        if size > _MANY_TIMERS and self._timer_cancelled_count / size > _CANCELLED_SHARE:
            for _, timer in timers:
                timer._scheduled = not timer._cancelled
            timers[:] = [it for it in timers if it[1]._scheduled]
            heapq.heapify(timers)
            self._timer_cancelled_count = 0
        else:
            while timers and timers[0][1]._cancelled:
                self._timer_cancelled_count -= 1
                heapq.heappop(timers)[1]._scheduled = False
        return timers

    def call_soon(
        self,
        callback: Callable[..., object],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> asyncio.Handle:
        handle = _Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def call_soon_threadsafe(
        self,
        callback: Callable[..., object],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> asyncio.Handle:
        """There are no threads; an asynchronous generator that nobody holds is closed by it."""
        return self.call_soon(callback, *args, context=context)

    def call_later(
        self,
        delay: float,
        callback: Callable[..., object],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> asyncio.TimerHandle:
        return self.call_at(self.now_s + delay, callback, *args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[..., object],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> asyncio.TimerHandle:
        timer = _Timer(when, callback, args, self, context)
        heapq.heappush(self._scheduled, (when, timer))
        return timer

    async def create_connection(  # type: ignore[override]
        self, protocol_factory: Any, host: Any = None, port: Any = None, **_options: Any
    ) -> Any:
        """Connect a client of asyncio's streams."""
        process = current()
        assert process is not None
        address = (str(host), int(port))
        transport = await self.network.connect(process, protocol_factory, address)
        return transport, transport.get_protocol()

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """There is none."""


def _new_task(
    loop: asyncio.AbstractEventLoop, coro: Coroutine[Any, Any, Any], **options: Any
) -> asyncio.Task[Any]:
    task = _Task(coro, loop=loop, **options)
    process = of_context(options.get("context"))
    if process is not None:
        process.keep(task)
    return task
