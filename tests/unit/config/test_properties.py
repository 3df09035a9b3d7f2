"""Java properties files."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.config.properties import PropertiesError, parse_properties


def pairs(text):
    return [(key, value) for key, value, _ in parse_properties(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=b", [("a", "b")]),
        ("a = b ", [("a", "b ")]),
        ("a: b", [("a", "b")]),
        ("a b c", [("a", "b c")]),
        ("a", [("a", "")]),
        ("a=", [("a", "")]),
        ("  a=b", [("a", "b")]),
        ("# c\n! d\n\na=b", [("a", "b")]),
        ("a=b\r\nc=d\r\n", [("a", "b"), ("c", "d")]),
        ("a=b=c", [("a", "b=c")]),
        ("a=x,\\\n   y", [("a", "x,y")]),
        ("a=x\\\\\nb=y", [("a", "x\\"), ("b", "y")]),
        ("a=\\\n# not a comment", [("a", "# not a comment")]),
        ("a=x\\", [("a", "x")]),
        ("with\\ blank=1", [("with blank", "1")]),
        ("with\\=sign=1", [("with=sign", "1")]),
        ("a=\\t\\n\\u0041\\q", [("a", "\t\nAq")]),
        ("a=1\na=2", [("a", "1"), ("a", "2")]),
        ("a=x\u2028y", [("a", "x\u2028y")]),
        ("", []),
    ],
)
def test_a_file_is_read_as_java_reads_it(text, expected):
    assert pairs(text) == expected


def test_a_setting_knows_the_line_where_it_starts():
    assert [(p.key, p.line) for p in parse_properties("# c\na=1,\\\n  2\nb=3\n")] == [
        ("a", 2),
        ("b", 4),
    ]


@pytest.mark.parametrize("text", ["ok=1\na=\\u00g1", "ok=1\na=\\u12"])
def test_a_malformed_escape_is_refused_with_its_line(text):
    with pytest.raises(PropertiesError, match="malformed") as caught:
        parse_properties(text)
    assert caught.value.line == 2


def escaped(text: str) -> str:
    return "".join(f"\\u{ord(character):04x}" for character in text)


plain = st.text(st.characters(min_codepoint=1, max_codepoint=0xFFFF), min_size=1)


@given(st.lists(st.tuples(plain, plain)))
def test_what_is_escaped_comes_back(settings):
    text = "\n".join(f"{escaped(key)}={escaped(value)}" for key, value in settings)
    assert pairs(text) == settings


@given(st.text())
def test_any_text_is_read_or_refused(text):
    with contextlib.suppress(PropertiesError):
        assert all(setting.line >= 1 for setting in parse_properties(text))
