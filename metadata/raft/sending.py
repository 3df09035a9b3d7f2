"""What a leader sends to one other member, by what it knows of it (`headrace.metadata.raft.progress`). Pure."""

from headrace.metadata.raft.messages import AppendRequest, SnapshotOffer
from headrace.metadata.raft.node_state import NodeState
from headrace.metadata.raft.progress import Feeding, Progress


def messages_to(
    state: NodeState, node_id: int, known: Progress, round_: int
) -> list[AppendRequest | SnapshotOffer]:
    """All that may be sent to a member now, taken as sent."""
    if known.next_index < state.log.first_index:
        known.await_snapshot()
    heartbeat_due, known.heartbeat_due = known.heartbeat_due, False
    match known.feeding:
        case Feeding.SNAPSHOT:
            return [_offer(state, node_id, round_)] if heartbeat_due else []
        case Feeding.PROBE:
            if known.asked:
                return [_heartbeat(state, node_id, known, round_)] if heartbeat_due else []
            known.asked = True
            return [_request(state, node_id, known, round_, state.settings.max_append_bytes)]
        case Feeding.REPLICATE:
            news = heartbeat_due or known.sent_commit_index < state.log.commit_index
            entries = _replicate(state, node_id, known, round_)
            if news and not entries:
                return [_heartbeat(state, node_id, known, round_)]
            return [*entries]


def _replicate(state: NodeState, node_id: int, known: Progress, round_: int) -> list[AppendRequest]:
    settings, last_index = state.settings, state.log.last_index
    sent: list[AppendRequest] = []
    while known.next_index <= last_index and len(known.inflight) < settings.max_appends_inflight:
        request = _request(state, node_id, known, round_, settings.max_append_bytes)
        known.next_index += len(request.entries)
        known.inflight.append(known.next_index - 1)
        sent.append(request)
    return sent


def _heartbeat(state: NodeState, node_id: int, known: Progress, round_: int) -> AppendRequest:
    return _request(state, node_id, known, round_, None)


def _request(
    state: NodeState, node_id: int, known: Progress, round_: int, max_bytes: int | None
) -> AppendRequest:
    """Entries from the next one on; None: no entries at all."""
    log = state.log
    previous_index = known.next_index - 1
    previous_term = log.term_at(previous_index)
    assert previous_term is not None, "what is forgotten is offered as a snapshot"
    known.sent_commit_index = log.commit_index
    return AppendRequest(
        **state.envelope(node_id),
        previous_index=previous_index,
        previous_term=previous_term,
        entries=() if max_bytes is None else log.slice(known.next_index, max_bytes),
        commit_index=log.commit_index,
        round=round_,
    )


def _offer(state: NodeState, node_id: int, round_: int) -> SnapshotOffer:
    snapshot = state.log.snapshot
    return SnapshotOffer(
        **state.envelope(node_id),
        snapshot_index=snapshot.index,
        snapshot_term=snapshot.term,
        round=round_,
    )
