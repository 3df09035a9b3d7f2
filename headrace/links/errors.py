"""Errors of links. Pure."""


class LinkFormatError(Exception):
    """Received bytes are not what they should be: the link ends. Or a frame is too large to be sent."""


class NotSentError(ConnectionError):
    """A request was not sent: it has not taken effect."""
