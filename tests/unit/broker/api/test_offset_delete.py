"""OffsetDelete over the wire (KIP-496)."""

from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import OffsetDeleteRequest, OffsetFetchRequest
from tests.unit.broker.api.group_broker import group_broker
from tests.unit.broker.coordinator.virtual_time import run

_Topic = OffsetDeleteRequest.OffsetDeleteRequestTopic


def request(group_id: str = "g", **topics: list[int]) -> OffsetDeleteRequest:
    return OffsetDeleteRequest(
        group_id=group_id,
        topics=[
            _Topic(
                name=name,
                partitions=[
                    _Topic.OffsetDeleteRequestPartition(partition_index=index) for index in indexes
                ],
            )
            for name, indexes in topics.items()
        ],
    )


def test_offsets_are_deleted() -> None:
    async def test() -> None:
        async with group_broker() as broker:
            await broker.commit("t", 0, 5)
            await broker.commit("t", 1, 6)
            answer = await broker.ask(request(t=[0, 2, 9], nope=[0]), 0)
            unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            assert answer.error_code == 0
            assert [
                [
                    (partition.partition_index, partition.error_code)
                    for partition in topic.partitions
                ]
                for topic in answer.topics
            ] == [[(0, 0), (2, 0), (9, unknown)], [(0, unknown)]]
            left = await broker.ask(OffsetFetchRequest(group_id="g", topics=None), 7)
            assert [at.partition_index for at in left.topics[0].partitions] == [1]

    run(test)


def test_a_subscribed_topic() -> None:
    async def test() -> None:
        async with group_broker() as broker:
            await (
                broker.stable_member()
            )  # its metadata cannot be read: it may subscribe to anything
            answer = await broker.ask(request(t=[0]), 0)
            assert answer.topics[0].partitions[0].error_code == ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC

    run(test)


def test_errors_of_the_group() -> None:
    async def test() -> None:
        async with group_broker() as broker:
            for group_id, error in (
                ("unknown", ErrorCode.GROUP_ID_NOT_FOUND),
                ("", ErrorCode.INVALID_GROUP_ID),
            ):
                answer = await broker.ask(request(group_id, t=[0]), 0)
                assert (answer.error_code, answer.topics) == (error, [])

    run(test)
