"""What happened in a run, in a few words each."""

from typing import Any

from headrace.metadata.raft.configuration import Configuration
from headrace.metadata.raft.effects import Persist
from headrace.metadata.raft.messages import (
    AppendRequest,
    AppendResponse,
    Message,
    SnapshotOffer,
    TimeoutNow,
    VoteRequest,
    VoteResponse,
)
from headrace.metadata.records.codec import decode_members
from headrace.metadata.records.entry import LogEntry
from headrace.metadata.records.members import NO_DIRECTORY


def brief(detail: Any) -> str:
    """Return a message, a write or a configuration as a reader of a trace needs it."""
    match detail:
        case Message():
            return f"[{detail.source} -> {detail.target}, term {detail.term}] {_said(detail)}"
        case Persist():
            hard = detail.hard_state
            words = [] if hard is None else [f"term {hard.term} vote {hard.voted_for}"]
            if detail.truncate_from is not None:
                words.append(f"cut from {detail.truncate_from}")
            return ", ".join((*words, _entries(detail.entries)))
        case Configuration():
            return " ".join(
                f"{it.node_id}{'' if it.voter else '(learner)'}"
                f"@{'?' if it.directory_id == NO_DIRECTORY else it.directory_id.hex[:4]}"
                for it in detail.members
            )
        case None:
            return ""
        case _:
            return str(detail)


def _said(message: Message) -> str:
    match message:
        case VoteRequest():
            kind = "pre-vote?" if message.pre else "vote?"
            known = "" if message.target_directory == NO_DIRECTORY else " by name"
            transfer = " transfer" if message.transfer else ""
            return f"{kind}{known}{transfer} last {message.last_index}/{message.last_term}"
        case VoteResponse():
            return f"{'pre-vote' if message.pre else 'vote'} {'granted' if message.granted else 'refused'}"
        case AppendRequest():
            what = f"{message.previous_index}/{message.previous_term} {_entries(message.entries)}"
            return f"append behind {what}, commit {message.commit_index}, round {message.round}"
        case AppendResponse():
            if message.success:
                return f"agrees to {message.match_index}, round {message.round}"
            hint = f"{message.conflict_index}/{message.conflict_term}"
            fetching = ", fetching" if message.fetching_snapshot else ""
            return f"refuses {message.match_index}, try {hint}{fetching}, round {message.round}"
        case SnapshotOffer():
            return (
                f"snapshot {message.snapshot_index}/{message.snapshot_term}, round {message.round}"
            )
        case TimeoutNow():
            return "timeout now"
    return str(message)


def _entries(entries: tuple[LogEntry, ...]) -> str:
    if not entries:
        return "nothing"
    words = [f"{it.index}/{it.term}{_kind(it.payload)}" for it in entries[:8]]
    return " ".join(words) + (f" ... {entries[-1].index}/{entries[-1].term}" if entries[8:] else "")


def _kind(payload: bytes) -> str:
    members = decode_members(payload)
    if members is not None:
        return f"({brief(Configuration.of(members))})"
    return "(opens)" if payload[:1] == b"O" else ""
