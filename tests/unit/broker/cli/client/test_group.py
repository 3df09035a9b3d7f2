"""Group commands: what answers of a broker become."""

import json
from contextlib import contextmanager

import pytest
from click.testing import CliRunner
from kafka.admin import OffsetSpec, OffsetTimestamp
from kafka.structs import TopicPartition

from headrace.broker.cli.client import group as module
from headrace.broker.cli.client.group import (
    _commit,
    _describe,
    _partitions_to_reset,
    _planned,
)
from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.root import cli, run
from tests.unit.broker.cli.fake_admin import FakeAdmin, Offset

P0, P1 = TopicPartition("orders", 0), TopicPartition("orders", 1)
TOPICS = {"orders": [(5, 9), (0, 4)]}


def described_group(state="Stable", error=None, members=()):
    return {
        "group_state": state,
        "error": error,
        "protocol_data": "range",
        "members": list(members),
    }


def member(client, *partitions):
    return {
        "member_id": f"{client}-1",
        "client_id": client,
        "client_host": "/127.0.0.1",
        "member_assignment": {
            "assigned_partitions": [{"topic": "orders", "partitions": list(partitions)}]
        },
    }


def test_a_description_has_lag_and_who_reads():
    admin = FakeAdmin(
        TOPICS,
        committed={P0: Offset(6), P1: Offset(-1)},
        group=described_group(members=[member("app", 0)]),
    )
    described = _describe(admin, "g")
    assert described["offsets"] == [
        {
            "topic": "orders",
            "partition": 0,
            "offset": 6,
            "end_offset": 9,
            "lag": 3,
            "client": "app",
        }
    ]
    assert described["members"][0]["client"] == "app"


def test_a_member_without_assignment_reads_nothing():
    waiting = member("app") | {"member_assignment": b""}
    admin = FakeAdmin(TOPICS, committed={P0: Offset(6)}, group=described_group(members=[waiting]))
    assert _describe(admin, "g")["offsets"][0]["client"] == ""


@pytest.mark.parametrize("entry", [described_group("Dead"), described_group(error="not found")])
def test_a_group_that_is_not_there_fails_the_command(entry):
    with pytest.raises(CommandFailedError, match="there is no group g"):
        _describe(FakeAdmin({}, group=entry), "g")


@pytest.mark.parametrize(
    ("target", "offsets"),
    [
        (OffsetSpec.EARLIEST, [5, 0]),
        (OffsetSpec.LATEST, [9, 4]),
        (7, [7, 4]),
        (0, [5, 0]),
        (OffsetTimestamp(6), [6, 4]),
    ],
)
def test_offsets_go_where_they_should_and_stay_within_the_partition(target, offsets):
    rows = _planned(FakeAdmin(TOPICS, committed={P0: Offset(6)}), "g", [P1, P0], target)
    assert [row["new_offset"] for row in rows] == offsets
    assert [row["old_offset"] for row in rows] == [6, -1]


def test_what_was_planned_is_committed():
    admin = FakeAdmin(TOPICS)
    rows = _planned(admin, "g", [P0, P1], 7)
    _commit(admin, "g", rows)
    assert admin.altered == {P0: 7, P1: 4}


def test_without_topics_all_with_offsets_are_reset():
    admin = FakeAdmin(TOPICS, committed={P1: Offset(1)})
    assert _partitions_to_reset(admin, "g", ()) == [P1]
    assert _partitions_to_reset(admin, "g", ("orders",)) == [P0, P1]
    with pytest.raises(CommandFailedError, match="no committed offsets"):
        _partitions_to_reset(FakeAdmin(TOPICS), "g", ())


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["reset-offsets", "g"], "Give one of --to-beginning"),
        (["reset-offsets", "g", "--to-end", "--to-beginning"], "Give one of --to-beginning"),
        (["reset-offsets", "g", "--to-timestamp", "soon"], "is not a time"),
        (["delete", "g"], "--yes"),
        (["describe"], "Missing argument"),
    ],
)
def test_wrong_usage_is_explained(arguments, part):
    result = CliRunner().invoke(cli, ["group", *arguments])
    assert result.exit_code == 2
    assert part in result.output


def test_what_was_deleted_is_told_to_people_and_to_programs(monkeypatch, capsys):
    @contextmanager
    def lend(_, *, about=""):
        yield FakeAdmin({}, groups=("a", "b"))

    monkeypatch.setattr(module, "admin_client", lend)
    told = "group a: deleted\ngroup b: deleted\n"
    assert run(["group", "delete", "b", "a", "--yes"]) == 0
    assert tuple(capsys.readouterr()) == ("", told)
    for form in (["--json"], ["-o", "json"]):
        assert run(["group", "delete", "b", "a", "--yes", *form]) == 0
        out, err = capsys.readouterr()
        assert json.loads(out) == [
            {"group": "a", "result": "deleted"},
            {"group": "b", "result": "deleted"},
        ]
        assert err == told
    assert run(["group", "delete", "a", "busy", "--yes", "-o", "json"]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out) == [{"group": "a", "result": "deleted"}]
    assert "group busy: the group has members" in err
