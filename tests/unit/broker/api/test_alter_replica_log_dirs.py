"""AlterReplicaLogDirs: the bucket is the one directory there is."""

import pytest

from headrace.broker.api.alter_replica_log_dirs import AlterReplicaLogDirsHandler
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import AlterReplicaLogDirsRequest
from tests.unit.broker.cluster_scene import FakeRegistry, ask

_Directory = AlterReplicaLogDirsRequest.AlterReplicaLogDir


@pytest.mark.parametrize("version", [1, 2])
def test_a_partition_is_where_it_can_be(version: int) -> None:
    registry = FakeRegistry()
    registry.serve("t")
    topics = [_Directory.AlterReplicaLogDirTopic("t", [0, 5])]
    request = AlterReplicaLogDirsRequest(
        dirs=[_Directory(path, topics) for path in ("s3://bucket", "/data")]
    )
    handler = AlterReplicaLogDirsHandler(registry, "s3://bucket")  # type: ignore[arg-type]
    (topic,) = ask(handler, version, request).results
    assert [(it.partition_index, it.error_code) for it in topic.partitions] == [
        (0, 0),
        (5, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (0, ErrorCode.LOG_DIR_NOT_FOUND),
        (5, ErrorCode.LOG_DIR_NOT_FOUND),
    ]
