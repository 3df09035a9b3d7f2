import msgspec

from headrace.metadata.controller.producer_ids import PRODUCER_ID_BLOCK_SIZE
from headrace.metadata.records.numbers import INT64_MAX
from headrace.metadata.rpc.requests import AllocateProducerIds
from headrace.protocol.errors import ErrorCode


def test_no_two_blocks_overlap(controller):
    controller.register(2)
    blocks = [
        controller.do(AllocateProducerIds(*controller.sender(node_id))) for node_id in (1, 2, 1)
    ]

    ids = [
        producer_id
        for block in blocks
        for producer_id in range(block.first_producer_id, block.first_producer_id + block.count)
    ]
    assert len(set(ids)) == 3 * PRODUCER_ID_BLOCK_SIZE == 3_000


def test_ids_end_where_they_must(controller):
    controller.image = msgspec.structs.replace(
        controller.image, next_producer_id=INT64_MAX - PRODUCER_ID_BLOCK_SIZE
    )
    last = controller.do(AllocateProducerIds(*controller.sender()))

    assert last.first_producer_id + last.count == INT64_MAX
    request = AllocateProducerIds(*controller.sender())
    assert controller.refusal(request) == ErrorCode.UNKNOWN_SERVER_ERROR
