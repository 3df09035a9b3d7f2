"""The loop of a simulated cluster: virtual time, one thread, and every callback belongs to a process.

The same seed gives the same order of everything: nothing depends on addresses in memory or on hashes of strings.
"""

import asyncio
import contextvars
import heapq
import itertools
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from tests.simulation.cluster.process import Process, current, of_context
from tests.simulation.virtual_time import VirtualTimeLoop

if TYPE_CHECKING:
    from tests.simulation.cluster.network import ClusterNetwork


TURN_S = 1e-5  # what a turn takes: who asks again in every turn comes to an end of it, and costs time that others see


class _OfProcess(asyncio.Handle):
    """Runs while its process does: later if that is stopped, and never if it has ended."""

    __slots__ = ()
    process: Process

    def _run(self) -> None:
        process = self.process
        if process.is_alive:
            if process.is_stopped:
                process.waiting.append(self)
            else:
                super()._run()


class _Handle(_OfProcess):
    """A callback of a process."""

    __slots__ = ("process",)


class _TimerHandle(_OfProcess, asyncio.TimerHandle):
    """A timer of a process."""

    __slots__ = ("process",)


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

    def _run_once(self) -> None:
        """A turn takes time, so that work which asks again in each turn meets its deadline."""
        self._jumping.skipped_s += TURN_S
        super()._run_once()  # type: ignore[misc]

    def __init__(self) -> None:
        super().__init__()
        self.set_task_factory(_new_task)

    def call_soon(
        self,
        callback: Callable[..., object],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> asyncio.Handle:
        process = of_context(context)
        if process is None:
            return super().call_soon(callback, *args, context=context)
        handle = _Handle(callback, args, self, context)
        handle.process = process
        self._ready.append(handle)  # type: ignore[attr-defined]
        return handle

    def call_later(
        self,
        delay: float,
        callback: Callable[..., object],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> asyncio.TimerHandle:
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[..., object],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> asyncio.TimerHandle:
        process = of_context(context)
        if process is None:
            return super().call_at(when, callback, *args, context=context)
        timer = _TimerHandle(when, callback, args, self, context)
        timer.process = process
        heapq.heappush(self._scheduled, timer)  # type: ignore[attr-defined]
        timer._scheduled = True
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
