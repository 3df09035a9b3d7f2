"""Handles all exceptions that no code expected.

Each has an owner. What was raised while a client was served belongs to that client: its connection ends, the
others go on. Everything else, a callback, a timer, a task that is not awaited, a thread, belongs to the node: what it
left undone cannot be known, so the node ends, says why, and starts again from what is durable. None is only logged.
"""

import asyncio
import logging
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final

from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from headrace.broker.telemetry.accept_errors import AcceptErrors
from headrace.broker.telemetry.memory_reserve import MemoryReserve

logger = logging.getLogger("headrace")

# What the loop reports while a client is served.
_OF_A_CLIENT: Final = ("protocol", "transport", "socket")
# Who takes any exception and only logs it: the loop what its exception handler raises, a future what is called when it
# is done, and the HTTP server what a request raises; it ends the connection.
_ONLY_LOGS: Final = {"asyncio": "node", "concurrent.futures": "node", "aiohttp.server": "client"}


class UnexpectedError(Exception):
    """The node ends because of an exception that no code expected."""


class UnexpectedErrors(Collector):
    """Receives them from the event loop, from threads, and from libraries that would only log them."""

    def __init__(self, on_node_error: Callable[[str], None]) -> None:
        """`on_node_error` is called once, with the reason, from any thread, before the node ends."""
        self._on_node_error = on_node_error
        self._accept_errors = AcceptErrors()
        self._reserve: MemoryReserve | None = None
        self._clients = 0
        self._node = 0
        self._first: UnexpectedError | None = None
        self._unsaid = UnexpectedError("unexpected error, the node ends: there is no memory left")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._seen = asyncio.Event()

    @contextmanager
    def watching(self, loop: asyncio.AbstractEventLoop) -> Iterator[None]:
        """Receive what a loop's callbacks and tasks, and the threads of this process, raise.

        Raises:
            OSError: there is no memory to hold back.
        """
        self._loop = loop
        self._reserve = MemoryReserve()
        loop.set_exception_handler(self._of_the_loop)
        hooks = threading.excepthook, sys.unraisablehook
        threading.excepthook, sys.unraisablehook = self._of_a_thread, self._of_nobody
        with ExitStack() as listening:
            for name, owner in _ONLY_LOGS.items():
                listening.enter_context(_listening(name, self._only_logged, owner))
            try:
                yield
            finally:
                threading.excepthook, sys.unraisablehook = hooks
                self._reserve.release()

    @property
    def first(self) -> UnexpectedError | None:
        """What ends the node; None: nothing has happened."""
        return self._first

    async def end_the_node(self) -> None:
        """Wait for the first that belongs to the node, and raise it.

        Raises:
            UnexpectedError: there was one.
        """
        await self._seen.wait()
        assert self._first is not None
        raise self._first

    def collect(self) -> Iterator[CounterMetricFamily]:
        """See prometheus_client."""
        family = CounterMetricFamily(
            "headrace_unexpected_errors",
            "Exceptions that no code expected: of a client, whose connection ends, or of the node, which ends",
            labels=["owner"],
        )
        family.add_metric(["client"], self._clients)
        family.add_metric(["node"], self._node)
        yield family
        yield self._accept_errors.collected()

    def _of_the_loop(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        try:
            self._judge(loop, context)
        except BaseException as error:  # noqa: BLE001 - this is the one place
            self._of_the_node("while another error was judged", error)

    def _judge(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        what = str(context.get("message", "exception"))
        if error is None:
            logger.error(
                "the event loop reports an error: %s", what
            )  # such as a task that was destroyed while it was pending
        elif self._accept_errors.takes(context, loop.time()):
            pass
        elif any(context.get(key) is not None for key in _OF_A_CLIENT):
            self._clients += 1
            client = getattr(getattr(context.get("protocol"), "client", None), "client_host", None)
            logger.error(
                "unexpected error while serving a client; its connection is closed: %s",
                what,
                exc_info=error,
                extra={"client": client, "api_key": context.get("api_key")},
            )
        else:
            self._of_the_node(what, error)

    def _of_a_thread(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is None or isinstance(args.exc_value, SystemExit):
            return
        name = args.thread.name if args.thread else "unknown"
        self._of_the_node(f"exception in thread {name}", args.exc_value)

    def _of_nobody(self, unraisable: "sys.UnraisableHookArgs") -> None:
        """What was raised where nothing can be raised: in a thread that begins, or when an object goes."""
        if unraisable.exc_value is not None:
            # Not the object itself: one that goes must not come back.
            what = f"{unraisable.err_msg or 'exception ignored in'} {_text(unraisable.object)}"
            self._of_the_node(what, unraisable.exc_value)

    def _only_logged(self, owner: str, error: BaseException) -> None:
        if owner == "node":
            self._of_the_node("an exception was only logged", error)
        elif not _is_bad_request(error):
            self._clients += 1

    def _of_the_node(self, what: str, error: BaseException) -> None:
        if self._reserve is not None:
            self._reserve.release()
        self._node += 1
        if self._first is None:
            try:
                text = f"unexpected error, the node ends: {what}: {_text(error)}"
                self._first = UnexpectedError(text)
            except MemoryError:
                self._first = self._unsaid
            self._first.__cause__ = error
            # The loop first: when memory is short, what follows may raise as well.
            try:
                if self._loop is not None and not self._loop.is_closed():
                    self._loop.call_soon_threadsafe(self._seen.set)
            finally:
                self._on_node_error(str(self._first))
        logger.error("unexpected error: %s", what, exc_info=error)


class _Listening(logging.Handler):
    """Passes on the exceptions that a logger gets."""

    def __init__(self, take: Callable[[str, BaseException], None], owner: str) -> None:
        super().__init__(logging.ERROR)
        self._take = take
        self._owner = owner

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            self._take(self._owner, error)


@contextmanager
def _listening(name: str, take: Callable[[str, BaseException], None], owner: str) -> Iterator[None]:
    handler, to = _Listening(take, owner), logging.getLogger(name)
    to.addHandler(handler)
    try:
        yield
    finally:
        to.removeHandler(handler)


def _is_bad_request(error: BaseException) -> bool:
    """Whether the HTTP server, which is loaded if it has logged this, could not read a request."""
    from aiohttp.http_exceptions import HttpProcessingError  # noqa: PLC0415  # a start does not wait for it

    return isinstance(error, HttpProcessingError)


def _text(thing: object) -> str:
    try:
        return repr(thing)
    except Exception:  # noqa: BLE001 - its class says enough, and the node has to end
        return type(thing).__name__
