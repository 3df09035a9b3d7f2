"""Decisions about producer ids: blocks that no two brokers share. Pure."""

from headrace.metadata.controller.brokers import require_broker
from headrace.metadata.controller.decision import Decision, Inputs
from headrace.metadata.errors import RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.records.cluster import ProducerIdsRecord
from headrace.metadata.records.numbers import INT64_MAX
from headrace.metadata.rpc.requests import AllocateProducerIds
from headrace.metadata.rpc.responses import ProducerIdBlock
from headrace.protocol.errors import ErrorCode

PRODUCER_ID_BLOCK_SIZE = 1_000  # as in Kafka (ProducerIdsBlock.java)


def allocate_producer_ids(
    request: AllocateProducerIds, image: MetadataImage, inputs: Inputs
) -> Decision:
    """Give the sender the next block. A repeated request gets another block; no id is given twice."""
    del inputs
    require_broker(image, request.node_id, request.node_epoch)
    first = image.next_producer_id
    if first > INT64_MAX - PRODUCER_ID_BLOCK_SIZE:
        raise RefusedError(ErrorCode.UNKNOWN_SERVER_ERROR, "no producer ids are left")
    return Decision(
        (ProducerIdsRecord(request.node_id, request.node_epoch, first + PRODUCER_ID_BLOCK_SIZE),),
        ProducerIdBlock(first, PRODUCER_ID_BLOCK_SIZE),
    )
