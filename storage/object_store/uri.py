"""Bucket URIs as clients and tools take them: those of the configuration, and with keys.

See `headrace.config.bucket_uris`, which knows them all.
"""

from headrace.config.bucket_uris import (
    FileLocation,
    Location,
    MemoryLocation,
    S3Location,
    parse_location,
)

__all__ = ["FileLocation", "Location", "MemoryLocation", "S3Location", "parse_bucket_uri"]


def parse_bucket_uri(uri: str) -> Location:
    """Parse a bucket URI, in which keys may be options.

    Raises:
        ValueError: it is none. The message never repeats the URI, which may hold a secret.
    """
    try:
        return parse_location(uri, takes_keys=True)
    except ValueError as error:
        raise ValueError(f"the bucket's URI {error}") from error
