"""Errors of the object WAL beside those of `headrace.wal.errors`. Pure."""

from headrace.wal.errors import WalCorruptError, WalFailedError


class WalFencedError(WalFailedError):
    """Another owner has taken the log over: nothing of this owner is confirmed any more."""


class WalObjectCorruptError(WalCorruptError):
    """An object that is needed is missing or damaged: its records were acknowledged.

    Attributes:
        number: of the object; also the `position` of the base class.
    """

    def __init__(self, key: str, number: int, what: str, *, generation_id: int) -> None:
        Exception.__init__(
            self,
            f"the WAL object {key} {what}; nothing was changed: bring the object back (versions of the bucket, "
            f"a copy), or start once with headrace.wal.accept.loss={generation_id:016x} if its records that are not "
            f"in the data bucket yet may be lost",
        )
        self.offset = -1
        self.position = self.number = number
