"""How a mistake is told."""

from headrace.config.problems import ConfigError, Problem


def test_a_problem_tells_place_value_range_and_example():
    problem = Problem(
        "must be at least 1",
        key="num.partitions",
        value="0",
        source="server.properties:7",
        allowed="integer, at least 1",
        example="num.partitions=3",
    )
    assert str(problem).split("\n") == [
        "server.properties:7: num.partitions=0: must be at least 1",
        "    allowed: integer, at least 1",
        "    example: num.partitions=3",
    ]


def test_what_is_not_known_is_left_out():
    assert str(Problem("cannot be read", source="x")) == "x: cannot be read"
    assert str(Problem("relations are broken")) == "relations are broken"


def test_secrets_and_long_values_are_not_repeated():
    text = str(Problem("is wrong", key="k", value="s3://b?secretKey=hush&x=" + "y" * 500))
    assert "hush" not in text
    assert len(text) < 200


def test_the_error_lists_every_problem():
    error = ConfigError([Problem("one"), Problem("two")])
    assert str(error) == "one\ntwo"
    assert len(error.problems) == 2
