"""Which streams of other brokers are left for them to clean."""

from types import SimpleNamespace
from typing import Any

import pytest

from headrace.broker.partition.topic_cleaner import TopicCleaner
from headrace.config.node import LogConfig
from headrace.metadata.image import MetadataImage
from headrace.metadata.images.streams import NO_EPOCH
from headrace.metadata.records.streams import StreamRecord
from headrace.metadata.records.topics import ConfigRecord
from tests.unit.broker.cluster_scene import applied, broker_records, topic_id, topic_records

OF_ALL, OF_THE_LEADER, OF_ANOTHER = "", "2", "3"


@pytest.mark.parametrize(
    ("of_file", "changes", "expected"),
    [
        ("", [], False),
        ("compact", [], True),
        ("compact", [(2, "a", "cleanup.policy", "")], False),
        ("compact", [(4, OF_ALL, "log.cleanup.policy", "delete")], False),
        ("", [(4, OF_ALL, "log.cleanup.policy", "compact")], True),
        ("", [(4, OF_THE_LEADER, "log.cleanup.policy", "compact")], True),
        ("", [(4, OF_ANOTHER, "log.cleanup.policy", "compact")], False),
        ("", [(2, "a", "cleanup.policy", "compact")], True),
    ],
)
def test_the_policy_of_a_topic_led_elsewhere_is_that_in_force(
    of_file: str, changes: list[tuple[int, str, str, str]], expected: bool
) -> None:
    records = [
        *broker_records(2),
        StreamRecord(1_000, topic_id(1), 0, NO_EPOCH, 0, 0),
        *topic_records("a", 1, leader=2),
    ]
    image = applied(MetadataImage(), *records, *(ConfigRecord(*it) for it in changes))
    client: Any = SimpleNamespace(image=image, node_id=1)
    partitions: Any = SimpleNamespace(subscribe=lambda **_: None)
    log = LogConfig(topic_defaults={"cleanup.policy": of_file} if of_file else {})
    cleaner = TopicCleaner(partitions, client, log, lambda: 0, memory_bytes=1 << 20)
    assert cleaner.leaves(1_000) is expected
