"""Settings of brokers that topics do not have leave topics alone."""

import pytest

from headrace.broker.partition.topic_defaults import TopicDefaults
from headrace.metadata.image import MetadataImage
from headrace.metadata.records.topics import ConfigRecord
from tests.unit.broker.cluster_scene import applied


@pytest.mark.parametrize(
    ("key", "value", "is_a_default"),
    [
        ("headrace.drain", "true", False),
        ("max.connections", "5", False),
        ("producer.id.expiration.ms", "5", True),
        ("log.retention.ms", "5", True),
    ],
)
def test_topics_are_looked_at_when_a_default_of_theirs_has_changed(
    key: str, value: str, is_a_default: bool
) -> None:
    defaults = TopicDefaults({}, 86_400_000, 1)
    image = applied(MetadataImage(), ConfigRecord(4, "1", key, value))
    assert defaults.have_changed(image) is is_a_default
    assert not defaults.have_changed(image)
