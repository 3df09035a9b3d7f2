"""Decisions about levels of features: of the metadata, the only one. Pure.

A level is raised once every node reads the higher one: each member of the quorum, and each broker whose epoch lasts.
A broker that is not running is not asked: it is refused at its registration if it does not read the level. The level
is never lowered: what was written at it cannot be unwritten.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from headrace.metadata.controller.decision import Decision, Inputs
from headrace.metadata.errors import RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.levels import (
    LEVEL_FEATURE,
    METADATA_FEATURE,
    READ_HERE,
    LevelRange,
    level_of,
)
from headrace.metadata.records.cluster import FeatureRecord
from headrace.metadata.rpc.requests import FeatureUpdate, UpdateFeatures, UpgradeType
from headrace.metadata.rpc.responses import Done
from headrace.protocol.errors import ErrorCode

MAX_UPDATES: Final = 100


class Readers(NamedTuple):
    """The levels that nodes have reported to read; a missing one has reported none."""

    controllers: Mapping[int, LevelRange]  # by node id
    brokers: Mapping[tuple[int, int], LevelRange]  # by node id and epoch


def update_features(
    request: UpdateFeatures, readers: Readers, image: MetadataImage, inputs: Inputs
) -> Decision:
    """Set levels, all or none.

    Raises:
        RefusedError: INVALID_UPDATE_VERSION, with the reason, for all of them.
    """
    del inputs
    if len(request.updates) > MAX_UPDATES:
        raise RefusedError(
            ErrorCode.INVALID_REQUEST, f"at most {MAX_UPDATES} features can be updated at once"
        )
    for update in request.updates:
        reason = _reason_against(update, readers, image)
        if reason:
            raise RefusedError(
                ErrorCode.INVALID_UPDATE_VERSION,
                f"{_known_as(update.name)} cannot be set to {update.level}: {reason}",
            )
    current = level_of(image.features)
    levels = {it.level for it in request.updates if it.level != current}
    if request.validate_only or not levels:
        return Decision((), Done())
    return Decision((FeatureRecord(METADATA_FEATURE, max(levels)),), Done())


def _known_as(name: str) -> str:
    return LEVEL_FEATURE if name == METADATA_FEATURE else name


def _reason_against(update: FeatureUpdate, readers: Readers, image: MetadataImage) -> str:
    """Why a level cannot be set; empty: it can."""
    current = level_of(image.features)
    if update.upgrade_type not in set(UpgradeType):
        return f"the upgrade type {update.upgrade_type} is not known"
    if update.name != METADATA_FEATURE:
        return "this feature is not supported"
    if update.level not in READ_HERE:
        return f"the leading controller reads {READ_HERE}"
    if update.level == current:
        return ""  # also the repetition of a request whose answer was lost: no node is asked
    if update.level < current:
        return f"the cluster is at {current}, and a level cannot be lowered"
    if update.upgrade_type != UpgradeType.UPGRADE:
        return f"the cluster is at {current}, so that is no downgrade"
    unable = [*_unable_controllers(update.level, readers, image)]
    unable += _unable_brokers(update.level, readers, image)
    return "; ".join(unable)


def _unable_controllers(level: int, readers: Readers, image: MetadataImage) -> Iterator[str]:
    for member in image.members:
        reads = readers.controllers.get(member.node_id)
        if reads is None:
            yield f"controller {member.node_id} does not say what it reads: start it, or remove it"
        elif level not in reads:
            yield f"controller {member.node_id} reads {reads}: upgrade it"


def _unable_brokers(level: int, readers: Readers, image: MetadataImage) -> Iterator[str]:
    for _, broker in sorted(image.brokers.items()):
        if broker.epoch_ended:
            continue
        reads = readers.brokers.get((broker.node_id, broker.epoch))
        if reads is None:
            yield f"broker {broker.node_id} has not said what it reads yet: try again"
        elif level not in reads:
            yield f"broker {broker.node_id} reads {reads}: upgrade it"
