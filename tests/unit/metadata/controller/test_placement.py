import random
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from metadata.controller.placement import place


@settings(deadline=None)
@given(
    count=st.integers(0, 50),
    brokers=st.lists(st.integers(0, 99), min_size=1, max_size=8, unique=True),
    seed=st.integers(0, 9),
)
def test_partitions_are_spread_evenly(count, brokers, seed):
    leaders = Counter(place(count, brokers, random.Random(seed)))

    assert sum(leaders.values()) == count
    assert set(leaders) <= set(brokers)
    if count >= len(brokers):
        assert max(leaders.values()) - min(leaders.values()) <= 1


def test_single_partitions_do_not_all_go_to_the_first_broker():
    rng = random.Random(3)

    assert {place(1, [1, 2, 3], rng)[0] for _ in range(50)} == {1, 2, 3}
