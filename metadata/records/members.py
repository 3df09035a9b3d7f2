"""Members of the metadata quorum in the log and its snapshots. Only append fields."""

from typing import Final
from uuid import UUID

import msgspec

from headrace.metadata.records.numbers import Count, ShortText
from headrace.metadata.records.record import MetadataRecord

NO_DIRECTORY: Final = UUID(int=0)


class Member(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One controller of the quorum, by its node id and the directory that holds its log.

    The directory id is random and created with the directory: a node that lost its disk comes back
    with another one, and so never votes as the previous member (KAFKA-17426, KIP-853).
    """

    node_id: Count
    directory_id: UUID  # `NO_DIRECTORY`: not known yet
    host: ShortText
    port: Count
    voter: bool  # False: a learner, which gets the log but has no vote


class MembersRecord(MetadataRecord, frozen=True, tag=8):
    """All members of the quorum from here on, sorted by node id. The only record of its entry."""

    members: tuple[Member, ...]
