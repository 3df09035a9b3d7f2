"""First come, first served."""

from headrace.storage.admission_queue import AdmissionQueue, log_cache_has_room
from headrace.storage.cache.log_cache import max_charge


def test_only_the_head_is_called_and_only_once():
    queue = AdmissionQueue(10, 1_000)
    large, small = queue.join(100), queue.join(1)
    assert queue.call_next(lambda size: size <= 50) is None, "the small one must not overtake"
    assert queue.call_next(lambda size: True) is large
    assert queue.call_next(lambda size: True) is None, "the head has not left yet"
    queue.leave(large)
    assert queue.call_next(lambda size: True) is small
    queue.leave(small)
    assert queue.call_next(lambda size: True) is None
    assert len(queue) == 0


def test_whoever_gives_up_holds_up_nobody():
    queue = AdmissionQueue(10, 1_000)
    first, second, third = queue.join(1), queue.join(2), queue.join(3)
    queue.leave(second)
    queue.leave(first)
    assert queue.call_next(lambda size: True) is third


def test_a_head_without_room_may_be_called_again():
    queue = AdmissionQueue(10, 1_000)
    head = queue.join(1)
    assert queue.call_next(lambda size: True) is head
    head.is_called = False
    assert queue.call_next(lambda size: True) is head


def test_queue_is_bounded():
    queue = AdmissionQueue(2, 1_000)
    assert queue.join(1) is not None
    assert queue.join(1) is not None
    assert queue.join(1) is None
    assert len(queue) == 2


def test_room_counts_the_most_that_may_be_charged():
    need = max_charge(100, 1)
    assert log_cache_has_room(1, 1 + need, 100)
    assert not log_cache_has_room(1, need, 100)


def test_an_empty_cache_takes_anything():
    """Else a batch larger than the cache would wait for ever."""
    assert log_cache_has_room(0, 10, 1_000_000)
    assert not log_cache_has_room(1, 10, 1_000_000)


def test_those_who_wait_are_bounded_in_bytes():
    queue = AdmissionQueue(10, 100)
    large = queue.join(500)
    assert large is not None, "one alone is let in, whatever its size"
    assert queue.join(1) is None
    queue.leave(large)
    assert queue.join(60) is not None
    assert queue.join(41) is None
    assert queue.join(40) is not None
