"""Errors of the object WAL beside those of `headrace.wal.errors`. Pure."""

from headrace.wal.errors import WalCorruptError, WalFailedError


class WalFencedError(WalFailedError):
    """Somebody else has taken the log over: nothing of this owner is confirmed any more."""


class WalObjectCorruptError(WalCorruptError):
    """An object that is needed is missing or damaged: what it held was acknowledged.

    Attributes:
        number: of the object; also what the base calls its position.
    """

    def __init__(self, key: str, number: int, what: str, *, generation_id: int) -> None:
        Exception.__init__(
            self,
            f"the WAL object {key} {what}; nothing was changed: bring the object back (versions of the bucket, "
            f"a copy), or set headrace.wal.accept.loss={generation_id:016x} "
            f"if what is not yet in the data bucket may be lost",
        )
        self.offset = -1
        self.position = self.number = number
