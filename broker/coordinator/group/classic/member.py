"""One member of a classic group, in memory."""

from collections.abc import Collection

from headrace.broker.coordinator.group.records import MemberMetadata
from headrace.broker.coordinator.group.requests import JoinedMember, JoinProtocol


class Member:
    """The fields of a member's JoinGroup. Its assignment is in the group's image."""

    __slots__ = (
        "client_host",
        "client_id",
        "group_instance_id",
        "is_new",
        "member_id",
        "protocols",
        "rebalance_timeout_ms",
        "session_timeout_ms",
    )

    def __init__(
        self,
        member_id: str,
        group_instance_id: str | None,
        *,
        client_id: str,
        client_host: str,
        rebalance_timeout_ms: int,
        session_timeout_ms: int,
        protocols: tuple[JoinProtocol, ...],
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.session_timeout_ms = session_timeout_ms
        self.protocols = protocols
        # In its first join: it has no id to send heartbeats with, so being parked does not keep it
        # alive without a limit.
        self.is_new = False

    @classmethod
    def from_record(cls, record: MemberMetadata, protocol: str | None) -> "Member":
        """Restore a member; of its protocols only the one in use was stored."""
        return cls(
            record.member_id,
            record.group_instance_id,
            client_id=record.client_id,
            client_host=record.client_host,
            rebalance_timeout_ms=record.rebalance_timeout_ms,
            session_timeout_ms=record.session_timeout_ms,
            protocols=() if protocol is None else (JoinProtocol(protocol, record.subscription),),
        )

    def to_record(self, protocol: str, assignment: bytes) -> MemberMetadata:
        """Return the stored form of this member in a generation that uses `protocol`."""
        return MemberMetadata(
            self.member_id,
            self.group_instance_id,
            self.client_id,
            self.client_host,
            self.rebalance_timeout_ms,
            self.session_timeout_ms,
            self.metadata(protocol),
            assignment,
        )

    def is_as_stored(self, record: MemberMetadata, protocol: str | None) -> bool:
        """Whether the record is the stored form of this member: then this object holds more than the record."""
        return protocol in self.protocol_names and record == self.to_record(
            protocol, record.assignment
        )

    @property
    def is_static(self) -> bool:
        """Whether it has an instance id (KIP-345)."""
        return self.group_instance_id is not None

    @property
    def protocol_names(self) -> frozenset[str]:
        """The names of the protocols that it supports."""
        return frozenset(supported.name for supported in self.protocols)

    def metadata(self, protocol: str) -> bytes:
        """Give its metadata for a protocol that it supports."""
        return next(
            supported.metadata for supported in self.protocols if supported.name == protocol
        )

    def vote(self, candidates: Collection[str]) -> str:
        """Choose the first of its protocols that is a candidate; one always is."""
        return next(supported.name for supported in self.protocols if supported.name in candidates)

    def as_joined(self, protocol: str) -> JoinedMember:
        """Describe it for the leader."""
        return JoinedMember(self.member_id, self.group_instance_id, self.metadata(protocol))
