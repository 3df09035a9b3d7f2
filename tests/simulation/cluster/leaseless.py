"""Judges what brokers tell while they have no lease: another one may lead by then.

A client notes the broker's lease when it sends a request, and looks again when the answer is there. A lease that had
run out at the first look and was not extended by the second was not valid at any moment between them, so the broker
may have acknowledged nothing, and told of no records, ends or groups. Nothing of that needs to be waited for: where
requests arrive soon, a Produce that came without a lease is refused, and not kept until the lease is back.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from headrace.metadata.follower.lease import BrokerLease
from headrace.protocol.api_keys import ApiKey

ARRIVES_S: Final = 0.07  # where links are fair


class LeaseSeen(NamedTuple):
    """A lease when it is looked at."""

    lease: BrokerLease
    is_valid: bool
    until_ms: int
    at_s: float


class LeaselessAnswers:
    """All answers of one run."""

    def __init__(
        self,
        lease_of: Callable[[int], BrokerLease | None],
        is_reached: Callable[[int], bool],
        now_s: Callable[[], float],
        *,
        refuses_soon: bool,
    ) -> None:
        """Begin.

        Args:
            lease_of: the lease that a broker has now; None: it does not run.
            is_reached: whether it takes requests of clients now.
            now_s: the time.
            refuses_soon: whether requests arrive soon, and none waits for room or for a partition that moves.
        """
        self._lease_of = lease_of
        self._is_reached = is_reached
        self._now_s = now_s
        self._refuses_soon = refuses_soon
        # By broker, from its first look without a lease to its last one; the newest.
        self._without: dict[int, tuple[float, float]] = {}
        self._is_without: set[int] = set()
        self.faults: list[str] = []
        self.judged = 0

    def look(self, node_ids: list[int]) -> None:
        """Note which brokers have no lease at this moment."""
        now_s = self._now_s()
        for node_id in node_ids:
            lease = self._lease_of(node_id)
            if lease is None or lease.is_lease_valid() or not self._is_reached(node_id):
                self._is_without.discard(node_id)
                continue
            since_s = self._without[node_id][0] if node_id in self._is_without else now_s
            self._is_without.add(node_id)
            self._without[node_id] = (since_s, now_s)

    def without(self) -> list[int]:
        """Return which brokers had no lease at the last look."""
        return sorted(self._is_without)

    def before(self, node_id: int) -> LeaseSeen | None:
        """Return the lease of a broker that a request is about to be sent to."""
        lease = self._lease_of(node_id)
        if lease is None:
            return None
        return LeaseSeen(lease, lease.is_lease_valid(), lease._until_ms, self._now_s())

    def answered(
        self, node_id: int, key: ApiKey, answers: list[Any], seen: LeaseSeen | None
    ) -> None:
        """Judge the answers to requests, with what was seen when the first one was sent."""
        if seen is None or seen.is_valid or self._lease_of(node_id) is not seen.lease:
            return
        self.judged += 1
        told = [it for answer in answers for it in _told(node_id, key, answer)]
        if not told:
            return
        lease, now_s = seen.lease, self._now_s()
        if not lease.is_lease_valid() and (lease.ended or lease._until_ms == seen.until_ms):
            self.faults.append(f"at {now_s:.2f} s broker {node_id} {told[0]} without a lease")
            return
        since_s, until_s = self._without.get(node_id, (now_s, 0.0))
        if (
            key == ApiKey.PRODUCE
            and self._refuses_soon
            and len(answers) == 1
            and since_s <= seen.at_s <= until_s - ARRIVES_S
        ):
            self.faults.append(
                f"at {now_s:.2f} s broker {node_id} has taken records that came without a lease, after "
                f"{seen.at_s:.2f} s"
            )


def _told(node_id: int, key: ApiKey, answer: Any) -> Iterator[str]:
    """Yield what an answer tells that only who has a lease may tell."""
    match key:
        case ApiKey.PRODUCE:
            partitions = [it for topic in answer.responses for it in topic.partition_responses]
            if any(it.error_code == 0 for it in partitions):
                yield "acknowledges records"
        case ApiKey.FETCH:
            partitions = [it for topic in answer.responses for it in topic.partitions]
            if any(it.error_code == 0 for it in partitions):
                yield "tells how far a partition is"
        case ApiKey.LIST_OFFSETS:
            partitions = [it for topic in answer.topics for it in topic.partitions]
            if any(it.error_code == 0 for it in partitions):
                yield "tells an offset"
        case ApiKey.FIND_COORDINATOR:
            if answer.error_code == 0 and answer.node_id == node_id:
                yield "names itself as coordinator"
        case ApiKey.JOIN_GROUP | ApiKey.SYNC_GROUP | ApiKey.HEARTBEAT:
            if answer.error_code == 0:
                yield "serves a group"
        case ApiKey.OFFSET_FETCH:
            partitions = [it for topic in answer.topics for it in topic.partitions]
            if answer.error_code == 0 and any(it.error_code == 0 for it in partitions):
                yield "tells offsets of a group"
        case ApiKey.OFFSET_COMMIT:
            partitions = [it for topic in answer.topics for it in topic.partitions]
            if any(it.error_code == 0 for it in partitions):
                yield "commits offsets"
        case _:
            pass
