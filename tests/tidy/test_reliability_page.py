"""The list of real faults in docs/reliability.md names every scenario of the cluster tests, and no other."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCENARIOS = ("test_brokers.py", "test_controllers.py", "test_fenced_broker.py")


def test_every_scenario_has_its_line() -> None:
    page = (ROOT / "docs" / "reliability.md").read_text()
    section = page.partition("\n## Real processes\n")[2].partition("\n## ")[0]
    named = re.findall(r"^  - `(test_\w+)`$", section, re.MULTILINE)
    written = [
        name
        for file in SCENARIOS
        for name in re.findall(
            r"^def (test_\w+)\(", (ROOT / "tests" / "cluster" / file).read_text(), re.MULTILINE
        )
    ]
    assert sorted(named) == sorted(written)
