"""Errors with which the core refuses a request: in each case nothing has changed. Pure."""

from headrace.metadata.errors import MetadataError


class NotLeaderError(MetadataError):
    """This node is not the leader; another one may be."""

    def __init__(self, leader_id: int) -> None:
        super().__init__(f"this node is not the leader of the quorum (leader id: {leader_id})")
        self.leader_id = leader_id


class QuorumBusyError(MetadataError):
    """A bound is reached: try again later."""


class ChangeRefusedError(MetadataError):
    """This membership change is not possible, or not now."""
