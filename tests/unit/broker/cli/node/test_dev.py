"""`headrace dev` before the node runs; the whole is tested end to end."""

import socket

import pytest

from headrace.broker.cli.node.dev import dev
from headrace.broker.cli.node.dev_host import hold_data_dir
from headrace.broker.cli.root import run


def test_a_port_that_was_asked_for_and_is_taken_is_an_error(tmp_path, capsys):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert run(["dev", "--data-dir", str(tmp_path), "--port", str(port)]) == 1
    assert f"port {port} on 127.0.0.1 is taken" in capsys.readouterr().err


def test_a_second_broker_on_the_same_data_is_refused(tmp_path, capsys):
    with hold_data_dir(tmp_path) as lock:
        lock.note_address("127.0.0.1:9092")
        assert run(["dev", "--data-dir", str(tmp_path)]) == 1
    assert f"a broker is already running on {tmp_path} at 127.0.0.1:9092" in capsys.readouterr().err


def test_a_wrong_override_lists_the_problem(tmp_path, capsys):
    arguments = ["dev", "--data-dir", str(tmp_path), "--port", "0", "--admin-port", "0"]
    assert run([*arguments, "--override", "num.partitions=0"]) == 2
    error = capsys.readouterr().err
    assert "the configuration has 1 problem" in error
    assert "--override: num.partitions=0: must be at least 1" in error


def test_the_data_directory_can_come_from_the_environment(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("HEADRACE_DATA_DIR", str(tmp_path))
    with hold_data_dir(tmp_path):
        assert run(["dev"]) == 1
    assert str(tmp_path) in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--port", "--admin-port"])
def test_a_port_is_a_port(option, capsys):
    assert run(["dev", option, "70000"]) == 2
    assert "70000" in capsys.readouterr().err


def test_help_tells_where_data_goes():
    (option,) = [parameter for parameter in dev.params if parameter.name == "data_dir"]
    assert "~/.local/share/headrace/dev" in option.help
