"""Whether the node can serve, and if not, why: the answer of `/readyz`. Pure."""

from collections.abc import Callable

import msgspec


class CheckResult(msgspec.Struct, frozen=True):
    """One named condition of readiness."""

    name: str
    ok: bool
    reason: str  # why it does not hold, or the current state


Check = Callable[[], CheckResult]


class Readiness:
    """All conditions; ready when every one holds."""

    def __init__(self) -> None:
        self._checks: list[Check] = []

    def add(self, check: Check) -> None:
        """Add a condition; its check is called at every `look`."""
        self._checks.append(check)

    def remove(self, check: Check) -> None:
        """Take a condition back."""
        self._checks.remove(check)

    def look(self) -> tuple[bool, list[CheckResult]]:
        """(ready, every result)."""
        results = [check() for check in self._checks]
        return all(result.ok for result in results), results
