"""What the type checker finds in code that uses messages."""

from pathlib import Path

import pytest
from mypy import api

from tests.tidy.source import ROOT

WRONG = """
from headrace.protocol.messages import HeartbeatResponse
from headrace.protocol.messages import Nonsense

answer = HeartbeatResponse(eror_code=1)
answer.eror_code = 1
answer.error_code = "1"
"""


@pytest.mark.slow
def test_a_name_that_no_message_or_field_has_is_found(tmp_path: Path) -> None:
    program = tmp_path / "wrong.py"
    program.write_text(WRONG)
    told, _, code = api.run(
        ["--config-file", str(ROOT / "pyproject.toml"), "--no-incremental", str(program)]
    )
    lines = [line.split(": error: ")[1] for line in told.splitlines() if ": error: " in line]
    assert code == 1
    assert [line.rpartition("[")[2] for line in lines] == [
        "attr-defined]",
        "call-arg]",
        "attr-defined]",
        "assignment]",
    ]
