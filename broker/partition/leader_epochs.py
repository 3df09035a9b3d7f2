"""Which leader epoch began at which offset (KIP-101, KIP-320). Pure."""

from bisect import bisect_right
from collections.abc import Sequence

from headrace.protocol.partition_checkpoint import EpochStart


class LeaderEpochs:
    """Epochs that have written at least one batch, oldest first; bounded by dropping those below the log start."""

    def __init__(self, starts: Sequence[EpochStart] = ()) -> None:
        self._starts: list[EpochStart] = list(starts)

    @property
    def starts(self) -> tuple[EpochStart, ...]:
        """Every epoch with its first offset, oldest first."""
        return tuple(self._starts)

    def assign(self, epoch: int, offset: int) -> None:
        """Record that a batch of `epoch` was appended at `offset`."""
        if self._starts and self._starts[-1].epoch >= epoch:
            return
        self._starts.append(EpochStart(epoch, offset))

    def epoch_of(self, offset: int) -> int:
        """Epoch under which `offset` was written; -1 when that is unknown."""
        position = bisect_right(self._starts, offset, key=lambda start: start.start_offset)
        return self._starts[position - 1].epoch if position else -1

    def end_offset(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        """(largest epoch <= `epoch` that has data, its end offset).

        An epoch that is older than all known data is returned itself, and ends where the data begins: a consumer at
        that offset was not truncated.
        """
        position = bisect_right(self._starts, epoch, key=lambda start: start.epoch)
        if not position:
            return epoch, self._starts[0].start_offset if self._starts else log_end_offset
        found = self._starts[position - 1]
        if position < len(self._starts):
            return found.epoch, self._starts[position].start_offset
        return found.epoch, log_end_offset

    def trim(self, log_start_offset: int) -> None:
        """Drop epochs that ended at or below the log start; the epoch at the log start stays."""
        while len(self._starts) > 1 and self._starts[1].start_offset <= log_start_offset:
            del self._starts[0]
        if self._starts and self._starts[0].start_offset < log_start_offset:
            self._starts[0] = EpochStart(self._starts[0].epoch, log_start_offset)
