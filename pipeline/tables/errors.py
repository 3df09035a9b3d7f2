"""What goes wrong on the way from a topic to a table."""

from typing import Final


class TableError(Exception):
    """A table cannot go on; the message says why and what to do. Other tables of the job go on."""


class BadRecordError(Exception):
    """A record does not fit its table; the message is the reason that its dead letter has."""


# What a record can be no reason for: the machine has no memory, a file or a server does not answer. All other
# exceptions that come while one record is looked at are that record's.
NOT_OF_A_RECORD: Final = (TableError, MemoryError, OSError)


def told(error: Exception) -> str:
    """An unexpected exception, in a reason."""
    return f"{type(error).__name__}: {error}"
