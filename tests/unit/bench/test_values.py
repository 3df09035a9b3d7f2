"""Values of benchmarks do not repeat, so that figures are those of records and not of a dictionary."""

import re
from itertools import islice

import pytest
import zstandard

from bench.values import MIN_VALUE_BYTES, values
from tests.environment.paths import ROOT

_PRODUCES = re.compile(r"^from confluent_kafka import [^)]*\bProducer\b", re.MULTILINE)


@pytest.mark.parametrize(("value_bytes", "count"), [(100, 60_000), (1_000, 15_000)])
def test_no_value_comes_twice(value_bytes: int, count: int) -> None:
    made = list(islice(values(value_bytes), count))
    assert len(set(made)) == count
    assert {len(it) for it in made} == {value_bytes}
    # Nor do their pieces of text, but for what is near to nothing: a dictionary of these is of no use either.
    assert len({it[MIN_VALUE_BYTES:] for it in made}) > 0.99 * count


def test_they_are_the_same_in_each_run_and_of_a_seed() -> None:
    first, again, other = (list(islice(values(64, seed=it), 50)) for it in (1, 1, 2))
    assert first == again
    assert not set(first) & set(other)


@pytest.mark.parametrize("value_bytes", [100, 1_000])
def test_they_compress_as_text_does(value_bytes: int) -> None:
    """Far from nothing, as random bytes, and far from ten times, as values that repeat."""
    batch = b"".join(islice(values(value_bytes), (256 << 10) // value_bytes))
    assert 3 < len(batch) / len(zstandard.compress(batch)) < 4.5


def test_a_value_has_room_for_its_number() -> None:
    assert len(next(values(MIN_VALUE_BYTES))) == MIN_VALUE_BYTES
    with pytest.raises(ValueError, match="at least 13 bytes"):
        values(MIN_VALUE_BYTES - 1)


def test_every_benchmark_that_produces_takes_them() -> None:
    """Those that have `bench/load.c` produce take its values, which are random and begin with their numbers."""
    texts = {it.name: it.read_text() for it in (ROOT / "bench").glob("*.py")}
    producing = {name for name, text in texts.items() if _PRODUCES.search(text)}
    assert {"move_clients.py", "start.py"} <= producing
    assert [it for it in sorted(producing) if "import values\n" not in texts[it]] == []
    load = (ROOT / "bench" / "load.c").read_text()
    assert "memcpy(value, &i," in load
