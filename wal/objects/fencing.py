"""Which generation owns a number, and what an object means that exists already. Pure.

The rules for the log's safety:

1. A writer uses no number that is `WINDOW` or more beyond the first that it has not confirmed.
2. The new owner walks up to the first missing number m and creates a fence there. From then on the
   old writer cannot confirm m, so all its inflight objects are below m + WINDOW.
3. It then takes every number up to there, by fences; objects that exist there already are void. Its own
   numbers begin at m + WINDOW, where no request of an older generation can ever arrive.
   A fence need not be at m: any fence below m + WINDOW stops the old writer there. Such a *barrier*
   ends a race with a writer that is alive, and faster than the walk.
4. An object that exists already counts as the writer's own only if its header is the same: the generation
   id and every other byte of the header are compared.
"""

from dataclasses import dataclass

from headrace.wal.objects.errors import WalFencedError
from headrace.wal.objects.layout import Kind, ObjectHeader, decode_header
from headrace.wal.port import Buffer


@dataclass(frozen=True, slots=True)
class Owner:
    """One generation of a node's log."""

    node_epoch: int
    generation_id: int

    def owns(self, header: ObjectHeader) -> bool:
        """Whether it wrote an object."""
        return header.generation_id == self.generation_id

    def is_behind(self, header: ObjectHeader) -> bool:
        """Whether an object was written by a newer registration of the node."""
        return header.node_epoch > self.node_epoch


def require_own(found: Buffer | None, sent: Buffer, key: str) -> None:
    """Check that an object which exists already is the one that this writer tried to create.

    Args:
        found: the header that exists now, None when there is no object any more.
        sent: the header of this writer's object.
        key: of the object.

    Raises:
        WalFencedError: it is not this writer's. If the object is gone, another owner has released a number
            that this writer has not confirmed.
    """
    if found is not None and bytes(found) == bytes(sent):
        return
    header = None if found is None else decode_header(found)
    raise WalFencedError(f"the WAL has been taken over: {key} {_described(header)}")


def require_void(found: Buffer | None, owner: Owner, key: str) -> None:
    """Check that an object which exists where a fence was to be created, behind our first fence, is void.

    A fence of another generation at our own epoch need not be left from an older one: it may be of a
    generation that takes over right now, and considers our fences to be left over.

    Raises:
        WalFencedError: a newer generation, or another one at our epoch, is taking over too.
    """
    header = None if found is None else decode_header(found)
    if header is None and found is not None:
        return  # not a valid object, so it is void: it takes the number
    if header is None or owner.is_behind(header) or _competes(header, owner):
        raise WalFencedError(f"another owner is taking the WAL over: {key} {_described(header)}")


def _competes(header: ObjectHeader, owner: Owner) -> bool:
    return (
        header.kind is Kind.FENCE
        and header.node_epoch == owner.node_epoch
        and not owner.owns(header)
    )


def _described(header: ObjectHeader | None) -> str:
    if header is None:
        return "is not what was written there"
    kind = header.kind.name.lower()
    return (
        f"is a {kind} of generation {header.generation_id:016x} at node epoch {header.node_epoch}"
    )
