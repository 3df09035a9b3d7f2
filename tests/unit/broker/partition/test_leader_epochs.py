"""Leader epochs and where each ends (KIP-101)."""

from headrace.broker.partition.leader_epochs import LeaderEpochs
from headrace.protocol.partition_checkpoint import EpochStart


def epochs() -> LeaderEpochs:
    found = LeaderEpochs()
    for epoch, offset in ((0, 0), (0, 5), (2, 10), (5, 30), (3, 40)):
        found.assign(epoch, offset)
    return found


def test_only_the_first_batch_of_a_newer_epoch_counts() -> None:
    assert epochs().starts == (EpochStart(0, 0), EpochStart(2, 10), EpochStart(5, 30))


def test_the_end_of_an_epoch_is_the_start_of_the_next_with_data() -> None:
    assert epochs().end_offset(0, 99) == (0, 10)
    assert epochs().end_offset(1, 99) == (0, 10)
    assert epochs().end_offset(4, 99) == (2, 30)
    assert epochs().end_offset(5, 99) == (5, 99)
    assert epochs().end_offset(7, 99) == (5, 99)


def test_an_epoch_before_all_data_ends_where_that_begins() -> None:
    found = LeaderEpochs([EpochStart(2, 15), EpochStart(5, 30)])
    assert found.end_offset(1, 99) == (1, 15)
    assert LeaderEpochs().end_offset(7, 0) == (7, 0)


def test_epoch_of_an_offset() -> None:
    assert [epochs().epoch_of(offset) for offset in (0, 9, 10, 29, 30, 1_000)] == [0, 0, 2, 2, 5, 5]
    assert LeaderEpochs([EpochStart(1, 5)]).epoch_of(4) == -1


def test_trim_keeps_the_epoch_in_force_at_the_log_start() -> None:
    found = epochs()
    found.trim(15)
    assert found.starts == (EpochStart(2, 15), EpochStart(5, 30))
    assert found.end_offset(2, 99) == (2, 30)
