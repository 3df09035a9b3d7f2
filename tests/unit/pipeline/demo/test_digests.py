"""Digests tell any difference between two readings."""

import pytest

from headrace.pipeline.demo.digests import TopicDigest

Row = tuple[int, int, bytes | None, bytes]

ROWS: list[Row] = [(0, 0, b"k", b"v"), (1, 0, None, b"w"), (0, 1, b"k", b"x"), (1, 1, b"", b"")]


def digest(rows: list[Row]) -> TopicDigest:
    """Digest rows of partition, offset, key and value."""
    result = TopicDigest()
    for row in rows:
        result.add(*row)
    return result


def test_the_order_between_partitions_does_not_matter() -> None:
    other = [ROWS[1], ROWS[3], ROWS[0], ROWS[2]]
    assert digest(ROWS).differences(digest(other)) == []
    assert digest(ROWS).count == 4


@pytest.mark.parametrize(
    "changed",
    [
        [*ROWS[:2], (0, 1, b"k", b"y"), ROWS[3]],
        [*ROWS[:2], (0, 1, b"kx", b""), ROWS[3]],  # the same bytes, divided otherwise
        [ROWS[0], ROWS[1], ROWS[3]],
    ],
)
def test_a_difference_names_its_partition(changed: list[Row]) -> None:
    (difference,) = digest(ROWS).differences(digest(changed))
    assert difference.startswith("partition 0: (2, ")


def test_a_partition_that_only_one_has() -> None:
    (difference,) = digest(ROWS[:1]).differences(digest(ROWS[:2]))
    assert difference.startswith("partition 1: (0, '-') against (1, ")


def test_records_out_of_order_are_refused() -> None:
    with pytest.raises(ValueError, match="got offset 2, expected 1"):
        digest([(0, 0, None, b""), (0, 2, None, b"")])
    with pytest.raises(ValueError, match="got offset 0, expected 1"):
        digest([(0, 0, None, b""), (0, 0, None, b"")])
