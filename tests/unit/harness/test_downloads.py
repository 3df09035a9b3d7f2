"""A download that fails is tried again, and not for ever."""

import os
import sys
from pathlib import Path

import pytest

from tests.environment.downloads import PAUSES_S, run_download
from tests.environment.paths import MissingComponentError

FAILS_N_TIMES = """
import pathlib, sys
marks, failures = pathlib.Path(sys.argv[1]), int(sys.argv[2])
done = len(list(marks.iterdir()))
(marks / str(done)).touch()
sys.exit("lookup proxy: i/o timeout" if done < failures else 0)
"""


def download(marks: Path, *, failures: int) -> list[float]:
    """Run a command that fails at first; return the pauses between its attempts, in seconds."""
    pauses: list[float] = []
    command = [sys.executable, "-c", FAILS_N_TIMES, marks, str(failures)]
    run_download(command, environment=os.environ, sleep=pauses.append)
    return pauses


def test_a_name_server_that_is_silent_for_a_while_stops_no_set_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert download(tmp_path, failures=len(PAUSES_S)) == list(PAUSES_S)
    assert len(list(tmp_path.iterdir())) == len(PAUSES_S) + 1
    assert "again in 2 s: " in capsys.readouterr().err


def test_the_last_failure_is_told_with_what_the_command_said(tmp_path: Path) -> None:
    with pytest.raises(MissingComponentError, match=r"6 times.*\nlookup proxy: i/o timeout"):
        download(tmp_path, failures=len(PAUSES_S) + 1)
    assert len(list(tmp_path.iterdir())) == len(PAUSES_S) + 1
