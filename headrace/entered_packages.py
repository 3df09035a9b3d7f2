"""Packages of others that are entered without running them.

To import a part of a package runs the package first. prometheus_client's loads an HTTP server then, and crc32c's looks
its own version up: each takes as long as the parts themselves. A broker needs metrics and a checksum, and its first
partition waits for them. So such a package is run on the first access to what is not there without it, as in
`from prometheus_client import generate_latest`. Only the `headrace` program enters them: in another one, what else
uses them may expect them to have been run.

This module stands below all packages.
"""

import sys
import threading
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from typing import Any, Final

PACKAGES: Final = ("crc32c", "prometheus_client")


def enter_packages() -> None:
    """Let parts of the packages be imported without them; one that was imported before, or is missing, stays so."""
    for name in PACKAGES:
        spec = None if name in sys.modules else find_spec(name)
        if spec is not None:
            package = module_from_spec(spec)
            package.__dict__["__getattr__"] = _Run(spec, package.__dict__)
            sys.modules[name] = package


class _Run:
    """Runs the package once, for a name that it does not have yet."""

    def __init__(self, spec: ModuleSpec, names: dict[str, Any]) -> None:
        self._spec = spec
        self._names = names
        self._lock = threading.RLock()
        self._begun = False

    def __call__(self, name: str) -> Any:
        module = f"{self._spec.name}.{name}"
        if find_spec(module) is not None:  # as `from package import module` asks for it
            return import_module(module)
        with self._lock:  # another thread waits until all names are there
            if not self._begun:
                self._begun = True
                try:
                    self._run()
                except BaseException:
                    self._begun = False
                    raise
        try:
            return self._names[name]
        except KeyError:
            raise AttributeError(f"module {self._spec.name!r} has no attribute {name!r}") from None

    def _run(self) -> None:
        loader = self._spec.loader
        if loader is not None:
            loader.exec_module(sys.modules[self._spec.name])
