"""Passes requests on to the leader, for brokers that reach this controller and not the leader.

A request is passed on once: what the leader gets is an ordinary request. It decides as if the broker had sent it, and
its answer goes back as it is. So this controller confirms nothing itself, and keeps nothing of what passes through.
"""

import asyncio
import logging
from typing import Final

import msgspec

from headrace.links.errors import NotSentError
from headrace.metadata.errors import ControllerUnavailableError, RefusedError
from headrace.metadata.rpc.frames import MAX_REQUEST_BYTES
from headrace.metadata.rpc.requests import FetchEntries, FetchSnapshot, Heartbeat
from headrace.metadata.transport import PeerNetwork
from headrace.protocol.errors import ErrorCode

logger = logging.getLogger("headrace.controller")

MAX_RELAYED: Final = 256  # requests that are not answered yet; beyond that they are refused
MAX_RELAYED_READS: Final = MAX_RELAYED // 2  # of those, reads of the log, which wait for what comes
MAX_RELAYED_BYTES: Final = 2 * MAX_REQUEST_BYTES  # of all of them, likewise
# Beyond these bounds, for heartbeats alone: no lease ends because others ask for much.
HEARTBEAT_RESERVE: Final = 32
HEARTBEAT_RESERVE_BYTES: Final = MAX_REQUEST_BYTES
REPORT_S: Final = 60.0  # between two log lines


class RelayStatistics(msgspec.Struct):
    """Totals since the start."""

    passed_on: int = 0
    failures: int = 0  # of those: not sent, or not answered
    refused: int = 0  # at a bound


class Relays:
    """The requests that one controller passes on."""

    def __init__(self, network: PeerNetwork) -> None:
        self._network = network
        self._inflight = 0
        self._inflight_bytes = 0
        self._inflight_reads = 0
        self._reported_at_s = float("-inf")
        self.statistics = RelayStatistics()

    async def pass_on(self, leader_id: int, frame: bytes, kind: type | None = None) -> bytes:
        """Send a request to the leader, and return its answer; `kind` as of `kind_of`.

        Raises:
            RefusedError: THROTTLING_QUOTA_EXCEEDED, too many wait; NOT_CONTROLLER, the leader is not reached. Nothing
                has changed.
            ControllerUnavailableError: it did not answer. Whether the request took effect is unknown.
        """
        size_bytes = len(frame)
        is_read = kind in (FetchEntries, FetchSnapshot)
        if self._is_full(size_bytes, kind) or (
            is_read and self._inflight_reads >= MAX_RELAYED_READS
        ):
            self.statistics.refused += 1
            raise RefusedError(
                ErrorCode.THROTTLING_QUOTA_EXCEEDED,
                f"{self._inflight} requests of {self._inflight_bytes} bytes are being passed on to the leader",
            )
        self._report(leader_id)
        self.statistics.passed_on += 1
        self._inflight += 1
        self._inflight_bytes += size_bytes
        self._inflight_reads += is_read
        try:
            return await self._network.request(leader_id, frame)
        except NotSentError as error:
            self.statistics.failures += 1
            msg = f"this controller does not reach the leader, {leader_id}: {error}"
            raise RefusedError(ErrorCode.NOT_CONTROLLER, msg) from error
        except OSError as error:
            self.statistics.failures += 1
            msg = f"the leader, {leader_id}, did not answer this controller: {error}"
            raise ControllerUnavailableError(msg) from error
        finally:
            self._inflight -= 1
            self._inflight_bytes -= size_bytes
            self._inflight_reads -= is_read

    def _is_full(self, size_bytes: int, kind: type | None) -> bool:
        is_heartbeat = kind is Heartbeat
        limit = MAX_RELAYED + HEARTBEAT_RESERVE * is_heartbeat
        limit_bytes = MAX_RELAYED_BYTES + HEARTBEAT_RESERVE_BYTES * is_heartbeat
        return self._inflight >= limit or self._inflight_bytes + size_bytes > limit_bytes

    def _report(self, leader_id: int) -> None:
        now_s = asyncio.get_running_loop().time()
        if now_s >= self._reported_at_s + REPORT_S:
            self._reported_at_s = now_s
            logger.warning(
                "passing requests on to the leader, for brokers that do not reach it",
                extra={"leader": leader_id, "passed_on_before": self.statistics.passed_on},
            )
