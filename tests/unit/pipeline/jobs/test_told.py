"""Errors of jobs, as their users see them."""

import argparse
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from headrace.pipeline.jobs.told import JobError, Told, run_job
from headrace.pipeline.source.errors import CutOffError, OptionError, SourceError

OF_A_TASK = """An error occurred while calling z:org.apache.spark.api.python.PythonRDD.collectAndServe.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 0.0 failed 1 times
org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "reading.py", line 88, in _lost
    raise DataLossError(
pyspark_headrace.headrace.pipeline.source.errors.DataLossError: offsets 1 to 5 of orders-0 were deleted

\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handlePythonException(PythonRunner.scala:572)
"""


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (OptionError("--to is wrong"), 2, "error: --to is wrong"),
        (SourceError("no bucket"), 1, "error: no bucket"),
        (CutOffError("cut off", 5), 1, "error: cut off"),
        (JobError("run again"), 1, "error: run again"),
        (RuntimeError(OF_A_TASK), 1, "error: offsets 1 to 5 of orders-0 were deleted"),
    ],
)
def test_an_error_is_one_line(
    error: Exception,
    code: int,
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "argv", ["job"])
    assert run_job(argparse.ArgumentParser(), raising(error)) == code
    assert capsys.readouterr().err == f"{message}\n"


def test_a_fault_of_ours_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["job"])
    with pytest.raises(KeyError):
        run_job(argparse.ArgumentParser(), raising(KeyError("x")))


def raising(error: Exception) -> Callable[[argparse.Namespace, Told], int]:
    def run(_: argparse.Namespace, __: Told) -> int:
        raise error

    return run


def metrics(path: Path) -> dict[str, float]:
    """Values by name, of a file as the collector reads it."""
    families = text_string_to_metric_families(path.read_text())
    samples = [sample for family in families for sample in family.samples]
    assert {tuple(sorted(it.labels.items())) for it in samples} == {
        (("job", "export"), ("name", path.stem))
    }
    return {it.name.removeprefix("headrace_job_"): it.value for it in samples}


def test_metrics_are_in_a_file_while_it_runs_and_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "orders.prom"
    monkeypatch.setattr(sys, "argv", ["export", "--metrics-file", str(path)])
    before_s = time.time()

    def run(_: argparse.Namespace, told: Told) -> int:
        running = metrics(path)
        assert running["running"] == 1
        assert "exit_code" not in running
        told.progress("reading", 5, 10)  # so soon after the last that it is not written
        assert "done_bytes" not in metrics(path)
        told.progress("reading", 10, 10)
        told.measure(records=1_234_567_890_123)
        assert metrics(path)["done_bytes"] == 10
        return 1

    assert run_job(argparse.ArgumentParser(prog="headrace spark export"), run) == 1
    found = metrics(path)
    assert (found["running"], found["exit_code"]) == (0, 1)
    assert found["records"] == 1_234_567_890_123
    assert before_s <= found["start_time_seconds"] <= found["update_time_seconds"] <= time.time()
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["orders.txt", "no/such/directory.prom"])
def test_metrics_that_cannot_be_written_are_an_error_before_the_job(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["export", "--metrics-file", str(tmp_path / name)])
    job = raising(AssertionError("the job has begun"))
    assert run_job(argparse.ArgumentParser(prog="headrace spark export"), job) == 2
    assert "--metrics-file" in capsys.readouterr().err


def test_metrics_that_cannot_be_written_any_more_stop_no_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "metrics"
    directory.mkdir()
    monkeypatch.setattr(sys, "argv", ["export", "--metrics-file", str(directory / "orders.prom")])

    def run(_: argparse.Namespace, told: Told) -> int:
        shutil.rmtree(directory)
        told.measure(records=1)
        return 0

    assert run_job(argparse.ArgumentParser(prog="headrace spark export"), run) == 0
