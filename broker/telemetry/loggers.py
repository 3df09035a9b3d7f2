"""Levels of this program's loggers, by Kafka's names for levels; they last until the process ends.

Loggers of libraries are not among them: at their finest level some write what they send, headers included.
"""

import logging
from typing import Final

from headrace.broker.telemetry.log_output import ROOT
from headrace.protocol.errors import ErrorCode, KafkaError

LEVELS: Final = {
    "FATAL": logging.CRITICAL,
    "ERROR": logging.ERROR,
    "WARN": logging.WARNING,
    "INFO": logging.INFO,
    "DEBUG": logging.DEBUG,
    "TRACE": logging.DEBUG,  # there is nothing finer
    "OFF": logging.CRITICAL + 1,
}
_NAMES: Final = {level: name for name, level in LEVELS.items() if name != "TRACE"}


def levels() -> dict[str, str]:
    """Every logger with the level in force, by name."""
    known = list(logging.root.manager.loggerDict.items())  # a thread that imports adds some
    found = {ROOT: logging.getLogger(ROOT)} | {
        name: logger
        for name, logger in known
        if isinstance(logger, logging.Logger) and name.startswith(f"{ROOT}.")
    }
    return {name: _name(logger.getEffectiveLevel()) for name, logger in sorted(found.items())}


def check(name: str, level: str | None) -> None:
    """Return only if a logger may have this level; None: that of the logger above it.

    Raises:
        KafkaError: there is no such logger or level, or no logger above it.
    """
    if name not in levels():
        raise KafkaError(ErrorCode.INVALID_CONFIG, f"there is no logger {name!r}")
    if level is None and name == ROOT:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"{ROOT} has no logger above it: set a level")
    if level is not None and level not in LEVELS:
        raise KafkaError(ErrorCode.INVALID_CONFIG, f"{level!r} is not a level: {', '.join(LEVELS)}")


def set_level(name: str, level: str | None) -> None:
    """Set what `check` has let pass."""
    logging.getLogger(name).setLevel(logging.NOTSET if level is None else LEVELS[level])


def _name(level: int) -> str:
    """The name of a level, or of the next finer one."""
    return _NAMES[max((it for it in _NAMES if it <= level), default=logging.DEBUG)]
