"""Errors of the data source, and the ones that a user can do something about."""

from typing import Any


class SourceError(Exception):
    """The bucket cannot be read as it was asked for; the message says what to do."""


class OptionError(SourceError):
    """An option is unknown, missing, or has a value that means nothing."""


class DataLossError(SourceError):
    """Offsets that were asked for are not there any more, and `failOnDataLoss` is true."""


class CutOffError(SourceError):
    """An object ends before a range that was read of it."""

    def __init__(self, message: str, found_bytes: int) -> None:
        super().__init__(message)
        self.found_bytes = found_bytes  # of the range

    def __reduce__(self) -> tuple[Any, ...]:
        """Pass both arguments on, from a worker to the driver."""
        return type(self), (self.args[0], self.found_bytes)


class ObjectGoneError(Exception):
    """An object is not in the bucket: compaction has replaced it, or its data was deleted."""
