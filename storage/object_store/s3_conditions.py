"""A key is published once: requests of S3 that make an object ask for it with `If-None-Match: *`.

Most services know that. One that refuses it as not implemented is asked without it from then on. One that ignores it
cannot be told from one that knows it. With both of these a late request replaces an object by the same bytes.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeVar

from headrace.storage.errors import StorageError
from headrace.storage.object_store.s3_errors import failure_of

logger = logging.getLogger("headrace.storage.object_store")

# Arguments of boto3.
Condition = Mapping[str, str]
IF_ABSENT: Final[Condition] = {"IfNoneMatch": "*"}
NONE: Final[Condition] = {}

_EXISTS: Final = 412
_NOT_IMPLEMENTED: Final = 501

_T = TypeVar("_T")


class Conditions:
    """Whether a service knows the condition: yes, until it says no."""

    def __init__(self) -> None:
        self.are_known = True

    async def publish(self, send: Callable[[Condition], Awaitable[_T]]) -> _T:
        """Send a request that makes an object.

        Args:
            send: is given the condition; called again, without one, where that is not implemented.

        Raises:
            StorageError: what `send` raises.
        """
        if self.are_known:
            try:
                return await send(IF_ABSENT)
            except StorageError as error:
                if _status_of(error) != _NOT_IMPLEMENTED:
                    raise
                self.are_known = False
                logger.info(
                    "the bucket does not know If-None-Match: a PUT that comes late replaces an object "
                    "by the same bytes",
                    extra={"reason": str(error)},
                )
        return await send(NONE)


def says_exists(error: StorageError) -> bool:
    """Whether a request was refused because its key is published already."""
    return _status_of(error) == _EXISTS


def _status_of(error: StorageError) -> int:
    return failure_of(error.__cause__).status if error.__cause__ is not None else 0
