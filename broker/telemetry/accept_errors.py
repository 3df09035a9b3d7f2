"""Connections that the system did not let this node accept, for lack of descriptors or memory.

asyncio's loop reports each attempt, a thousand in a second, and tries again by itself: they are counted, and logged now
and then. uvloop reports none.
"""

import errno
import logging
from collections.abc import Mapping
from typing import Any, Final

from prometheus_client.core import CounterMetricFamily

LOG_INTERVAL_S: Final = 10.0
_SHORT: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})

logger = logging.getLogger("headrace.network")


class AcceptErrors:
    """Counts them; no more than a line for each `LOG_INTERVAL_S` is logged."""

    def __init__(self) -> None:
        self._count = 0
        self._told = 0
        self._told_at_s = float("-inf")

    def takes(self, context: Mapping[str, Any], now_s: float) -> bool:
        """Count what a loop reports, if it is of this kind."""
        error = context.get("exception")
        if (
            not isinstance(error, OSError)
            or error.errno not in _SHORT
            or context.get("socket") is None
        ):
            return False
        self._count += 1
        if now_s >= self._told_at_s + LOG_INTERVAL_S:
            logger.warning(
                "connections cannot be accepted: %s",
                error.strerror,
                extra={"attempts": self._count - self._told},
            )
            self._told, self._told_at_s = self._count, now_s
        return True

    def collected(self) -> CounterMetricFamily:
        """The metric."""
        return CounterMetricFamily(
            "headrace_accept_errors",
            "Attempts to accept a connection that failed for lack of descriptors or memory",
            value=self._count,
        )
