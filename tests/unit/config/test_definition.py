"""Types, ranges and words of settings."""

import pytest

from headrace.config.definition import (
    ANYTHING,
    LONG_MAX,
    Between,
    ConfigType,
    ListOf,
    OneOf,
    describe_allowed,
    format_value,
    parse_value,
    problem_with,
)


@pytest.mark.parametrize(
    ("config_type", "text", "value"),
    [
        (ConfigType.BOOLEAN, " TRUE ", True),
        (ConfigType.BOOLEAN, "false", False),
        (ConfigType.INT, " 42 ", 42),
        (ConfigType.INT, "-1", -1),
        (ConfigType.INT, "+7", 7),
        (ConfigType.LONG, str(LONG_MAX), LONG_MAX),
        (ConfigType.DOUBLE, "0.5", 0.5),
        (ConfigType.LIST, "a, b ,c", ("a", "b", "c")),
        (ConfigType.LIST, "", ()),
        (ConfigType.STRING, "  x y ", "x y"),
    ],
)
def test_a_text_of_the_type_is_read(config_type, text, value):
    assert parse_value(config_type, text) == value


@pytest.mark.parametrize(
    ("config_type", "text"),
    [
        (ConfigType.BOOLEAN, "yes"),
        (ConfigType.BOOLEAN, ""),
        (ConfigType.INT, "1.5"),
        (ConfigType.INT, "1_000"),
        (ConfigType.INT, "10MB"),
        (ConfigType.INT, ""),
        (ConfigType.INT, "--1"),
        (ConfigType.INT, "٣"),
        (ConfigType.INT, str(2**31)),
        (ConfigType.INT, "9" * 5000),
        (ConfigType.SHORT, "32768"),
        (ConfigType.LONG, str(2**63)),
        (ConfigType.DOUBLE, "much"),
        (ConfigType.DOUBLE, "nan"),
        (ConfigType.DOUBLE, "inf"),
    ],
)
def test_a_text_of_another_type_is_refused(config_type, text):
    with pytest.raises(ValueError, match="must"):
        parse_value(config_type, text)


def test_both_ends_of_an_integer_type_fit():
    assert parse_value(ConfigType.INT, str(-(2**31))) == -(2**31)
    assert parse_value(ConfigType.LONG, str(-(2**63))) == -(2**63)
    assert parse_value(ConfigType.SHORT, "32767") == 32767


@pytest.mark.parametrize(
    ("valid", "good", "bad"),
    [
        (Between(1, 3), [1, 2, 3], [0, 4]),
        (Between(1), [1, 10**12], [0]),
        (Between(None, 0.5), [0.5, -3], [0.6]),
        (OneOf(("a", "b")), ["a"], ["A", "c", ""]),
        (ListOf(("a", "b")), [("a",), ("b", "a"), ()], [("a", "a"), ("c",), ("",)]),
        (ListOf(("a",), empty=False), [("a",)], [()]),
        (ANYTHING, ["", 0, ()], []),
    ],
)
def test_a_set_of_values_holds_what_it_says(valid, good, bad):
    assert [value for value in good if valid.problem(value)] == []
    assert [value for value in bad if not valid.problem(value)] == []


def test_a_problem_says_what_is_allowed():
    assert problem_with(ConfigType.INT, Between(1, 3), "9") == "must be between 1 and 3"
    assert problem_with(ConfigType.INT, Between(1), "x") == "must be a whole number, without a unit"
    assert problem_with(ConfigType.STRING, OneOf(("a", "b")), "c") == "must be one of a, b"
    assert problem_with(ConfigType.INT, Between(1, 3), "2") is None


def test_what_is_allowed_is_described_in_words():
    assert describe_allowed(ConfigType.LONG, Between(-1)) == "integer, at least -1"
    assert describe_allowed(ConfigType.DOUBLE, Between(0, 1)) == "number, between 0 and 1"
    assert describe_allowed(ConfigType.BOOLEAN, ANYTHING) == "true or false"


@pytest.mark.parametrize(
    ("value", "text"), [(True, "true"), (("a", "b"), "a,b"), (5, "5"), ("x", "x"), ((), "")]
)
def test_a_value_is_written_as_a_properties_file_has_it(value, text):
    assert format_value(value) == text
