"""The table of the connector's options in docs/spark.md has each of them, with a test that uses it."""

from tests.documentation.spark_options import DOCUMENTED, rows, spark_tests


def test_each_option_has_a_line() -> None:
    assert {option for row in rows() for option in row.options} == DOCUMENTED


def test_each_line_names_tests_that_use_its_options() -> None:
    sources = spark_tests()
    wrong = []
    for row in rows():
        assert row.tests, f"{row.options} has no test"
        missing = [it for it in row.tests if it not in sources]
        wrong += [f"{row.options}: there is no {it}" for it in missing]
        used = "".join(sources.get(it, "") for it in row.tests)
        wrong += [f"{it} is not used by {row.tests}" for it in row.options if not is_in(it, used)]
    assert not wrong, "\n".join(wrong)


def is_in(option: str, source: str) -> bool:
    """Whether a test sets an option; one that stands for many is shown by any of them."""
    return option.removesuffix("*") in source
