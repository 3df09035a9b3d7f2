"""What merging the Stream Objects of one busy stream costs in requests, by the rules alone."""

import pytest

from headrace.storage.compaction.plan import choose_stream_objects, stream_object_limits
from headrace.storage.object_store.copy_parts import MIB, UploadedPart, plan_parts
from headrace.storage.ports import CopiedRange, ObjectRange, ObjectType

STORED_GIB = 128
# AutoMQ publishes 31.25 PUT and 12.5 GET for each GB, uploads included. Half of that is the aim for
# uploads and these merges together; a third of the PUTs are left to the merges, all of the GETs.
MAX_PUT_PER_GIB = 5.0
MAX_GET_PER_GIB = 4.0


def merge_all(upload_bytes):
    """(requests at the price of a PUT, of a GET, bytes copied, objects left) of a long history."""
    limits = stream_object_limits(max_objects=64, max_block_bytes=MIB, copies=True)
    objects = []
    puts = gets = copied = 0
    for n in range(STORED_GIB * 1024 * MIB // upload_bytes):
        objects.append(ObjectRange(n, ObjectType.STREAM, upload_bytes, n, n + 1))
        while group := choose_stream_objects(objects, limits):
            pieces = [CopiedRange(str(it.object_id), 0, it.size_bytes) for it in group]
            parts = plan_parts([*pieces, bytes(1000)])
            assert isinstance(parts[-1], UploadedPart)
            puts += len(parts) + 2  # create, complete
            gets += len(group) + 1  # indexes, and a look at the size
            size_bytes = sum(it.size_bytes for it in group)
            copied += size_bytes
            at = objects.index(group[0])
            merged = ObjectRange(
                10**6 + n,
                ObjectType.STREAM,
                size_bytes,
                group[0].start_offset,
                group[-1].end_offset,
            )
            objects[at : at + len(group)] = [merged]
    return puts, gets, copied, objects


@pytest.mark.parametrize("upload_mib", [341, 512])
def test_requests_per_gib_of_one_stream(upload_mib):
    puts, gets, copied, objects = merge_all(upload_mib * MIB)
    assert puts / STORED_GIB <= MAX_PUT_PER_GIB
    assert gets / STORED_GIB <= MAX_GET_PER_GIB
    assert copied <= 2 * STORED_GIB * 1024 * MIB
    assert len(objects) < STORED_GIB / 2
