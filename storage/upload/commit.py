"""Commits uploaded objects to their streams, repeating it until the control plane answers."""

import random
from functools import partial

from headrace.config.node import StorageConfig
from headrace.loop_clock import loop_ms
from headrace.storage.errors import ObjectNotPreparedError
from headrace.storage.ports import NO_OBJECT_ID, ObjectStore, StreamSetCommit, UploadedObjects
from headrace.storage.stats import UploadCounters
from headrace.storage.upload.object_upload import ObjectUpload, Uploaded
from headrace.storage.upload.plan import UploadPlan
from headrace.storage.upload.retry import Retrying


class UploadCommitter:
    """Uploads plans to the bucket and commits them in the control plane, retrying until it is done."""

    def __init__(
        self,
        uploads: ObjectUpload,
        objects: UploadedObjects,
        counters: UploadCounters,
    ) -> None:
        self._uploads = uploads
        self._objects = objects
        self.counters = counters
        self.retrying = uploads.retrying
        self.budget = uploads.budget

    async def upload(self, plan: UploadPlan) -> Uploaded:
        """Put a plan's objects into the bucket. There are none if all of a block was uploaded apart."""
        if not plan.object_count:
            return Uploaded(StreamSetCommit(NO_OBJECT_ID, 0, (), ()), loop_ms())
        return await self._uploads.upload(plan)

    async def commit(self, plan: UploadPlan, uploaded: Uploaded) -> StreamSetCommit:
        """Commit; upload again first if the objects' preparation has or may have expired.

        Raises:
            CommitRefusedError: the commit contradicts the control plane; a retry will not help.
            FencedError: this node has been replaced.
        """
        if not plan.object_count:
            return uploaded.commit
        while True:
            # Waiting for older blocks can take longer than a preparation is valid. This must be
            # checked before the first attempt: later ones may repeat one that took effect.
            if not self._uploads.may_have_expired(uploaded.prepared_ms):
                commit = uploaded.commit
                attempt = partial(self._objects.commit_stream_set_object, commit)
                try:
                    await self.retrying.call("commit objects", attempt)
                except ObjectNotPreparedError:
                    pass
                else:
                    return commit
            self.counters.expired_total += 1
            uploaded = await self._uploads.upload(plan)


def make_committer(
    config: StorageConfig,
    store: ObjectStore,
    objects: UploadedObjects,
    cluster_id: str,
    rng: random.Random,
    counters: UploadCounters,
    give_up_ms: int | None = None,
) -> UploadCommitter:
    """Make one, with budgets of its own; `give_up_ms` as in `Retrying`."""
    uploads = ObjectUpload(
        config,
        store=store,
        objects=objects,
        cluster_id=cluster_id,
        retrying=Retrying(rng, counters, give_up_ms),
        clock_ms=loop_ms,
        counters=counters,
    )
    return UploadCommitter(uploads, objects, counters)
