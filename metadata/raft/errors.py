"""Why the core takes a request not at all: in each case nothing has changed. Pure."""

from headrace.metadata.errors import MetadataError


class NotLeaderError(MetadataError):
    """Another node leads, or nobody: ask there."""

    def __init__(self, leader_id: int) -> None:
        super().__init__(f"this node does not lead the quorum; node {leader_id} may")
        self.leader_id = leader_id


class QuorumBusyError(MetadataError):
    """As much as may be is under way: try again later."""


class ChangeRefusedError(MetadataError):
    """The quorum's members cannot be changed so, or not now."""
