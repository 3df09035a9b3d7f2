"""AddRaftVoter (API key 80), versions 0 and 1.

Behaviour:
  * The controller becomes a voter once it has caught up with the log; the answer comes when that is committed.
  * Of several listeners the first is used: a controller has one address for the others.
Deviations from Apache Kafka:
  * `timeout_ms` and `ack_when_committed` are not used: the broker waits as long as for any change of the metadata.
Version notes:
  * 1: ack_when_committed.
Source: AddRaftVoterRequest.json, AddRaftVoterResponse.json; KIP-853.
"""

from headrace.broker.network.request_context import RequestContext
from headrace.metadata.admin import error_of
from headrace.metadata.errors import MetadataError
from headrace.metadata.follower.quorum_admin import QuorumAdmin
from headrace.metadata.records.members import NO_DIRECTORY
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import AddRaftVoterRequest, AddRaftVoterResponse


class AddRaftVoterHandler:
    """Adds a controller to the quorum."""

    api_key = ApiKey.ADD_RAFT_VOTER
    requires = (Access(AclOperation.ALTER, ResourceType.CLUSTER),)

    def __init__(self, quorum: QuorumAdmin) -> None:
        self._quorum = quorum

    async def handle(
        self, context: RequestContext, request: AddRaftVoterRequest
    ) -> AddRaftVoterResponse:
        """Forward the request to the quorum's leader, and wait for its answer."""
        del context
        if request.voter_id < 0 or not request.listeners:
            if self._quorum.is_of_another(request.cluster_id or ""):
                return _answer(
                    ErrorCode.INCONSISTENT_CLUSTER_ID, "the request names another cluster"
                )
            return _answer(
                ErrorCode.INVALID_REQUEST,
                "the voter needs a listener, and a node id that is not negative",
            )
        listener = request.listeners[0]
        try:
            await self._quorum.add_voter(
                request.cluster_id or "",
                request.voter_id,
                request.voter_directory_id or NO_DIRECTORY,
                listener.host,
                listener.port,
            )
        except MetadataError as error:
            return _answer(*error_of(error))
        return _answer(ErrorCode.NONE, None)


def _answer(code: ErrorCode, message: str | None) -> AddRaftVoterResponse:
    return AddRaftVoterResponse(error_code=int(code), error_message=message)
