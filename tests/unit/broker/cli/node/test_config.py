"""Checking and explaining configuration."""

import json

from headrace.broker.cli.root import run


def test_a_valid_file_shows_what_is_in_force_and_from_where(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("KAFKA_NUM_PARTITIONS", "3")
    file = tmp_path / "server.properties"
    file.write_text("node.id=7\nnum.io.threads=8\nnode.idd=1\n")
    assert run(["config", "check", str(file), "-o", "json"]) == 0
    output = capsys.readouterr()
    assert json.loads(output.out) == [
        {"key": "node.id", "value": "7", "source": f"{file}:1"},
        {"key": "num.partitions", "value": "3", "source": "KAFKA_NUM_PARTITIONS"},
    ]
    assert "warning: " in output.err
    assert "did you mean node.id?" in output.err
    assert output.err.endswith("The configuration is valid.\n")


def test_all_settings_can_be_shown(capsys):
    assert run(["config", "check", "--all", "-o", "jsonl"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {"key": "node.id", "value": "1", "source": "default"} in rows


def test_a_wrong_file_fails_with_every_problem(tmp_path, capsys):
    file = tmp_path / "server.properties"
    file.write_text("num.partitions=0\n")
    assert run(["config", "check", str(file)]) == 2
    assert f"{file}:1: num.partitions=0: must be at least 1" in capsys.readouterr().err


def test_credentials_in_a_file_are_not_repeated(tmp_path, capsys):
    file = tmp_path / "server.properties"
    file.write_text("s3.data.buckets=0@s3://b?accessKey=AK&secretKey=hush\n")
    assert run(["config", "check", str(file)]) == 2
    error = capsys.readouterr().err
    assert "hush" not in error
    assert "AWS_SECRET_ACCESS_KEY" in error


def test_a_key_of_a_node_is_explained(capsys):
    assert run(["config", "explain", "broker.id", "-o", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["key"], shown["of"], shown["default"]) == ("node.id", "node", "1")
    assert shown["also_named"] == ["broker.id"]


def test_a_setting_of_a_topic_is_explained(capsys):
    assert run(["config", "explain", "retention.ms", "-o", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["of"], shown["default"]) == ("topic", "604800000")
    assert shown["default_set_by"][0] == "log.retention.ms"


def test_a_name_of_both_is_explained_twice(capsys):
    assert run(["config", "explain", "compression.type", "-o", "jsonl"]) == 0
    assert [json.loads(line)["of"] for line in capsys.readouterr().out.splitlines()] == [
        "node",
        "topic",
    ]


def test_a_key_without_effect_says_why(capsys):
    assert run(["config", "explain", "num.io.threads"]) == 0
    assert "no effect" in capsys.readouterr().err


def test_an_unknown_key_names_the_nearest(capsys):
    assert run(["config", "explain", "retention.mss"]) == 1
    assert "Did you mean retention.ms?" in capsys.readouterr().err
