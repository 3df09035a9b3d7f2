"""What a seeded bug is, and where the tables of them are."""

import importlib
import pkgutil
from dataclasses import dataclass
from pathlib import Path

from tests.seeded.fitting import DoesNotFitError, replaced

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Simulated:
    """Simulated clusters that must notice as well: `tests.simulation.cluster.natures`."""

    nature: str
    seeds: int = 8  # at most: from 1, until one finds something
    seconds: float = 8.0  # virtual ones, of each


@dataclass(frozen=True, slots=True)
class SeededBug:
    """A mistake that somebody could make, and the test that must notice."""

    id: str
    title: str  # what goes wrong, in a few words
    file: str  # of the product
    function: str  # of it, with the name of its class (`Session.on_answer`)
    old: str  # an expression or statements that occur once there, under whatever names: `fitting`
    new: str
    test: str | None = None  # passes, and fails with the mistake; without one, `simulated` is set
    in_process: bool = (
        True  # the test itself imports the file; otherwise a process that it starts does
    )
    simulated: Simulated | None = None

    @property
    def module(self) -> str:
        """Name of the file as a module."""
        return "headrace." + self.file.removesuffix(".py").replace("/", ".")

    def apply(self, text: str) -> str:
        """Return the file's text with the mistake.

        Raises:
            DoesNotFitError: the table does not fit the file any more.
            SyntaxError: the mistake is no code.
        """
        try:
            return replaced(text, self.function, self.old, self.new)
        except DoesNotFitError as error:
            msg = f"{self.id} {error} of {self.file}: {self.old!r}"
            raise DoesNotFitError(msg) from error


def tables() -> dict[str, tuple[SeededBug, ...]]:
    """Return the tables by name: each module of this package that has `BUGS`."""
    found = {}
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if module.name.startswith(("test_", "__")):
            continue
        bugs = getattr(importlib.import_module(f"tests.seeded.{module.name}"), "BUGS", None)
        if bugs is not None:
            found[module.name] = bugs
    return found
