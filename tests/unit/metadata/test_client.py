import asyncio
import random
from uuid import UUID

import pytest

from headrace.metadata.errors import ControllerUnavailableError, RefusedError
from headrace.metadata.follower import client as client_module
from headrace.metadata.follower.client import ConfigOp, ConfigOperation, NewTopic
from headrace.metadata.levels import NEWEST
from headrace.metadata.rpc.requests import DescribeQuorum
from headrace.metadata.rpc.responses import QuorumDescribed
from headrace.protocol.errors import ErrorCode
from tests.unit.metadata.running_cluster import FaultyTransport, scenario

TOPIC = 2


@scenario
async def test_topics_are_created_and_visible_at_once(cluster):
    async with cluster.controller(), cluster.client() as client:
        good, bad = await client.create_topics(
            [NewTopic("a", 2, {"retention.ms": "5"}), NewTopic("a b", 1)]
        )

        assert (good.name, good.error, good.message) == ("a", ErrorCode.NONE, None)
        assert good.topic == client.image.topic("a")
        assert len(good.topic.partitions) == 2
        assert client.image.topic_config("a")["retention.ms"] == "5"
        assert (bad.error, bad.topic) == (ErrorCode.INVALID_TOPIC_EXCEPTION, None)
        assert bad.message


@scenario
async def test_validation_shows_the_topic_as_it_would_be(cluster):
    async with cluster.controller(), cluster.client() as client:
        (result,) = await client.create_topics([NewTopic("a", 2)], validate_only=True)

        assert result.error == ErrorCode.NONE
        assert result.topic.topic_id == UUID(int=0)
        assert [it.leader for it in result.topic.partitions] == [1, 1]
        assert client.image.topic("a") is None


@scenario
async def test_manual_assignments_and_replication_factors_pass_through(cluster):
    async with cluster.controller(), cluster.client() as client, cluster.client(2) as other:
        results = await client.create_topics(
            [
                NewTopic("a", assignments={0: [2], 1: [1]}),
                NewTopic("b", 1, replication_factor=0),
                NewTopic("c", 1, replication_factor=2),
                NewTopic("d", 1, replication_factor=3),
            ]
        )

        assert [it.leader for it in results[0].topic.partitions] == [2, 1]
        assert results[1].error == ErrorCode.INVALID_REPLICATION_FACTOR
        assert results[2].topic.replication_factor == 2
        assert results[3].error == ErrorCode.INVALID_REPLICATION_FACTOR
        assert other.node_id == 2


@scenario
async def test_deleting(cluster):
    async with cluster.controller(), cluster.client() as client:
        await client.create_topics([NewTopic("a")])
        topic_id = client.image.topic("a").topic_id

        results = await client.delete_topics([topic_id, UUID(int=9)])

        assert results[0] == ("a", topic_id, ErrorCode.NONE, None)
        assert results[1].error == ErrorCode.UNKNOWN_TOPIC_ID
        assert client.image.topic("a") is None


@scenario
async def test_adding_partitions(cluster):
    async with cluster.controller(), cluster.client() as client:
        await client.create_topics([NewTopic("a")])

        assert await client.create_partitions("a", 3, validate_only=True) == (ErrorCode.NONE, None)
        assert len(client.image.topic("a").partitions) == 1
        assert await client.create_partitions("a", 3, assignments=[[1], [1]]) == (
            ErrorCode.NONE,
            None,
        )
        assert len(client.image.topic("a").partitions) == 3
        code, message = await client.create_partitions("a", 3)
        assert code == ErrorCode.INVALID_PARTITIONS
        assert message


@scenario
async def test_altering_configs(cluster):
    async with cluster.controller(), cluster.client() as client:
        await client.create_topics([NewTopic("a")])
        operations = [
            ConfigOperation("retention.ms", ConfigOp.SET, "9"),
            ConfigOperation("cleanup.policy", ConfigOp.APPEND, "compact"),
        ]

        assert await client.alter_configs(TOPIC, "a", operations) == (ErrorCode.NONE, None)
        assert dict(client.image.topic_config("a")) == {
            "retention.ms": "9",
            "cleanup.policy": "delete,compact",
        }
        delete = [ConfigOperation("retention.ms", ConfigOp.DELETE)]
        await client.alter_configs(TOPIC, "a", delete, validate_only=True)
        assert "retention.ms" in client.image.topic_config("a")
        await client.alter_configs(TOPIC, "a", delete)
        assert "retention.ms" not in client.image.topic_config("a")
        code, _ = await client.alter_configs(TOPIC, "b", delete)
        assert code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@scenario
async def test_producer_ids_of_two_brokers_never_meet(cluster):
    async with cluster.controller(), cluster.client() as one, cluster.client(2) as two:
        blocks = [
            await one.allocate_producer_ids(),
            await two.allocate_producer_ids(),
            await one.allocate_producer_ids(),
        ]

        assert blocks == [range(1_000), range(1_000, 2_000), range(2_000, 3_000)]


@scenario
async def test_both_brokers_see_what_one_has_changed(cluster):
    async with cluster.controller() as node, cluster.client() as one, cluster.client(2) as two:
        heard = asyncio.Event()
        two.subscribe(lambda old, new: heard.set() if new.topic("a") else None)

        await one.create_topics([NewTopic("a", 4)])
        await heard.wait()

        assert two.image.topic("a") == one.image.topic("a")
        await two.create_topics([NewTopic("b")])
        assert two.image == node.image


@scenario
async def test_an_unknown_outcome_is_reported_as_such(cluster):
    async with cluster.controller() as node:
        transport = FaultyTransport(cluster.handle)
        client = cluster.new_client(transport=transport)
        await client.start()
        transport.plan = ["lose reply"]

        (result,) = await client.create_topics([NewTopic("a")])

        assert result.error == ErrorCode.REQUEST_TIMED_OUT
        assert node.image.topic("a") is None, "no broker was active"


@scenario
async def test_a_lost_answer_to_what_may_be_repeated_is_settled(cluster):
    async with cluster.controller():
        transport = FaultyTransport(cluster.handle)
        async with cluster.client(transport=transport) as client:
            transport.plan = ["lose reply"]
            assert await client.allocate_producer_ids() == range(1_000, 2_000)


@scenario
async def test_a_change_of_a_node_that_was_fenced_is_reported(cluster):
    async with cluster.controller():
        client = cluster.new_client()
        await client.start()  # and no `run`, which would end
        client._session.fence("test")

        (result,) = await client.create_topics([NewTopic("a")])
        assert result.error == ErrorCode.REQUEST_TIMED_OUT
        assert (await client.delete_topics(["a"]))[0].error == ErrorCode.REQUEST_TIMED_OUT
        assert (await client.create_partitions("a", 1))[0] == ErrorCode.REQUEST_TIMED_OUT


@scenario
async def test_without_the_log_a_change_is_not_reported_as_done(cluster):
    """Read-your-writes: when the local image does not get there, the caller hears of it."""
    cluster.config = type(cluster.config)(log_dir=cluster.config.log_dir, request_timeout_ms=50)
    async with cluster.controller():
        client = cluster.new_client()
        await client.start()  # and no `run`: the log is not followed

        with pytest.raises(ControllerUnavailableError):
            await client.allocate_producer_ids()


@scenario
async def test_a_controller_restarts_under_its_brokers(cluster):
    async with cluster.controller():
        client = cluster.new_client()
        await client.start()
        run = asyncio.ensure_future(client.run())
        await client.serve()
        await client.create_topics([NewTopic("a")])
    async with cluster.controller() as node:
        await client.create_topics([NewTopic("b")])
        assert client.image.term == node.image.term == 2
        assert set(client.image.topic_ids) == {"a", "b"}
        assert not client.fenced
        run.cancel()
        await asyncio.wait([run])


@scenario
async def test_a_broker_that_comes_late_reads_the_snapshot(cluster):
    async with cluster.controller() as node, cluster.client() as client:
        await client.create_topics([NewTopic(f"t{it}", 3) for it in range(20)])
        await node.take_snapshot()
    async with cluster.controller() as node, cluster.client(2) as late:
        assert late.image == node.image
        assert len(late.image.topics) == 20


@scenario
async def test_many_changes_at_once(cluster):
    async with cluster.controller() as node, cluster.client() as client:
        rng = random.Random(5)
        names = [f"t{it}" for it in range(300)]
        rng.shuffle(names)

        results = await asyncio.gather(*(client.create_topics([NewTopic(it)]) for it in names))

        assert all(it[0].error == ErrorCode.NONE for it in results)
        assert len(client.image.topics) == 300
        assert client.image == node.image


@scenario
async def test_a_request_of_a_later_level_is_not_sent(cluster, monkeypatch):
    monkeypatch.setattr(client_module, "REQUEST_LEVELS", {DescribeQuorum: NEWEST + 1})
    async with cluster.controller(), cluster.client() as client:
        with pytest.raises(RefusedError, match=r"DescribeQuorum needs headrace\.metadata\.version"):
            await client.change(DescribeQuorum(), QuorumDescribed)
