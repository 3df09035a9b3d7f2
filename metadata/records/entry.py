"""One entry of the metadata log: in the log's files, in memory, and on its way to a broker."""

import msgspec


class LogEntry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A batch of records that counts as a whole."""

    index: int  # from 1, without gaps
    term: int  # of the leader that made it
    payload: bytes  # `records.codec`
