"""Members of the metadata quorum, as the log and its snapshots hold them. Only append fields."""

from typing import Final
from uuid import UUID

import msgspec

from headrace.metadata.records.numbers import Count, ShortText

NO_DIRECTORY: Final = UUID(int=0)


class Member(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One controller of the quorum, by its node id and the directory that holds its log.

    The directory id is random and made with the directory: a node whose disk was lost comes back
    with another one, and so never votes as the member that it was (KAFKA-17426, KIP-853).
    """

    node_id: Count
    directory_id: UUID  # `NO_DIRECTORY`: not heard of yet
    host: ShortText
    port: Count
    voter: bool  # else a learner: it gets the log, and counts for nothing


class MembersRecord(msgspec.Struct, frozen=True, array_like=True, tag=8, gc=False):
    """The whole quorum from here on, sorted by node id. Alone in its entry."""

    members: tuple[Member, ...]
