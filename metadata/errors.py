"""Errors of the control plane, by what the caller must do. Pure."""

from headrace.protocol.errors import MAX_MESSAGE_CHARACTERS, ErrorCode


class MetadataError(Exception):
    """Base of all below."""


class RefusedError(MetadataError):
    """The controller understood the request and refuses it; nothing has changed."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        self.message = message[:MAX_MESSAGE_CHARACTERS]
        super().__init__(f"{code.name}: {self.message}")
        self.code = code


class NodeFencedError(MetadataError):
    """A newer registration of this node exists, or its session has expired: stop."""


class ControllerUnavailableError(MetadataError):
    """No answer in time. Whether the request took effect is unknown."""


class LeadershipLostError(MetadataError):
    """This controller does not lead, or cannot prove that it does. The outcome of a proposal is unknown."""


class MetadataFormatError(MetadataError):
    """Bytes of a record, snapshot or message cannot be read."""


class MetadataVersionError(MetadataFormatError):
    """The cluster is at a level of `headrace.metadata.version` that this release does not read."""


class MetadataDivergedError(MetadataError):
    """What this node has applied is not a prefix of the controller's log: stop."""


class MetadataLogCorruptError(MetadataError):
    """An acknowledged part of the log cannot be read, or is missing."""


class MetadataLogFailedError(MetadataError):
    """A write or sync failed; the log accepts no more writes until the process restarts."""


class MetadataIdentityError(MetadataError):
    """The directory belongs to another cluster or node, another process has it open, or it is an old copy."""
