import pytest

from headrace.broker.network.connection_bounds import ConnectionBounds, connections_possible


def test_connections_are_counted_by_address_and_in_all() -> None:
    bounds = ConnectionBounds(4, 2, {"c": 3})
    assert [bounds.opened(address) for address in "aaab"] == [True, True, False, True]
    assert [bounds.opened(address) for address in "cc"] == [True, False], "four in all"
    bounds.closed("a")
    bounds.closed("b")
    assert [bounds.opened(address) for address in "ccc"] == [True, True, False]


def test_bounds_change_for_connections_to_come() -> None:
    bounds = ConnectionBounds(4, 2, {"c": 3})
    assert [bounds.opened(address) for address in "aab"] == [True, True, True]
    bounds.change(3, 1)
    assert not bounds.opened("d"), "three are open"
    for address in "aa":
        bounds.closed(address)
    assert [bounds.opened(address) for address in "aacc"] == [True, False, True, False]


def test_what_is_refused_or_gone_leaves_nothing() -> None:
    bounds = ConnectionBounds(1, 1, {})
    for number in range(1_000):
        assert bounds.opened(f"{number}")
        assert not bounds.opened(f"another {number}")
        bounds.closed(f"{number}")
    assert not bounds._open


@pytest.mark.parametrize(
    ("wanted", "descriptors", "possible"),
    [(10_000, 1 << 20, 10_000), (10_000, 4_096, 3_072), (10_000, 1_024, 512), (100, 1_024, 100)],
)
def test_descriptors_are_left_for_everything_else(
    wanted: int, descriptors: int, possible: int
) -> None:
    assert connections_possible(wanted, descriptors) == possible
