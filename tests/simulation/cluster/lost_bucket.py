"""A broker that does not reach the bucket for a while, and still has a lease and its WAL: it gets no partitions."""

import asyncio

from tests.simulation.cluster import inspection
from tests.simulation.cluster.cluster import Cluster, Host

# Until it has noticed, its heartbeat has told, and what was just about to move to it has come.
TOLD_S = 6.0
LASTS_S = 12.0


async def lose_bucket(cluster: Cluster, host: Host) -> None:
    """Have a broker lose the bucket; what it is given once that is known is a finding."""
    cluster.bucket.out_of_reach.add(host.name)
    await asyncio.sleep(TOLD_S)
    led = inspection.led_by(cluster, host)
    end_s = cluster.loop.time() + LASTS_S - TOLD_S
    while cluster.loop.time() < end_s:
        await asyncio.sleep(inspection.LOOK_S)
        for key in inspection.led_by(cluster, host) - led:
            cluster.failures.append(f"{key} moves to {host.name}, which does not reach the bucket")
            led.add(key)
    cluster.bucket.out_of_reach.discard(host.name)
