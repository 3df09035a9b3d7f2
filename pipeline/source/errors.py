"""Errors of the data source, and the ones that a user can do something about."""


class SourceError(Exception):
    """The bucket cannot be read as it was asked for; the message says what to do."""


class OptionError(SourceError):
    """An option is unknown, missing, or has a value that means nothing."""


class DataLossError(SourceError):
    """Offsets that were asked for are not there any more, and `failOnDataLoss` is true."""


class ObjectGoneError(Exception):
    """An object is not in the bucket: compaction has replaced it, or its data was deleted."""
