"""Read-only views of a core. Pure."""

from collections.abc import Mapping

from headrace.metadata.raft.configuration import Configuration
from headrace.metadata.raft.disks import Outdated
from headrace.metadata.raft.effects import Role
from headrace.metadata.raft.leading import LeaderState
from headrace.metadata.raft.log import RaftLog
from headrace.metadata.raft.messages import Disk
from headrace.metadata.raft.node_state import NodeState
from headrace.metadata.raft.progress import ProgressView


class CoreViews:
    """The state of a core, which may be read at any time."""

    def __init__(self, log: RaftLog, state: NodeState) -> None:
        self._log = log
        self._state = state
        self._leadership: LeaderState | None = None

    @property
    def role(self) -> Role:
        """The role of this node in its term."""
        return self._state.role

    @property
    def term(self) -> int:
        """The newest term that it knows."""
        return self._state.term

    @property
    def leader_id(self) -> int:
        """The leader of that term, or `NOBODY` if it is not known."""
        return self._state.leader_id

    @property
    def configuration(self) -> Configuration:
        """The members of the newest entry that names them, committed or not."""
        return self._log.configuration

    @property
    def holds_members_only(self) -> bool:
        """Whether no entry that is not compacted is about anything else, committed or not."""
        return self._log.holds_members_only

    @property
    def first_index(self) -> int:
        """The first entry that is not compacted."""
        return self._log.first_index

    @property
    def last_index(self) -> int:
        """The last entry of the log."""
        return self._log.last_index

    @property
    def durable_index(self) -> int:
        """The last entry that is durable here."""
        return self._log.durable_index

    @property
    def commit_index(self) -> int:
        """The last entry that is known to be committed."""
        return self._log.commit_index

    @property
    def outdated(self) -> Outdated | None:
        """Set once this node's own directory is known to be an old copy: it must stop."""
        return self._state.disks.outdated

    @property
    def outdated_nodes(self) -> Mapping[int, Outdated]:
        """Members whose directories are old copies, by node id: their messages are dropped."""
        return self._state.disks.outdated_nodes

    @property
    def remembered(self) -> tuple[Disk, ...]:
        """What is known of the others' directories; the same object until that changes."""
        return self._state.disks.remembered(self._log.configuration)

    @property
    def serving(self) -> bool:
        """Whether it leads, and an entry of its own term is committed."""
        return self._leadership is not None and self._leadership.serving

    @property
    def opening_index(self) -> int:
        """The first entry of the term that it leads; 0: it does not lead."""
        return 0 if self._leadership is None else self._leadership.opening_index

    @property
    def next_tick_ms(self) -> int:
        """The time at which `tick` must be called at the latest."""
        if self._leadership is not None:
            return self._leadership.heartbeat_at_ms
        return self._state.election_at_ms

    def progress(self) -> Mapping[int, ProgressView]:
        """Progress of each member, by node id, including this node; empty unless it leads."""
        return {} if self._leadership is None else self._leadership.views()
