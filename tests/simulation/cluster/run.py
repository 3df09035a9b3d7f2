"""Runs one seed in a Python process of its own: `python -m tests.simulation.cluster.run SEED`."""

import argparse
import asyncio
import dataclasses
import gc
import itertools
import json
import logging
import os
import signal
import sys
import time
import traceback
from collections import Counter
from unittest.mock import patch

from headrace.metadata.leader import startup
from tests.simulation.cluster import inspection, settings, short_turns
from tests.simulation.cluster.appendable import Gaps, left_frozen
from tests.simulation.cluster.balance_judge import BalanceMoves
from tests.simulation.cluster.cluster import Cluster
from tests.simulation.cluster.drawn import drawn
from tests.simulation.cluster.entries import JudgedLog
from tests.simulation.cluster.entry_judges import (
    DrainedLogs,
    Repetitions,
    above_level,
    replaced_alive,
)
from tests.simulation.cluster.faults import Story
from tests.simulation.cluster.load import Load
from tests.simulation.cluster.loop import ClusterLoop
from tests.simulation.cluster.moved_partitions import MovedPartitions
from tests.simulation.cluster.nature import Nature
from tests.simulation.cluster.natures import NATURES
from tests.simulation.cluster.records import Place

SECONDS = 20.0
UP_S = 30.0
CALM_S = 60.0
MAX_PROCESSOR_S = 60.0
MAX_FINDINGS = 100
_KEPT: list[object] = []  # what was killed is never collected


@dataclasses.dataclass(slots=True)
class Report:
    """What one seed has seen."""

    seed: int
    findings: list[str] = dataclasses.field(default_factory=list)
    acknowledged: int = 0
    sent: int = 0
    read: int = 0
    silence_s: float = 0.0  # the longest time of the load without an acknowledgement
    commits: int = 0
    admin_calls: int = 0
    arrivals: int = 0
    trace: str = ""
    virtual_s: float = 0.0
    processor_s: float = 0.0
    counts: Counter[str] = dataclasses.field(default_factory=Counter)

    def __str__(self) -> str:
        return (
            f"seed {self.seed}: {self.sent} sent, {self.acknowledged} acknowledged, {self.read} read, "
            f"{self.commits} offsets, {self.admin_calls} topics, "
            f"{self.virtual_s:.0f} virtual s in {self.processor_s:.1f} s of the processor, trace {self.trace}, "
            f"{len(self.findings)} findings"
        )


class Run:
    """One seed."""

    def __init__(
        self,
        seed: int,
        seconds: float,
        nature: Nature,
        *,
        says: bool = False,
    ) -> None:
        self._says = says
        self.report = Report(seed)
        self._seconds = seconds
        self._nature = nature

    async def main(self) -> None:
        """Begin, load with faults, calm, judge."""
        cluster = self.cluster = Cluster(self._nature, self.report.seed)
        leaseless = cluster.loop.leaseless = inspection.judge_of_leases(cluster)
        self.load = Load(cluster)
        cluster.says = self._says
        _KEPT.append(cluster)
        cluster.loop.set_exception_handler(self._unexpected)
        try:
            await self._begin()
            await self._load()
            await self._judge()
        except TimeoutError:
            down = [it.name for it in cluster.hosts if it.address is None]
            self.report.findings.append(f"stuck; not serving: {down}")
        except asyncio.CancelledError:
            self._watch.result()  # raises what it has failed with
            cluster.tell("much is found")
        finally:
            report = self.report
            report.findings += cluster.failures + leaseless.faults[:MAX_FINDINGS]
            cluster.counts["asked without a lease"] += leaseless.judged
            report.findings += [f"{it} was given two contents" for it in cluster.bucket.conflicts]
            records = self.load.records
            report.acknowledged, report.sent = records.acknowledged, len(records.sent)
            report.read, report.commits = self.load.read, self.load.offsets.commits
            report.admin_calls = self.load.admin.calls
            report.trace = cluster.network.trace.hexdigest()[:16]
            report.arrivals = cluster.network.arrivals
            report.virtual_s = cluster.loop.time()
            report.counts = cluster.counts + self.load.seen.counts + cluster.bucket.seen

    def _unexpected(self, _loop: object, context: dict[str, object]) -> None:
        """Note what no node handles, and would end it."""
        if len(self.report.findings) < MAX_FINDINGS:
            self.report.findings.append(f"{context.get('message')}: {context.get('exception')!r}")

    async def _begin(self) -> None:
        cluster, whole = self.cluster, asyncio.current_task()
        assert whole is not None
        # What a release wrote whose newest level this was.
        with patch.object(startup, "NEWEST", self._nature.founded_level):
            for host in cluster.hosts:
                cluster.start(host)
            self._supervisor = asyncio.create_task(cluster.supervise())
            async with asyncio.timeout(UP_S):
                await cluster.serving(cluster.hosts)
                await self.load.start("admin", self.load.create_topics())
        watching = inspection.watch_leaders(cluster, self._judged_log(), Gaps(cluster).look)
        self._watch = asyncio.create_task(watching)
        self._watch.add_done_callback(lambda _: whole.cancel())  # it has found enough

    def _judged_log(self) -> JudgedLog:
        cluster, told_ends = self.cluster, self.load.records.told_ends

        def forgotten() -> None:
            cluster.counts["upload forgotten in its drain"] += 1

        drained = DrainedLogs(
            lambda place, node_id: told_ends.get((place, node_id), 0), cluster.lost.has_lost
        )

        def moved_partition() -> None:
            cluster.counts["partition moved"] += 1

        def told_before(place: Place, node_id: int) -> int:
            # What it has acknowledged since it is back, within one look, cannot be told apart.
            is_back = inspection.leads_now(cluster, place, node_id)
            return 0 if is_back else told_ends.get((place, node_id), 0)

        moved = MovedPartitions(
            told_before,
            cluster.lost.has_lost,
            moved_partition,
        )
        repetitions = Repetitions(forgotten)
        return JudgedLog(
            [
                replaced_alive,
                above_level,
                drained.wrong,
                moved.wrong,
                self._judged_balance().wrong,
                repetitions.wrong,
            ]
        )

    def _judged_balance(self) -> BalanceMoves:
        cluster, asked = self.cluster, self.load.moves_asked

        def begun() -> None:
            cluster.counts["move of the balance judged"] += 1

        rest_s = settings.BALANCE_REST_S / (1 + self._nature.clock_drift)
        return BalanceMoves(
            cluster.loop.time, rest_s, lambda place, target: (place, target) in asked, begun
        )

    async def _load(self) -> None:
        cluster = self.cluster
        begun_s = cluster.loop.time()
        until_s = begun_s + self._seconds
        clients = self.load.clients(until_s)
        await Story(cluster, cluster.rng("story")).tell(until_s)
        await asyncio.sleep(max(0, until_s - cluster.loop.time()))
        sent = self.load.records.sent.values()
        told = sorted(it.acknowledged_at_s for it in sent if it.is_acknowledged)
        pauses = itertools.pairwise((begun_s, *told, until_s))
        self.report.silence_s = max(later - earlier for earlier, later in pauses)
        cluster.heal()
        async with asyncio.timeout(CALM_S):
            await asyncio.gather(*clients, *cluster.repairs)

    async def _judge(self) -> None:
        cluster, findings = self.cluster, self.report.findings
        cluster.counts["moves of the balance"] += inspection.balance_moves(cluster)
        async with asyncio.timeout(CALM_S):
            await cluster.serving(cluster.hosts)
        async with asyncio.timeout(CALM_S):
            findings += await self.load.judge()
        findings += await left_frozen(cluster)
        nature = cluster.nature
        if (
            nature.move_pause_s
            and nature.is_calm
            and not nature.faults
            and not cluster.counts["partition moved"]
        ):
            findings.append("no partition has moved")
        if self._nature.balances:
            findings += await inspection.uneven_brokers(cluster)
        findings += await inspection.unequal_metadata(cluster)
        findings += await inspection.orphans(cluster)


class _HangsError(KeyboardInterrupt):
    """Ends the loop, which leaves nothing else through."""


def _hangs(_number: int, _frame: object) -> None:
    raise _HangsError


def simulate(
    seed: int, seconds: float = SECONDS, nature: Nature | None = None, *, says: bool = False
) -> Report:
    """Run one seed. This Python process is of no other use afterwards."""
    logging.disable(logging.CRITICAL)
    gc.collect()
    gc.freeze()
    gc.disable()
    begun_s = time.process_time()
    nature = nature or drawn(seed)
    if nature.short_turns:
        short_turns.begin()
    signal.signal(signal.SIGPROF, _hangs)
    signal.setitimer(signal.ITIMER_PROF, MAX_PROCESSOR_S)
    run = Run(seed, seconds, nature, says=says)
    loop = ClusterLoop()
    _KEPT.append(loop)
    try:
        loop.run_until_complete(run.main())
    except _HangsError:
        run.report.findings.append(f"no end after {MAX_PROCESSOR_S} s of the processor")
    except Exception as error:  # of the simulation itself; it may not get to another process
        if says:
            traceback.print_exception(error)
        run.report.findings.append(f"the simulation has failed: {error!r}")
    signal.setitimer(signal.ITIMER_PROF, 0)
    run.report.processor_s = time.process_time() - begun_s
    return run.report


def main(arguments: list[str]) -> int:
    """Run from the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="tests.simulation.cluster.run", description=__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="virtual ones, of load")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--trace", action="store_true", help="print what happens")
    parser.add_argument("--nature", choices=NATURES, help="with one kind of fault")
    options = parser.parse_args(arguments)
    nature = None if options.nature is None else NATURES[options.nature]
    report = simulate(options.seed, options.seconds, nature, says=options.trace)
    if options.json:
        print(json.dumps({it: getattr(report, it) for it in Report.__slots__}))
    else:
        print(*report.findings[:20], report, dict(report.counts), sep="\n")
    return int(bool(report.findings))


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)
