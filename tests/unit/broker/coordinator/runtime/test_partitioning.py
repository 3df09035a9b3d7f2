"""Group to partition: as `java.lang.String.hashCode` and Kafka's `abs` have it."""

import pytest

from headrace.broker.coordinator.runtime.partitioning import java_string_hash, partition_for_key


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("a", 97),
        ("hello", 99162322),
        ("console-consumer-12345", 158455506),
        ("polygenelubricants", -(2**31)),  # the known string whose hash is the smallest integer
        ("é", 233),
        ("日本語", 25921943),
        ("😀", 1772899),  # two UTF-16 units
    ],
)
def test_java_string_hash(text: str, expected: int) -> None:
    assert java_string_hash(text) == expected


def test_partition_for_key() -> None:
    assert partition_for_key("hello", 50) == 99162322 % 50
    assert partition_for_key("polygenelubricants", 50) == 0
    assert java_string_hash("console-consumer") == -648006740
    assert partition_for_key("console-consumer", 50) == 648006740 % 50
