"""What is known of a node's log elsewhere than on its device, so that a log that is not there is missed. Pure.

A log says of itself whose it is and how far it goes. A device that is blank, or another that the
node had before, says nothing of the log that ought to be there: a path with a typing error, a disk
that was not mounted. So the node's control plane keeps which registration wrote to the log last,
from before the first acknowledgement until the log is empty and shut down.
"""

from typing import Protocol


class LogRegistry(Protocol):
    """Where that is kept. Order of use: `require`, `begun`, `emptied`."""

    def require(self, place: str, node_epoch: int | None) -> None:
        """Check that a log may be the one that this node used last. Nothing has been written to it.

        Args:
            place: where it lies, for people.
            node_epoch: registration of its last owner; None when there is no log.

        Raises:
            WalMissingError: it is not, and the one that is missing may hold what is nowhere else.
        """
        ...

    async def begun(self, generation_id: int) -> None:
        """Keep that this registration uses the log from here on; nothing is acknowledged before.

        What an older registration has left in it is not needed any more.
        """
        ...

    async def emptied(self) -> None:
        """Keep that nothing is needed of the log any more: it was shut down, and is empty."""
        ...


class NoRegistry:
    """For logs that nobody would miss."""

    def require(self, place: str, node_epoch: int | None) -> None:
        """Accept every log."""

    async def begun(self, generation_id: int) -> None:
        """Keep nothing."""

    async def emptied(self) -> None:
        """Keep nothing."""
