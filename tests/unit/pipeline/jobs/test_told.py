"""Errors of jobs, as their users see them."""

import argparse
import sys
from collections.abc import Callable

import pytest

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
