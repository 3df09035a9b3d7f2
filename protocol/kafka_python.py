"""The package `kafka` of kafka-python, entered without running it.

To import a part of a package runs the package first. kafka-python's loads its consumer, its producer and its admin
client then, which takes as long as the messages themselves. A broker needs only the messages, and its first partition
waits for them. So the package is run when somebody first asks for what is not there without it, as in
`from kafka import KafkaProducer`. Only the program of a node does so: in another one, what else uses kafka-python
may expect the package to have been run.
"""

import sys
import threading
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from typing import Any, Final

PACKAGE: Final = "kafka"


def enter_package() -> None:
    """Let parts of the package be imported without it; nothing is done if it was imported before, or is missing."""
    if PACKAGE in sys.modules:
        return
    spec = find_spec(PACKAGE)
    if spec is None:
        return
    package = module_from_spec(spec)
    package.__dict__["__getattr__"] = _Run(spec, package.__dict__)
    sys.modules[PACKAGE] = package


class _Run:
    """Runs the package once, for a name that it does not have yet."""

    def __init__(self, spec: ModuleSpec, names: dict[str, Any]) -> None:
        self._spec = spec
        self._names = names
        self._lock = threading.RLock()
        self._begun = False

    def __call__(self, name: str) -> Any:
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
            raise AttributeError(f"module {PACKAGE!r} has no attribute {name!r}") from None

    def _run(self) -> None:
        loader = self._spec.loader
        if loader is not None:
            loader.exec_module(sys.modules[PACKAGE])
