"""Offsets of groups as their members committed and found them. Pure.

A member goes on where the group was, so what is committed only grows. Found is therefore at least what was
acknowledged before it was asked for, unless it is a commit whose outcome nobody knows: that one may take effect late.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.simulation.cluster.records import Place

NONE = -1


@dataclass(slots=True)
class _Register:
    acknowledged: int = NONE
    attempted: set[int] = field(default_factory=set)
    unknown: set[int] = field(default_factory=set)


@dataclass(slots=True)
class OffsetHistory:
    """By group, topic and partition."""

    registers: dict[tuple[str, str, int], _Register] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    commits: int = 0
    # Whether the offsets of a partition are not to be judged: those of the group, or its records, may be lost.
    may_misplace: Callable[[Place], bool] = lambda _place: False

    def attempt(self, key: tuple[str, str, int], offset: int) -> None:
        """Note a commit before it leaves: from here on its outcome is not known."""
        register = self._of(key)
        register.attempted.add(offset)
        register.unknown.add(offset)

    def refused(self, key: tuple[str, str, int], offset: int) -> None:
        """Note that a commit was refused, and is in effect nowhere."""
        self._of(key).unknown.discard(offset)

    def acknowledge(self, key: tuple[str, str, int], offset: int) -> None:
        """Note an acknowledgement."""
        register = self._of(key)
        register.unknown.discard(offset)
        register.acknowledged = max(register.acknowledged, offset)
        self.commits += 1

    def acknowledged(self, key: tuple[str, str, int]) -> int:
        """Return what must be found from now on."""
        return self._of(key).acknowledged

    def find(self, key: tuple[str, str, int], offset: int, at_least: int) -> None:
        """Judge what was found; `at_least` was acknowledged before it was asked for."""
        register = self._of(key)
        if self.may_misplace(key[1:]):
            return
        if offset != NONE and offset not in register.attempted:
            self.wrong.append(f"{key}: found {offset}, which nobody committed")
        elif offset < at_least and offset not in register.unknown:
            self.wrong.append(f"{key}: found {offset}, but {at_least} was acknowledged before")

    def _of(self, key: tuple[str, str, int]) -> _Register:
        return self.registers.setdefault(key, _Register())
