"""The checks of command lines: each fails for what is wrong, and for nothing else."""

import pytest

from tests.documentation.command_lines import (
    commands,
    complaint,
    complaints,
    headrace_arguments,
    usage_complaint,
)
from tests.documentation.pages import anchor, page


def test_a_script_is_split_at_its_operators() -> None:
    script = (
        "echo 'a | b' | headrace produce orders   # sends it\nheadrace consume \\\n  orders &\n"
    )
    assert commands(script) == [
        ["echo", "a | b"],
        ["headrace", "produce", "orders"],
        ["headrace", "consume", "orders"],
    ]


@pytest.mark.parametrize(
    ("line", "arguments"),
    [
        (".venv/bin/headrace wal info x", ["wal", "info", "x"]),
        ("docker compose exec headrace headrace topic list", ["topic", "list"]),
        ("docker compose up headrace", None),
        ("docker build -t headrace .", None),
        ("kcat -L", None),
    ],
)
def test_what_is_told_to_headrace(line: str, arguments: list[str] | None) -> None:
    assert headrace_arguments(line.split()) == arguments


@pytest.mark.parametrize(
    "line",
    [
        "topic create orders --partitions 3",
        "cluster quorum -b 127.0.0.1:9121",
        "server --override node.id=1",
        "--help",
    ],
)
def test_a_right_line_is_accepted(line: str) -> None:
    assert complaint(line.split()) is None


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("topic make orders", "no command 'make'"),
        ("topic create orders --parts 3", "no such option"),
        ("topic create", "missing"),
        ("wal info a b", "too many arguments"),
        ("server --override node.ids=1", "no such setting"),
    ],
)
def test_a_wrong_line_is_not(line: str, why: str) -> None:
    assert why.lower() in str(complaint(line.split())).lower()


def test_the_forms_of_a_command() -> None:
    assert usage_complaint("headrace wal info | verify | dump PATH --json") is None
    assert usage_complaint("headrace object verify URL KEY... | --all") is None
    assert "no command 'drop'" in str(usage_complaint("headrace wal info | drop PATH"))
    assert "--deep" in str(usage_complaint("bucket ls URL [--deep]"))


@pytest.mark.parametrize(
    "line",
    [
        "make everything",
        "make bench SPEED=1",
        "python -m bench.nothing",
        "python -m bench.storage_cold_read --no-such-option",
        "pytest tests/nowhere",
    ],
)
def test_a_wrong_program_is_named(line: str) -> None:
    assert list(complaints(line.split()))


def test_anchors_are_those_of_the_web() -> None:
    assert anchor("If you are about to change ...") == "if-you-are-about-to-change-"
    assert "losing-every-controller" in page("docs/metadata.md").anchors
