"""boto3's client of an S3 bucket, in threads of its own where its requests may block.

It sends each request once; `headrace.storage.object_store.retrying` alone sends one again. A client
of boto3 has one time-out for all of its requests, so there is one for each kind that may be silent
for another time, with threads of its own: no kind waits for another (docs/adr/0008-one-way-to-s3.md).
"""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Final, TypeVar

from headrace.daemon_threads import DaemonThreads
from headrace.storage.errors import ObjectStoreError
from headrace.storage.object_store.retrying import Retries, RetryPolicy
from headrace.storage.object_store.s3_access import S3Access
from headrace.storage.object_store.s3_errors import Asked, translating

CONNECT_TIMEOUT_S: Final = 5
READ_TIMEOUT_S: Final = 30
CLOSE_TIMEOUT_S: Final = 2.0
POLICY: Final = RetryPolicy(max_attempts=4)  # where no other is given

_T = TypeVar("_T")


class S3Client:
    """One client, which is made when it is first asked for something."""

    def __init__(
        self, make_client: Callable[[], Any], *, threads: int, name: str, retries: Retries
    ) -> None:
        """Prepare; nothing is loaded yet.

        Args:
            make_client: makes a client of boto3, in one of our threads.
            threads: requests that are inflight at once.
            name: of the threads.
            retries: of `repeated`.
        """
        self._make_client = make_client
        self._threads = DaemonThreads(threads, name)
        self._retries = retries
        self._client: Any = None
        self._making = asyncio.Lock()

    async def once(self, what: str, asked: Asked, act: Callable[[Any], _T]) -> _T:
        """Do something with the client.

        Args:
            what: what the request is about: a key, mostly.
            asked: what its errors mean.
            act: gets the client, in a thread.

        Raises:
            StorageError: what the client's error means.

        Cancellation: what `act` does goes on.
        """
        async with self._making:
            if self._client is None:
                # Finding credentials may take requests, which may fail as well.
                self._client = await self._run(f"{what}: client", asked, self._make_client)
            client = self._client
        try:
            found: _T = await self._run(what, asked, act, client)
        except ObjectStoreError as error:
            if type(error.__cause__).__name__ == "NoCredentialsError" and self._client is client:
                self._client = None  # it would never look for credentials again
            raise
        return found

    async def repeated(
        self, what: str, asked: Asked, act: Callable[[Any], _T], *, size_bytes: int = 0
    ) -> _T:
        """As `once`, again after a failure that passes; `act` must stand being done twice.

        Args:
            what: see `once`.
            asked: see `once`.
            act: see `once`.
            size_bytes: how much is sent.

        Raises:
            StorageError: what the client's last error means.
        """
        return await self._retries.run(lambda: self.once(what, asked, act), size_bytes)

    def submit(self, act: Callable[[Any], None]) -> "Future[None]":
        """Have something done with the client that `once` made; nothing, should it be out of use.

        Raises:
            RuntimeError: the threads are shut down.
        """
        client = self._client
        return self._threads.submit(lambda: None if client is None else act(client))

    def end(self) -> None:
        """Accept nothing more; the client is closed when what is inflight has ended."""
        self._threads.shutdown(wait=False)
        self._threads.ended.add_done_callback(lambda _: self._close())

    async def close(self) -> None:
        """As `end`; give what is inflight, an abort perhaps, a moment."""
        self.end()
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                await asyncio.wrap_future(self._threads.ended)

    def _close(self) -> None:
        if self._client is not None:
            self._client.close()

    async def _run(self, what: str, asked: Asked, call: Callable[..., Any], *arguments: Any) -> Any:
        def translated() -> Any:
            with translating(what, asked):
                return call(*arguments)

        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, translated)
        except RuntimeError as error:  # the threads are shut down
            raise ObjectStoreError(f"bucket: {error}") from error


@contextmanager
def one_thread(
    access: S3Access,
    name: str,
    policy: RetryPolicy = POLICY,
    read_timeout_s: int = READ_TIMEOUT_S,
) -> Iterator[S3Client]:
    """Make requests one at a time, in a thread of that name."""
    make = partial(make_client, access, read_timeout_s)
    client = S3Client(make, threads=1, name=name, retries=Retries(policy))
    try:
        yield client
    finally:
        client.end()


def make_client(access: S3Access, read_timeout_s: int = READ_TIMEOUT_S) -> Any:
    """Make a client of boto3; the caller closes it. Blocking, as all of its requests are.

    It repeats nothing, and follows no bucket to another region: obstore does not, and a service that
    redirects whatever it is asked has boto3 ask without an end.
    """
    import boto3  # noqa: PLC0415 - 180 ms
    from botocore.config import Config  # noqa: PLC0415

    config = Config(
        connect_timeout=CONNECT_TIMEOUT_S,
        read_timeout=read_timeout_s,
        retries={"total_max_attempts": 1, "mode": "standard"},
        s3={"addressing_style": "path" if access.path_style else "virtual"},
        # Not every S3-compatible service knows the checksums that boto3 adds by default.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    client = boto3.client(
        "s3",
        region_name=access.region,
        endpoint_url=access.endpoint or None,
        aws_access_key_id=access.access_key or None,
        aws_secret_access_key=access.secret_key or None,
        aws_session_token=access.session_token or None,
        config=config,
    )
    # Behind boto3's own handler, which prepares to redirect once.
    client.meta.events.register_last("before-parameter-build.s3", _stay)
    return client


def _stay(context: dict[str, Any], **_: Any) -> None:
    """Let boto3 believe that a request has been redirected."""
    context["s3_redirect"] = {**context.get("s3_redirect", {}), "redirected": True}
