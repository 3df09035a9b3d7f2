"""What `headrace dev` needs of its host."""

import sys
from pathlib import Path

import pytest

from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.node.dev_host import Banner, default_data_dir, hold_data_dir, program_name
from headrace.broker.node.address import BrokerAddress, NodeAddress
from headrace.wal.port import Medium


def address(**changes):
    place = {
        "kafka_host": "127.0.0.1",
        "kafka_port": 9092,
        "bucket": "file:///d/bucket",
        "wal": "/d/wal",
        "wal_medium": Medium.DIRECT,
    }
    node = {
        "node_id": 1,
        "roles": ("broker", "controller"),
        "cluster_id": "c",
        "admin_url": "http://127.0.0.1:9644",
    }
    for name, value in changes.items():
        (place if name in place else node)[name] = value
    return NodeAddress(**node, broker=BrokerAddress(**place))


def test_data_goes_where_the_xdg_rules_say(monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", "/xdg")
    assert default_data_dir() == Path("/xdg/headrace/dev")
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", "/home/u")
    assert default_data_dir() == Path("/home/u/.local/share/headrace/dev")


def test_a_data_directory_is_made_and_held(tmp_path):
    directory = tmp_path / "a" / "b"
    with hold_data_dir(directory) as lock:
        assert directory.stat().st_mode & 0o777 == 0o700
        lock.note_address("127.0.0.1:9093")
        with pytest.raises(CommandFailedError) as caught, hold_data_dir(directory):
            pass
    assert str(caught.value).startswith(
        f"a broker is already running on {directory} at 127.0.0.1:9093"
    )
    with hold_data_dir(directory):  # free again
        pass


def test_one_that_is_still_starting_has_no_address(tmp_path):
    with hold_data_dir(tmp_path) as lock:
        lock.note_address("old")
    with hold_data_dir(tmp_path):
        with pytest.raises(CommandFailedError) as caught, hold_data_dir(tmp_path):
            pass
        assert "old" not in str(caught.value)


def test_a_directory_that_cannot_be_made_is_a_failure_with_advice(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(CommandFailedError, match="--data-dir"), hold_data_dir(file / "sub"):
        pass


def test_the_banner_says_where_what_and_what_next(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/venv/bin/headrace"])
    lines = Banner(Path("/d")).lines(address())
    assert len(lines) <= 12
    text = "\n".join(lines)
    for part in (
        "127.0.0.1:9092",
        "http://127.0.0.1:9644",
        "file:///d/bucket",
        "/d/wal (O_DIRECT)",
    ):
        assert part in text
    assert sum("headrace " in line and line.startswith("  ") for line in lines) == 3
    assert " -b " not in text


def test_commands_name_the_broker_when_it_is_elsewhere():
    lines = Banner(Path("/d")).lines(address(kafka_port=9093))
    assert sum(line.endswith(" -b 127.0.0.1:9093") for line in lines) == 3


def test_who_listens_everywhere_is_reached_here():
    assert "  Kafka   127.0.0.1:9092" in Banner(Path("/d")).lines(address(kafka_host="0.0.0.0"))


def test_a_wal_without_o_direct_and_no_admin_endpoint_are_told():
    text = "\n".join(Banner(Path("/d")).lines(address(wal_medium=Medium.CACHED, admin_url="")))
    assert "no O_DIRECT here" in text
    assert "Admin   off" in text


def test_a_bucket_that_is_lost_with_the_machine_is_told():
    lines = Banner(Path("/d")).lines(address(bucket="mem://"))
    assert "  Bucket  mem:// (in memory: lost with the machine)" in lines


@pytest.mark.parametrize("medium", Medium)
def test_every_medium_of_the_wal_has_words(medium):
    (line,) = [it for it in Banner(Path("/d")).lines(address(wal_medium=medium)) if "  WAL " in it]
    assert line.startswith("  WAL     /d/wal (")


def test_the_program_is_named_so_that_it_can_be_called_again(monkeypatch, tmp_path):
    script = tmp_path / "bin" / "headrace"
    script.parent.mkdir()
    script.write_text("")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(script)])
    monkeypatch.setenv("PATH", "/nowhere")
    assert program_name() == str(script)
    monkeypatch.chdir(tmp_path)
    assert program_name() == "bin/headrace"
    monkeypatch.setenv("PATH", str(script.parent))
    assert program_name() == "headrace"
    monkeypatch.setattr(sys, "argv", ["/somewhere/broker/__main__.py"])
    assert program_name().endswith("-m headrace.broker")
