"""Wakes the event loop after a fraction of a millisecond.

Group commit paces writes at 1/3000 s, and budgets release the next one within as little. Timers of event loops are
too coarse for that: uvloop counts in whole milliseconds and rounds less to nothing, asyncio waits a millisecond
longer than requested. A timerfd is a kernel timer that the loop waits for as it waits for a socket; it needs no thread.

Source: timerfd_create(2). Figures: docs/adr/0005-pacing.md.
"""

import asyncio
import ctypes
import os
import struct
import sys
from collections.abc import Callable
from typing import Protocol

from headrace.invariants import require

_CLOCK_MONOTONIC = 1
_NS_PER_SECOND = 1_000_000_000
_NS_PER_MS = 1_000_000
# struct itimerspec: interval (seconds, nanoseconds), then value
_ITIMERSPEC = struct.Struct("@llll")


class WakeTimer(Protocol):
    """One timer; the latest setting counts."""

    def set(self, delay_ns: int) -> None:
        """Wake once, `delay_ns` (at least 1) from now; this replaces an earlier setting."""
        ...

    def close(self) -> None:
        """Never wake again; may be repeated."""
        ...


WakeTimerFactory = Callable[[Callable[[], None]], WakeTimer]  # given what to call, on the loop


class WakeTimerUnavailableError(Exception):
    """No timerfd is available (another system, a sandbox, no free descriptor)."""


class LoopTimer:
    """The loop's own timer: no finer than a millisecond."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._loop = asyncio.get_running_loop()
        self._handle: asyncio.TimerHandle | None = None
        self._closed = False

    def set(self, delay_ns: int) -> None:
        """See `WakeTimer.set`."""
        if self._closed:
            return
        if self._handle is not None:
            self._handle.cancel()
        # Whole milliseconds, since uvloop rounds to them: half of one to nothing, which would spin.
        delay_ms = max(1, -(-delay_ns // _NS_PER_MS))
        self._handle = self._loop.call_later(delay_ms / 1000, self._fire)

    def close(self) -> None:
        """See `WakeTimer.close`."""
        self._closed = True
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _fire(self) -> None:
        self._handle = None
        self._wake()


class KernelTimer:
    """A timerfd that the loop watches."""

    def __init__(self, wake: Callable[[], None]) -> None:
        """Create the descriptor.

        Raises:
            WakeTimerUnavailableError: the system provides none.
        """
        self._wake = wake
        self._loop = asyncio.get_running_loop()
        if not sys.platform.startswith("linux"):
            msg = f"no timerfd on {sys.platform}"
            raise WakeTimerUnavailableError(msg)
        # PyDLL, unlike CDLL, keeps the interpreter lock: the call takes less than getting it back.
        library = ctypes.PyDLL(None, use_errno=True)
        self._fd = library.timerfd_create(_CLOCK_MONOTONIC, os.O_NONBLOCK | os.O_CLOEXEC)
        if self._fd < 0:
            msg = f"timerfd_create failed: {os.strerror(ctypes.get_errno())}"
            raise WakeTimerUnavailableError(msg)
        self._settime = library.timerfd_settime
        self._setting = ctypes.create_string_buffer(_ITIMERSPEC.size)
        self._loop.add_reader(self._fd, self._fire)

    def set(self, delay_ns: int) -> None:
        """See `WakeTimer.set`."""
        if self._fd < 0:
            return
        seconds, nanoseconds = divmod(max(delay_ns, 1), _NS_PER_SECOND)
        _ITIMERSPEC.pack_into(self._setting, 0, 0, 0, seconds, nanoseconds)
        result = self._settime(self._fd, 0, self._setting, None)
        require(result == 0, os.strerror(ctypes.get_errno()))

    def close(self) -> None:
        """See `WakeTimer.close`."""
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._fd = -1

    def _fire(self) -> None:
        try:
            os.read(self._fd, 8)
        except BlockingIOError:
            return  # set again since the loop saw it ready
        self._wake()


def precise_timer(wake: Callable[[], None]) -> WakeTimer:
    """Return the finest timer available; `wake` is called on the running loop."""
    try:
        return KernelTimer(wake)
    except WakeTimerUnavailableError:
        return LoopTimer(wake)
