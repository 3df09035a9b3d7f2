"""The version of this program."""

import json
import tomllib
from pathlib import Path

from click.testing import CliRunner

from headrace.broker.cli.version import program_version, version

PROJECT = tomllib.loads((Path(__file__).parents[4] / "pyproject.toml").read_text())["project"]


def test_the_version_is_the_projects():
    assert program_version().split()[0] == PROJECT["version"]


def test_the_command_tells_what_it_runs_on():
    shown = json.loads(CliRunner().invoke(version, ["-o", "json"]).output)
    assert shown["headrace"] == program_version()
    assert shown["kafka_python"].startswith("3.")
    assert shown["python"].count(".") == 2
