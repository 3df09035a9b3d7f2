"""When a Fetch is answered."""

from types import SimpleNamespace

import pytest

from headrace.broker.fetch.enough import Enough, cut_off


def test_enough_is_what_the_client_asks_for_and_its_limit_allows() -> None:
    for limit, least in ((1_000, 100), (60, 60)):
        enough = Enough(min_bytes=100, max_bytes=limit, may_wait=True)
        assert [enough.is_counted(it) for it in (least - 1, least)] == [False, True]


@pytest.mark.parametrize(
    ("may_wait", "has_error", "ends"),
    [(True, False, False), (False, False, True), (True, True, True)],
)
def test_what_ends_a_fetch_that_has_not_enough(
    *, may_wait: bool, has_error: bool, ends: bool
) -> None:
    enough = Enough(min_bytes=100, max_bytes=1_000, may_wait=may_wait)
    assert enough.is_found(SimpleNamespace(available_bytes=99, has_error=has_error)) is ends
    assert enough.is_found(SimpleNamespace(available_bytes=100, has_error=has_error))


def test_a_limit_that_ends_a_read_counts_as_if_it_were_filled() -> None:
    """With `min_bytes` near the limit, a client would wait for what no answer can hold."""
    assert cut_off(70, 100) == 100
    assert cut_off(170, 100) == 170, "the first batch is answered whole"
