"""Makes the first image from the recovered log, and the first records of a new leader. Pure."""

from base64 import urlsafe_b64encode
from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from headrace.config.node import Voter
from headrace.links.ends import Address
from headrace.metadata.errors import (
    MetadataFormatError,
    MetadataIdentityError,
    MetadataLogCorruptError,
)
from headrace.metadata.image import MetadataImage
from headrace.metadata.levels import METADATA_FEATURE, NEWEST
from headrace.metadata.log.recovered import Opened, Recovered
from headrace.metadata.log.snapshot_format import decode_snapshot
from headrace.metadata.raft.configuration import Configuration
from headrace.metadata.raft.effects import DurableState
from headrace.metadata.records.cluster import ClusterIdRecord, FeatureRecord, LeaderChangeRecord
from headrace.metadata.records.codec import decode_records
from headrace.metadata.records.entry import SnapshotId
from headrace.metadata.records.members import NO_DIRECTORY, Member
from headrace.metadata.records.record import MetadataRecord
from headrace.metadata.replay import replay

if TYPE_CHECKING:
    from random import Random


def new_cluster_id(rng: "Random") -> str:
    """A random id as Kafka's tools make them: 22 characters, not starting with `-`."""
    while True:
        text = urlsafe_b64encode(rng.getrandbits(128).to_bytes(16, "big")).decode().rstrip("=")
        if not text.startswith("-"):
            return text


def load_snapshot(recovered: Recovered, cluster_id: str) -> MetadataImage:
    """Read the snapshot, which holds committed entries only.

    Raises:
        MetadataLogCorruptError: it cannot be read.
        MetadataFormatError: a newer version has written it.
        MetadataIdentityError: it belongs to another cluster than its directory.
    """
    image = MetadataImage()
    if recovered.snapshot is not None:
        image = decode_snapshot(recovered.snapshot)
    check_image(image, cluster_id)
    return image


def durable_state(opened: Opened, image: MetadataImage) -> DurableState:
    """The durable state that Raft starts with; `image` is the snapshot's."""
    return DurableState(
        hard_state=opened.hard_state,
        snapshot=SnapshotId(image.index, image.term),
        snapshot_configuration=Configuration.of(image.members) if image.members else None,
        entries=tuple(opened.recovered.entries),
        start=opened.start,
        disks=opened.disks,
    )


def load_image(recovered: Recovered, cluster_id: str) -> MetadataImage:
    """Replay the snapshot and the entries after it, committed or not.

    Raises:
        MetadataLogCorruptError: one of them cannot be read.
        MetadataFormatError: a newer version has written it.
        MetadataIdentityError: the log belongs to another cluster than its directory.
    """
    image = load_snapshot(recovered, cluster_id)
    for entry in recovered.entries:
        if entry.index != image.index + 1:
            raise MetadataLogCorruptError(
                f"entry {entry.index} of the metadata log follows entry {image.index}"
            )
        try:
            records = decode_records(entry.payload)
        except MetadataFormatError as error:
            raise MetadataFormatError(f"entry {entry.index}: {error}") from error
        image = replay(image, records, index=entry.index, term=entry.term)
    check_image(image, cluster_id)
    return image


def check_image(image: MetadataImage, cluster_id: str) -> None:
    """Check that an image is of this cluster.

    Raises:
        MetadataIdentityError: it belongs to another cluster than the directory.
    """
    if image.cluster_id and cluster_id and image.cluster_id != cluster_id:
        raise MetadataIdentityError(
            f"the metadata log belongs to cluster {image.cluster_id}, its directory to {cluster_id}"
        )


def opening_records(
    term: int, *, leader_id: int, cluster_id: str | None, now_ms: int
) -> tuple[MetadataRecord, ...]:
    """The first records of a term: a no-op, and in an empty log those that name the cluster.

    Args:
        term: the new term.
        leader_id: its leader.
        cluster_id: of a new cluster; None: the log names one already.
        now_ms: wall clock.
    """
    opening = LeaderChangeRecord(term, leader_id, now_ms)
    if cluster_id is None:
        return (opening,)
    return (
        opening,
        ClusterIdRecord(cluster_id),
        FeatureRecord(METADATA_FEATURE, NEWEST),
    )


def first_configuration(
    voters: Sequence[Voter],
    *,
    node_id: int,
    directory_id: UUID,
    address: Address,
    founds_quorum: bool,
) -> Configuration:
    """The members of the quorum while the log does not name any.

    Args:
        voters: the founders; empty: this node alone, if it may found a quorum.
        node_id: of this node.
        directory_id: of this node's log. Those of the others become known with their messages.
        address: where others reach this node.
        founds_quorum: False: this node waits until it is added to a quorum.
    """
    if not voters and founds_quorum:
        return Configuration((Member(node_id, directory_id, *address, voter=True),))
    return Configuration.of(
        Member(
            it.node_id,
            directory_id if it.node_id == node_id else NO_DIRECTORY,
            it.host,
            it.port,
            voter=True,
        )
        for it in voters
    )
