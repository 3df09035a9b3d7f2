"""OffsetFetch over the wire, in every version."""

from typing import Any
from uuid import UUID

import pytest

from headrace.broker.api import offset_fetch
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import OffsetFetchRequest
from tests.unit.broker.api import group_broker as wire
from tests.unit.broker.api.group_broker import TOPIC_IDS, group_broker, versions
from tests.unit.broker.coordinator.virtual_time import run

Asked = dict[str, list[int]] | None


def request(version: int, asked: Asked, group_id: str = "g", **ids: UUID) -> OffsetFetchRequest:
    """One group, in the form of the version; `ids` are topic ids besides the known ones."""
    if version < 8:
        topics = None if asked is None else [_topic(name, at) for name, at in asked.items()]
        return OffsetFetchRequest(group_id=group_id, topics=topics)
    return OffsetFetchRequest(groups=[group(asked, group_id, **ids)])


def _topic(name: str, indexes: list[int]) -> Any:
    return OffsetFetchRequest.OffsetFetchRequestTopic(name=name, partition_indexes=indexes)


def group(asked: Asked, group_id: str = "g", **ids: UUID) -> Any:
    group_class = OffsetFetchRequest.OffsetFetchRequestGroup
    topics = None
    if asked is not None:
        topics = [
            group_class.OffsetFetchRequestTopics(
                name=name, topic_id=(TOPIC_IDS | ids).get(name), partition_indexes=indexes
            )
            for name, indexes in asked.items()
        ]
    return group_class(group_id=group_id, topics=topics)


Found = dict[str, list[tuple[int, int, int, str, int]]]


def found(version: int, topics: Any) -> Found:
    names = {topic_id: name for name, topic_id in TOPIC_IDS.items()}
    return {
        (names.get(topic.topic_id, "?") if version >= 10 else topic.name): [
            (
                partition.partition_index,
                partition.committed_offset,
                partition.committed_leader_epoch,
                partition.metadata,
                partition.error_code,
            )
            for partition in topic.partitions
        ]
        for topic in topics
    }


def only_group(version: int, answer: Any) -> tuple[int, Found]:
    if version < 8:
        return answer.error_code, found(version, answer.topics)
    (one,) = answer.groups
    return one.error_code, found(version, one.topics)


ALL_VERSIONS = pytest.mark.parametrize("version", versions(ApiKey.OFFSET_FETCH))


@ALL_VERSIONS
def test_what_is_committed_and_what_is_not(version: int) -> None:
    async def test() -> None:
        async with group_broker() as broker:
            await broker.commit("t", 1, 42)
            answer = await broker.ask(request(version, {"t": [1, 0], "u": [2]}), version)
            epoch = 4 if version >= 5 else -1
            assert only_group(version, answer) == (
                0,
                {
                    "t": [(1, 42, epoch, "note", 0), (0, -1, -1, "", 0)],
                    "u": [(2, -1, -1, "", 0)],
                },
            )

    run(test)


@ALL_VERSIONS
def test_an_unknown_group_has_no_offsets_and_no_error(version: int) -> None:
    """GROUP_ID_NOT_FOUND here breaks librdkafka."""

    async def test() -> None:
        async with group_broker() as broker:
            answer = await broker.ask(request(version, {"t": [0]}, "unknown"), version)
            assert only_group(version, answer) == (0, {"t": [(0, -1, -1, "", 0)]})

    run(test)


@pytest.mark.parametrize("version", range(2, 11))
def test_all_offsets(version: int) -> None:
    async def test() -> None:
        async with group_broker() as broker:
            await broker.commit("t", 1, 42)
            await broker.commit("u", 0, 43)
            error, offsets = only_group(version, await broker.ask(request(version, None), version))
            assert error == 0
            assert {name: [at[:2] for at in ats] for name, ats in offsets.items()} == {
                "t": [(1, 42)],
                "u": [(0, 43)],
            }
            answer = await broker.ask(request(version, None, "unknown"), version)
            assert only_group(version, answer) == (0, {})

    run(test)


@ALL_VERSIONS
def test_where_an_error_of_the_group_stands(version: int) -> None:
    async def test() -> None:
        async with group_broker(loaded=False) as broker:
            error, offsets = only_group(
                version, await broker.ask(request(version, {"t": [0, 1]}), version)
            )
            loading = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
            if version == 1:
                assert offsets == {"t": [(0, -1, -1, "", loading), (1, -1, -1, "", loading)]}
            else:
                assert (error, offsets) == (loading, {})

    run(test)


@pytest.mark.parametrize("version", [8, 9, 10])
def test_several_groups(version: int) -> None:
    """KIP-709."""

    async def test() -> None:
        async with group_broker() as broker:
            await broker.commit("t", 0, 1, "one")
            await broker.commit("t", 0, 2, "two")
            asked = OffsetFetchRequest(
                groups=[
                    group({"t": [0]}, "two"),
                    group(None, "one"),
                ]
            )
            answer = await broker.ask(asked, version)
            assert [one.group_id for one in answer.groups] == ["two", "one"]
            offsets = [found(version, one.topics) for one in answer.groups]
            assert [one["t"][0][1] for one in offsets] == [2, 1]

    run(test)


def test_an_unknown_topic_id() -> None:
    async def test() -> None:
        async with group_broker() as broker:
            await broker.commit("t", 0, 5)
            asked = {"nope": [0, 1], "t": [0]}
            answer = await broker.ask(request(10, asked, nope=UUID(int=99)), 10)
            unknown = ErrorCode.UNKNOWN_TOPIC_ID
            assert only_group(10, answer) == (
                0,
                {
                    "?": [(0, -1, -1, "", unknown), (1, -1, -1, "", unknown)],
                    "t": [(0, 5, 4, "note", 0)],
                },
            )

    run(test)


@pytest.mark.parametrize("version", [7, 10])
def test_offsets_of_a_topic_that_was_replaced_do_not_count(
    version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test() -> None:
        async with group_broker() as broker:
            await broker.commit("t", 0, 5)
            await broker.commit("u", 0, 6)
            monkeypatch.setitem(TOPIC_IDS, "t", UUID(int=0x7100))
            answer = await broker.ask(request(version, {"t": [0]}), version)
            assert only_group(version, answer) == (0, {"t": [(0, -1, -1, "", 0)]})
            answer = await broker.ask(request(version, None), version)
            assert list(only_group(version, answer)[1]) == ["u"]

    run(test)


@pytest.mark.parametrize("version", [9, 10])
def test_of_all_a_topic_without_an_id_cannot_be_told_by_id(
    version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test() -> None:
        async with group_broker() as broker:
            await broker.commit("t", 0, 5)
            monkeypatch.delitem(wire.TOPIC_IDS, "t")
            answer = await broker.ask(request(version, None), version)
            assert list(only_group(version, answer)[1]) == ([] if version >= 10 else ["t"])

    run(test)


@pytest.mark.parametrize("version", [8, 10])
def test_what_is_named_often_is_answered_once(version: int) -> None:
    """Groups, topics and partitions; a group that is named again adds what it asks for."""

    async def test() -> None:
        async with group_broker() as broker:
            await broker.commit("t", 1, 11)
            groups = [
                *[group({"t": [1, 1, 2]})] * 100,
                group({"u": [0]}),
                group({"t": [0]}, "h"),
                group(None, "all"),
                group({"t": [0]}, "all"),
            ]
            answer = await broker.ask(OffsetFetchRequest(groups=groups), version)
            assert [it.group_id for it in answer.groups] == ["g", "h", "all"]
            offsets = found(version, answer.groups[0].topics)
            assert {name: [it[:2] for it in of] for name, of in offsets.items()} == {
                "t": [(1, 11), (2, -1)],
                "u": [(0, -1)],
            }
            assert found(version, answer.groups[2].topics) == {}

    run(test)


@pytest.mark.parametrize("asked", [None, {"t": [1]}])
def test_groups_that_the_answer_has_no_room_for_are_refused(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test() -> None:
        async with group_broker() as broker:
            for group_id in "gh":
                await broker.commit("t", 1, 11, group_id=group_id)
            monkeypatch.setattr(offset_fetch, "MAX_ANSWER_BYTES", 40)
            groups = [group(asked, group_id) for group_id in "gh"]
            answer = await broker.ask(OffsetFetchRequest(groups=groups), 8)
            told = [(it.error_code, len(it.topics)) for it in answer.groups]
            assert told == [(0, 1), (ErrorCode.INVALID_REQUEST, 0)]

    run(test)


def test_thousands_of_partitions_are_looked_up_in_parts() -> None:
    async def test() -> None:
        async with group_broker() as broker:
            await broker.commit("t", 2, 11)
            count = 2 * offset_fetch.QUERIES_AT_ONCE + 1
            answer = await broker.ask(request(8, {"t": list(range(count))}), 8)
            (one,) = answer.groups
            assert [it.partition_index for it in one.topics[0].partitions] == list(range(count))
            assert [it.committed_offset for it in one.topics[0].partitions][2] == 11

    run(test)
