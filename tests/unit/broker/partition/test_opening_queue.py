"""The order in which partitions are opened."""

from uuid import UUID

from headrace.broker.partition.opening_queue import OpeningQueue

TOPIC = UUID(int=1)


def taken(queue: OpeningQueue) -> list[int]:
    found = []
    while (key := queue.take()) is not None:
        found.append(key[1])
    return found


def test_what_is_asked_for_comes_first_then_internal_topics() -> None:
    queue = OpeningQueue()
    for number in range(4):
        queue.add((TOPIC, number), "t")
    queue.add((TOPIC, 10), "__consumer_offsets")
    queue.add((TOPIC, 11), "__consumer_offsets")
    queue.ask((TOPIC, 2))
    queue.ask((TOPIC, 11))
    queue.ask((TOPIC, 2))
    assert len(queue) == 6
    assert taken(queue) == [2, 11, 10, 0, 1, 3]
    assert len(queue) == 0


def test_asking_for_what_does_not_wait_changes_nothing() -> None:
    queue = OpeningQueue()
    queue.ask((TOPIC, 7))
    assert queue.take() is None
