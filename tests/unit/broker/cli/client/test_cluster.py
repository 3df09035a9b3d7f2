"""Cluster commands."""

from click.testing import CliRunner

from headrace.broker.cli.client.cluster import _node_configs
from headrace.broker.cli.root import cli
from tests.unit.broker.cli.fake_admin import FakeAdmin


def test_the_settings_of_a_node_are_asked_for_by_name():
    admin = FakeAdmin({}, configs={"num.partitions": "1"})
    assert _node_configs(admin, 1, ("num.partitions",)) == {"num.partitions": {"value": "1"}}


def test_a_node_number_is_a_number():
    result = CliRunner().invoke(cli, ["cluster", "configs", "--node", "first"])
    assert result.exit_code == 2
