"""Maps that share what they have in common."""

import pickle
from collections.abc import Callable
from random import Random

import pytest

from headrace.persistent_map import MAX_PART_ENTRIES, MAX_PARTS, PersistentMap

KEYS: dict[str, Callable[[int], object]] = {
    "runs": lambda number: number,
    "steps": lambda number: number * 1_024,  # they are in few parts
    "one part": lambda number: number * 32 * MAX_PARTS,
    "names": lambda number: f"topic-{number}",
    "pairs": lambda number: (2, f"topic-{number}"),
    "below zero": lambda number: -number,
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_it_is_what_a_dict_is_and_every_older_map_stays(key) -> None:
    rng = Random(7)
    plain: dict[object, int] = {}
    whole: PersistentMap[object, int] = PersistentMap()
    kept = []
    for size in (3, 40, MAX_PART_ENTRIES + 1, 6_000, 500, 20, 0):
        changes = whole.mutate()
        while len(plain) < size:
            chosen = key(rng.randrange(30_000))
            plain[chosen] = changes[chosen] = rng.randrange(100)
            assert chosen in changes
        for chosen in rng.sample(list(plain), len(plain) - size):
            del plain[chosen], changes[chosen]
            assert chosen not in changes
            assert changes.get(chosen) is None
        whole = changes.finish()
        kept.append((dict(plain), whole))
        for chosen in [key(rng.randrange(30_000)) for _ in range(20)]:
            if chosen in plain and rng.random() < 0.5:
                del plain[chosen]
                whole = whole.delete(chosen)
            else:
                plain[chosen] = 1
                whole = whole.set(chosen, 1)
        kept.append((dict(plain), whole))
    for expected, found in kept:
        assert len(found) == len(expected)
        assert bool(found) == bool(expected)
        assert dict(found.items()) == expected
        assert set(found) == expected.keys() == found.keys()
        assert sorted(found.values()) == sorted(expected.values())
        assert all(found[it] == expected[it] for it in expected)
        assert found == PersistentMap(expected)


def test_its_order_is_not_what_makes_it_equal() -> None:
    one = PersistentMap({"a": 1, "b": 2})
    other = PersistentMap({"b": 2, "a": 1})
    assert one == other
    assert one != other.set("a", 2)
    assert one != other.delete("a")
    assert one != {"a": 1, "b": 2}
    many = PersistentMap((number, number) for number in range(3_000))
    fewer = many.mutate()
    for number in range(1_500, 3_000):
        del fewer[number]
    assert fewer.finish() == PersistentMap((number, number) for number in range(1_500))


def test_what_is_not_there_is_told() -> None:
    some = PersistentMap({1: "a"})
    assert some.get(2) is None
    assert some.get(2, "b") == "b"
    for attempt in (lambda: some[2], lambda: some.delete(2), lambda: some.mutate()[2]):
        with pytest.raises(KeyError):
            attempt()
    assert dict(some) == {1: "a"}
    with pytest.raises(TypeError):
        hash(some)


def test_without_a_change_it_is_the_same_map() -> None:
    some = PersistentMap({1: "a"})
    changes = some.mutate()
    assert changes[1] == "a"
    assert changes.finish() is some


def test_changes_after_the_end_of_changes_do_not_reach_the_map() -> None:
    changes = PersistentMap({1: "a"}).mutate()
    changes[2] = "b"
    first = changes.finish()
    changes[3] = "c"
    assert dict(first) == {1: "a", 2: "b"}
    assert dict(changes.finish()) == {1: "a", 2: "b", 3: "c"}


def test_two_series_of_changes_know_nothing_of_each_other() -> None:
    old = PersistentMap((number, 0) for number in range(1_000))
    one, other = old.mutate(), old.mutate()
    one[5], other[6] = 1, 1
    assert one.finish() == old.set(5, 1)
    assert other.finish() == old.set(6, 1)
    assert set(old.values()) == {0}


def test_a_change_copies_one_part_only() -> None:
    """A topic more does not cost what all partitions weigh."""
    old = PersistentMap((number, 0) for number in range(40_000))
    new = old.set(7, 1)
    copied = [
        len(part) for part, before in zip(new.parts, old.parts, strict=True) if part is not before
    ]
    assert len(old.parts) == MAX_PARTS
    assert len(copied) == 1
    assert copied[0] < 100


def test_it_shrinks_again() -> None:
    changes = PersistentMap((number, 0) for number in range(40_000)).mutate()
    for number in range(10, 40_000):
        del changes[number]
    assert len(changes.finish().parts) == 1


def test_it_survives_pickling() -> None:
    some = PersistentMap((number, str(number)) for number in range(300))
    assert pickle.loads(pickle.dumps(some)) == some
    assert repr(PersistentMap({1: "a"})) == "PersistentMap({1: 'a'})"
