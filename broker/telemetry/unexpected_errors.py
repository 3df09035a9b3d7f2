"""The one place where exceptions end that no code expected.

Each belongs to somebody. What was raised while a client was served belongs to that client: its connection ends, the
others go on. Everything else, a callback, a timer, a task that nobody awaits, a thread, belongs to the node: what it
left undone cannot be known, so the node ends, says why, and starts again from what is durable. None is only logged.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

logger = logging.getLogger("headrace")

# What the loop reports while a client is served; a listening socket that is out of descriptors tries again by itself.
_OF_A_CLIENT: Final = ("protocol", "transport", "socket")


class UnexpectedError(Exception):
    """The node ends because of an exception that no code expected."""


class UnexpectedErrors(Collector):
    """Takes them in from the event loop and from threads."""

    def __init__(self, on_node_error: Callable[[str], None]) -> None:
        """`on_node_error` is called once, with the reason, from any thread, before the node ends."""
        self._on_node_error = on_node_error
        self._clients = 0
        self._node = 0
        self._first: UnexpectedError | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._seen = asyncio.Event()

    def watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Be told of what a loop's callbacks and tasks, and the threads of this process, raise."""
        self._loop = loop
        loop.set_exception_handler(self._of_the_loop)
        threading.excepthook = self._of_a_thread

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

    def _of_the_loop(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        what = str(context.get("message", "exception"))
        if error is None:
            logger.error(
                "the event loop reports an error: %s", what
            )  # such as a task that was destroyed while it was pending
        elif any(context.get(key) is not None for key in _OF_A_CLIENT):
            self._clients += 1
            client = getattr(getattr(context.get("protocol"), "info", None), "client_host", None)
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

    def _of_the_node(self, what: str, error: BaseException) -> None:
        self._node += 1
        if self._first is None:
            self._first = UnexpectedError(
                f"unexpected error, the node ends: {what}: {_text(error)}"
            )
            self._first.__cause__ = error
            # The loop first: when memory is short, what follows may raise as well.
            if self._loop is not None and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._seen.set)
            self._on_node_error(str(self._first))
        logger.error("unexpected error: %s", what, exc_info=error)


def _text(error: BaseException) -> str:
    try:
        return repr(error)
    except Exception:  # noqa: BLE001 - its class says enough, and the node has to end
        return type(error).__name__
