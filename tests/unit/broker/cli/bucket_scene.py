"""A node's directories as they are after a crash: a bucket and the metadata that know it, no process."""

import os
from uuid import UUID

from headrace.metadata.controller.objects import expire_objects
from headrace.metadata.log.files import LogFiles
from headrace.metadata.log.hard_state import HardStateFile
from headrace.metadata.log.identity import Identity, lock_directory, write_identity
from headrace.metadata.log.os_directory import OsDirectory
from headrace.metadata.log.snapshot_format import encode_snapshot
from headrace.metadata.published import published_key
from headrace.metadata.raft.effects import HardState
from headrace.metadata.records.entry import SnapshotId
from headrace.metadata.rpc.requests import CommitStreamSetObject, CommittedStreamObject
from headrace.storage.objects.keys import object_key
from tests.unit.metadata.pure_controller import CLUSTER_ID, PureController, stream_range
from tests.unit.storage.samples import batches, joined, write


class BucketScene:
    """Objects are written whole into the directory and committed with their true sizes and ranges."""

    def __init__(self, directory):
        self.bucket = directory / "bucket"
        self.bucket.mkdir()
        self.metadata = directory / "metadata"
        self.metadata.mkdir()
        self.url = f"file://{self.bucket}"
        self.controller = PureController()
        self.controller.register()
        self.stream_id = self.controller.opened_stream("orders")
        self._end = 0
        write_identity(OsDirectory(self.metadata), Identity(CLUSTER_ID, 1, UUID(int=7)))
        HardStateFile.create(OsDirectory(self.metadata), HardState(1, 1))
        self._files = LogFiles(OsDirectory(self.metadata))
        self._files.open(segment_id=5)
        self._written = 0
        self._lock = None

    def path(self, object_id, cluster=CLUSTER_ID):
        """Where an object lies."""
        return self.bucket / object_key(cluster, object_id)

    def put(self, object_id, content=b"content", *, cluster=CLUSTER_ID, modified_ms=None):
        """Write a file of the bucket."""
        path = self.path(object_id, cluster)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        if modified_ms is not None:
            os.utime(path, ns=(modified_ms * 1_000_000,) * 2)
        return path

    def commit(self, number=3):
        """Write, prepare and commit a Stream Object with so many batches; return its id."""
        object_id = self.controller.prepare()
        content = joined(write([batches(self.stream_id, self._end, number)]))
        self.put(object_id, content)
        piece = stream_range(self.stream_id, self._end, self._end + number)
        self._end += number
        stream_object = CommittedStreamObject(object_id, len(content), piece)
        self.controller.do(
            CommitStreamSetObject(*self.controller.sender(), -1, 0, (), (stream_object,), ())
        )
        return object_id

    def forgotten(self):
        """Have an id prepared, expired and forgotten; return it."""
        object_id = self.controller.prepare(ttl_ms=1)
        self.controller.commit(expire_objects(self.controller.image, self.controller.now_ms + 10))
        self.controller.forget(object_id)
        return object_id

    def save(self):
        """Write to the metadata log what it has not got yet."""
        entries = self.controller.entries[self._written :]
        if entries:
            self._files.append(entries)
        self._written = len(self.controller.entries)

    def publish(self, cluster=CLUSTER_ID):
        """Put a snapshot of the metadata into the bucket, as a controller does; return its path."""
        image = self.controller.image
        key = published_key(cluster, SnapshotId(image.index, image.term))
        path = self.bucket / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(encode_snapshot(image)))
        return path

    def lock(self):
        """Hold the directory as a running node does."""
        self._lock = lock_directory(OsDirectory(self.metadata))

    def close(self):
        """Let go of everything."""
        self._files.close()
        if self._lock is not None:
            self._lock.close()
