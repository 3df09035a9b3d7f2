"""What `headrace pipeline run|check|status|mend FILE` starts: results as JSON lines on standard output."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from headrace.config.problems import ConfigError

if TYPE_CHECKING:
    from headrace.pipeline.tables.configuration import PipelineConfig

_FAILED, _USAGE = 1, 2
_MISSING = "{} is not installed here: pip install 'headrace[tables]', or the wheel pyspark_headrace[tables]"


def main(arguments: Sequence[str]) -> int:
    """Run a command; return its exit code: 1 for what failed, 2 for a wrong configuration."""
    parser = argparse.ArgumentParser(prog="python -m headrace.pipeline.tables", description=__doc__)
    parser.add_argument("command", choices=["run", "check", "status", "mend"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--master", help="for run: Spark's master")
    parser.add_argument("--jars", help="for run: jars, instead of those that Spark downloads")
    parser.add_argument("--topic", default="", help="for mend: a topic that is begun again")
    parser.add_argument("--yes", action="store_true", help="for mend: change what is told")
    parser.epilog = "For run, arguments behind `--` are spark-submit's."
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    given = parser.parse_args(arguments[:cut])
    given.submit = arguments[cut + 1 :]
    try:
        from headrace.pipeline.tables.reading_configuration import read_configuration  # noqa: PLC0415

        config = read_configuration(
            given.file.read_text(), source=given.file.name, stem=given.file.stem
        )
        if given.command == "run":
            return _run(config, given)
        if given.command == "mend":
            return _mend(config, given)
        return _check(config) if given.command == "check" else _status(config)
    except ImportError as error:
        return _told(_MISSING.format(error.name or error), _FAILED)
    except (OSError, UnicodeDecodeError) as error:
        return _told(f"{given.file}: {getattr(error, 'strerror', None) or error}", _USAGE)
    except ConfigError as error:
        return _told(str(error), _USAGE)


def _told(message: str, code: int) -> int:
    print(f"error: {message}", file=sys.stderr)
    return code


def _run(config: "PipelineConfig", given: argparse.Namespace) -> int:
    """Become spark-submit; return only if that cannot be."""
    from headrace.pipeline.java import NoJavaError, find_java_home  # noqa: PLC0415
    from headrace.pipeline.tables.submitting import submit_command  # noqa: PLC0415

    command = submit_command(
        config, given.file, master=given.master, jars=given.jars, others=given.submit
    )
    environment = {"PYSPARK_PYTHON": sys.executable, **os.environ}
    try:
        environment["JAVA_HOME"] = str(find_java_home())
        os.execve(command[0], command, environment)  # noqa: S606 - no shell, and signals go to Spark
    except (NoJavaError, OSError) as error:
        return _told(str(error), _FAILED)


def _check(config: "PipelineConfig") -> int:
    from headrace.pipeline.tables.checking import check_tables  # noqa: PLC0415

    rows, problems = check_tables(config)
    for row in rows:
        print(json.dumps(row))
    return _told("\n".join(problems), _USAGE) if problems else 0


def _status(config: "PipelineConfig") -> int:
    from headrace.pipeline.tables.catalogs import open_catalog  # noqa: PLC0415
    from headrace.pipeline.tables.end_offsets import NoEndsError, end_offsets  # noqa: PLC0415
    from headrace.pipeline.tables.status import status_rows  # noqa: PLC0415

    topics = [topic for table in config.tables for topic in table.topics]
    code = 0
    try:
        ends = end_offsets(config.source, list(dict.fromkeys(topics)))
    except NoEndsError as error:
        ends, code = {}, _told(f"the ends of the topics are not known: {error}", _FAILED)
    for row in status_rows(config, open_catalog(config.catalog), ends):
        print(json.dumps(row))
    return code


def _mend(config: "PipelineConfig", given: argparse.Namespace) -> int:
    from headrace.pipeline.tables.catalogs import open_catalog  # noqa: PLC0415
    from headrace.pipeline.tables.end_offsets import NoEndsError, end_offsets  # noqa: PLC0415
    from headrace.pipeline.tables.errors import TableError  # noqa: PLC0415
    from headrace.pipeline.tables.mending import TopicsNow, mended  # noqa: PLC0415
    from headrace.pipeline.tables.topic_ids import topic_ids  # noqa: PLC0415

    topics = [given.topic] if given.topic else []
    try:
        found = TopicsNow({}, {})
        if topics:
            found = TopicsNow(topic_ids(config.source, topics), end_offsets(config.source, topics))
        catalog = open_catalog(config.catalog)
        for row in mended(config, catalog, given.topic, found, is_sure=given.yes):
            print(json.dumps(row))
    except (NoEndsError, TableError) as error:
        return _told(str(error), _FAILED)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
