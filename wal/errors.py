"""Errors of the write-ahead log, by what the caller should do. Pure."""


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
    """The device cannot be used as configured (missing, too small, in a foreign format): change the set-up."""


class WalLockedError(WalDeviceError):
    """Another writer holds the device: stop that one first."""


class WalInUseError(WalLockedError):
    """Another use of the device than by a log, such as a mounted file system, which does not end by itself."""


class WalIdentityError(WalDeviceError):
    """The log belongs to another cluster or node, or to a newer registration of this node."""


class WalFenceError(WalDeviceError):
    """The device was not taken away from others who may write to it: nothing was read from it or written to it."""


class WalMissingError(WalDeviceError):
    """The log that this node used last is missing: nothing was changed on what was found instead.

    Attributes:
        generation: id of the missing log, by which its loss can be accepted.
        streams: of this node that are open.
    """

    def __init__(
        self, place: str, generation: str, *, found_epoch: int | None, streams: int
    ) -> None:
        found = (
            "there is no WAL"
            if found_epoch is None
            else f"there is a WAL, but node epoch {found_epoch} wrote to it last, and this node has used another since"
        )
        super().__init__(
            f"the WAL of this node is not at {place}: {found}. The one that is missing was not emptied by a graceful "
            f"stop, so it may hold acknowledged records of this node's {streams} open streams that are nowhere else. "
            f"Check the path (s3.wal.path), whether its file system is mounted, and that no other node has this "
            f"node.id, or bring the device or the bucket back; nothing was changed. To lose the records that only that "
            f"WAL holds, and start without them, start once with headrace.wal.accept.loss={generation}"
        )
        self.generation = generation
        self.streams = streams


class WalOutdatedError(WalDeviceError):
    """The log ends before what was uploaded from it: nothing was changed on it.

    Attributes:
        generation: id of the log, by which the loss can be accepted.
    """

    def __init__(
        self, place: str, generation: str, *, end_offset: int, uploaded_offset: int, streams: int
    ) -> None:
        super().__init__(
            f"the WAL at {place} is an old copy: it ends at offset {end_offset}, and this node has uploaded records "
            f"from it up to offset {uploaded_offset}. Either it was put back from a backup or a snapshot of its "
            f"volume, or its device has lost writes that it had confirmed. So acknowledged records of this node's "
            f"{streams} open streams may be missing in it that are nowhere else. Bring the WAL back that this node "
            f"used last; nothing was changed. If there is none, start once with "
            f"headrace.wal.accept.loss={generation}: what was not uploaded is lost"
        )
        self.generation = generation


class WalForeignError(WalDeviceError):
    """The device holds something that is not a log: nothing was changed on it.

    Attributes:
        what: what was found, for messages.
        position: on the device, in bytes.
    """

    def __init__(self, path: str, what: str, *, position: int) -> None:
        super().__init__(
            f"{path} holds {what} (at byte {position}), not a WAL; nothing was changed on it. If it is "
            f"no longer needed, `headrace wal format --force {path}` erases it"
        )
        self.what = what
        self.position = position


class WalFormattingError(WalDeviceError):
    """Formatting the device was begun and not finished."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"formatting {path} was interrupted: finish it with `headrace wal format {path}`"
        )


class WalVersionError(WalDeviceError):
    """The log has a format that this version of Headrace does not know.

    Attributes:
        found: version of the format.
        is_empty: whether its last owner left it empty, which all format versions record alike.
    """

    def __init__(self, *, found: int, known: int, is_empty: bool, path: str = "the device") -> None:
        advice = (
            f"it was shut down gracefully and is empty, so nothing is lost by `headrace wal format --force {path}`"
            if is_empty
            else "it may hold records that are not in the bucket yet: start the version of Headrace that wrote it "
            "and stop it gracefully, which empties the WAL"
        )
        super().__init__(
            f"the WAL on {path} has format version {found}, and this version of Headrace reads {known}; {advice}"
        )
        self.found = found
        self.known = known
        self.is_empty = is_empty

    def on(self, path: str) -> "WalVersionError":
        """Return the same error with the device's name."""
        return WalVersionError(
            found=self.found, known=self.known, is_empty=self.is_empty, path=path
        )


class WalChangedError(WalError):
    """The log was written to while it was read, so the parts that were read do not match: read it again."""


class WalCorruptError(WalError):
    """Acknowledged records cannot be read back: refuse to serve, leave the device unchanged.

    Attributes:
        offset: logical offset of the first byte that is lost; -1 when the superblock itself is
            meant.
        position: the same as a byte position on the device.
        generation_id: of the log, by which the loss can be accepted; None when it cannot.
    """

    ADVICE = (
        "nothing was changed on the device: do not format it; copy it aside (dd), check it (dmesg, smartctl), and "
        "start with another WAL path only if records that are not yet in the bucket may be lost"
    )

    def __init__(
        self, path: str, what: str, *, offset: int, position: int, generation_id: int | None = None
    ) -> None:
        where = (
            f"offset {offset}, device position {position}"
            if offset >= 0
            else f"device position {position}"
        )
        advice = self.ADVICE
        if generation_id is not None:
            advice += (
                f"; to recover what is intact and lose the rest, start once with "
                f"headrace.wal.accept.loss={generation_id:016x}"
            )
        super().__init__(f"WAL {path} is damaged at {where}: {what}; {advice}")
        self.offset = offset
        self.position = position
        self.generation_id = generation_id
