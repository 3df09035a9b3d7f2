"""From what the log's directory held to the image to go on from, and the records that open a term. Pure."""

from base64 import urlsafe_b64encode
from typing import TYPE_CHECKING, Final

from metadata.errors import MetadataFormatError, MetadataIdentityError, MetadataLogCorruptError
from metadata.image import MetadataImage
from metadata.log.recovered import Recovered
from metadata.log.snapshot_format import decode_snapshot
from metadata.records.cluster import ClusterIdRecord, FeatureRecord, LeaderChangeRecord
from metadata.records.codec import RECORD_FORMAT_VERSION, Record, decode_records
from metadata.replay import replay

if TYPE_CHECKING:
    from random import Random

METADATA_FEATURE: Final = "metadata.version"


def new_cluster_id(rng: "Random") -> str:
    """A random id as Kafka's tools make them: 22 characters, not starting with `-`."""
    while True:
        text = urlsafe_b64encode(rng.getrandbits(128).to_bytes(16, "big")).decode().rstrip("=")
        if not text.startswith("-"):
            return text


def load_image(recovered: Recovered, cluster_id: str) -> MetadataImage:
    """Replay the snapshot and the entries behind it.

    Raises:
        MetadataLogCorruptError: one of them cannot be read.
        MetadataFormatError: a newer version has written it.
        MetadataIdentityError: the log is of another cluster than its directory says.
    """
    image = MetadataImage()
    if recovered.snapshot is not None:
        image = decode_snapshot(recovered.snapshot)
    for entry in recovered.entries:
        if entry.index != image.index + 1:
            raise MetadataLogCorruptError(
                f"entry {entry.index} of the metadata log follows {image.index}"
            )
        try:
            records = decode_records(entry.payload)
        except MetadataFormatError as error:
            raise MetadataFormatError(f"entry {entry.index}: {error}") from error
        image = replay(image, records, index=entry.index, term=entry.term)
    level = image.features.get(METADATA_FEATURE, 0)
    if level > RECORD_FORMAT_VERSION:
        raise MetadataFormatError(
            f"the cluster has {METADATA_FEATURE} {level}, this version has {RECORD_FORMAT_VERSION}"
        )
    if image.cluster_id and image.cluster_id != cluster_id:
        raise MetadataIdentityError(
            f"the metadata log is of cluster {image.cluster_id}, its directory of {cluster_id}"
        )
    return image


def term_records(
    image: MetadataImage, *, leader_id: int, cluster_id: str, now_ms: int
) -> tuple[Record, ...]:
    """What opens the next term: a no-op, and in an empty log the bootstrap records."""
    opening = LeaderChangeRecord(image.term + 1, leader_id, now_ms)
    if image.cluster_id:
        return (opening,)
    return (
        opening,
        ClusterIdRecord(cluster_id),
        FeatureRecord(METADATA_FEATURE, RECORD_FORMAT_VERSION),
    )
