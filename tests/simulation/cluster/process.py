"""One life of a process: what it schedules runs while it lives, and waits while it is stopped.

A context variable names the process of whatever runs; tasks, timers and callbacks inherit it. A process that was
killed runs nothing any more, not even the `finally` of a coroutine, as after SIGKILL: its tasks are kept, so that
nobody collects them. One that is stopped (SIGSTOP) runs what has come meanwhile when it is continued.
"""

import asyncio
import contextvars
from collections.abc import Callable
from typing import Any

from headrace import turns

_CURRENT: "contextvars.ContextVar[Process | None]" = contextvars.ContextVar("process", default=None)
# In which things happen that no process does: a disk gets to a write, a message travels.
WORLD = contextvars.copy_context()


class Process:
    """A process of a host, from its start to its end."""

    def __init__(self, host: str) -> None:
        self.host = host
        self.is_alive = True
        self.is_stopped = False
        self.context = contextvars.copy_context()
        self.context.run(_CURRENT.set, self)
        self.turns: dict[turns.Work, turns.Turns] = {}  # of its event loop
        self.waiting: list[asyncio.Handle] = []  # what was due while it was stopped
        self._tasks: list[asyncio.Task[Any]] = []
        self._tasks_kept = 100
        self.on_end: list[Callable[[], None]] = []

    def keep(self, task: asyncio.Task[Any]) -> None:
        """Keep a task until it is done, and for ever if the process is killed before."""
        self._tasks.append(task)
        if len(self._tasks) > self._tasks_kept:
            self._tasks = [it for it in self._tasks if not it.done()]
            self._tasks_kept = 2 * len(self._tasks) + 100

    def stop(self) -> None:
        """Run nothing until it is continued."""
        self.is_stopped = True

    def resume(self, loop: asyncio.AbstractEventLoop) -> None:
        """Run what was due meanwhile, in its order, and go on."""
        self.is_stopped = False
        waiting, self.waiting = self.waiting, []
        loop.go_on(waiting)

    def kill(self) -> None:
        """End it in the middle of whatever it does."""
        if self.is_alive:
            self.is_alive = False
            self.waiting.clear()
            for ended in self.on_end:
                ended()


def _turns_of_process(loop: asyncio.AbstractEventLoop) -> dict[turns.Work, turns.Turns]:
    """Give each process an event loop's turns of its own: one that was killed takes none from the others."""
    process = _CURRENT.get()
    return _turns_of_loop(loop) if process is None else process.turns


_turns_of_loop = turns._turns_of_loop
turns._turns_of_loop = _turns_of_process


def current() -> Process | None:
    """Return the process that runs; None: the world, or a client."""
    return _CURRENT.get()


def of_context(context: contextvars.Context | None) -> Process | None:
    """Return the process of a context."""
    return _CURRENT.get() if context is None else context.get(_CURRENT, None)
