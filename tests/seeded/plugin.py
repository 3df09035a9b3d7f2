"""A pytest plugin for `tests.seeded.runner`: makes sure that the tests ran, and ran what was to be tested.

Exit codes beside pytest's own: `NOTHING_RAN` when a test was skipped or there was none,
`WRONG_MODULE` when the module named by `--seeded-module` was not imported from under `--seeded-root`.
"""

import importlib.util
import sys
from pathlib import Path

import pytest

NOTHING_RAN = 90
WRONG_MODULE = 91


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add our options to pytest's."""
    group = parser.getgroup("seeded")
    group.addoption("--seeded-root", help="directory that the product must be imported from")
    group.addoption("--seeded-module", help="a module that the tests must have imported from there")
    group.addoption(
        "--seeded-elsewhere", action="store_true", help="or a process of theirs must have"
    )


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Judge what ran."""
    if session.exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        return
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not session.testscollected or reporter.stats.get("skipped"):
        session.exitstatus = NOTHING_RAN
    elif not _is_right_module(session.config):
        session.exitstatus = WRONG_MODULE


def _is_right_module(config: pytest.Config) -> bool:
    root, name = Path(config.option.seeded_root), config.option.seeded_module
    if name is None:
        return True
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None or not Path(spec.origin).is_relative_to(root):
        return False
    return config.option.seeded_elsewhere or name in sys.modules
