"""Metadata that a node serves now, by `GET /metadata/snapshot` of its admin listener."""

import http.client
import urllib.error
import urllib.request
from collections.abc import Sequence
from email.utils import parsedate_to_datetime
from typing import Final

from headrace.metadata.errors import MetadataError
from headrace.metadata.log.snapshot_format import decode_snapshot
from headrace.pipeline.source.bucket import Bucket
from headrace.pipeline.source.catalog import Catalog
from headrace.pipeline.source.errors import OptionError, SourceError
from headrace.pipeline.source.snapshots import BucketMetadata, Metadata

TIMEOUT_S: Final = 30.0  # of one node: it may have to render a million streams
MAX_ANSWER_BYTES: Final = 1 << 30
_NOT_MODIFIED: Final = 304


class ListenerMetadata:
    """The first node of a list that answers; see `headrace.pipeline.source.snapshots.Metadata`."""

    def __init__(self, addresses: Sequence[str], cluster_id: str) -> None:
        """Take addresses, "host:port"."""
        self._addresses = addresses
        self._cluster_id = cluster_id

    def newest(self, known: Catalog | None) -> Catalog:
        """Ask the nodes, one after the other.

        Raises:
            OptionError: the node that answered is of another cluster.
            SourceError: none of them answers.
        """
        failures = []
        for address in self._addresses:
            try:
                found = _asked(address, known)
            except (OSError, http.client.HTTPException, MetadataError, ValueError) as error:
                failures.append(f"{address}: {error}")
                continue
            if self._cluster_id and found.cluster_id != self._cluster_id:
                raise OptionError(
                    f"{address} is a node of cluster {found.cluster_id}, not {self._cluster_id}"
                )
            return found
        raise SourceError(
            f"no admin listener gives the metadata ({'; '.join(failures)[:500]}); metadata=bucket asks no node"
        )


def _asked(address: str, known: Catalog | None) -> Catalog:
    request = urllib.request.Request(f"http://{address}/metadata/snapshot")
    if known is not None:
        request.add_header("If-None-Match", f'"{known.index}-{known.term}"')
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            data = answer.read(MAX_ANSWER_BYTES + 1)
            told = parsedate_to_datetime(answer.headers["Date"])
    except urllib.error.HTTPError as error:
        if error.code == _NOT_MODIFIED and known is not None:
            return known
        raise
    if len(data) > MAX_ANSWER_BYTES:
        raise ValueError(f"the metadata have more than {MAX_ANSWER_BYTES} bytes")
    return Catalog(decode_snapshot(data), int(told.timestamp() * 1_000))


def open_metadata(bucket: Bucket, listeners: Sequence[str], cluster: str) -> Metadata:
    """Return the metadata that nodes serve, or without `listeners` those of the bucket."""
    if listeners:
        return ListenerMetadata(listeners, cluster)
    return BucketMetadata(bucket, cluster)
