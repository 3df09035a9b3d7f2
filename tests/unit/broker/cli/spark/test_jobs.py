"""The commands of jobs: what they give to spark-submit, and what becomes of what a job tells."""

import json
import sys

import pytest

from headrace.broker.cli.root import run
from headrace.broker.cli.spark import jobs
from headrace.pipeline.jobs.told import MARK, Told


@pytest.fixture
def spark_home(tmp_path, monkeypatch):
    """A Spark whose spark-submit writes down its arguments and does what `script` says."""

    def make(script=""):
        (tmp_path / "jars").mkdir()
        (tmp_path / "jars" / "spark-core_2.13-4.0.0.jar").touch()
        submit = tmp_path / "bin" / "spark-submit"
        submit.parent.mkdir()
        submit.write_text(
            f"#!{sys.executable}\nimport json, os, sys\nfrom pathlib import Path\n"
            f"Path({str(tmp_path / 'called')!r}).write_text(json.dumps([sys.argv[1:], dict(os.environ)]))\n"
            f"{script}\n"
        )
        submit.chmod(0o755)
        monkeypatch.setenv("SPARK_HOME", str(tmp_path))
        monkeypatch.delenv("SPARK_LOCAL_IP", raising=False)
        monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
        return lambda: json.loads((tmp_path / "called").read_text())

    return make


def test_arguments_go_to_spark_submit_and_to_the_job(spark_home):
    called = spark_home()
    words = ["file:///b", "--to", "file:///o", "--topics", "a b", "--master", "local[3]"]
    assert run(["spark", "export", *words, "--submit", "--conf 'x=a b'", "--json"]) == 0
    arguments, environment = called()
    job = arguments.index(str(jobs.JOBS / "export.py"))
    assert arguments[:2] == ["--master", "local[3]"]
    assert arguments[job - 2 : job] == ["--conf", "x=a b"]
    given = ["file:///b", "--to", "file:///o", "--topics", "a b"]
    assert arguments[job + 1 :] == ["--events", *given, "--json"]
    assert environment["SPARK_LOCAL_IP"] == "127.0.0.1"
    assert environment["PYSPARK_PYTHON"] == sys.executable


def test_a_cluster_chooses_its_addresses(spark_home):
    called = spark_home()
    assert run(["spark", "backfill", "file:///b", "--master", "spark://h:7077"]) == 0
    arguments, environment = called()
    assert "SPARK_LOCAL_IP" not in environment
    assert "spark.task.maxFailures=1" in arguments


def test_what_a_job_tells(spark_home, capfd):
    script = f"""
mark = {MARK!r}
print("of a library")
print(mark + json.dumps({{"talk": "a sentence"}}))
print("26/11/27 WARN" + mark + json.dumps({{"result": "A  B"}}))
print(mark + "no JSON")
print(mark + json.dumps({{"progress": "exporting", "done": 1, "total": 2}}))
sys.exit(3)
"""
    spark_home(script)
    assert run(["spark", "fsck", "file:///b"]) == 3
    found = capfd.readouterr()
    assert found.out == "A  B\n"
    assert found.err.splitlines()[:3] == ["of a library", "a sentence", "26/11/27 WARN"]


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_a_document_has_the_form_that_was_asked_for(spark_home, capfd, form):
    spark_home(f"print({MARK!r} + json.dumps({{'document': {{'rows': 5, 'more': [1]}}}}))")
    assert run(["spark", "export", "file:///b", "-o", form]) == 0
    out = capfd.readouterr().out
    assert json.loads(out) == {"rows": 5, "more": [1]}
    assert (len(out.splitlines()) == 1) == (form == "jsonl")


def test_the_help_has_the_options_of_the_job(capsys):
    assert run(["spark", "export", "--help"]) == 0
    told = capsys.readouterr().out
    assert "--master" in told
    assert "--starting-offsets" in told


def test_events_are_what_the_commands_read(capsys):
    told = Told(events=True)
    told.talk("a sentence")
    told.result("a table")
    told.document({"rows": 1})
    told.progress("exporting", 1, 2)
    lines = capsys.readouterr().out.strip("\n").split("\n")
    assert all(it.startswith(MARK) for it in lines)
    assert [next(iter(json.loads(it[1:]))) for it in lines] == [
        "talk",
        "result",
        "document",
        "progress",
    ]
    assert jobs.MARK == MARK
