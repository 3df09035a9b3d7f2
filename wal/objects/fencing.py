"""Who owns a number, and what an object in one's way means. Pure.

The rules on which the log's safety rests:

1. A writer uses no number that is `WINDOW` or more beyond the first that it has not confirmed.
2. Who takes over walks up to the first missing number m and creates a fence there. From then on the
   old writer cannot confirm m, so all that it may still have under way is below m + WINDOW.
3. It then takes every number up to there, by fences; what is there already is void. Its own numbers
   begin at m + WINDOW, where no request of an older generation can ever arrive.
   A fence need not be at m: any one below m + WINDOW stops the old writer there. Such a *barrier*
   makes an end of a race with a writer that is alive, and faster than the walk.
4. An object in one's way is never taken for one's own unless it says so: the generation id and every
   other byte of the header are compared.
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
    """Judge what lies where an object of ours was to be created and something was there.

    Args:
        found: the header that is there now, None when nothing is.
        sent: the header of ours.
        key: the place.

    Raises:
        WalFencedError: it is not ours. If nothing is there any more, somebody has released a number
            that we have not confirmed.
    """
    if found is not None and bytes(found) == bytes(sent):
        return
    header = None if found is None else decode_header(found)
    raise WalFencedError(f"the WAL has been taken over: {key} {_told(header)}")


def require_void(found: Buffer | None, owner: Owner, key: str) -> None:
    """Judge what lies where a fence was to be created, in the range behind our first fence.

    A fence of another generation at our own epoch is no rest of an older one for certain: it may be that
    of somebody who takes over right now, and takes our fences for rests.

    Raises:
        WalFencedError: a newer generation, or another one at our epoch, is taking over too.
    """
    header = None if found is None else decode_header(found)
    if header is None and found is not None:
        return  # void, whatever it is: it takes the number
    if header is None or owner.is_behind(header) or _competes(header, owner):
        raise WalFencedError(f"somebody else is taking the WAL over: {key} {_told(header)}")


def _competes(header: ObjectHeader, owner: Owner) -> bool:
    return (
        header.kind is Kind.FENCE
        and header.node_epoch == owner.node_epoch
        and not owner.owns(header)
    )


def _told(header: ObjectHeader | None) -> str:
    if header is None:
        return "is not what was written there"
    kind = header.kind.name.lower()
    return (
        f"is a {kind} of generation {header.generation_id:016x} at node epoch {header.node_epoch}"
    )
