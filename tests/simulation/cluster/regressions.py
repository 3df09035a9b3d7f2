"""What simulated clusters have found, to be run again: a file for each find in `regressions/`.

A file has what it was, the seed, the virtual seconds, and the nature: one of `natures.NATURES` by name, or the one that
the seed draws, and what of it was changed to find it sooner. A seed is another run once the simulation or a node has
changed, so each mistake has a test of its own as well.
"""

import random
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

from tests.simulation.cluster.bucket import Weather
from tests.simulation.cluster.nature import Nature, draw
from tests.simulation.cluster.natures import NATURES
from tests.simulation.cluster.network import Links

FOLDER = Path(__file__).with_name("regressions")


@dataclass(frozen=True, slots=True)
class Regression:
    """One find."""

    name: str
    what: str
    seed: int
    seconds: float
    nature: Nature


def regressions() -> list[Regression]:
    """Return all of them, by number."""
    return [_read(it) for it in sorted(FOLDER.glob("*.toml"))]


def _read(path: Path) -> Regression:
    found = tomllib.loads(path.read_text())
    seed, changes = found["seed"], found.get("changes", {})
    known = found.get("nature")
    nature = draw(random.Random(f"{seed} nature")) if known is None else NATURES[known]
    if "links" in changes:
        changes["links"] = Links(**changes["links"])
    if "weather" in changes:
        changes["weather"] = Weather(**changes["weather"])
    lists = {name: tuple(it) for name, it in changes.items() if isinstance(it, list)}
    return Regression(
        path.stem, found["what"], seed, found["seconds"], replace(nature, **{**changes, **lists})
    )
