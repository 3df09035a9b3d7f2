"""The job that spark-submit runs: `spark-submit job.py FILE`."""

import logging
import sys
import time
from pathlib import Path

from headrace.config.problems import ConfigError
from headrace.pipeline.session import create_session
from headrace.pipeline.tables.queries import run_pipeline
from headrace.pipeline.tables.reading_configuration import read_configuration

_USAGE = 2


def main(arguments: list[str]) -> int:
    """Run the pipeline of a file; return 0 once all is done, 1 if a table stopped."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO)
    if len(arguments) != 1:
        print("usage: spark-submit job.py FILE", file=sys.stderr)
        return _USAGE
    path = Path(arguments[0])
    try:
        config = read_configuration(path.read_text(), source=path.name, stem=path.stem)
    except (OSError, UnicodeDecodeError, ConfigError) as error:
        print(f"error: {error}", file=sys.stderr)
        return _USAGE
    session = create_session(config.name)
    try:
        stopped = run_pipeline(session, config, lambda: time.time_ns() // 1_000_000)
    finally:
        session.stop()
    return 1 if stopped else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
