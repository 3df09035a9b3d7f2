"""`headrace pipeline check` and `status`, and the command line that `run` becomes."""

from pathlib import Path

import pytest

from headrace.broker.cli.root import run
from headrace.pipeline.tables.status import status_rows
from headrace.pipeline.tables.submitting import submit_command
from tests.unit.pipeline.tables.table_scene import TableScene, config_text, records

COLUMNS = 'columns = { id = "int" }\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "warehouse").mkdir()
    path = tmp_path / "shop.toml"
    path.write_text(config_text(tmp_path, COLUMNS))
    return path


def test_check_tells_all_that_is_wrong(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file.write_text(file.read_text() + 'modes = "x"\nmax_columns = 0\n')
    assert run(["pipeline", "check", str(file)]) == 2
    told = capfd.readouterr().err
    assert "shop.toml: tables[1].modes: there is no such key: is mode meant?" in told
    assert "shop.toml: tables[1].max_columns=0: it must be a whole number, at least 1" in told


@pytest.mark.slow  # it waits for one
def test_status_without_a_broker_says_so(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["pipeline", "status", str(file)]) == 1
    told = capfd.readouterr()
    assert "the ends of the topics are not known: 127.0.0.1:9: " in told.err
    assert told.out.splitlines()[1].split() == [
        "shop.orders",
        "orders",
        "-",
        "-",
        "-",
        "-",
        "0",
        "-",
        "-",
        "-",
    ]


def test_status_is_what_the_table_says(tmp_path: Path) -> None:
    scene = TableScene(tmp_path, COLUMNS)
    scene.commit(scene.told(records([{"id": 1}, {"id": 2}])), 2)
    rows = list(status_rows(scene.config, scene.catalog, {"orders": {0: 5, 1: 3}}))
    wanted = (
        "partition",
        "committed_offset",
        "end_offset",
        "lag",
        "dead_letters",
        "committed_at_ms",
    )
    assert [tuple(it[name] for name in wanted) for it in rows] == [
        (0, 2, 5, 3, 0, 1),
        (1, None, 3, 3, 0, 1),
    ]


def test_what_run_becomes(tmp_path: Path) -> None:
    config = TableScene(tmp_path, COLUMNS).config
    (tmp_path / "b.jar").touch()
    (tmp_path / "a.jar").touch()
    file = tmp_path / "shop.toml"
    command = submit_command(config, file, master="yarn", jars=None, others=["--conf", "x=y"])
    assert command[0].endswith("spark-submit")
    assert command[1:5] == ["--name", "test", "--master", "yarn"]
    assert command[5] == "--packages"
    assert command[6].startswith("org.apache.spark:spark-sql-kafka-0-10_2.13:4.")
    assert command[7:9] == ["--conf", "x=y"]
    assert command[9].endswith("pipeline/tables/job.py")
    assert command[10] == str(file)
    command = submit_command(config, file, master=None, jars=str(tmp_path), others=[])
    assert command[3:5] == ["--jars", f"{tmp_path}/a.jar,{tmp_path}/b.jar"]
