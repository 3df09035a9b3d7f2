"""Which batches were sent behind one that was refused."""

from uuid import UUID

import pytest

from headrace.broker.partition import refused_batches
from headrace.broker.partition.producer_state import SEQUENCE_COUNT
from headrace.broker.partition.refused_batches import REFUSED_FOR_MS, RefusedBatches
from headrace.protocol.errors import ErrorCode
from headrace.protocol.records.batch import parse_header
from headrace.protocol.records.record import BatchOptions, Record, encode_batch

TOPIC = UUID(int=7)
NOT_LEADER = ErrorCode.NOT_LEADER_OR_FOLLOWER


def batch(sequence: int, *, producer: int = 9, epoch: int = 0) -> memoryview:
    options = BatchOptions(producer_id=producer, producer_epoch=epoch, base_sequence=sequence)
    return memoryview(encode_batch([Record(0, 0, None, b"v")], options))


class Noted:
    """Notes at partition 0 of a topic, one batch after the other."""

    def __init__(self) -> None:
        self.refused = RefusedBatches()
        self.now_ms = 1_000

    def note(self, sequence: int, code: ErrorCode = NOT_LEADER, **of: int) -> None:
        self.refused.note((TOPIC, 0), batch(sequence, **of), code, self.now_ms)

    def before(self, sequence: int, *, index: int = 0, **of: int) -> int | None:
        """The sequence of the refused batch that this one was sent behind."""
        header = parse_header(batch(sequence, **of))
        found = self.refused.before((TOPIC, index), header, self.now_ms)
        return None if found is None else found.sequence


@pytest.fixture
def noted() -> Noted:
    return Noted()


def test_the_first_that_was_refused_is_before_all_that_follow_it(noted: Noted) -> None:
    noted.note(7)
    noted.note(8)
    assert noted.before(8, index=1) is None
    assert noted.before(8, producer=10) is None
    assert [noted.before(it) for it in (8, 9, 300)] == [7, 7, 7]


def test_it_will_not_come_if_what_followed_it_comes_again_without_it(noted: Noted) -> None:
    noted.note(7)
    assert [noted.before(it) for it in (8, 9)] == [7, 7]
    noted.note(7)  # again, and refused again
    assert [noted.before(it) for it in (8, 9)] == [7, 7]
    assert noted.before(8) is None, "its producer has given it up"
    assert noted.before(9) is None
    assert not noted.refused.by_producer


def test_it_is_forgotten_when_it_is_sent_again(noted: Noted) -> None:
    noted.note(7)
    assert noted.before(7) is None
    assert noted.before(8) is None
    assert not noted.refused.by_producer


def test_it_is_forgotten_when_the_producer_begins_a_new_epoch(noted: Noted) -> None:
    noted.note(7)
    assert noted.before(0, epoch=1) is None
    assert noted.before(8) is None


def test_an_earlier_batch_is_not_behind_a_later_one_and_takes_its_place(noted: Noted) -> None:
    noted.note(7)
    noted.note(5)
    assert noted.before(7) == 5


def test_sequences_wrap(noted: Noted) -> None:
    noted.note(SEQUENCE_COUNT - 1)
    assert noted.before(0) == SEQUENCE_COUNT - 1


def test_nobody_waits_for_ever_for_what_does_not_come_again(noted: Noted) -> None:
    noted.note(7)
    noted.now_ms += REFUSED_FOR_MS
    assert noted.before(8) == 7
    noted.now_ms += 1
    assert noted.before(9) is None
    assert not noted.refused.by_producer


@pytest.mark.parametrize("code", [ErrorCode.INVALID_RECORD, ErrorCode.MESSAGE_TOO_LARGE])
def test_what_is_not_sent_again_is_not_waited_for(noted: Noted, code: ErrorCode) -> None:
    noted.note(7, code)
    assert not noted.refused.by_producer


@pytest.mark.parametrize("records", [None, memoryview(b"short"), memoryview(bytes(61))])
def test_what_is_no_batch_is_not_noted(noted: Noted, records: memoryview | None) -> None:
    noted.refused.note((TOPIC, 0), records, NOT_LEADER, 0)
    assert not noted.refused.by_producer


def test_producers_that_are_not_idempotent_are_not_noted(noted: Noted) -> None:
    noted.note(-1, producer=-1, epoch=-1)
    assert not noted.refused.by_producer


def test_at_the_bound_the_oldest_go(noted: Noted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refused_batches, "MAX_REFUSED", 3)
    for producer in range(5):
        noted.note(7, producer=producer)
    assert [noted.before(8, producer=it) for it in range(5)] == [None, None, 7, 7, 7]
    noted.now_ms += REFUSED_FOR_MS + 1
    noted.note(7)
    assert len(noted.refused.by_producer) == 1
