"""Operators: one replaces a controller's disk, one raises the level of the cluster, one drains brokers.

Of a disk, the voter with the lost one is removed, and the one with the new one added.
"""

import asyncio
import random
from uuid import UUID

from headrace.config.dynamic_keys import DRAIN_KEY
from headrace.metadata.images.configs import BROKER_RESOURCE
from headrace.metadata.levels import LEVEL_FEATURE, NEWEST
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import (
    AddRaftVoterRequest,
    IncrementalAlterConfigsRequest,
    RemoveRaftVoterRequest,
    UpdateFeaturesRequest,
)
from tests.simulation.cluster.clients import PAUSE_AFTER_ERROR_S
from tests.simulation.cluster.cluster import Cluster, Host
from tests.simulation.cluster.inspection import controller_of
from tests.simulation.cluster.process import Process
from tests.simulation.cluster.settings import CONTROLLER_PORT
from tests.simulation.cluster.wire import LOST, Connection

ASK_S = 8.0
_Resource = IncrementalAlterConfigsRequest.AlterConfigsResource
_DONE = frozenset({ErrorCode.NONE, ErrorCode.VOTER_NOT_FOUND, ErrorCode.DUPLICATE_VOTER})


async def replace_disk(cluster: Cluster, host: Host) -> None:
    """Give a controller an empty disk, and have the quorum know it."""
    lost = _directory_id(host)
    if lost is None:
        return
    cluster.kill(host, power_cut=True)
    host.disks.replace_metadata()
    cluster.start(host)
    while (found := _directory_id(host)) in (None, lost, UUID(int=0)):
        await asyncio.sleep(PAUSE_AFTER_ERROR_S)
    assert found is not None
    operator = _Operator(cluster, cluster.rng("operator", host.name, host.starts))
    context = Process(f"operator-{host.name}").context
    await cluster.loop.create_task(operator.replace(host, lost, found), context=context)


async def raise_level(cluster: Cluster) -> None:
    """Raise the level of the cluster to the newest one; refused while a node is away."""
    operator = _Operator(cluster, cluster.rng("upgrade"))
    context = Process("operator").context
    await cluster.loop.create_task(operator.raise_level(), context=context)


async def drain(cluster: Cluster, host: Host, *, undo: bool = False) -> bool:
    """Ask once for a broker to be drained, or not any more; False: refused, or not answered."""
    operator = _Operator(cluster, cluster.rng("drain", host.name, cluster.loop.time()))
    context = Process("operator-drain").context
    return await cluster.loop.create_task(operator.drain(host, undo=undo), context=context)


class _Operator:
    def __init__(self, cluster: Cluster, rng: random.Random) -> None:
        self._cluster = cluster
        self._rng = rng

    async def replace(self, host: Host, lost: UUID, found: UUID) -> None:
        listener = AddRaftVoterRequest.Listener(
            name="CONTROLLER", host=host.name, port=CONTROLLER_PORT
        )
        remove = RemoveRaftVoterRequest(
            cluster_id=None, voter_id=host.node_id, voter_directory_id=lost
        )
        add = AddRaftVoterRequest(
            cluster_id=None,
            timeout_ms=5_000,
            voter_id=host.node_id,
            voter_directory_id=found,
            listeners=[listener],
        )
        await self._until_done(ApiKey.REMOVE_RAFT_VOTER, 0, remove)
        await self._until_done(ApiKey.ADD_RAFT_VOTER, 0, add)

    async def raise_level(self) -> None:
        update = UpdateFeaturesRequest.FeatureUpdateKey(
            feature=LEVEL_FEATURE, max_version_level=NEWEST
        )
        request = UpdateFeaturesRequest(
            timeout_ms=5_000, feature_updates=[update], validate_only=False
        )
        await self._until_done(ApiKey.UPDATE_FEATURES, 1, request)

    async def drain(self, host: Host, *, undo: bool) -> bool:
        change = _Resource.AlterableConfig(
            name=DRAIN_KEY, config_operation=1 if undo else 0, value=None if undo else "true"
        )
        resource = _Resource(
            resource_type=BROKER_RESOURCE, resource_name=str(host.node_id), configs=[change]
        )
        request = IncrementalAlterConfigsRequest(resources=[resource], validate_only=False)
        connection = None
        try:
            connection = await Connection.open(self._rng.choice(self._cluster.brokers).node_id)
            answer = await connection.ask(
                ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, request, within_s=ASK_S
            )
            return all(it.error_code == ErrorCode.NONE for it in answer.responses)
        except LOST:
            return False
        finally:
            if connection is not None:
                connection.close()

    async def _until_done(self, key: ApiKey, version: int, request: object) -> None:
        while True:
            connection = None
            try:
                broker = self._rng.choice(self._cluster.brokers)
                connection = await Connection.open(broker.node_id)
                code = (await connection.ask(key, version, request, within_s=ASK_S)).error_code
                self._cluster.counts[f"{key.name.lower()}: {ErrorCode(code).name}"] += 1
                if code in _DONE:
                    return
            except LOST:
                pass
            finally:
                if connection is not None:
                    connection.close()
            await asyncio.sleep(PAUSE_AFTER_ERROR_S)


def _directory_id(host: Host) -> UUID | None:
    role = controller_of(host)
    return None if role is None else role.node.directory_id
