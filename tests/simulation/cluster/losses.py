"""A broker's WAL is replaced by an empty disk, or gone with its host, and an operator accepts the loss by its name."""

import asyncio
import random

from headrace.metadata.errors import MetadataError, RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.images.logs import LogImage, LogState
from headrace.metadata.rpc.requests import AcceptLogLoss
from tests.simulation.cluster import inspection
from tests.simulation.cluster.cluster import Cluster, Host

ASK_S = 8.0
PAUSE_S = 0.3


async def lose_wal(cluster: Cluster, host: Host, rng: random.Random) -> None:
    """Cut a broker's power, replace its WAL by an empty disk, and accept the loss unless others have drained it."""
    host.is_repaired = True
    try:
        cluster.kill(host, power_cut=True)
        for twin in cluster.twins:
            if twin.node_id == host.node_id:
                cluster.kill(twin, power_cut=True)
        host.disks.replace_wal()
        if rng.random() < 0.5:  # it is started before anybody knows, and refuses
            cluster.start(host)
            await asyncio.sleep(rng.uniform(0.5, 3.0))
            cluster.kill(host)
        await _Operator(cluster, host, rng).accept()
    finally:
        host.is_repaired = False


async def give_up_twins_log(cluster: Cluster, host: Host, twin: Host, rng: random.Random) -> None:
    """Accept the loss of the log of a second process that is gone, if it was the broker meanwhile.

    It was if it registered while the first one was stopped in order. Records may be on its disks, which nobody has any
    more, and the first process does not start without them.
    """
    operator = _Operator(cluster, twin, rng)
    while host.address is None:
        log, _ = await operator.known_log()
        if not log.settled and any(twin.name in place for place in log.places):
            await operator.accept()
            return
        await asyncio.sleep(PAUSE_S)


class _Operator:
    def __init__(self, cluster: Cluster, owner: Host, rng: random.Random) -> None:
        self._cluster = cluster
        self._owner = owner
        self._rng = rng
        self._before: MetadataImage | None = None  # the last loss that was asked for

    async def accept(self) -> None:
        """Ask until the log is given up, or drained by others, or another process has made a new one.

        What the lost process has told may arrive now: its last generation is of a registration that is known already.
        """
        log, known_index = await self.known_log()
        while not (log.settled or log.epoch > known_index):
            await asyncio.sleep(PAUSE_S)
            await self._ask(self._rng.choice(self._cluster.hosts))
            log, _ = await self.known_log()
        if log.state != LogState.DRAINED and self._before is not None:
            now_s = self._cluster.loop.time()
            self._cluster.counts["log given up"] += 1
            self._cluster.lost.lose(self._before, self._owner.node_id, now_s)

    async def known_log(self) -> tuple[LogImage, int]:
        """The log, and the index of the metadata that tell of it."""
        while True:
            image = inspection.newest_image(self._cluster)
            log = None if image is None else image.logs.get(self._owner.node_id)
            if image is not None and log is not None:
                return log, image.index
            await asyncio.sleep(PAUSE_S)  # no controller is up

    async def _ask(self, through: Host) -> None:
        """Ask one node once."""
        cluster = self._cluster
        image = inspection.newest_image(cluster)
        process, admin = through.process, inspection.log_admin_of(through)
        if image is None or process is None or admin is None or not through.is_running:
            return
        log = image.logs.get(self._owner.node_id)
        if log is None or log.settled:  # the former: who is up has not heard of it yet
            return
        self._before = image
        cluster.lost.expect(image, self._owner.node_id)
        request = AcceptLogLoss(log.log_id, log.generation, damaged_only=False)
        asked = cluster.loop.create_task(admin.accept_loss(request), context=process.context)
        await asyncio.wait([asked], timeout=ASK_S)  # a process that was killed never answers
        if not asked.done():
            asked.cancel()
        elif (error := asked.exception()) is not None:
            assert isinstance(error, MetadataError), error
            if isinstance(error, RefusedError):
                cluster.counts[f"accept log loss: {error.code.name}"] += 1
