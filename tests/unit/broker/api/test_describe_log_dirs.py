"""DescribeLogDirs: one directory, the bucket, with the sizes of what this broker leads."""

from typing import Any

import pytest

from headrace.broker.api.describe_log_dirs import DescribeLogDirsHandler
from headrace.protocol.messages import DescribeLogDirsRequest
from tests.unit.broker.cluster_scene import FakeRegistry, ask

_Topic = DescribeLogDirsRequest.DescribableLogDirTopic


def describe(version: int, topics: Any) -> Any:
    registry = FakeRegistry()
    sizes = {}
    for topic, number, index, batches in (("b", 2, 0, 1), ("a", 1, 1, 3), ("a", 1, 0, 2)):
        served = registry.serve(topic, number, index)
        sizes[topic, index] = batches * served.fill(batches)
    handler = DescribeLogDirsHandler(registry, "s3://bucket")  # type: ignore[arg-type]
    told = ask(handler, version, DescribeLogDirsRequest(topics=topics))
    (directory,) = told.results
    assert (directory.error_code, directory.log_dir) == (0, "s3://bucket")
    found = {
        (topic.name, it.partition_index): it.partition_size
        for topic in directory.topics
        for it in topic.partitions
    }
    assert found == {key: sizes[key] for key in found}
    return directory, list(found)


@pytest.mark.parametrize("version", range(1, 6))
def test_null_asks_for_everything_here_in_order(version: int) -> None:
    directory, found = describe(version, None)
    assert found == [("a", 0), ("a", 1), ("b", 0)]
    if version >= 4:
        assert (directory.total_bytes, directory.usable_bytes) == (-1, -1), "a bucket has no size"


def test_what_is_not_here_is_left_out() -> None:
    wanted = [_Topic(topic="a", partitions=[1, 7]), _Topic(topic="no", partitions=[0])]
    assert describe(4, wanted)[1] == [("a", 1)]


def test_an_empty_list_asks_for_nothing() -> None:
    assert describe(4, [])[1] == []
