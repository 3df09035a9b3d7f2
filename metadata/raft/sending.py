"""Messages of a leader to one other member, by its progress (`headrace.metadata.raft.progress`). Pure."""

from headrace.invariants import InvariantError
from headrace.metadata.raft.messages import AppendRequest, Disk, SnapshotOffer
from headrace.metadata.raft.node_state import NodeState
from headrace.metadata.raft.progress import Progress, ProgressState


def messages_to(
    state: NodeState, node_id: int, known: Progress, round_: int
) -> list[AppendRequest | SnapshotOffer]:
    """All messages that may be sent to a member now; they count as sent."""
    if known.next_index < state.log.first_index:
        known.await_snapshot()
    heartbeat_due, known.heartbeat_due = known.heartbeat_due, False
    disks = state.disks_to_tell if heartbeat_due else ()
    match known.state:
        case ProgressState.SNAPSHOT:
            return [_offer(state, node_id, round_)] if heartbeat_due else []
        case ProgressState.PROBE:
            if known.probe_sent:
                return [_heartbeat(state, node_id, known, round_, disks)] if heartbeat_due else []
            known.probe_sent = True
            max_bytes = state.settings.max_append_bytes
            return [_request(state, node_id, known, round_, max_bytes, disks)]
        case ProgressState.REPLICATE:
            news = heartbeat_due or known.sent_commit_index < state.log.commit_index
            entries = _replicate(state, node_id, known, round_, disks)
            if news and not entries:
                return [_heartbeat(state, node_id, known, round_, disks)]
            return [*entries]


def _replicate(
    state: NodeState, node_id: int, known: Progress, round_: int, disks: tuple[Disk, ...]
) -> list[AppendRequest]:
    settings, last_index = state.settings, state.log.last_index
    sent: list[AppendRequest] = []
    while known.next_index <= last_index and len(known.inflight) < settings.max_appends_inflight:
        request = _request(
            state, node_id, known, round_, settings.max_append_bytes, () if sent else disks
        )
        known.next_index += len(request.entries)
        known.inflight.append(known.next_index - 1)
        sent.append(request)
    return sent


def _heartbeat(
    state: NodeState, node_id: int, known: Progress, round_: int, disks: tuple[Disk, ...]
) -> AppendRequest:
    return _request(state, node_id, known, round_, None, disks)


def _request(
    state: NodeState,
    node_id: int,
    known: Progress,
    round_: int,
    max_bytes: int | None,
    disks: tuple[Disk, ...],
) -> AppendRequest:
    """A request with entries from the next one on; `max_bytes` None: without entries."""
    log = state.log
    previous_index = known.next_index - 1
    previous_term = log.term_at(previous_index)
    if previous_term is None:
        raise InvariantError("compacted entries are offered as a snapshot")
    known.sent_commit_index = log.commit_index
    return AppendRequest(
        **state.envelope(node_id),
        previous_index=previous_index,
        previous_term=previous_term,
        entries=() if max_bytes is None else log.slice(known.next_index, max_bytes),
        commit_index=log.commit_index,
        round=round_,
        disks=disks,
    )


def _offer(state: NodeState, node_id: int, round_: int) -> SnapshotOffer:
    snapshot = state.log.snapshot
    return SnapshotOffer(
        **state.envelope(node_id),
        snapshot_index=snapshot.index,
        snapshot_term=snapshot.term,
        round=round_,
        disks=state.disks_to_tell,
    )
