"""Errors of a record batch. In a request each of them is answered; the connection stays open."""


class RecordsError(Exception):
    """Base of all below."""


class CorruptBatchError(RecordsError):
    """The bytes are not a record batch, or its records cannot be parsed."""


class UnsupportedCompressionError(RecordsError):
    """The batch has a codec that no version of the format defines."""


class DecompressionLimitError(RecordsError):
    """The batch would decompress to more bytes than the caller allows."""


class TooManyElementsError(RecordsError):
    """The batch has more records and headers than the caller allows."""
