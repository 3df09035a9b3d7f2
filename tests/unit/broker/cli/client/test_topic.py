"""Topic commands: what answers of a broker become."""

import json
from contextlib import contextmanager

import pytest
from click.testing import CliRunner

from headrace.broker.cli.client import topic as module
from headrace.broker.cli.client.topic import (
    _alter_configs,
    _delete_records,
    _describe,
    _first_to_keep,
    _outcomes,
)
from headrace.broker.cli.root import cli
from tests.unit.broker.cli.fake_admin import FakeAdmin

EXISTS, UNKNOWN, INVALID_CONFIG = 36, 3, 40


def entry(name, code=0, message=None):
    return {"name": name, "error_code": code, "error_message": message, "num_partitions": 3}


def test_good_and_bad_results_are_told_apart():
    rows, failures = _outcomes([entry("a"), entry("b", INVALID_CONFIG, "no such key")], "created")
    assert rows == [{"topic": "a", "partitions": 3, "result": "created"}]
    assert str(failures[0]).startswith("topic b: a setting is not valid (no such key)")


def test_what_is_there_already_can_be_fine():
    answer = [entry("a", EXISTS)]
    assert _outcomes(answer, "created")[0] == []
    assert _outcomes(answer, "created", exists_is_fine=True)[0][0]["result"] == "exists already"


def test_what_is_gone_already_can_be_fine():
    answer = [entry("a", UNKNOWN)]
    assert _outcomes(answer, "deleted")[1] != []
    assert _outcomes(answer, "deleted", missing_is_fine=True)[0][0]["result"] == "does not exist"


def test_a_description_joins_partitions_offsets_and_settings():
    admin = FakeAdmin({"orders": [(5, 9), (0, 0)]}, configs={"retention.ms": "1"})
    (described,) = _describe(admin, ("orders",), "modified")
    assert described["configs"] == {"retention.ms": "1"}
    assert described["partitions"] == [
        {
            "partition": 0,
            "leader": 1,
            "leader_epoch": 4,
            "start_offset": 5,
            "end_offset": 9,
            "records": 4,
        },
        {
            "partition": 1,
            "leader": 1,
            "leader_epoch": 4,
            "start_offset": 0,
            "end_offset": 0,
            "records": 0,
        },
    ]


def test_partitions_whose_broker_is_away_are_described_without_offsets(capsys):
    topics = {"orders": [(5, 9), (0, 3), (0, 7)]}
    admin = FakeAdmin(topics, leaders={1: -1, 2: 3}, away={3})
    (described,) = _describe(admin, ("orders",), "modified")
    found = {row["partition"]: (row["leader"], row["records"]) for row in described["partitions"]}
    assert found == {0: (1, 4), 1: (-1, None), 2: (3, None)}
    assert "broker 3 does not answer" in capsys.readouterr().err


def test_a_topic_that_is_not_there_is_an_error_of_the_client():
    from kafka.errors import UnknownTopicOrPartitionError

    with pytest.raises(UnknownTopicOrPartitionError):
        _describe(FakeAdmin({}), ("orders",), "modified")


def test_a_setting_that_the_broker_refuses_fails_the_command():
    from headrace.broker.cli.failures import CommandFailedError

    admin = FakeAdmin({"orders": []}, refusal="InvalidConfigurationError: [Error 40] x: bad value")
    with pytest.raises(CommandFailedError, match="bad value"):
        _alter_configs(admin, "orders", {"x": ("SET", "1")})


@pytest.mark.parametrize(
    ("offset", "chosen", "starts"),
    [
        (7, (), {0: 7, 1: 8}),  # a partition that begins later stays as it is
        (-1, (), {0: 9, 1: 8}),
        (0, (), {0: 5, 1: 8}),
        (6, (0,), {0: 6}),
        (6, (1, 0, 1), {0: 6, 1: 8}),
    ],
)
def test_records_are_deleted_partition_by_partition(offset, chosen, starts):
    admin = FakeAdmin({"orders": [(5, 9), (8, 8)]})
    rows, failures = _delete_records(admin, "orders", offset, chosen)
    assert {row["partition"]: row["start_offset"] for row in rows} == starts
    assert failures == []


def test_a_partition_that_ends_before_does_not_hide_the_others():
    admin = FakeAdmin({"orders": [(0, 3), (0, 9)]})
    rows, failures = _delete_records(admin, "orders", 7, ())
    assert rows == [{"partition": 1, "start_offset": 7}]
    assert str(failures[0]).startswith("topic orders, partition 0: there is no such offset\n")


@pytest.mark.parametrize(
    ("name", "chosen", "part"),
    [
        ("orders", (2,), "has partitions 0 to 1"),
        ("__consumer_offsets", (), "is internal: its records cannot be deleted"),
    ],
)
def test_records_that_cannot_be_deleted_are_not_asked_for(name, chosen, part):
    from headrace.broker.cli.failures import CommandFailedError

    admin = FakeAdmin({"orders": [(0, 3), (0, 9)], "__consumer_offsets": [(0, 3)]})
    with pytest.raises(CommandFailedError, match=part):
        _delete_records(admin, name, -1, chosen)


@pytest.mark.parametrize(
    ("arguments", "document"),
    [
        (
            ["alter", "orders", "-c", "retention.ms=1", "-p", "3"],
            {"topic": "orders", "changed": ["retention.ms"], "partitions": 3},
        ),
        (
            ["alter", "orders", "--delete-config", "retention.ms"],
            {"topic": "orders", "changed": ["retention.ms"], "partitions": None},
        ),
        (["delete", "orders", "--yes"], [{"topic": "orders", "result": "deleted"}]),
    ],
)
def test_a_change_is_told_to_people_and_to_programs(arguments, document, monkeypatch):
    @contextmanager
    def lend(_, *, about=""):
        yield FakeAdmin({"orders": [(0, 0)]})

    monkeypatch.setattr(module, "admin_client", lend)
    for_people = CliRunner().invoke(cli, ["topic", *arguments])
    assert (for_people.stdout, for_people.exit_code) == ("", 0)
    for form in (["--json"], ["-o", "json"]):
        result = CliRunner().invoke(cli, ["topic", *arguments, *form])
        assert json.loads(result.stdout) == document
        assert result.stderr == for_people.stderr


@pytest.mark.parametrize("command", ["create", "alter"])
@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("compression.gzip.level=5", "is stored, but not applied yet"),
        ("cleanup.policy=compact", None),
        ("cleanup.policy=compact,delete", None),
        ("cleanup.policy=", None),
        ("min.compaction.lag.ms=5", None),
        ("cleanup.policy=delete", None),
        ("retention.ms=5", None),
    ],
)
def test_a_setting_that_is_not_applied_yet_is_told(command, setting, told, monkeypatch):
    @contextmanager
    def lend(_, *, about=""):
        yield FakeAdmin({"orders": [(0, 0)]})

    monkeypatch.setattr(module, "admin_client", lend)
    result = CliRunner().invoke(cli, ["topic", command, "orders", "-c", setting])
    assert result.exit_code == 0
    if told is None:
        assert "warning" not in result.stderr
    else:
        assert f"warning: topic orders: {setting} {told}" in result.stderr


@pytest.mark.parametrize(("text", "offset"), [("end", -1), ("-1", -1), ("0", 0), ("17", 17)])
def test_the_first_record_to_keep(text, offset):
    assert _first_to_keep(text) == offset


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["create"], "Missing argument"),
        (["create", "x", "-c", "novalue"], "KEY=VALUE"),
        (["alter", "x"], "Nothing to change"),
        (["alter", "x", "-p", "0"], "0"),
        (["delete", "x"], "--yes"),
        (["delete-records", "x"], "--before"),
        (["delete-records", "x", "--before", "5"], "--yes"),
        (["delete-records", "x", "--before", "-2", "-y"], "neither an offset nor 'end'"),
        (["delete-records", "x", "--before", "9" * 19, "-y"], "neither an offset nor 'end'"),
    ],
)
def test_wrong_usage_is_explained(arguments, part):
    result = CliRunner().invoke(cli, ["topic", *arguments])
    assert result.exit_code == 2
    assert part in result.output
