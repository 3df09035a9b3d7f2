"""What is known of a node's log outside of its device, so that a missing log is noticed. Pure.

A log names its owner and its end. A device that is blank, or another one that the node used before,
says nothing about the log that should be there (after a typing error in the path, or with a disk that is
not mounted). So the node's control plane keeps which registration wrote to the log last, from before the
first acknowledgement until the log is empty and shut down.

An old copy of the right log is recognised by its end: the control plane knows up to which offset records were
uploaded from it. Only what is durable is uploaded, so the log itself reaches at least that far after any crash.
"""

from typing import NamedTuple, Protocol


class LogEnd(NamedTuple):
    """How far a log that was found reaches."""

    node_epoch: int  # registration of its last owner
    generation_id: int
    offset: int  # nothing behind it was found, or is known to have been confirmed


class LogRegistry(Protocol):
    """Keeps which log a node used last. Order of use: `require`, `require_end`, `begun`, `emptied`."""

    def require(self, place: str, node_epoch: int | None) -> None:
        """Check that a log may be the one that this node used last. Nothing has been written to it.

        Args:
            place: its path, for messages.
            node_epoch: registration of its last owner; None when there is no log.

        Raises:
            WalMissingError: it is another one, and the missing one may hold records that are nowhere else.
        """
        ...

    def require_end(self, place: str, end: LogEnd) -> None:
        """Check that a log reaches as far as records were uploaded from it. Nothing has been written to it.

        Args:
            place: its path, for messages.
            end: of what was found there.

        Raises:
            WalOutdatedError: it is an old copy, and what it lacks may be nowhere else.
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

    def require_end(self, place: str, end: LogEnd) -> None:
        """Accept every log."""

    async def begun(self, generation_id: int) -> None:
        """Keep nothing."""

    async def emptied(self) -> None:
        """Keep nothing."""
