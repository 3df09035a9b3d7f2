"""What is known of a node's log outside of its device, so that a missing log is noticed. Pure.

A log names its owner and its end. A device that is blank, or another one that the node used before,
says nothing about the log that should be there (after a typing error in the path, or with a disk that is
not mounted). So the node's control plane keeps which registration wrote to the log last, from before the
first acknowledgement until the log is empty and shut down.
"""

from typing import Protocol


class LogRegistry(Protocol):
    """Keeps which log a node used last. Order of use: `require`, `begun`, `emptied`."""

    def require(self, place: str, node_epoch: int | None) -> None:
        """Check that a log may be the one that this node used last. Nothing has been written to it.

        Args:
            place: its path, for messages.
            node_epoch: registration of its last owner; None when there is no log.

        Raises:
            WalMissingError: it is another one, and the missing one may hold records that are nowhere else.
        """
        ...

    async def begun(self, generation_id: int) -> None:
        """Record that this registration uses the log from now on; nothing is acknowledged before.

        What an older registration has left in it is no longer needed.
        """
        ...

    async def emptied(self) -> None:
        """Record that the log is no longer needed: it was shut down, and is empty."""
        ...


class NoRegistry:
    """For logs whose loss does not matter: tests and benchmarks."""

    def require(self, place: str, node_epoch: int | None) -> None:
        """Accept every log."""

    async def begun(self, generation_id: int) -> None:
        """Keep nothing."""

    async def emptied(self) -> None:
        """Keep nothing."""
