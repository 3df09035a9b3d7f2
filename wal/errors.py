"""Errors of the write-ahead log, by what the caller should do."""


class WalError(Exception):
    """Base of all below."""


class WalOverCapacityError(WalError):
    """The ring has no room now: nothing was appended; wait for a trim or a confirmation."""


class WalRecordTooLargeError(WalError):
    """The record can never fit: nothing was appended; do not try again."""


class WalFailedError(WalError):
    """The log failed or is shut down and confirms nothing more: the outcome of open appends is unknown."""


class WalStateError(WalError):
    """A call out of order, such as an append before `reset`: a bug of the caller."""


class WalDeviceError(WalError):
    """The device cannot be used as asked (missing, too small, in a foreign format): change the set-up."""


class WalLockedError(WalDeviceError):
    """Another writer holds the device: stop that one first."""


class WalIdentityError(WalDeviceError):
    """The log belongs to another cluster or node, or to a newer registration of this node."""


class WalCorruptError(WalError):
    """What was acknowledged cannot be read back: refuse to serve, keep the device as it is.

    Attributes:
        offset: logical offset of the first byte that is lost; -1 when the superblock itself is
            meant.
        position: the same as a byte position on the device.
    """

    ADVICE = (
        "nothing was changed on the device: do not format it; copy it aside (dd), check it (dmesg, smartctl), and "
        "start with another WAL path only if what is not yet in the bucket may be lost"
    )

    def __init__(self, path: str, what: str, *, offset: int, position: int) -> None:
        place = (
            f"offset {offset}, device position {position}"
            if offset >= 0
            else f"device position {position}"
        )
        super().__init__(f"WAL {path} is damaged at {place}: {what}; {self.ADVICE}")
        self.offset = offset
        self.position = position
