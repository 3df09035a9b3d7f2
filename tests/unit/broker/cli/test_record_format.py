"""How a record is written."""

import json
from types import SimpleNamespace

import click
import pytest

from headrace.broker.cli.record_format import record_formatter


def record(**changes):
    fields = {
        "topic": "orders",
        "partition": 2,
        "offset": 7,
        "timestamp": 1_769_860_800_250,
        "key": b"k",
        "value": b"v",
        "headers": [("source", b"cli"), ("none", None)],
    }
    return SimpleNamespace(**(fields | changes))


def test_json_has_the_documented_keys():
    assert json.loads(record_formatter("json")(record())) == {
        "topic": "orders",
        "partition": 2,
        "offset": 7,
        "timestamp": "2026-01-31T12:00:00.250Z",
        "timestamp_ms": 1_769_860_800_250,
        "key": "k",
        "value": "v",
        "headers": [["source", "cli"], ["none", None]],
    }


def test_json_tells_text_bytes_and_nothing_apart():
    line = json.loads(
        record_formatter("jsonl")(record(key=None, value=b"\xff\x00", timestamp=-1, headers=[]))
    )
    assert line["key"] is None
    assert line["value"] == {"base64": "/wA="}
    assert (line["timestamp"], line["timestamp_ms"]) == (None, -1)


def test_json_is_one_line_per_record():
    text = record_formatter("json")(record(value="zwei\nZeilen ü".encode()))
    assert text.count(b"\n") == 1
    assert "ü".encode() in text


def test_raw_is_the_value_and_a_line_end():
    assert record_formatter("raw")(record(value=b"\xff")) == b"\xff\n"
    assert record_formatter("raw")(record(value=None)) == b"\n"


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("%k %v", b"k v\n"),
        ("%t/%p/%o at %T", b"orders/2/7 at 1769860800250\n"),
        ("%h", b"source=cli,none=\n"),
        ("100%%", b"100%\n"),
        (r"%k\t%v\n", b"k\tv\n"),
        (r"%k\\%v\q", b"k\\v\\q\n"),
        ("ü%k", "ük\n".encode()),
        ("table", b"orders-2 @7  1769860800250  k  v\n"),
    ],
)
def test_a_format_is_filled_in(form, text):
    assert record_formatter(form)(record()) == text


def test_missing_key_and_value_are_empty():
    assert record_formatter("[%k][%v]")(record(key=None, value=None)) == b"[][]\n"


@pytest.mark.parametrize("form", ["xml", "%x", "100%"])
def test_an_unknown_form_is_explained(form):
    with pytest.raises(click.BadParameter, match=r"known are|is not json"):
        record_formatter(form)
