"""The message classes of kafka-python, with those that our command line adds to them."""

from importlib import import_module
from typing import Any, Final

_MODULES: Final = (
    *(f"kafka.protocol.{it}" for it in ("metadata", "consumer", "producer", "sasl", "admin")),
    "headrace.broker.cli.client.added_messages",
)


def kafka_python_class(name: str) -> Any:
    """Return a class by the name of its schema; None where it has no such message."""
    modules = (import_module(it) for it in _MODULES)
    return next((getattr(it, name) for it in modules if hasattr(it, name)), None)
