"""The settings of a session, in their forms."""

import json

from headrace.broker.cli.root import run


def test_forms_of_the_settings(capsys):
    def shown(*form):
        assert run(["spark", "session", "--spark-version", "4.0.1", *form]) == 0
        return capsys.readouterr().out

    package = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.1"
    assert f"--conf spark.jars.packages={package}" in shown().splitlines()
    assert f"spark.jars.packages {package}" in shown("-o", "properties").splitlines()
    assert json.loads(shown("--json"))["spark.jars.packages"] == package
