"""Operations of administrators on the quorum and the nodes, through the client of one broker.

Each call may raise MetadataError: refused by the controller, or not answered in time. A change
returns when it is committed and this broker's image includes it.
"""

from collections.abc import Sequence
from uuid import UUID

from headrace.metadata.errors import ControllerUnavailableError
from headrace.metadata.follower.client import MetadataClient
from headrace.metadata.rpc.requests import (
    AddVoter,
    DescribeQuorum,
    FeatureUpdate,
    RemoveVoter,
    UnregisterBroker,
    UpdateFeatures,
)
from headrace.metadata.rpc.responses import Done, QuorumDescribed


class QuorumAdmin:
    """Describes the quorum and changes its members."""

    def __init__(self, client: MetadataClient) -> None:
        self._client = client

    async def describe(self) -> QuorumDescribed:
        """The quorum as its leader sees it now."""
        return await self._client.change(DescribeQuorum(), QuorumDescribed)

    def is_of_another(self, cluster_id: str) -> bool:
        """Whether a request names another cluster than this; an empty name is none."""
        return bool(cluster_id) and cluster_id != self._client.image.cluster_id

    async def add_voter(
        self, cluster_id: str, node_id: int, directory_id: UUID, host: str, port: int
    ) -> None:
        """Add a controller: a learner until it has the log, then a voter (KIP-853).

        Args:
            cluster_id: refused unless it is this cluster's; empty: not checked.
            node_id: of the controller.
            directory_id: of its metadata directory.
            host: where other controllers reach it.
            port: where other controllers reach it.
        """
        await self._client.change(AddVoter(cluster_id, node_id, directory_id, host, port), Done)

    async def remove_voter(self, cluster_id: str, node_id: int, directory_id: UUID) -> None:
        """Remove a controller, voter or learner; refused unless it is the member with this directory.

        A leader resigns as soon as its own removal is committed, possibly before it answers: then the next leader is
        asked whether it was removed.
        """
        try:
            await self._client.change(RemoveVoter(cluster_id, node_id, directory_id), Done)
        except ControllerUnavailableError:
            described = await self.describe()
            members = (*described.voters, *described.observers)
            if any((it.node_id, it.directory_id) == (node_id, directory_id) for it in members):
                raise

    async def update_features(
        self, updates: Sequence[FeatureUpdate], *, validate_only: bool
    ) -> None:
        """Set levels of features, all or none; with `validate_only`, check only whether that is possible."""
        await self._client.change(UpdateFeatures(tuple(updates), validate_only), Done)

    async def unregister_broker(self, node_id: int) -> None:
        """Remove a broker whose epoch has ended and that owns nothing."""
        await self._client.change(UnregisterBroker(node_id), Done)
