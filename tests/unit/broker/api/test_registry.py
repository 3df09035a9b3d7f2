"""All handlers together: what is advertised is what is served, and nothing of it twice."""

import random
from types import SimpleNamespace
from typing import Any

from headrace.broker.api.dispatch import ApiDispatcher
from headrace.broker.api.registry import build_dispatcher
from headrace.broker.api.services import Services
from headrace.broker.network.client import Client
from headrace.broker.telemetry.request_metrics import RequestMetrics
from headrace.config.node import NodeConfig
from headrace.metadata.image import MetadataImage
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import VERSIONS
from headrace.protocol.headers import RequestHeader
from headrace.protocol.server_connection import Frame
from tests.unit.broker.cluster_scene import NOW_MS, run
from tests.unit.broker.reply_fake import FakeReply

# What producers, consumers with classic groups and admin tools need.
SERVED = {
    ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.LIST_OFFSETS, ApiKey.METADATA, ApiKey.OFFSET_COMMIT,
    ApiKey.OFFSET_FETCH, ApiKey.FIND_COORDINATOR, ApiKey.JOIN_GROUP, ApiKey.HEARTBEAT,
    ApiKey.LEAVE_GROUP, ApiKey.SYNC_GROUP, ApiKey.DESCRIBE_GROUPS, ApiKey.LIST_GROUPS,
    ApiKey.API_VERSIONS, ApiKey.CREATE_TOPICS, ApiKey.DELETE_TOPICS, ApiKey.INIT_PRODUCER_ID,
    ApiKey.OFFSET_FOR_LEADER_EPOCH, ApiKey.DESCRIBE_CONFIGS, ApiKey.DESCRIBE_LOG_DIRS,
    ApiKey.CREATE_PARTITIONS, ApiKey.DELETE_GROUPS, ApiKey.INCREMENTAL_ALTER_CONFIGS,
    ApiKey.LIST_PARTITION_REASSIGNMENTS, ApiKey.OFFSET_DELETE, ApiKey.DESCRIBE_CLUSTER,
    ApiKey.DESCRIBE_TOPIC_PARTITIONS, ApiKey.DESCRIBE_QUORUM, ApiKey.ADD_RAFT_VOTER,
    ApiKey.REMOVE_RAFT_VOTER, ApiKey.UNREGISTER_BROKER, ApiKey.DELETE_RECORDS, ApiKey.UPDATE_FEATURES,
    ApiKey.ELECT_LEADERS, ApiKey.ALTER_PARTITION_REASSIGNMENTS,
    ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE, ApiKey.DESCRIBE_ACLS,
    ApiKey.CREATE_ACLS, ApiKey.DELETE_ACLS, ApiKey.ALTER_CONFIGS,
    ApiKey.ALTER_REPLICA_LOG_DIRS, ApiKey.CREATE_DELEGATION_TOKEN, ApiKey.RENEW_DELEGATION_TOKEN,
    ApiKey.EXPIRE_DELEGATION_TOKEN, ApiKey.DESCRIBE_DELEGATION_TOKEN, ApiKey.DESCRIBE_CLIENT_QUOTAS,
    ApiKey.ALTER_CLIENT_QUOTAS, ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
    ApiKey.DESCRIBE_PRODUCERS, ApiKey.DESCRIBE_TRANSACTIONS, ApiKey.LIST_TRANSACTIONS,
    ApiKey.LIST_CONFIG_RESOURCES, ApiKey.UNREGISTER_CONTROLLER,
}  # fmt: skip


async def dispatcher() -> ApiDispatcher:
    """Of a broker whose parts do not matter."""
    part: Any = SimpleNamespace(wakeups=None, image=MetadataImage(), transit=None, node_id=1)
    services = Services(
        config=NodeConfig(),
        client=part,
        engine=part,
        partitions=part,
        cluster=part,
        creation=part,
        coordinator=part,
        offsets_logs=part,
        wall_clock_ms=lambda: NOW_MS,
        metrics=RequestMetrics(lambda: 0.0),
        rng=random.Random(1),
    )
    return build_dispatcher(services)


def advertised() -> dict[int, tuple[int, int]]:
    """What a client is told."""
    reply = FakeReply()

    async def ask() -> None:
        frame = Frame(RequestHeader(18, 0, 7, ""), memoryview(b""), 0)
        rest = (await dispatcher()).dispatch(frame, Client("PLAINTEXT"), reply)  # type: ignore[arg-type]
        if rest is not None:
            await rest

    run(ask())
    rows = reply.response(ApiKey.API_VERSIONS, 0).api_keys
    assert len({row.api_key for row in rows}) == len(rows)
    return {row.api_key: (row.min_version, row.max_version) for row in rows}


def test_every_key_that_clients_need_is_served_in_kafkas_versions() -> None:
    found = advertised()
    assert {ApiKey(key) for key in found} == SERVED
    assert found == {key: tuple(VERSIONS[key][:2]) for key in found}  # type: ignore[index]


def test_transactions_are_not_advertised_while_they_are_not_served() -> None:
    unserved = {ApiKey.ADD_PARTITIONS_TO_TXN, ApiKey.END_TXN, ApiKey.TXN_OFFSET_COMMIT}
    assert not unserved & set(advertised())


def test_every_key_that_is_advertised_has_a_handler_once_all_are_loaded() -> None:
    async def load() -> ApiDispatcher:
        loaded = await dispatcher()
        await loaded.load()
        return loaded

    loaded = run(load())
    own_codecs = {ApiKey.PRODUCE, ApiKey.FETCH}
    assert {ApiKey(key) for key in loaded._handlers} | own_codecs == SERVED
