"""Reports failed reads from the bucket in the metrics, and in the log without repeating them for every retry.

Clients get an error code at most, and retry a failed Fetch as fast as they can.
"""

import logging
from typing import Final

from headrace.broker.partition.partition import Partition
from headrace.broker.partition.storage_errors import code_of
from headrace.broker.telemetry.request_metrics import RequestMetrics
from headrace.protocol.errors import ErrorCode
from headrace.storage.errors import CorruptObjectError, ObjectNotFoundError, StorageError

logger = logging.getLogger("headrace.fetch")

REPEAT_S: Final = 60.0  # a failure that persists is logged again after this
MAX_LINES: Final = 20  # within `REPEAT_S`

# The partition moved or was trimmed during the read: clients retry at the right broker or offset.
_ORDINARY: Final = frozenset({ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.OFFSET_OUT_OF_RANGE})
_DAMAGE: Final = (CorruptObjectError, ObjectNotFoundError)


class ReadFailures:
    """The failures of the last `REPEAT_S`."""

    def __init__(self, metrics: RequestMetrics) -> None:
        self._metrics = metrics
        self._begun_s = -REPEAT_S
        self._logged: set[object] = set()
        self._suppressed = 0

    def note(self, partition: Partition, offset: int, error: StorageError) -> None:
        """Count a failed read, and log it unless it was logged within `REPEAT_S`.

        Damage is logged for each partition; a bucket that does not answer, once for all partitions.
        """
        code = code_of(error)
        if code in _ORDINARY:
            return
        self._metrics.cold_reads_failed[code] += 1
        is_damage = isinstance(error, _DAMAGE)
        what = (partition.topic, partition.index, code) if is_damage else code
        if not self._may_log(what):
            return
        logger.log(
            logging.ERROR if is_damage else logging.WARNING,
            "records in the bucket are missing or damaged"
            if is_damage
            else "could not read records from the bucket",
            extra={
                "topic": partition.topic,
                "partition": partition.index,
                "offset": offset,
                "error": code.name,
                "reason": f"{type(error).__name__}: {error}",
            },
        )

    def _may_log(self, what: object) -> bool:
        now_s = self._metrics.clock_s()
        if now_s - self._begun_s >= REPEAT_S:
            if self._suppressed:
                logger.warning(
                    "records of more partitions could not be read; not logged one by one",
                    extra={"partitions": self._suppressed},
                )
            self._begun_s, self._suppressed = now_s, 0
            self._logged.clear()
        if what in self._logged:
            return False
        if len(self._logged) - self._suppressed >= MAX_LINES:
            self._suppressed += 1
            self._logged.add(what)
            return False
        self._logged.add(what)
        return True
