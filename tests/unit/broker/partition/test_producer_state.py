"""Idempotence rules (KIP-98, KIP-360): what is next, what is a repeat, what is wrong."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.broker.partition.producer_state import (
    BATCHES_RETAINED,
    SEQUENCE_COUNT,
    ProducerStates,
    SequenceCheck,
    last_sequence,
)
from headrace.protocol.partition_checkpoint import BatchMetadata


def states(**kwargs: int) -> ProducerStates:
    return ProducerStates(expiration_ms=kwargs.pop("expiration_ms", 1_000), **kwargs)


def write(
    producers: ProducerStates, first: int, count: int, offset: int, *, epoch: int = 0, at: int = 0
) -> None:
    producers.update(
        7,
        epoch,
        BatchMetadata(first, last_sequence(first, count), offset, offset + count - 1, -1),
        at,
    )


def test_an_unknown_producer_may_start_at_any_sequence() -> None:
    assert states().check(7, 3, 41, 2).outcome is SequenceCheck.APPEND


def test_the_next_sequence_is_appended_and_a_gap_is_refused() -> None:
    producers = states()
    write(producers, 0, 3, 100)
    assert producers.check(7, 0, 3, 1).outcome is SequenceCheck.APPEND
    assert producers.check(7, 0, 4, 1).outcome is SequenceCheck.OUT_OF_ORDER
    assert producers.check(7, 0, 2, 1).outcome is SequenceCheck.OUT_OF_ORDER


def test_each_of_the_last_five_batches_is_recognised_with_its_own_offset() -> None:
    producers = states()
    for number in range(BATCHES_RETAINED + 1):
        write(producers, number * 2, 2, 50 + number * 2)
    for number in range(1, BATCHES_RETAINED + 1):
        outcome, duplicate = producers.check(7, 0, number * 2, 2)
        assert outcome is SequenceCheck.DUPLICATE
        assert duplicate is not None
        assert duplicate.base_offset == 50 + number * 2
    # The sixth from the end is older than what is remembered.
    assert producers.check(7, 0, 0, 2).outcome is SequenceCheck.OUT_OF_ORDER


def test_a_repeat_with_another_length_is_no_repeat() -> None:
    producers = states()
    write(producers, 0, 3, 0)
    assert producers.check(7, 0, 0, 2).outcome is SequenceCheck.OUT_OF_ORDER


def test_sequences_wrap_to_zero() -> None:
    producers = states()
    write(producers, SEQUENCE_COUNT - 2, 2, 0)
    assert producers.check(7, 0, 0, 5).outcome is SequenceCheck.APPEND
    producers.update(
        7, 0, BatchMetadata(SEQUENCE_COUNT - 1, last_sequence(SEQUENCE_COUNT - 1, 3), 2, 4, 0), 0
    )
    assert producers.check(7, 0, 2, 1).outcome is SequenceCheck.APPEND


def test_a_new_epoch_starts_at_zero_and_fences_the_old_one() -> None:
    producers = states()
    write(producers, 0, 3, 0, epoch=1)
    assert producers.check(7, 2, 3, 1).outcome is SequenceCheck.OUT_OF_ORDER
    assert producers.check(7, 2, 0, 1).outcome is SequenceCheck.APPEND
    assert producers.check(7, 0, 3, 1).outcome is SequenceCheck.STALE_EPOCH
    write(producers, 0, 1, 3, epoch=2)
    # The batches of epoch 1 are forgotten with it.
    assert producers.check(7, 1, 0, 3).outcome is SequenceCheck.STALE_EPOCH
    assert producers.check(7, 2, 1, 1).outcome is SequenceCheck.APPEND


def test_silent_producers_expire_and_may_then_continue_anywhere() -> None:
    producers = states(expiration_ms=1_000)
    write(producers, 0, 1, 0, at=5_000)
    assert producers.expire(6_000) == 0
    assert producers.expire(6_001) == 1
    assert producers.check(7, 0, 99, 1).outcome is SequenceCheck.APPEND


def test_the_number_of_producers_is_bounded_and_the_longest_silent_goes_first() -> None:
    producers = states(max_producers=2)
    for producer_id in (1, 2, 1, 3):
        producers.update(producer_id, 0, BatchMetadata(0, 0, 0, 0, 0), 0)
    assert [it.producer_id for it in producers] == [1, 3]


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 5), st.booleans()), max_size=40),
    st.integers(0, SEQUENCE_COUNT - 1),
)
def test_a_client_that_repeats_unanswered_batches_writes_each_once(
    batches: list[tuple[int, bool]], start: int
) -> None:
    producers = states()
    sequence, offset = start, 0
    for count, repeated in batches:
        for attempt in range(2 if repeated else 1):
            outcome, duplicate = producers.check(7, 0, sequence, count)
            if attempt == 0:
                assert outcome is SequenceCheck.APPEND
                write(producers, sequence, count, offset)
            else:
                assert outcome is SequenceCheck.DUPLICATE
                assert duplicate is not None
                assert duplicate.base_offset == offset
        offset += count
        sequence = (sequence + count) % SEQUENCE_COUNT


@pytest.mark.parametrize(
    ("first", "count", "last"), [(0, 1, 0), (5, 3, 7), (SEQUENCE_COUNT - 1, 2, 0)]
)
def test_last_sequence(first: int, count: int, last: int) -> None:
    assert last_sequence(first, count) == last


def test_what_a_checkpoint_has_taken_does_not_change_any_more() -> None:
    """It is encoded as it is, without a copy of 100,000 producers."""
    producers = ProducerStates(expiration_ms=1_000)
    for number in range(7):
        producers.update(3, 0, BatchMetadata(number, number, number, number, 0), number)
        taken = list(producers)
        assert [it.base_offset for it in taken[0].batches] == list(range(number + 1))[-5:]
        producers.update(3, 0, BatchMetadata(9, 9, 9, 9, 0), 99)
        assert taken[0].updated_ms == number
        producers.restore(taken)
