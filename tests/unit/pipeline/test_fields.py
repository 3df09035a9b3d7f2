"""Which fields of which documents are chosen."""

import json

import pytest

from headrace.pipeline.fields import FieldChoice, NoSuchFieldError, choose_fields


def lines(*documents: object) -> list[str]:
    """Documents as JSON lines."""
    return [json.dumps(document) for document in documents]


PACKAGES = lines(
    {"package": "a", "section": "games", "size": 5},
    {"package": "b", "section": "net", "size": 6, "extra": 1},
    {"package": "c", "section": "games", "size": 7.5},
    {"package": "d", "section": "games", "size": 8, "rare": "x"},
)


def test_the_tersest_text_and_the_commonest_number() -> None:
    assert choose_fields(PACKAGES) == FieldChoice("section", "size")


def test_given_fields_are_taken() -> None:
    assert choose_fields(PACKAGES, group_by="package", number="extra") == FieldChoice(
        "package", "extra"
    )


def test_a_text_with_one_value_or_in_few_documents_says_nothing() -> None:
    sample = lines(
        {"constant": "same", "kind": "x", "rare": "p"},
        {"constant": "same", "kind": "y", "rare": "p"},
        {"constant": "same", "kind": "x"},
        {"constant": "same", "kind": "y"},
        {"constant": "same", "kind": "z"},
    )
    assert choose_fields(sample) == FieldChoice("kind", None)


def test_booleans_are_no_numbers() -> None:
    sample = lines({"kind": "x", "flag": True}, {"kind": "y", "flag": False}, {"kind": "x"})
    assert choose_fields(sample).number is None


def test_lines_that_are_no_documents_are_passed_over() -> None:
    sample = ["", "no json", "[1]", *lines({"kind": "x"}, {"kind": "y"}, {"kind": "x"})]
    assert choose_fields(sample).group_by == "kind"


@pytest.mark.parametrize(
    "sample", [[], lines({"id": "a"}, {"id": "b"}), lines({"same": "a"}, {"same": "a"})]
)
def test_nothing_to_group_by(sample: list[str]) -> None:
    with pytest.raises(NoSuchFieldError, match="no text field"):
        choose_fields(sample)


def test_a_given_field_that_is_not_there() -> None:
    with pytest.raises(NoSuchFieldError, match=r"no field 'sektion'.*extra, package, rare"):
        choose_fields(PACKAGES, group_by="sektion")
