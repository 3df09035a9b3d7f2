"""RemoveRaftVoter (API key 81), version 0.

Behaviour:
  * Voters and learners can be removed; VOTER_NOT_FOUND unless node id and directory id are a member's. The answer
    comes when the removal is committed. The leader can be removed as well: it leads until then.
Source: RemoveRaftVoterRequest.json, RemoveRaftVoterResponse.json; KIP-853.
"""

from headrace.broker.network.request_context import RequestContext
from headrace.metadata.admin import error_of
from headrace.metadata.errors import MetadataError
from headrace.metadata.follower.quorum_admin import QuorumAdmin
from headrace.metadata.records.members import NO_DIRECTORY
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import RemoveRaftVoterRequest, RemoveRaftVoterResponse


class RemoveRaftVoterHandler:
    """Removes a controller from the quorum."""

    api_key = ApiKey.REMOVE_RAFT_VOTER
    requires = (Access(AclOperation.ALTER, ResourceType.CLUSTER),)

    def __init__(self, quorum: QuorumAdmin) -> None:
        self._quorum = quorum

    async def handle(
        self, context: RequestContext, request: RemoveRaftVoterRequest
    ) -> RemoveRaftVoterResponse:
        """Forward the request to the quorum's leader, and wait for its answer."""
        del context
        if request.voter_id < 0:
            return _answer(ErrorCode.INVALID_REQUEST, "the node id must not be negative")
        try:
            await self._quorum.remove_voter(
                request.cluster_id or "",
                request.voter_id,
                request.voter_directory_id or NO_DIRECTORY,
            )
        except MetadataError as error:
            return _answer(*error_of(error))
        return _answer(ErrorCode.NONE, None)


def _answer(code: ErrorCode, message: str | None) -> RemoveRaftVoterResponse:
    return RemoveRaftVoterResponse(error_code=int(code), error_message=message)
