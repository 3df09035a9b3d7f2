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
from headrace.broker.node.node import Node
from headrace.broker.telemetry import runtime_tuning
from headrace.broker.telemetry.unexpected_errors import UnexpectedError, UnexpectedErrors
from headrace.config.node import NodeConfig
from headrace.daemon_threads import in_daemon_thread, start_ahead
from headrace.metadata.errors import NodeFencedError
from headrace.storage.errors import FencedError

__all__ = ["NodeAddress", "run_node"]

logger = logging.getLogger("headrace")

EXIT_OK: Final = 0
EXIT_FAILED: Final = 1
# 2 is a wrong configuration or command line
EXIT_FENCED: Final = 3  # to be restarted at once: it registers again
# Cancelling inflight work may hang in a device or a thread: the process exits after this.
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

    unexpected = UnexpectedErrors(lambda _reason: _end_within(UNEXPECTED_END_MS, EXIT_FAILED))
    failures: list[BaseException] = []
    try:
        with unexpected.watching(loop):
            with suppress(OSError):
                # Names are looked up in threads of the loop, which it starts now.
                await loop.getaddrinfo("localhost", 0)
            node = Node(config, NodeEnvironment(), unexpected=unexpected)
            await node.run(serving, stop, on_fenced=_end_fenced)
    except* (
        *EXPECTED_FAILURES,
        UnexpectedError,
    ) as group:
        failures = _leaves(group)
    except* Exception:  # a bug, which keeps its traceback unless it has been told
        if unexpected.first is None:
            raise
    if unexpected.first is not None and unexpected.first not in failures:
        failures.append(unexpected.first)  # it came while the node was stopping
    if not failures:
        return EXIT_OK
    fenced = any(isinstance(failure, NodeFencedError | FencedError) for failure in failures)
    for text in dict.fromkeys(map(str, failures)):
        logger.error("the node has stopped: %s", text)
    if fenced:
        logger.error("this node was fenced: restart it, and it registers again")
    for failure in failures:
        logger.debug("traceback of the failure", exc_info=failure)
    return EXIT_FENCED if fenced else EXIT_FAILED


def _end_fenced(reason: str) -> None:
    logger.error("this node is fenced and ends: %s", reason)
    _end_within(FENCED_END_MS, EXIT_FENCED)


def _end_within(limit_ms: int, exit_code: int) -> None:
    """Exit within this time, even if some work cannot be cancelled, or there is no memory."""
    limit_s = limit_ms / 1000
    # The default action of the signal needs nothing of this process; it has another exit code.
    alarm_s, left_s = limit_s + ALARM_AFTER_S, signal.getitimer(signal.ITIMER_REAL)[0]
    if not 0 < left_s < alarm_s:
        signal.setitimer(signal.ITIMER_REAL, alarm_s)

    def end() -> None:
        try:
            threading.Event().wait(limit_s)
        finally:
            os._exit(exit_code)

    in_daemon_thread("end-of-process", end)


def _leaves(group: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    leaves: list[BaseException] = []
    for failure in group.exceptions:
        if isinstance(failure, BaseExceptionGroup):
            leaves.extend(_leaves(failure))
        else:
            leaves.append(failure)
    return leaves
