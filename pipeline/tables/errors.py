"""What goes wrong on the way from a topic to a table."""


class TableError(Exception):
    """A table cannot go on; the message says why and what to do. Other tables of the job go on."""


class BadRecordError(Exception):
    """A record does not fit its table; the message is the reason that its dead letter has."""
