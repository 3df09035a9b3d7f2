"""Topics of consumers' subscriptions."""

import pytest

from headrace.broker.coordinator.group.classic.consumer_protocol import subscribed_topics

# As a consumer sent it to an Apache Kafka 4.3.1: version 3, topic "t", owned partitions, rack.
FROM_JAVA = bytes.fromhex("0003000000010001740000000000000000ffffffff0000")


def test_topics_of_all_members() -> None:
    other = bytes.fromhex("0000 00000002 000175 000174 ffffffff")
    assert subscribed_topics([FROM_JAVA, other]) == {"t", "u"}
    assert subscribed_topics([]) == frozenset()


@pytest.mark.parametrize(
    "damaged",
    ["", "00", "0000", "0000 00000001", "0000 00000001 0005 74", "ffff 00000000", "0000 7fffffff"],
)
def test_one_that_cannot_be_read_makes_all_unknown(damaged: str) -> None:
    assert subscribed_topics([FROM_JAVA, bytes.fromhex(damaged)]) is None
