"""Settings of a group of KIP-848."""

import pytest

from config.group import GROUP_CONFIGS, validate_group_configs
from config.node import GroupConfig

BOUNDS = GroupConfig()


def test_values_within_the_brokers_bounds_are_fine():
    wanted = {"consumer.session.timeout.ms": "60000", "consumer.heartbeat.interval.ms": "5000"}
    assert set(wanted) == set(GROUP_CONFIGS)
    assert validate_group_configs(wanted, BOUNDS) is None


@pytest.mark.parametrize(
    ("name", "value", "part"),
    [
        ("consumer.session.timeout.ms", "60001", "between 45000 and 60000"),
        ("consumer.session.timeout.ms", "44999", "between 45000 and 60000"),
        ("consumer.heartbeat.interval.ms", "4999", "between 5000 and 15000"),
        ("consumer.heartbeat.interval.ms", "soon", "whole number"),
        ("consumer.session.timeout", "1", "did you mean consumer.session.timeout.ms?"),
        ("other", "1", "unknown group config name: other"),
    ],
)
def test_others_are_explained(name, value, part):
    assert part in validate_group_configs({name: value}, BOUNDS)
