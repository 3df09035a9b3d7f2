"""Begins the moves by which the balance evens out brokers. Pure.

A plan is made of an image that is some moments old. What has changed since is left alone: a partition that moves by
of a request, or has another leader, and a target that is about to end.
"""

from collections.abc import Sequence
from typing import NamedTuple

from headrace.metadata.controller.decision import Decision, Inputs
from headrace.metadata.controller.moves import alter_reassignments
from headrace.metadata.controller.placement import able_brokers
from headrace.metadata.errors import RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.rpc.requests import AlterReassignments, Reassignment
from headrace.metadata.rpc.responses import Done


class WantedMove(NamedTuple):
    """A partition that is to leave its leader."""

    topic: str
    partition: int
    source: int
    target: int


def begin_wanted(
    wanted: Sequence[WantedMove], max_moves: int, image: MetadataImage, inputs: Inputs
) -> Decision:
    """Begin those that still can begin, as AlterPartitionReassignments would; at most so many are under way."""
    try:
        staying = able_brokers(image, inputs.unable)
    except RefusedError:
        return Decision((), Done())
    possible = [it for it in wanted if it.target in staying and _is_where_it_was(it, image)]
    room = max(0, max_moves - len(image.moves))
    request = AlterReassignments(
        tuple(Reassignment(it.topic, it.partition, (it.target,)) for it in possible[:room])
    )
    return Decision(alter_reassignments(request, image, inputs).records, Done())


def _is_where_it_was(wanted: WantedMove, image: MetadataImage) -> bool:
    topic = image.topic(wanted.topic)
    return (
        topic is not None
        and wanted.partition < len(topic.partitions)
        and topic.partitions[wanted.partition].leader == wanted.source
        and (topic.topic_id, wanted.partition) not in image.moves
    )
