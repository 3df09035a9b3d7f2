"""Charts of the demonstrations."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure


def draw_bars(
    path: Path, names: Sequence[str], values: Sequence[float], title: str, unit: str
) -> None:
    """Draw a bar for each name, the first one at the top, as a PNG."""
    figure = Figure(figsize=(8, 0.34 * len(names) + 1), layout="constrained")
    axes = figure.add_subplot()
    bars = axes.barh(list(names), list(values), color="#2a6f97")
    axes.bar_label(bars, fmt="%.1f", padding=3, fontsize=9)
    axes.invert_yaxis()
    axes.set_xlabel(unit)
    axes.set_title(title, loc="left", fontsize=12)
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.1)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
