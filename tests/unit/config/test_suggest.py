"""The nearest known name."""

from headrace.config.suggest import MAX_NAME_LENGTH, nearest

KNOWN = ["num.partitions", "log.retention.ms", "listeners"]


def test_a_slip_finds_its_name():
    assert nearest("num.partitons", KNOWN) == "num.partitions"
    assert nearest("Listeners", KNOWN) == "listeners"


def test_something_else_finds_nothing():
    assert nearest("colour.of.the.sky", KNOWN) is None


def test_a_huge_name_is_not_compared():
    assert (
        nearest("listeners" + "x" * MAX_NAME_LENGTH, ["listeners" + "x" * MAX_NAME_LENGTH]) is None
    )
