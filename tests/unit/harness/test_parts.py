"""Modules that are divided among processes."""

import pytest

from tests.environment.parts import Part, PartPlugin, parsed_part
from tests.environment.paths import ROOT

MODULES = sorted((ROOT / "tests" / "unit").rglob("test_*.py"))


def test_each_module_is_in_one_part_and_none_is_much_larger() -> None:
    plugins = [PartPlugin(Part(number, 2), ROOT) for number in (1, 2)]
    taken = [[it for it in MODULES if not each.pytest_ignore_collect(it)] for each in plugins]
    assert sorted(taken[0] + taken[1]) == MODULES
    assert 0.8 < len(taken[0]) / len(taken[1]) < 1.25


def test_a_directory_is_looked_into() -> None:
    plugin = PartPlugin(Part(1, 10_000), ROOT)
    assert plugin.pytest_ignore_collect(ROOT / "tests" / "unit") is None


def test_a_part_is_one_of_a_number() -> None:
    assert parsed_part("2/3") == (2, 3)
    for wrong in ("0/2", "3/2", "2", "a/b", ""):
        with pytest.raises(ValueError, match=r"/|unpack|literal"):
            parsed_part(wrong)
