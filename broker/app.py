"""One node as a process: event loop, signals, exit code. What the command line calls."""

import asyncio
import gc
import logging
import signal
from collections.abc import Callable, Sequence

from broker.node import Node, NodeAddress
from broker.telemetry import runtime_tuning
from config.node import NodeConfig
from metadata.errors import MetadataError
from storage.errors import StorageError
from wal.errors import WalError

__all__ = ["NodeAddress", "run_node"]

logger = logging.getLogger("headrace")

EXIT_OK = 0
EXIT_FAILED = 1
# What a misconfigured or broken surrounding raises; anything else is a bug and keeps its traceback.
EXPECTED_FAILURES = (OSError, ValueError, MetadataError, StorageError, WalError)


def run_node(
    config: NodeConfig, *, ready: Callable[[NodeAddress], None], warnings: Sequence[str] = ()
) -> int:
    """Run a node until SIGINT or SIGTERM, and return the exit code of the process.

    Args:
        config: of the node.
        ready: called once, when clients can be served.
        warnings: of loading the configuration; logged.
    """
    runtime_tuning.tune()
    for warning in warnings:
        logger.warning(warning)
    factory = None
    if config.uvloop:
        try:
            import uvloop  # noqa: PLC0415  # costs 55 ms, and is not there on every platform
        except ImportError:
            logger.warning("uvloop is not installed, using asyncio's own loop")
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
        # What is alive now lives as long as the process: the collector need not look at it again.
        gc.collect()
        gc.freeze()
        ready(address)

    failures: list[BaseException] = []
    try:
        await Node(config).run(serving, stop)
    except* EXPECTED_FAILURES as group:
        failures = _leaves(group)
    if not failures:
        return EXIT_OK
    for failure in failures:
        logger.error("the node has stopped: %s", failure)
        logger.debug("where it failed", exc_info=failure)
    return EXIT_FAILED


def _leaves(group: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    leaves: list[BaseException] = []
    for failure in group.exceptions:
        if isinstance(failure, BaseExceptionGroup):
            leaves.extend(_leaves(failure))
        else:
            leaves.append(failure)
    return leaves
