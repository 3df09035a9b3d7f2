"""What a node's objects mean to the new owner of its log: the walk from the head to the fence. Pure.

Sans-IO: `Walk` says what to read or create next and is given the outcome. The old writer may be alive
meanwhile, and continue: an object may arrive after it was looked for, or be released and deleted.

A missing object is

- released, if any object has a head beyond it: the walk continues there;
- lost, if any object says that it was confirmed, or has a number further on than a writer could use with
  this one unconfirmed: refused as corruption, after a look at a list that is newer than the miss;
- otherwise the end, if a fence can be created with its number. If not, it has just arrived, and is
  read. If so, a list made after it shows whether the object had arrived, been confirmed, released and
  deleted in between: then the fence has stopped no writer (a *stray* one), and the walk continues at the
  head.

A writer that is alive and fast could win that race again and again. So when it is lost, a fence is created
ahead, further than a writer reaches, yet in the window: the walk ends there at the latest.

Behind a fence every object of another generation is void: its writer cannot have confirmed it. Objects
above the newest head were not stopped by a fence below it.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from enum import Enum

from headrace.invariants import require
from headrace.wal.errors import WalIdentityError
from headrace.wal.objects.errors import WalFencedError, WalObjectCorruptError
from headrace.wal.objects.fencing import Owner
from headrace.wal.objects.layout import (
    WINDOW,
    Kind,
    LogKeys,
    ObjectHeader,
    decode_header,
    read_records,
)
from headrace.wal.port import RecoveredRecord


@dataclass(slots=True)
class Claims:
    """What is known of the whole log: what the objects say, values that only grow, and what we did."""

    newest: ObjectHeader | None = None  # of the highest number
    released: int = 0
    confirmed: int = 0
    trim_offset: int = -1
    end_offset: int = 0
    capacity_bytes: int = 0
    barrier: int = -1  # number of our fence ahead of the old writer; -1 when there is none

    def absorb(self, header: ObjectHeader) -> None:
        """Take in what an object's header says.

        The header of a void object is true as well: its writer knew what it had confirmed and released.
        """
        if self.newest is None or header.number > self.newest.number:
            self.newest = header
        self.released = max(self.released, header.released)
        self.confirmed = max(self.confirmed, header.confirmed)
        self.trim_offset = max(self.trim_offset, header.trim_offset)
        self.end_offset = max(self.end_offset, header.end_offset)
        self.capacity_bytes = max(self.capacity_bytes, header.capacity_bytes)

    @property
    def next_start_offset(self) -> int:
        """Offset beyond any that was ever given out."""
        return self.end_offset + self.capacity_bytes


def newest_numbers(listed: Collection[int]) -> list[int]:
    """Return the numbers whose headers, together, hold the newest state.

    A writer's headers are newer with every number, and those of two writers overlap in one window.
    """
    return sorted(listed)[-WINDOW:]


def check_identity(header: ObjectHeader, keys: LogKeys, owner: Owner) -> None:
    """Refuse the log of another owner.

    Raises:
        WalIdentityError: other cluster, other node, or a newer registration of this node.
    """
    if (header.cluster_id, header.node_id) != (keys.cluster_id, keys.node_id):
        msg = (
            f"WAL object {keys.key(header.number)} belongs to node {header.node_id} of cluster "
            f"{header.cluster_id!r}"
        )
        raise WalIdentityError(msg)
    if owner.is_behind(header):
        msg = (
            f"the WAL below {keys.folder} was used by node epoch {header.node_epoch}, newer than "
            f"{owner.node_epoch} of this process: another process runs with this node id, or ran after this one"
        )
        raise WalIdentityError(msg)


class Action(Enum):
    """What a walk needs next."""

    READ = "read the object, whole"
    FENCE = "create the fence"
    LIST = "list the objects, and read the newest headers"
    END = "nothing: the fence exists"


@dataclass(slots=True)
class WalkSummary:
    """What a walk found; for the log and for tools."""

    objects: int = 0  # that hold records
    records: int = 0  # returned
    void_objects: int = 0
    fences: int = 0
    lost: list[int] = field(default_factory=list)  # numbers whose loss was accepted, as configured


class Walk:
    """One walk; begins at the newest head."""

    def __init__(
        self,
        keys: LogKeys,
        owner: Owner,
        claims: Claims,
        listed: Collection[int],
        *,
        accept_loss_generation: str = "",
        accepts_damage: bool = False,
    ) -> None:
        self._keys = keys
        self._owner = owner
        self._claims = claims
        self._listed = listed
        self._accept_loss_generation = accept_loss_generation
        self._accepts_damage = accepts_damage
        self._writer: Owner | None = None  # whose objects are valid here
        self._first_fence: int | None = None  # that was passed since the walk was at a head
        self._void_to = -1  # highest number that was skipped as void since then
        self._read_to = -1  # highest number whose records were returned
        self._is_fenced = False  # the object at `number` is our fence
        self._wants_barrier = False
        self._fence_is_barrier = False  # the one that is to be created
        self._doubted = -1  # number that seemed lost already
        self.action = Action.READ
        self.number = claims.released
        self.unneeded: list[int] = []  # what was read, and is not needed after recovery
        self.summary = WalkSummary()

    def wanted_fence(self) -> ObjectHeader:
        """Return the fence to create."""
        if not self._fence_is_barrier:
            return self.fence(self.number)
        # Up to the window before it, all objects existed.
        barrier = self._claims.barrier
        return self.fence(barrier, confirmed=barrier - WINDOW + 1)

    def fence(self, number: int, *, confirmed: int | None = None) -> ObjectHeader:
        """Return the fence for a number, at or behind the end."""
        claims, keys, owner = self._claims, self._keys, self._owner
        return ObjectHeader(
            kind=Kind.FENCE,
            cluster_id=keys.cluster_id,
            node_id=keys.node_id,
            node_epoch=owner.node_epoch,
            generation_id=owner.generation_id,
            number=number,
            released=claims.released,
            confirmed=self.number if confirmed is None else confirmed,
            trim_offset=claims.trim_offset,
            base_offset=claims.end_offset,
            length=0,
            capacity_bytes=claims.capacity_bytes,
            records=0,
        )

    def found(self, content: memoryview | None) -> list[RecoveredRecord]:
        """Take the object that was read, None for a missing one; return its valid records.

        Raises:
            WalObjectCorruptError: it is needed and damaged.
            WalFencedError: a newer generation has begun to take over.
            WalIdentityError: it is another log's.
        """
        require(self.action is Action.READ)
        if content is None:
            doubtful = self.number in self._listed or self._seems_lost
            self.action = Action.LIST if doubtful else Action.FENCE
            return []
        header = decode_header(content)
        if header is None or header.number != self.number:
            self._lost("is damaged")
            return []
        self._require_not_behind(header)
        check_identity(header, self._keys, self._owner)
        if header.kind is Kind.FENCE:
            self._pass_fence(header)
            return []
        if self._is_void(header):
            self.summary.void_objects += 1
            self._void_to = self.number
            self.number += 1
            return []
        return self._read(content, header)

    def created(self) -> None:
        """The fence exists, and is ours."""
        require(self.action is Action.FENCE)
        self._is_fenced = not self._fence_is_barrier
        self._fence_is_barrier = False
        self.action = Action.LIST if self._is_fenced else Action.READ

    def lost_race(self) -> None:
        """Another object exists where the fence was to be created."""
        require(self.action is Action.FENCE)
        if self._fence_is_barrier:
            self._fence_is_barrier = False
            self._claims.barrier = -1
        else:
            # What was missing has just arrived: its writer is alive.
            self._wants_barrier = self._claims.barrier < self.number
        self.action = Action.LIST if self._wants_barrier else Action.READ

    def listed(self, numbers: Collection[int], newest: Iterable[ObjectHeader]) -> None:
        """Take the numbers of all objects and the headers of `newest_numbers`.

        Raises:
            WalObjectCorruptError: the missing object was confirmed, and not released.
            WalFencedError: a newer generation has begun to take over.
        """
        require(self.action is Action.LIST)
        for header in newest:
            self._require_not_behind(header)
            self._claims.absorb(header)
        self._listed = numbers
        if self._claims.released > self.number or self._passed_stray_fence():
            self._go_on_at_head()
        elif self._is_fenced:
            if self._seems_lost:
                msg = f"the WAL below {self._keys.folder} is being taken over by another process at this node epoch"
                raise WalFencedError(msg)
            self.action = Action.END
        elif self._wants_barrier:
            self._wants_barrier = False
            self._claims.barrier = self._barrier_number()
            self._fence_is_barrier = self._claims.barrier >= 0
            self.action = Action.FENCE if self._fence_is_barrier else Action.READ
        elif self.number in numbers or (self._seems_lost and self._doubted != self.number):
            self._doubted = self.number  # a long list is no snapshot: look again
            self.action = Action.READ
        elif self._seems_lost:
            self._lost("is missing")
        else:
            self.action = Action.FENCE

    def _barrier_number(self) -> int:
        """The number of a fence ahead of a writer; -1 when an object has that number."""
        first_missing = max(self.number, self._claims.confirmed)
        while first_missing in self._listed:
            first_missing += 1
        number = first_missing + WINDOW - 1
        return -1 if number in self._listed else number

    @property
    def _seems_lost(self) -> bool:
        """Whether the object at `number`, if missing, was confirmed, as far as is known."""
        highest = max(self._listed, default=-1)
        return self._claims.confirmed > self.number or highest >= self.number + WINDOW

    def _passed_stray_fence(self) -> bool:
        """Whether a needed object was taken for void because of a fence below the head."""
        fence, head = self._first_fence, self._claims.released
        return fence is not None and fence < head <= self._void_to

    def _go_on_at_head(self) -> None:
        self.number = self._claims.released
        self._writer = None
        self._first_fence = None
        self._void_to = -1
        self._is_fenced = False
        self.action = Action.READ

    def _require_not_behind(self, header: ObjectHeader) -> None:
        if self._owner.is_behind(header):
            msg = f"the WAL below {self._keys.folder} has been taken over by node epoch {header.node_epoch}"
            raise WalFencedError(msg)

    def _lost(self, what: str) -> None:
        """Refuse, or continue behind the object if that loss is accepted."""
        newest = self._claims.newest
        generation_id = 0 if newest is None else newest.generation_id
        is_accepted = self._accept_loss_generation == f"{generation_id:016x}"
        if not self._accepts_damage and not is_accepted:
            key = self._keys.key(self.number)
            what = f"{what}, and everything below number {self._claims.confirmed} was confirmed"
            raise WalObjectCorruptError(key, self.number, what, generation_id=generation_id)
        self.summary.lost.append(self.number)
        self.number += 1
        self.action = Action.READ

    def _pass_fence(self, header: ObjectHeader) -> None:
        if self._owner.owns(header):
            self._is_fenced = True
            self.action = Action.LIST
            return
        self._claims.absorb(header)
        if self._writer is None or header.node_epoch >= self._writer.node_epoch:
            self._writer = Owner(header.node_epoch, header.generation_id)
        if self._first_fence is None:
            self._first_fence = self.number
        self.summary.fences += 1
        self.number += 1

    def _is_void(self, header: ObjectHeader) -> bool:
        writer = self._writer
        if writer is None or header.node_epoch > writer.node_epoch:
            self._writer = Owner(header.node_epoch, header.generation_id)
            return False
        return not writer.owns(header)

    def _read(self, content: memoryview, header: ObjectHeader) -> list[RecoveredRecord]:
        self._claims.absorb(header)
        records = read_records(content, header)
        if records is None:
            self._lost("is damaged")
            return []
        if self.number <= self._read_to:
            records = []  # read a second time, after a stray fence
        self._read_to = max(self._read_to, self.number)
        self.unneeded.append(self.number)
        self.number += 1
        trim_offset = self._claims.trim_offset
        records = [record for record in records if record.offset > trim_offset]
        self.summary.objects += bool(records)
        self.summary.records += len(records)
        return records
