"""obstore's client of an S3 bucket: for brokers, on an event loop, and for jobs, which have none."""

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from obstore.store import S3Store

from headrace.storage.object_store.s3_access import S3Access

if TYPE_CHECKING:
    from obstore.store import S3Config

REQUEST_TIMEOUT = timedelta(seconds=60)
CONNECT_TIMEOUT = timedelta(seconds=5)


def open_store(access: S3Access, chain: Callable[[], Any]) -> S3Store:
    """Make the client, which sends each request once; nothing is sent yet.

    Args:
        access: how the bucket is reached.
        chain: makes what provides credentials, should `access` have none; a client that is used without a loop
            needs a provider without one.

    Raises:
        ValueError: there are no credentials.
    """
    config: S3Config = {
        "region": access.region,
        "virtual_hosted_style_request": not access.path_style,
    }
    if access.checksum:
        config["checksum_algorithm"] = access.checksum
    if access.endpoint:
        config["endpoint"] = access.bucket_endpoint
    provider: Any = None
    if access.access_key:
        config["access_key_id"] = access.access_key
        config["secret_access_key"] = access.secret_key
        if access.session_token:
            config["session_token"] = access.session_token
    else:
        provider = chain()
    return S3Store(
        access.bucket,
        config=config,
        client_options={
            "allow_http": access.endpoint.startswith("http://"),
            "timeout": REQUEST_TIMEOUT,
            "connect_timeout": CONNECT_TIMEOUT,
        },
        retry_config={"max_retries": 0},
        credential_provider=provider,
    )
