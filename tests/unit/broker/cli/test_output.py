"""Results for people and for programs."""

import json

import pytest

from headrace.broker.cli.output import emit_object, emit_rows, talk

ROWS = [
    {"name": "a", "size_bytes": 5, "tags": ["x", "y"], "open": True, "note": None},
    {"name": "longer", "size_bytes": 12345, "tags": [], "open": False, "note": "n"},
]


def test_a_table_is_aligned_and_numbers_are_right(capsys):
    emit_rows(ROWS, output="table")
    assert capsys.readouterr().out.split("\n") == [
        "NAME    SIZE BYTES  TAGS  OPEN  NOTE",
        "a                5  x,y   yes   -",
        "longer       12345  -     no    n",
        "",
    ]


def test_a_table_shows_the_columns_that_it_is_asked_for(capsys):
    emit_rows(ROWS, output="table", columns=("size_bytes",))
    assert capsys.readouterr().out == "SIZE BYTES\n         5\n     12345\n"


def test_an_empty_table_is_nothing_and_empty_json_is_a_list(capsys):
    emit_rows([], output="table")
    assert capsys.readouterr().out == ""
    emit_rows([], output="json")
    assert json.loads(capsys.readouterr().out) == []


def test_json_has_everything(capsys):
    emit_rows(ROWS, output="json", columns=("name",))
    assert json.loads(capsys.readouterr().out) == ROWS


def test_jsonl_is_an_object_per_line(capsys):
    emit_rows(ROWS, output="jsonl")
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == ROWS


@pytest.mark.parametrize("output", ["json", "jsonl"])
def test_one_result_is_one_object(output, capsys):
    emit_object({"cluster_id": "x", "parts": {"a": 1}}, output=output)
    assert json.loads(capsys.readouterr().out) == {"cluster_id": "x", "parts": {"a": 1}}


def test_one_result_as_a_table_is_a_line_per_key(capsys):
    emit_object({"cluster_id": "x", "parts": {"a": 1, "b": 2}}, output="table")
    assert capsys.readouterr().out == "cluster id  x\nparts       a=1 b=2\n"


def test_talk_goes_to_standard_error(capsys):
    talk("hello")
    output = capsys.readouterr()
    assert (output.out, output.err) == ("", "hello\n")


def test_a_pipe_gets_no_colours(capsys):
    emit_rows(ROWS, output="table")
    assert "\x1b" not in capsys.readouterr().out


def test_a_terminal_gets_a_bold_heading_unless_no_color_is_set(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    emit_rows(ROWS, output="table")
    assert capsys.readouterr().out.startswith("\x1b[1mNAME")
    monkeypatch.setenv("NO_COLOR", "1")
    emit_rows(ROWS, output="table")
    assert "\x1b" not in capsys.readouterr().out
