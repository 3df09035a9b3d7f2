"""The decoder of record batches into columns: compiled where numba is installed, otherwise of Python, which it says."""

import logging
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from headrace.pipeline.columns.interpreted import decode_interpreted
from headrace.pipeline.columns.pieces import Buffer
from headrace.pipeline.columns.selection import Limits, WantedRows

_log = logging.getLogger(__name__)
_DEFAULT_LIMITS = Limits()

Decode = Callable[[Iterable[Buffer], WantedRows, Limits], Iterator[Any]]


def decode(
    payloads: Iterable[Buffer], selection: WantedRows, limits: Limits = _DEFAULT_LIMITS
) -> Iterator[Any]:
    """Yield `pyarrow.RecordBatch`es with the wanted rows, in order; control batches are never among them.

    Args:
        payloads: each is made of whole batches of format v2 with their offsets in the log: the payloads of the
            StreamRecordBatches of a verified data block. CRCs of batches are not checked.
        selection: rows and columns.
        limits: what is held at once.

    Raises:
        RecordsError: a batch is damaged, too large, or of an unknown codec; the message says where.
    """
    return _fastest()(payloads, selection, limits)


@cache
def _fastest() -> Decode:
    """The compiled decoder, or the other one after a warning: once in a process."""
    try:
        from headrace.pipeline.columns.compiled import decode_compiled  # noqa: PLC0415 - if it is there
    except ImportError as error:
        _log.warning(
            "records are decoded by Python, about 50 times slower than compiled: %s "
            "(pip install numba)",
            error,
        )
        return decode_interpreted
    return decode_compiled
