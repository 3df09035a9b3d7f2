"""Whether the node can serve, and if not, why: what `/readyz` answers. Pure."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One named condition of readiness."""

    name: str
    ok: bool
    reason: str  # what is the matter, or what was found


Check = Callable[[], CheckResult]


class Readiness:
    """All conditions; ready when every one holds."""

    def __init__(self) -> None:
        self._checks: list[Check] = []

    def add(self, check: Check) -> None:
        """Add a condition; checks are asked at every look."""
        self._checks.append(check)

    def look(self) -> tuple[bool, list[CheckResult]]:
        """(ready, every result)."""
        results = [check() for check in self._checks]
        return all(result.ok for result in results), results
