"""The nearest known word."""

from headrace.broker.cli.spelling import nearest_word


def test_a_slip_is_recognised():
    assert nearest_word("topc", ["topic", "group"]) == "topic"
    assert nearest_word("zebra", ["topic", "group"]) is None
