"""When checkpoints of a partition are due, and its state as one and from one. Pure.

Opening a partition reads the last checkpoint and then the headers and markers of the batches after it, never the whole
log. The format is `headrace.protocol.partition_checkpoint`.
"""

from headrace.broker.partition.leader_epochs import LeaderEpochs
from headrace.broker.partition.state import PartitionState
from headrace.broker.partition.time_index import MAX_TIMESTAMP_MS
from headrace.protocol.partition_checkpoint import Checkpoint, encode

# One costs about 30 us and 5 us a kB, from its encoding to its upload; a record's MB costs 1 to 6 ms. So checkpoints
# take some hundredths of a partition's processor time at most, and an opening replays little.
MIN_INTERVAL_BYTES = 2 * 1024 * 1024
INTERVAL_PER_BYTE = 256  # of log, for each byte of the checkpoint before


def interval_bytes(last_bytes: int, max_bytes: int) -> int:
    """By how much the log grows until the next checkpoint, `last_bytes` being the size of the one before."""
    return min(max(MIN_INTERVAL_BYTES, INTERVAL_PER_BYTE * last_bytes), max_bytes)


def take(state: PartitionState, offset: int, log_start_offset: int) -> bytes:
    """Encode the state of a partition whose log ends at `offset`."""
    times, transactions = state.times, state.transactions
    checkpoint = Checkpoint(
        offset=offset,
        log_start_offset=log_start_offset,
        producers=list(state.producers),
        leader_epochs=list(state.epochs.starts),
        time_entries=list(times.entries),
        time_interval_bytes=times.interval_bytes,
        segment_max_ms=times.segment_max_ms,
        segment_max_offset=times.segment_max_offset,
        start_bytes=times.start_bytes,
        end_bytes=times.end_bytes,
        producers_lost_ms=state.producers.lost_ms,
        ongoing=[] if transactions is None else list(transactions.listed),
        aborted=[] if transactions is None else list(transactions.aborted),
        cleaned_offset=state.cleaned_offset,
    )
    return encode(checkpoint)


def restore(
    checkpoint: Checkpoint, state: PartitionState, latest_ms: int = MAX_TIMESTAMP_MS
) -> None:
    """Load a checkpoint into `state`, replacing what it holds; `latest_ms` as in `PartitionState.apply`."""
    state.producers.restore(checkpoint.producers, checkpoint.producers_lost_ms)
    state.restore_transactions(checkpoint.ongoing, checkpoint.aborted)
    state.epochs = LeaderEpochs(checkpoint.leader_epochs)
    state.cleaned_offset = checkpoint.cleaned_offset
    state.times.restore(
        checkpoint.time_entries,
        interval_bytes=checkpoint.time_interval_bytes,
        start_bytes=checkpoint.start_bytes,
        end_bytes=checkpoint.end_bytes,
        segment_max_ms=checkpoint.segment_max_ms,
        segment_max_offset=checkpoint.segment_max_offset,
        latest_ms=latest_ms,
    )
