"""Where Spark is looked for, and what is said of one that is not there."""

import pytest

from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.spark.installation import find_spark


def spark_in(directory, core="spark-core_2.13-4.0.0.jar"):
    (directory / "jars").mkdir(parents=True)
    (directory / "jars" / core).touch()
    return {"SPARK_HOME": str(directory)}


def test_spark_of_its_variable(tmp_path):
    found = find_spark(spark_in(tmp_path, "spark-core_2.13-4.1.0-preview1.jar"))
    assert (found.home, found.version, found.scala) == (tmp_path, "4.1.0-preview1", "2.13")
    assert found.submit == tmp_path / "bin/spark-submit"


def test_the_package_beside_this_program():
    pyspark = pytest.importorskip("pyspark")
    found = find_spark({})
    assert found.version == pyspark.__version__
    assert found.submit.is_file()


def test_a_variable_that_leads_nowhere_is_named(tmp_path):
    with pytest.raises(CommandFailedError, match=f"SPARK_HOME is {tmp_path}"):
        find_spark({"SPARK_HOME": str(tmp_path)})


def test_without_spark_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(CommandFailedError, match="pip install 'pyspark"):
        find_spark({})
