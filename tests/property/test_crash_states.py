"""The states of a crash are all of them, told apart, and made without a trace."""

from itertools import combinations

import pytest

from tests.simulation.crash_states import CrashPoint, crash_points
from tests.simulation.disk import SECTOR_BYTES, Completed, Event, Noted, PowerCut, Submitted

SIZE = 8 * 4096
WRITES = [Submitted(number, number * 4096, bytes([number + 1]) * 4096) for number in range(4)]


def point_behind(trace: list[Event]) -> CrashPoint:
    *_, last = crash_points(SIZE, trace, "seed")
    return last


def image_of(point: CrashPoint, outcome: str) -> bytes:
    kept = point.kept(outcome)
    before = bytes(point.image)
    point.make(kept)
    image = bytes(point.image)
    point.unmake(kept)
    assert bytes(point.image) == before
    return image


def test_every_combination_of_kept_and_lost() -> None:
    point = point_behind([*WRITES])
    found = {image_of(point, outcome) for outcome in point.subsets()}
    expected = set()
    for count in range(5):
        for chosen in combinations(WRITES, count):
            image = bytearray(SIZE)
            for write in chosen:
                image[write.position : write.position + 4096] = write.data
            expected.add(bytes(image))
    assert found == expected


def test_what_was_completed_is_never_lost_and_what_was_not_may_be() -> None:
    point = point_behind([*WRITES, Completed(2), Noted("confirmed", 1)])
    images = [image_of(point, outcome) for outcome in [*point.subsets(), *point.torn(50)]]
    assert all(image[2 * 4096 : 3 * 4096] == WRITES[2].data for image in images)
    for write in (WRITES[0], WRITES[1], WRITES[3]):
        places = {image[write.position : write.position + 4096] for image in images}
        assert {bytes(4096), write.data} < places, "and torn"


def test_torn_writes_are_torn_by_sector_in_every_way() -> None:
    point = point_behind(WRITES[:1])
    kept = set()
    for outcome in point.torn(600):
        image = image_of(point, outcome)
        sectors = [image[at : at + SECTOR_BYTES] for at in range(0, 4096, SECTOR_BYTES)]
        assert set(sectors) <= {bytes(SECTOR_BYTES), WRITES[0].data[:SECTOR_BYTES]}
        kept.add(tuple(any(sector) for sector in sectors))
    assert len(kept) > 100, "of 254 that are neither whole nor nothing"


def test_a_number_tells_a_state() -> None:
    states = {}
    for trace in (WRITES[:2], [*WRITES, Completed(1)], [*WRITES[1:], Completed(3), Completed(1)]):
        point = point_behind(trace)
        for outcome in [*point.subsets(), *point.torn(20)]:
            number = point.number_of(point.kept(outcome))
            assert states.setdefault(image_of(point, outcome), number) == number
    assert len(set(states.values())) == len(states) > 40
    assert point_behind([]).number != next(crash_points(2 * SIZE, [])).number


def test_after_a_power_cut_nothing_is_in_flight() -> None:
    image = bytearray(SIZE)
    image[4096:4608] = WRITES[1].data[:SECTOR_BYTES]
    point = point_behind([*WRITES[:2], PowerCut(bytes(image))])
    assert list(point.subsets()) == ["s0"]
    assert list(point.torn(5)) == []
    assert image_of(point, "s0") == image
    torn = point_behind(WRITES[1:2])
    numbers = {
        torn.number_of([(torn.inflight[0], [sector])]) for sector in range(4096 // SECTOR_BYTES)
    }
    assert point.number in numbers, "the same state, however it came about"


def test_an_outcome_is_the_same_each_time() -> None:
    one, other = (
        [point_behind(WRITES).kept(f"t{number}") for number in range(9)] for _ in range(2)
    )
    assert [[sectors for _, sectors in kept] for kept in one] == [
        [sectors for _, sectors in kept] for kept in other
    ]


@pytest.mark.parametrize("overlap", [0, 4096])
def test_the_disk_refuses_writes_in_flight_that_overlap(overlap: int) -> None:
    """Only so is the order of writes no matter."""
    from tests.simulation.disk import SimulatedDisk

    disk = SimulatedDisk(SIZE, automatic=False)
    disk.submit(0, memoryview(bytes(8192)), lambda error: None)
    with pytest.raises(AssertionError, match="overlap"):
        disk.submit(overlap, memoryview(bytes(4096)), lambda error: None)
    disk.submit(8192, memoryview(bytes(4096)), lambda error: None)
    disk.complete(0)
    disk.submit(overlap, memoryview(bytes(4096)), lambda error: None)
