"""Points at which a driver dies: in its process by a signal, or in a test's by an exception that nobody catches.

`python -m tests.e2e.tables_faults FILE POINT` runs a pipeline in a driver that dies.
"""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyiceberg.catalog.sql import SqlCatalog

from headrace.pipeline.session import create_session
from headrace.pipeline.tables import micro_batch, queries
from headrace.pipeline.tables.dead_letters import DeadLetterTopic
from headrace.pipeline.tables.reading_configuration import read_configuration
from tests.environment.spark import connector_jars

# What is called, and whether it is done before the driver dies.
POINTS: dict[str, tuple[Any, str, bool]] = {
    "before tasks write": (micro_batch, "run_tasks", False),
    "after tasks have written": (micro_batch, "run_tasks", True),
    "after dead letters": (DeadLetterTopic, "write", True),
    "before the catalog knows": (SqlCatalog, "_write_metadata", True),
    "after the commit": (micro_batch, "commit_batch", True),
}
Patch = Callable[[Any, str, Any], None]


class DiedError(Exception):
    """The driver has died; no code of it tidies up."""


def arm(point: str, patch: Patch, die: Callable[[], None]) -> None:
    """Die at a point, each time."""
    owner, name, is_done = POINTS[point]
    call = getattr(owner, name)

    def dying(*arguments: Any, **named: Any) -> Any:
        if is_done:
            call(*arguments, **named)
        die()

    patch(owner, name, staticmethod(dying) if name == "_write_metadata" else dying)


def kill() -> None:
    """End this process at once."""
    os.kill(os.getpid(), signal.SIGKILL)


def main() -> int:
    """Run the pipeline of a file."""
    path = Path(sys.argv[1])
    config = read_configuration(path.read_text(), source=path.name, stem=path.stem)
    session = create_session("tables", connector_jars=connector_jars(), cores=1)
    if sys.argv[2:]:
        arm(sys.argv[2], setattr, kill)
    stopped = queries.run_pipeline(session, config, lambda: time.time_ns() // 1_000_000)
    session.stop()
    return 1 if stopped else 0


if __name__ == "__main__":
    sys.exit(main())
