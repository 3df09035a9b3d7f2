"""Points in time."""

from datetime import UTC, datetime

import click
import pytest

from headrace.broker.cli.times import parse_time
from headrace.readable import format_time

NOW_MS = 1_800_000_000_000


@pytest.mark.parametrize(
    ("text", "time_ms"),
    [
        ("0", 0),
        ("1700000000123", 1_700_000_000_123),
        ("30s", NOW_MS - 30_000),
        ("15m", NOW_MS - 900_000),
        ("2h", NOW_MS - 7_200_000),
        ("7d", NOW_MS - 604_800_000),
        ("99999999d", 0),
        ("2026-01-31T12:00:00Z", 1_769_860_800_000),
        ("2026-01-31T12:00:00.250+00:00", 1_769_860_800_250),
        ("2026-01-31T13:00+01:00", 1_769_860_800_000),
    ],
)
def test_a_time_is_read(text, time_ms):
    assert parse_time(text, now_ms=NOW_MS) == time_ms


def test_a_time_without_zone_is_local():
    assert parse_time("2026-01-31T12:00") == int(
        datetime(2026, 1, 31, 12).astimezone().timestamp() * 1000
    )


@pytest.mark.parametrize("text", ["", "yesterday", "5 m", "5w", "-5", "2026-13-01", "9" * 30])
def test_something_else_is_refused(text):
    with pytest.raises(click.BadParameter, match="is not a time"):
        parse_time(text)


def test_a_time_is_written_in_utc():
    assert format_time(1_769_860_800_250) == "2026-01-31T12:00:00.250Z"
    assert parse_time(format_time(NOW_MS)) == NOW_MS
    assert datetime.fromisoformat(format_time(NOW_MS)).tzinfo == UTC
