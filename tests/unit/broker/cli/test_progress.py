"""The progress bar."""

import sys

import pytest

from headrace.broker.cli.progress import progress


def test_without_a_terminal_there_is_no_bar(capsys):
    with progress("work", total=100) as advance:
        advance(50)
    output = capsys.readouterr()
    assert (output.out, output.err) == ("", "")


@pytest.mark.parametrize(("total", "term"), [(0, "xterm"), (100, "dumb")])
def test_unknown_sizes_and_dumb_terminals_get_none(total, term, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", term)
    with progress("work", total=total) as advance:
        advance(50)
    assert capsys.readouterr().err == ""


def test_a_terminal_gets_a_bar_on_standard_error(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    with progress("producing to orders", total=100) as advance:
        advance(100)
    output = capsys.readouterr()
    assert "producing to orders" in output.err
    assert output.out == ""
