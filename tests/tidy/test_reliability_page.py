"""docs/reliability.md names tests that exist, and every scenario of the cluster tests."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCENARIOS = (
    "test_brokers.py",
    "test_controllers.py",
    "test_deaf_leader.py",
    "test_failover.py",
    "test_fenced_broker.py",
    "test_more_brokers.py",
)
# A file of tests, and those of its tests that are meant (none: the whole file).
NAMED = re.compile(r"`(tests/[\w/]+\.py)`((?:[:,]\s+`test_\w+`)*)")


def section(heading: str) -> str:
    """The text below a heading that begins with these words."""
    page = (ROOT / "docs" / "reliability.md").read_text()
    return page.partition(f"\n## {heading}")[2].partition("\n## ")[0]


def test_every_class_of_faults_names_tests_that_exist() -> None:
    classes = section("Classes of faults").split("\n- **")[1:]
    assert len(classes) >= 18
    for entry in classes:
        title, _, text = entry.partition("**")
        named = NAMED.findall(text)
        assert named, f"no test: {title}"
        for file, functions in named:
            code = (ROOT / file).read_text()
            for function in re.findall(r"test_\w+", functions):
                assert f"def {function}(" in code, f"{file}: {function}"
        left = NAMED.sub("", text)
        assert not re.search(r"`tests/|`test_", left), f"not of the form `file`: `test`: {title}"


def test_every_scenario_has_its_line() -> None:
    named = re.findall(r"^  - `(test_\w+)`$", section("Real processes"), re.MULTILINE)
    written = [
        name
        for file in SCENARIOS
        for name in re.findall(
            r"^def (test_\w+)\(", (ROOT / "tests" / "cluster" / file).read_text(), re.MULTILINE
        )
    ]
    assert sorted(named) == sorted(written)
