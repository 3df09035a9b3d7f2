"""What can be wrong with a record batch. In a request, all of these are answered, not closed on."""


class RecordsError(Exception):
    """Base of all below."""


class CorruptBatchError(RecordsError):
    """The bytes are no record batch, or its records do not parse."""


class UnsupportedCompressionError(RecordsError):
    """The batch names a codec that no version of the format defines."""


class DecompressionLimitError(RecordsError):
    """The batch would decompress to more bytes than the caller allows."""
