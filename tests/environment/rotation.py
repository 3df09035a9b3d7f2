"""Which part of a long test runs today: all of it is tried in turn, and a day's part can be repeated."""

from datetime import UTC, datetime


def turn_of_today(parts: int) -> tuple[int, int]:
    """Return how many times all parts have had their turn (since the year 1), and whose it is today, from 0."""
    return divmod(datetime.now(UTC).toordinal(), parts)
