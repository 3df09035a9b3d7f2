"""Which modules say that they are pure, and which of them are not."""

from collections.abc import Iterable

import grimp

from tests.tidy.rules import is_declared_pure
from tests.tidy.source import Source

# Loop, sockets, threads, clocks, entropy, files, logs.
EFFECTS = (
    "asyncio", "concurrent", "io", "logging", "multiprocessing", "os", "pathlib", "random", "secrets",
    "selectors", "socket", "ssl", "subprocess", "tempfile", "threading", "time",
)  # fmt: skip
# What is taken from them and has no effect.
HARMLESS = {("headrace.config.assemble", "pathlib"): "PurePosixPath joins names and opens nothing"}


def declared(sources: Iterable[Source]) -> set[str]:
    """Return the modules that are declared pure, by themselves or by a package that they are in."""
    found = list(sources)
    names = [it.module for it in found if is_declared_pure(it)]
    return {
        it.module
        for it in found
        for name in names
        if it.module == name or it.module.startswith(f"{name}.")
    }


def import_graph() -> grimp.ImportGraph:
    """Return who imports whom; imports for types alone do not count."""
    graph = grimp.build_graph(
        "headrace",
        include_external_packages=True,
        exclude_type_checking_imports=True,
        cache_dir=None,
    )
    for importer, imported in HARMLESS:
        graph.remove_import(importer=importer, imported=imported)
    return graph


def impurities(graph: grimp.ImportGraph, pure: Iterable[str]) -> list[str]:
    """Return how modules reach what has effects: each by the shortest way."""
    chains = (
        graph.find_shortest_chain(importer=module, imported=effect)
        for module in sorted(pure)
        for effect in EFFECTS
        if effect in graph.modules
    )
    return [" -> ".join(chain) for chain in chains if chain]
