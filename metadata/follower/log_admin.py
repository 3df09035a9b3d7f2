"""Operations of administrators on logs, through a broker or a controller."""

from collections.abc import Awaitable, Callable

from headrace.metadata.image import MetadataImage
from headrace.metadata.rpc.requests import AcceptLogLoss


class LogAdmin:
    """Gives up unreadable logs."""

    def __init__(
        self,
        image: Callable[[], MetadataImage],
        send: Callable[[AcceptLogLoss], Awaitable[object]],
    ) -> None:
        """Take the metadata of one node.

        Args:
            image: the newest that the node has.
            send: sends the request to the leading controller, with retries.
        """
        self._image = image
        self._send = send

    @property
    def image(self) -> MetadataImage:
        """The newest metadata that the node has."""
        return self._image()

    async def accept_loss(self, request: AcceptLogLoss) -> None:
        """Give a log up, or what is damaged in it. To repeat it changes nothing.

        Raises:
            RefusedError: the leading controller refuses; nothing has changed.
            NodeFencedError: this process must stop.
            ControllerUnavailableError: no answer in time; whether it took effect is unknown.
        """
        await self._send(request)
