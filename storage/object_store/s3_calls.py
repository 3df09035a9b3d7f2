"""boto3's client in threads of its own, where its calls may block."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Final, TypeVar

from headrace.storage.errors import ObjectStoreError
from headrace.storage.object_store.daemon_threads import DaemonThreads
from headrace.storage.object_store.s3_errors import translating

CLOSE_TIMEOUT_S: Final = 2.0

_T = TypeVar("_T")


class S3Calls:
    """One client, which is made when it is first asked for something."""

    def __init__(self, make_client: Callable[[], Any], *, threads: int, name: str) -> None:
        """Prepare; nothing is loaded yet.

        Args:
            make_client: makes a client of boto3, in one of our threads.
            threads: calls under way at once.
            name: of the threads.
        """
        self._make_client = make_client
        self._threads = DaemonThreads(threads, name)
        self._client: Any = None
        self._making = asyncio.Lock()

    async def call(self, what: str, act: Callable[[Any], _T]) -> _T:
        """Do something with the client.

        Args:
            what: what the request is about: a key, mostly.
            act: gets the client, in a thread.

        Raises:
            StorageError: what the client's error means.
        """
        async with self._making:
            if self._client is None:
                # Finding credentials may take requests, which may fail as well.
                self._client = await self._run(_translating, f"{what}: client", self._make_client)
            client = self._client
        try:
            found: _T = await self._run(_translating, what, act, client)
        except ObjectStoreError as error:
            if type(error.__cause__).__name__ == "NoCredentialsError" and self._client is client:
                self._client = None  # it would never look for credentials again
            raise
        return found

    def submit(self, act: Callable[[Any], None]) -> "Future[None]":
        """Have something done with the client that `call` made; nothing, should it be out of use.

        Raises:
            RuntimeError: the threads are shut down.
        """
        client = self._client
        return self._threads.submit(lambda: None if client is None else act(client))

    async def close(self) -> None:
        """Accept nothing more; give what is under way, an abort perhaps, a moment to end."""
        self._threads.shutdown(wait=False)
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                await asyncio.wrap_future(self._threads.ended)
        if self._client is not None:
            self._client.close()

    async def _run(self, call: Callable[..., Any], *arguments: Any) -> Any:
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._threads, call, *arguments)
        except RuntimeError as error:  # the threads are shut down
            raise ObjectStoreError(f"bucket: {error}") from error


def _translating(what: str, call: Callable[..., Any], *arguments: Any) -> Any:
    with translating(what):
        return call(*arguments)
