"""What the members remember of each other's directories, so that an old copy is noticed. Pure.

A directory that was put back from a copy (a backup, a snapshot of a volume) has the id, the vote and
the log of an earlier time. It must not count as the member: what the member has acknowledged since
is missing. Each member remembers of every named directory its latest start and which committed
entries it held, and sends this with its messages. Both only ever grow, so a directory that is behind
is an old copy. Its own process learns it from the others, and the others drop its messages.

A start is a number that the directory counts up, in the upper 32 bits, and a random number: two
processes on copies of one directory have the same count and differ.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple
from uuid import UUID

from headrace.metadata.raft.configuration import Configuration
from headrace.metadata.raft.messages import Disk, RaftMessage, TimeoutNow

COUNT_SHIFT: Final = 32
NO_START: Final = 0  # of a version that does not count them


class Outdated(NamedTuple):
    """A directory is an old copy."""

    found: Disk
    remembered: Disk

    def __str__(self) -> str:
        """Say what gave it away."""
        known, found = self.remembered, self.found
        if _count(found) < _count(known):
            return f"it was started {_count(known)} times, and this is start {_count(found)} of it"
        if _count(found) == _count(known) and found.start != known.start:
            return f"another copy of it was started: two of them are at start {_count(found)}"
        return (
            f"it held all entries up to {known.kept_index}; this one ended with entry "
            f"{found.start_index} at its start"
        )


def next_start(start: int, random32: int) -> int:
    """The start after this one."""
    return (((start >> COUNT_SHIFT) + 1) << COUNT_SHIFT) | random32


def _count(disk: Disk) -> int:
    return disk.start >> COUNT_SHIFT


def is_older(found: Disk, remembered: Disk) -> bool:
    """Whether a directory is an older copy of the one that is remembered."""
    if NO_START in (found.start, remembered.start):
        return False
    if found.start == remembered.start:
        return False
    if _count(found) <= _count(remembered):
        return True
    return found.start_index < remembered.kept_index


class Disks:
    """The memory of one member. Nothing in it ever decreases."""

    def __init__(self, own: Disk, remembered: Iterable[Disk]) -> None:
        """Begin with what was remembered durably.

        Args:
            own: of this node, with the end of its log at the start.
            remembered: of the other members.
        """
        self._own = own
        self._known = {it.directory_id: it for it in remembered}
        self._members: Configuration | None = None
        self._remembered: tuple[Disk, ...] = ()
        self.outdated: Outdated | None = None  # this node's own directory
        self.outdated_nodes: dict[int, Outdated] = {}  # others, by node id

    @property
    def own(self) -> Disk:
        """What this node says of its own directory."""
        return self._own

    def remembered(self, configuration: Configuration) -> tuple[Disk, ...]:
        """What is known of the directories of the other members; the same object until that changes."""
        if self._members is not configuration:
            self._members = configuration
            named = {it.directory_id for it in configuration.members}
            self._known = {it: disk for it, disk in self._known.items() if it in named}
            self._remembered = tuple(self._known.values())
        return self._remembered

    def kept(self, directory_id: UUID, index: int) -> None:
        """A directory durably holds the committed entries up to here."""
        if directory_id == self._own.directory_id:
            if index > self._own.kept_index:
                self._own = self._own.with_kept(index)
        elif (known := self._known.get(directory_id)) is not None and index > known.kept_index:
            self._remember(known.with_kept(index))

    def hear(self, message: RaftMessage, members: Configuration, last_index: int) -> bool:
        """Learn from a message; return whether its sender's directory, and ours, are no old copies.

        Args:
            message: of a member, or of a node that may be one.
            members: the newest configuration: only its directories are remembered.
            last_index: the end of our log.
        """
        if isinstance(message, TimeoutNow):
            return self.outdated is None
        told = {it.directory_id: it for it in message.disks}
        ours = told.pop(self._own.directory_id, None)
        if ours is not None and self._misses(ours, last_index):
            self.outdated = Outdated(self._own, ours)
        sender = told.get(message.source_directory)
        if sender is not None and self._is_old_copy(message.source, sender):
            return False
        for member in members.members:
            if member.directory_id in told:
                self._learn(told[member.directory_id])
        return self.outdated is None

    def _misses(self, told: Disk, last_index: int) -> bool:
        """Whether our directory is older than another member remembers it."""
        if is_older(self._own, told):
            return True
        # The process goes on, and its memory is older: a virtual machine was put back as it ran.
        return told.start == self._own.start != NO_START and told.kept_index > last_index

    def _is_old_copy(self, node_id: int, sender: Disk) -> bool:
        known = self._known.get(sender.directory_id)
        if known is None or not is_older(sender, known):
            self.outdated_nodes.pop(node_id, None)
            return False
        self.outdated_nodes[node_id] = Outdated(sender, known)
        return True

    def _learn(self, told: Disk) -> None:
        known = self._known.get(told.directory_id)
        if known is None:
            self._remember(told)
            return
        newer = told if _count(told) > _count(known) else known
        disk = newer.with_kept(max(told.kept_index, known.kept_index))
        if disk != known:
            self._remember(disk)

    def _remember(self, disk: Disk) -> None:
        self._known[disk.directory_id] = disk
        self._members = None
