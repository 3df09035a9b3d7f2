"""Sessions of members: how long each may send no heartbeat.

Source: KIP-62; `GroupMetadataManager.rescheduleClassicGroupMemberHeartbeat` of Apache Kafka.
"""

from typing import Final

from headrace.broker.coordinator.group.classic.classic_group import ClassicGroup
from headrace.broker.coordinator.group.classic.deadlines import DeadlineKey, DeadlineKind, Deadlines
from headrace.broker.coordinator.group.classic.member import Member
from headrace.broker.coordinator.runtime.shard import Instant

# A new member has no id yet and cannot send heartbeats; its JoinGroup is dropped after this time.
NEW_MEMBER_JOIN_TIMEOUT_MS: Final = 5 * 60_000


class MemberSessions:
    """Begins and ends sessions; an expired session is reported as a SESSION deadline."""

    def __init__(self, deadlines: Deadlines) -> None:
        self._deadlines = deadlines

    def touch(self, now: Instant, group: ClassicGroup, member: Member) -> None:
        """Restart a member's session."""
        self._schedule(now, group, member.member_id, member.session_timeout_ms)

    def expect_first_join(self, now: Instant, group: ClassicGroup, member_id: str) -> None:
        """Set the deadline of a member that is parked in its first JoinGroup."""
        self._schedule(now, group, member_id, NEW_MEMBER_JOIN_TIMEOUT_MS)

    def expect_pending(
        self, now: Instant, group: ClassicGroup, member_id: str, session_timeout_ms: int
    ) -> None:
        """Give a pending member its session timeout to join with the id that it got."""
        self._schedule(now, group, member_id, session_timeout_ms)

    def end(self, group: ClassicGroup, member_id: str) -> None:
        """Drop the session of a member id that is no longer in use."""
        self._deadlines.cancel(DeadlineKey(DeadlineKind.SESSION, group.group_id, member_id))

    def _schedule(self, now: Instant, group: ClassicGroup, member_id: str, timeout_ms: int) -> None:
        self._deadlines.schedule(
            DeadlineKey(DeadlineKind.SESSION, group.group_id, member_id),
            now.elapsed_ms + timeout_ms,
        )
