"""Counters of an object store, for metrics, and how it fares, for readiness."""

from collections import Counter
from enum import Enum

import msgspec

from headrace.storage.errors import FailureKind

# A failure that is older, of an operation that was not tried since, says nothing of now.
TROUBLE_REMEMBERED_S = 60.0


class Operation(Enum):
    """What is asked of a bucket; the values are labels of metrics."""

    PUT = "put"
    GET = "get"
    COPY = "copy"
    DELETE = "delete"
    LIST = "list"


class Trouble(msgspec.Struct, frozen=True):
    """An operation has failed, and not succeeded since."""

    operation: Operation
    since_s: float  # for how long
    failures: int
    kind: FailureKind
    reason: str  # the newest error


class _Health(msgspec.Struct):
    """How one operation fares. Times are the loop's."""

    inflight: int = 0
    answered_s: float | None = None  # when it last worked
    failing_from_s: float = 0.0
    failed_s: float = 0.0  # newest
    failures: int = 0  # since it last worked
    kind: FailureKind = FailureKind.OTHER
    reason: str = ""


class StoreStatistics(msgspec.Struct):
    """Counted since the store was opened. Requests are calls of the port, however often retried."""

    put_requests: int = 0
    put_bytes: int = 0
    get_requests: int = 0
    get_bytes: int = 0
    copy_requests: int = (
        0  # each makes one object, by as many requests as it has parts and two more
    )
    copied_bytes: int = 0  # within the bucket
    delete_requests: int = 0
    deleted_objects: int = 0
    list_requests: int = 0
    retries: int = 0
    errors: int = 0  # requests that failed after their retries; "not found" is none
    not_found: int = 0
    get_seconds: float = 0.0  # of successful requests, retries included
    put_seconds: float = 0.0
    # Attempts that failed; those that were repeated are among them.
    failures: Counter[FailureKind] = msgspec.field(default_factory=Counter)
    _health: dict[Operation, _Health] = msgspec.field(
        default_factory=lambda: {operation: _Health() for operation in Operation}
    )

    @property
    def requests_inflight(self) -> int:
        """Calls that have not returned."""
        return sum(health.inflight for health in self._health.values())

    def begun(self, operation: Operation) -> None:
        """Note that a call has begun."""
        self._health[operation].inflight += 1

    def ended(self, operation: Operation) -> None:
        """Note that a call has returned, or was cancelled."""
        self._health[operation].inflight -= 1

    def answered(self, operation: Operation, now_s: float) -> None:
        """Note that the bucket did as asked, or said that there is no such object."""
        health = self._health[operation]
        health.answered_s = now_s
        health.failures = 0

    def failed(self, operation: Operation, now_s: float, kind: FailureKind, reason: str) -> None:
        """Note an attempt that failed."""
        self.failures[kind] += 1
        health = self._health[operation]
        if not health.failures:
            health.failing_from_s = now_s
        health.failures += 1
        health.failed_s = now_s
        health.kind = kind
        health.reason = reason

    def answered_ago_s(self, now_s: float) -> float | None:
        """Return how long ago anything worked; None: nothing ever has."""
        times = [it.answered_s for it in self._health.values() if it.answered_s is not None]
        return now_s - max(times) if times else None

    def troubles(self, now_s: float) -> list[Trouble]:
        """Return the operations that fail now, the longest failing first."""
        found = [
            Trouble(
                operation,
                now_s - health.failing_from_s,
                health.failures,
                health.kind,
                health.reason,
            )
            for operation, health in self._health.items()
            if health.failures
            and (health.inflight or now_s - health.failed_s <= TROUBLE_REMEMBERED_S)
        ]
        return sorted(found, key=lambda trouble: -trouble.since_s)
