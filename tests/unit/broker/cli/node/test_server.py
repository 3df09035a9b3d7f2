"""`headrace server` before the node runs; the whole is tested end to end."""

from headrace.broker.cli.root import run


def test_every_mistake_is_listed_and_the_exit_code_is_2(tmp_path, capsys):
    file = tmp_path / "server.properties"
    file.write_text("num.partitions=0\nlog.retention.ms=week\n")
    assert run(["server", "--config", str(file), "--override", "node.id=x"]) == 2
    error = capsys.readouterr().err
    assert "the configuration has 3 problems" in error
    assert f"{file}:1: num.partitions=0" in error
    assert f"{file}:2: log.retention.ms=week" in error
    assert "--override: node.id=x" in error


def test_a_file_that_is_not_there_is_told(capsys):
    assert run(["server", "--config", "/does/not/exist"]) == 2
    assert "/does/not/exist: cannot be read" in capsys.readouterr().err


def test_the_file_can_come_from_the_environment(capsys, monkeypatch):
    monkeypatch.setenv("HEADRACE_CONFIG", "/from/the/environment")
    assert run(["server"]) == 2
    assert "/from/the/environment" in capsys.readouterr().err
