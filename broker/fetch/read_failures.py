"""Says what could not be read from the bucket: in the log, but not again and again, and in the metrics.

Clients are told an error code at most, and repeat what fails as fast as they can.
"""

import logging
from typing import Final

from headrace.broker.partition.partition import Partition
from headrace.broker.partition.storage_errors import code_of
from headrace.broker.telemetry.request_metrics import RequestMetrics
from headrace.protocol.errors import ErrorCode
from headrace.storage.errors import CorruptObjectError, ObjectNotFoundError, StorageError

logger = logging.getLogger("headrace.fetch")

REPEATED_S: Final = 60.0  # what is still so is said again after this
MAX_LINES: Final = 20  # in that time

# A partition that moves or is trimmed while it is read: clients come back with what is right.
_ORDINARY: Final = frozenset({ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.OFFSET_OUT_OF_RANGE})
_DAMAGE: Final = (CorruptObjectError, ObjectNotFoundError)


class ReadFailures:
    """What failed lately."""

    def __init__(self, metrics: RequestMetrics) -> None:
        self._metrics = metrics
        self._begun_s = -REPEATED_S
        self._said: set[object] = set()
        self._unsaid = 0

    def note(self, partition: Partition, offset: int, error: StorageError) -> None:
        """Count a read that failed, and name it unless that has been done lately.

        Damage is named by partition; a bucket that does not answer, once for all.
        """
        code = code_of(error)
        if code in _ORDINARY:
            return
        self._metrics.cold_reads_failed[code] += 1
        is_damage = isinstance(error, _DAMAGE)
        what = (partition.topic, partition.index, code) if is_damage else code
        if not self._may_say(what):
            return
        logger.log(
            logging.ERROR if is_damage else logging.WARNING,
            "records in the bucket are gone or damaged"
            if is_damage
            else "records could not be read from the bucket",
            extra={
                "topic": partition.topic,
                "partition": partition.index,
                "offset": offset,
                "error": code.name,
                "reason": f"{type(error).__name__}: {error}",
            },
        )

    def _may_say(self, what: object) -> bool:
        now_s = self._metrics.clock_s()
        if now_s - self._begun_s >= REPEATED_S:
            if self._unsaid:
                logger.warning("more could not be read", extra={"partitions": self._unsaid})
            self._begun_s, self._unsaid = now_s, 0
            self._said.clear()
        if what in self._said:
            return False
        if len(self._said) - self._unsaid >= MAX_LINES:
            self._unsaid += 1
            self._said.add(what)
            return False
        self._said.add(what)
        return True
