"""Errors of the control plane, by what the caller should do. Pure."""

from headrace.protocol.errors import ErrorCode


class MetadataError(Exception):
    """Base of all below."""


class RefusedError(MetadataError):
    """The controller understood the request and refuses it; nothing has changed."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(f"{code.name}: {message}")
        self.code = code
        self.message = message


class NodeFencedError(MetadataError):
    """A newer registration of this node exists, or its session has expired: stop."""


class ControllerUnavailableError(MetadataError):
    """No answer in time. Whether the request took effect is unknown."""


class LeadershipLostError(MetadataError):
    """This controller does not lead, or cannot be sure of it. What became of a proposal is unknown."""


class MetadataFormatError(MetadataError):
    """Bytes of a record, snapshot or message cannot be read."""


class MetadataDivergedError(MetadataError):
    """What this node has applied is not a prefix of what the controller has: do not go on."""


class MetadataLogCorruptError(MetadataError):
    """A part of the log that was acknowledged cannot be read, or is missing."""


class MetadataLogFailedError(MetadataError):
    """A write or sync has failed; the log accepts nothing any more until the process restarts."""


class MetadataIdentityError(MetadataError):
    """The directory belongs to another cluster or node, or another process has it open."""
