"""How a bucket of an S3-compatible service is reached: endpoint, region, credentials.

Credentials come from the URI, else from `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY` of the
environment handed in, else from botocore's chain (profiles, SSO, web identity, container,
instance), which is loaded only then.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from headrace.config.bucket_uris import check_endpoint
from headrace.daemon_threads import DaemonThreads
from headrace.storage.errors import ObjectStoreError
from headrace.storage.object_store.failures import CREDENTIALS_FAILED
from headrace.storage.object_store.uri import S3Location

if TYPE_CHECKING:
    from obstore.store import S3Credential

REGION_DEFAULT = "us-east-1"
_MAX_MESSAGE_LENGTH = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Access:
    """Everything that a client needs."""

    bucket: str
    endpoint: str  # empty: AWS
    region: str
    path_style: bool
    checksum: str  # that every PUT carries; empty: none
    access_key: str = field(repr=False)  # empty: botocore's chain
    secret_key: str = field(repr=False)
    session_token: str = field(repr=False)

    @property
    def bucket_endpoint(self) -> str:
        """The endpoint, with the bucket in its host name unless path style is used."""
        if not self.endpoint or self.path_style:
            return self.endpoint
        parts = urlsplit(self.endpoint)
        return urlunsplit((parts.scheme, f"{self.bucket}.{parts.netloc}", parts.path, "", ""))


def resolve_access(location: S3Location, environment: Mapping[str, str]) -> S3Access:
    """Complete what the URI says by the `AWS_*` variables of `environment`.

    Raises:
        ValueError: no client could do anything with a variable.
    """
    endpoint = (
        location.endpoint
        or environment.get("AWS_ENDPOINT_URL_S3", "")
        or environment.get("AWS_ENDPOINT_URL", "")
    )
    region = (
        location.region
        or environment.get("AWS_REGION", "")
        or environment.get("AWS_DEFAULT_REGION", "")
        or REGION_DEFAULT
    )
    access_key, secret_key, session_token = location.access_key, location.secret_key, ""
    if not access_key and environment.get("AWS_SECRET_ACCESS_KEY"):
        access_key = environment.get("AWS_ACCESS_KEY_ID", "")
        secret_key = environment["AWS_SECRET_ACCESS_KEY"]
        session_token = environment.get("AWS_SESSION_TOKEN", "")
    if any(not text.isprintable() for text in (access_key, secret_key, session_token)):
        raise ValueError("the S3 credentials have a control character, a line break perhaps")
    path_style = location.path_style if location.path_style is not None else bool(endpoint)
    if endpoint:
        try:
            check_endpoint(endpoint, in_host_name=None if path_style else location.bucket)
        except ValueError as error:
            raise ValueError(f"the bucket {location.bucket} {error}") from error
    return S3Access(
        bucket=location.bucket,
        endpoint=endpoint.rstrip("/"),
        region=region,
        path_style=path_style,
        checksum=location.checksum,
        access_key=access_key,
        secret_key=secret_key,
        session_token=session_token,
    )


class ChainCredentials:
    """Credentials of botocore's chain, fetched in a thread: that may need the network."""

    def __init__(self, region: str) -> None:
        """Find out who provides credentials.

        The provider may fail just now, and is asked again by the first request.

        Raises:
            ValueError: none does.
        """
        self._region = region
        self._executor = DaemonThreads(1, "bucket-credentials")
        self._provider: Callable[[], S3Credential] | None = None
        with suppress(ObjectStoreError):
            self._provider = self._found()

    async def __call__(self) -> "S3Credential":
        """Return what requests of the next half hour are signed with.

        Raises:
            ObjectStoreError: the provider fails.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, self._fetched)

    def _fetched(self) -> "S3Credential":
        if self._provider is None:
            self._provider = self._found()
        try:
            return self._provider()
        except Exception as error:
            raise _failed(error) from error

    def _found(self) -> "Callable[[], S3Credential]":
        import boto3  # noqa: PLC0415 - 180 ms
        from obstore.auth.boto3 import Boto3CredentialProvider  # noqa: PLC0415

        try:
            session = boto3.Session(region_name=self._region)
            found = session.get_credentials()
        except Exception as error:
            raise _failed(error) from error
        if found is None:
            raise ValueError(
                "no S3 credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile "
                "or a role (a tool takes accessKey= and secretKey= in the URI, too)"
            )
        return Boto3CredentialProvider(session)


def _failed(error: Exception) -> ObjectStoreError:
    """Return our error for one of a provider: a program's output, a service, files."""
    text = f"{CREDENTIALS_FAILED}: {type(error).__name__}: {error}"
    return ObjectStoreError(text.replace("\n", " ")[:_MAX_MESSAGE_LENGTH])
