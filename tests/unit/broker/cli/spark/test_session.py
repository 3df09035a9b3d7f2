"""The settings of a session: the connector that fits Spark, the Python, and what the reader must be told."""

import json
import shlex

import pytest

from headrace.broker.cli.root import run

PACKAGE = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.1"


@pytest.fixture
def shown(capsys):
    """Run the command; return (exit code, standard output, standard error)."""

    def command(*arguments):
        code = run(["spark", "session", *map(str, arguments)])
        return code, *capsys.readouterr()

    return command


def jars_in(directory, *names):
    directory.mkdir()
    for name in names:
        (directory / name).touch()
    return directory


def test_forms_of_the_settings(shown):
    given = ("--spark-version", "4.0.1", "--python", "/opt/python 3/bin/python")
    code, conf, _ = shown(*given)
    assert code == 0
    assert shlex.split(conf) == [
        *("--conf", f"spark.jars.packages={PACKAGE}"),
        *("--conf", "spark.pyspark.python=/opt/python 3/bin/python"),
    ]
    assert f"spark.jars.packages {PACKAGE}" in shown(*given, "-o", "properties")[1].splitlines()
    settings = json.loads(shown(*given, "--json")[1])["conf"]
    assert settings["spark.jars.packages"] == PACKAGE


def test_what_a_session_cannot_set_is_said(shown):
    given = ("--spark-version", "4.0.1", "-b", "broker:9092")
    assert '.option("kafka.bootstrap.servers", "broker:9092")' in shown(*given)[2]
    told = json.loads(shown(*given, "--json")[1])["reader_options"]
    assert int(told["kafka.fetch.max.bytes"]) > int(told["kafka.max.partition.fetch.bytes"])


def test_the_connector_is_that_of_the_installed_spark(shown, tmp_path, monkeypatch):
    jars_in(tmp_path / "jars", "spark-core_2.13-4.1.2.jar")
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    assert "spark-sql-kafka-0-10_2.13:4.1.2" in shown()[1]


def test_jars_of_a_directory(shown, tmp_path):
    connector = "spark-sql-kafka-0-10_2.13-4.0.1.jar"
    jars = jars_in(tmp_path / "jars", connector, "kafka-clients-3.9.0.jar")
    _, conf, _ = shown("--spark-version", "4.0.1", "--jars", jars)
    assert f"spark.jars={jars}/kafka-clients-3.9.0.jar,{jars}/{connector}" in conf
    assert "spark.jars.packages" not in conf


def test_jars_of_another_spark_are_refused(shown, tmp_path):
    jars = jars_in(tmp_path / "jars", "spark-sql-kafka-0-10_2.12-3.5.1.jar")
    code, _, said = shown("--spark-version", "4.0.1", "--jars", jars)
    assert code == 1
    assert "needs spark-sql-kafka-0-10_2.13-4.0.1.jar" in said
    assert "has no spark-sql-kafka-0-10" in shown("--spark-version", "4.0.1", "--jars", tmp_path)[2]


def test_a_version_has_three_parts(shown):
    assert shown("--spark-version", "4.0")[0] == 2


def test_without_pyspark_no_python_is_chosen(shown, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    _, conf, said = shown("--spark-version", "4.0.1")
    assert "python" not in conf
    assert "--python names another one" in said
