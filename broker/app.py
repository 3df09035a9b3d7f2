"""One node as a process: event loop, signals, exit code. Called by the command line."""

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from headrace.broker.node.address import NodeAddress
from headrace.broker.node.environment import NodeEnvironment
from headrace.broker.node.lifecycle import EXPECTED_FAILURES
from headrace.broker.node.node import Fencing, Node
from headrace.broker.node.role_ends import is_fencing, leaves
from headrace.broker.telemetry import runtime_tuning
from headrace.broker.telemetry.unexpected_errors import UnexpectedError, UnexpectedErrors
from headrace.config.node import NodeConfig
from headrace.daemon_threads import in_daemon_thread, start_ahead

__all__ = ["NodeAddress", "run_node"]

logger = logging.getLogger("headrace")

EXIT_OK: Final = 0
EXIT_FAILED: Final = 1
# 2 is a wrong configuration or command line
EXIT_FENCED: Final = 3  # to be restarted at once: it registers again
# Cancelling inflight work may hang in a device or a thread: the process exits if the role has not ended after this.
FENCED_END_MS: Final = 4_000
UNEXPECTED_END_MS: Final = 30_000
# Where even that is not possible, the system ends it so much later.
ALARM_AFTER_S: Final = 2.0
# More than the pools of a node need at once; each costs a stack that is mapped and hardly used.
SPARE_THREADS: Final = 32


def run_node(
    config: NodeConfig, *, ready: Callable[[NodeAddress], None], warnings: Sequence[str] = ()
) -> int:
    """Run a node until SIGINT or SIGTERM, and return the exit code of the process.

    Args:
        config: of the node.
        ready: called once, when clients can be served.
        warnings: from loading the configuration; logged.
    """
    runtime_tuning.tune()
    start_ahead(SPARE_THREADS)
    for warning in warnings:
        logger.warning(warning)
    factory = None
    if config.uvloop:
        try:
            import uvloop  # noqa: PLC0415  # costs 55 ms, and does not exist on every platform
        except ImportError:
            logger.warning(
                "uvloop is not installed: using the event loop of asyncio, which is slower"
            )
        else:
            factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(_run(config, ready))


async def _run(config: NodeConfig, ready: Callable[[NodeAddress], None]) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)

    def serving(address: NodeAddress) -> None:
        ready(address)
        runtime_tuning.started()

    unexpected = UnexpectedErrors(_end_unexpected)
    failures: list[BaseException] = []
    try:
        with unexpected.watching(loop):
            with suppress(OSError):
                # Names are looked up in threads of the loop, which it starts now.
                await loop.getaddrinfo("localhost", 0)
            node = Node(config, NodeEnvironment(), unexpected=unexpected)
            ending = _EndOfRole(unexpected)
            await node.run(
                serving,
                stop,
                fencing=Fencing(ending.begin, ending.end, runtime_tuning.started),
            )
    except* (
        *EXPECTED_FAILURES,
        UnexpectedError,
    ) as group:
        failures = leaves(group)
    except* Exception:  # a bug, which keeps its traceback unless it has been told
        if unexpected.first is None:
            raise
    if unexpected.first is not None and unexpected.first not in failures:
        failures.append(unexpected.first)  # it came while the node was stopping
    if not failures:
        return EXIT_OK
    fenced = all(map(is_fencing, failures))  # a device that has failed beside it stays so
    for text in dict.fromkeys(map(str, failures)):
        logger.error("the node has stopped: %s", text)
    if fenced:
        logger.error("this node was fenced: restart it, and it registers again")
    for failure in failures:
        logger.debug("traceback of the failure", exc_info=failure)
    return EXIT_FENCED if fenced else EXIT_FAILED


def _end_unexpected(_reason: str) -> None:
    _end_within(UNEXPECTED_END_MS, EXIT_FAILED)


class _EndOfRole:
    """Ends the process of a broker that was fenced, unless its role ends in time."""

    def __init__(self, unexpected: UnexpectedErrors) -> None:
        self._unexpected = unexpected
        self._over: threading.Event | None = None  # of the role that ends

    def begin(self, reason: str) -> None:
        """Begin to wait for the end of the role."""
        logger.error("this broker is fenced and ends its role: %s", reason)
        self._over = _end_within(FENCED_END_MS, EXIT_FENCED)

    def end(self, _failure: BaseException) -> None:
        """The role is over."""
        if self._over is not None:
            self._over.set()
            self._over = None
            if self._unexpected.first is None:
                signal.setitimer(signal.ITIMER_REAL, 0)
        # Not now: what has failed still refers to the role.
        asyncio.get_running_loop().call_soon(runtime_tuning.role_ended)


def _end_within(limit_ms: int, exit_code: int) -> threading.Event:
    """Exit within this time, even if some work cannot be cancelled, or there is no memory.

    The event that is returned, once it is set, keeps the process from it; there is the alarm, too.
    """
    limit_s = limit_ms / 1000
    # The default action of the signal needs nothing of this process; it has another exit code.
    alarm_s, left_s = limit_s + ALARM_AFTER_S, signal.getitimer(signal.ITIMER_REAL)[0]
    if not 0 < left_s < alarm_s:
        signal.setitimer(signal.ITIMER_REAL, alarm_s)
    kept = threading.Event()

    def end() -> None:
        is_kept = False
        try:
            is_kept = kept.wait(limit_s)
        finally:
            if not is_kept:
                os._exit(exit_code)

    in_daemon_thread("end-of-process", end)
    return kept
