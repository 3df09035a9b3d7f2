"""OffsetCommit over the wire, in every version."""

from typing import Any
from uuid import UUID

import pytest

from headrace.broker.coordinator.group.records import OffsetRecord
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import OffsetCommitRequest
from tests.unit.broker.api.group_broker import TOPIC_IDS, GroupBroker, group_broker, versions
from tests.unit.broker.coordinator.fake_log import WALL_MS
from tests.unit.broker.coordinator.virtual_time import run

_Topic = OffsetCommitRequest.OffsetCommitRequestTopic
_Partition = _Topic.OffsetCommitRequestPartition


def topic(name: str, *partitions: int, topic_id: UUID | None = None, **fields: Any) -> _Topic:
    values = {"committed_offset": 5, "committed_leader_epoch": 2, "committed_metadata": "m"}
    return _Topic(
        name=name,
        topic_id=topic_id or TOPIC_IDS.get(name),
        partitions=[_Partition(partition_index=index, **(values | fields)) for index in partitions],
    )


def request(*topics: _Topic, **fields: Any) -> OffsetCommitRequest:
    values = {
        "group_id": "g",
        "generation_id_or_member_epoch": -1,
        "member_id": "",
        "topics": list(topics),
    }
    return OffsetCommitRequest(**(values | fields))


def errors(answer: Any) -> list[list[tuple[int, int]]]:
    return [
        [(partition.partition_index, partition.error_code) for partition in one.partitions]
        for one in answer.topics
    ]


def stored(broker: GroupBroker) -> list[OffsetRecord]:
    return [record for record in broker.logs.logs[0].records() if isinstance(record, OffsetRecord)]


@pytest.mark.parametrize("version", versions(ApiKey.OFFSET_COMMIT))
def test_what_exists_is_committed_and_the_rest_is_not(version: int) -> None:
    async def test() -> None:
        async with group_broker() as broker:
            unknown = topic("nope", 0, topic_id=UUID(int=99))
            answer = await broker.ask(request(topic("t", 0, 7, 1), unknown, topic("u", 2)), version)
            missing = (
                ErrorCode.UNKNOWN_TOPIC_ID
                if version >= 10
                else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            )
            assert errors(answer) == [
                [(0, 0), (7, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), (1, 0)],
                [(0, missing)],
                [(2, 0)],
            ]
            if version >= 10:
                assert answer.topics[0].topic_id == TOPIC_IDS["t"]
            else:
                assert [one.name for one in answer.topics] == ["t", "nope", "u"]
            records = stored(broker)
            assert [(record.key.topic, record.key.partition) for record in records] == [
                ("t", 0),
                ("t", 1),
                ("u", 2),
            ]
            value = records[0].value
            assert value is not None
            assert value[:4] == (5, 2 if version >= 6 else -1, "m", WALL_MS)
            assert value.topic_id == TOPIC_IDS["t"]

    run(test)


def test_nothing_that_exists_needs_no_coordinator() -> None:
    async def test() -> None:
        async with group_broker(loaded=False) as broker:
            answer = await broker.ask(request(topic("nope", 0)), 8)
            assert errors(answer) == [[(0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)]]

    run(test)


@pytest.mark.parametrize("version", versions(ApiKey.OFFSET_COMMIT))
def test_an_error_of_the_group_is_each_partitions(version: int) -> None:
    async def test() -> None:
        async with group_broker() as broker:
            asked = request(topic("t", 0, 7), generation_id_or_member_epoch=1, member_id="a")
            answer = await broker.ask(asked, version)
            error = ErrorCode.GROUP_ID_NOT_FOUND if version >= 9 else ErrorCode.ILLEGAL_GENERATION
            assert errors(answer) == [[(0, error), (7, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)]]
            broker.coordinator.runtime.on_resignation(0)
            answer = await broker.ask(asked, version)
            assert errors(answer)[0][0] == (0, ErrorCode.NOT_COORDINATOR)

    run(test)


@pytest.mark.parametrize("version", [2, 3, 4])
def test_a_retention_of_the_clients_own(version: int) -> None:
    async def test() -> None:
        async with group_broker() as broker:
            await broker.ask(request(topic("t", 0), retention_time_ms=9_000), version)
            (record,) = stored(broker)
            assert record.value is not None
            assert record.value.expire_timestamp_ms == WALL_MS + 9_000

    run(test)


INT32, INT64 = (-(2**31), 2**31 - 1), (-(2**63), 2**63 - 1)


@pytest.mark.parametrize("retention_time_ms", [-1, *INT64])
@pytest.mark.parametrize("version", versions(ApiKey.OFFSET_COMMIT))
def test_no_number_of_a_client_reloads_the_groups_of_others(
    version: int, retention_time_ms: int
) -> None:
    async def test() -> None:
        async with group_broker() as broker:
            for offset in INT64:
                for epoch in INT32:
                    partition = {"committed_offset": offset, "committed_leader_epoch": epoch}
                    asked = request(topic("t", 0, **partition), retention_time_ms=retention_time_ms)
                    assert errors(await broker.ask(asked, version)) == [[(0, 0)]]
            records = stored(broker)
            assert len(records) == len(INT64) * len(INT32)
            if version in (2, 3, 4) and retention_time_ms == INT64[1]:
                assert records[-1].value.expire_timestamp_ms == INT64[1]
            assert errors(await broker.ask(request(topic("t", 1)), version)) == [[(1, 0)]]

    run(test)


def test_metadata_null_is_empty_and_too_long_is_refused() -> None:
    async def test() -> None:
        async with group_broker() as broker:
            answer = await broker.ask(request(topic("t", 0, committed_metadata=None)), 8)
            assert errors(answer) == [[(0, 0)]]
            (record,) = stored(broker)
            assert record.value is not None
            assert record.value.metadata == ""
            answer = await broker.ask(request(topic("t", 0, committed_metadata="x" * 4_097)), 8)
            assert errors(answer) == [[(0, ErrorCode.OFFSET_METADATA_TOO_LARGE)]]

    run(test)


def test_a_member_commits() -> None:
    async def test() -> None:
        async with group_broker() as broker:
            member_id = await broker.stable_member()
            asked = {"generation_id_or_member_epoch": 1, "member_id": member_id}
            assert errors(await broker.ask(request(topic("t", 0), **asked), 9)) == [[(0, 0)]]
            answer = await broker.ask(request(topic("t", 0), **asked, group_instance_id="i"), 9)
            assert errors(answer) == [[(0, ErrorCode.UNKNOWN_MEMBER_ID)]]

    run(test)
