"""The errors of the records package have one base, so that one handler answers for all."""

from headrace.protocol.records.errors import (
    CorruptBatchError,
    DecompressionLimitError,
    RecordsError,
    UnsupportedCompressionError,
)


def test_one_base() -> None:
    for error in (CorruptBatchError, DecompressionLimitError, UnsupportedCompressionError):
        assert issubclass(error, RecordsError)
