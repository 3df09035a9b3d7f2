import random
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.metadata.controller.placement import partitions_led, place

NODES = st.lists(st.integers(0, 99), min_size=1, max_size=8, unique=True)


@settings(deadline=None)
@given(
    count=st.integers(0, 50),
    brokers=NODES,
    led=st.dictionaries(st.integers(0, 99), st.integers(0, 30)),
    seed=st.integers(0, 9),
)
def test_a_topic_is_spread_evenly_whatever_the_brokers_lead_already(count, brokers, led, seed):
    leaders = Counter(place(count, brokers, led, random.Random(seed)))

    assert sum(leaders.values()) == count
    assert set(leaders) <= set(brokers)
    if count >= len(brokers):
        assert max(leaders.values()) - min(leaders.values()) <= 1


def test_what_does_not_divide_evenly_goes_where_there_is_least():
    led = {1: 12, 2: 3, 3: 7}

    assert place(1, [1, 2, 3], led, random.Random(1)) == [2]
    leaders = Counter(place(5, [1, 2, 3], led, random.Random(1)))
    assert leaders == {2: 2, 3: 2, 1: 1}


def test_a_broker_that_leads_nothing_yet_does_not_get_a_whole_topic():
    leaders = Counter(place(9, [1, 2, 3], {1: 500, 2: 500}, random.Random(1)))

    assert leaders == {1: 3, 2: 3, 3: 3}


def test_partitions_that_a_topic_has_already_count():
    leaders = place(2, [1, 2, 3], {1: 1, 2: 9, 3: 2}, random.Random(1), of_topic={1: 1, 3: 1})

    assert leaders == [2, 1]


def test_single_partitions_do_not_all_go_to_the_first_broker():
    rng = random.Random(3)

    assert {place(1, [1, 2, 3], {}, rng)[0] for _ in range(50)} == {1, 2, 3}


def test_a_thousand_topics_are_spread_within_a_few_percent(controller):
    for node_id in (1, 2, 3):
        controller.register(node_id)
    for number in range(200):
        controller.create(f"topic-{number}", 10)
    controller.register(4)
    for number in range(200, 1_000):
        controller.create(f"topic-{number}", 10)

    led = partitions_led(controller.image)
    assert sum(led.values()) == 10_000
    of_three = [led[node_id] for node_id in (1, 2, 3)]
    assert max(of_three) - min(of_three) <= 100
    # The fourth has had its share of all that came after it, and more where there was a remainder.
    assert led[4] >= 2_000
