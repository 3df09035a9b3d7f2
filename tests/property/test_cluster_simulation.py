"""Whole clusters in virtual time: unchanged nodes, and everything around them simulated."""

import asyncio
import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from headrace.broker.fetch.waiting import WaitingFetch
from headrace.broker.partition.moving import PartitionMoves
from headrace.metadata.errors import RefusedError
from headrace.protocol.errors import ErrorCode
from headrace.storage.errors import EngineFailedError
from tests.environment.rotation import turn_of_today
from tests.simulation.cluster.faults import SESSION_S
from tests.simulation.cluster.lost_logs import LostLogs
from tests.simulation.cluster.natures import NATURES, nature
from tests.simulation.cluster.records import RecordHistory
from tests.simulation.cluster.run import Run
from tests.simulation.cluster.swarm import run

FIRST_ROTATING = 1_000_000  # those before are the ledger's
ROTATING = 28
ROTATING_S = 8.0  # virtual ones, of each
# Of each kind of fault one cluster a day.
SEED_OF_TODAY = turn_of_today(3)[1]
PLACE = ("records", 0)
PARTS = 4


def report_of(seed: int, seconds: float, hash_seed: str) -> dict[str, object]:
    """Run a seed in a process of Python with hashes of its own."""
    command = ["-m", "tests.simulation.cluster.run", str(seed), "--json", "--seconds", str(seconds)]
    variables = os.environ | {"PYTHONHASHSEED": hash_seed}
    done = subprocess.run(
        [sys.executable, *command], env=variables, stdout=subprocess.PIPE, check=False
    )
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_a_seed_gives_the_same_trace_in_two_processes() -> None:
    one, other = (report_of(4, 2.0, hash_seed) for hash_seed in ("1", "2"))
    assert one["findings"] == []
    assert one["acknowledged"]
    assert (one["trace"], one["arrivals"]) == (other["trace"], other["arrivals"])


@pytest.mark.timeout(30)
def test_what_breaks_the_simulation_itself_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also an error that does not get from one process to another."""

    async def begin(_run: Run) -> None:
        raise RefusedError(ErrorCode.NOT_CONTROLLER, "the controller has not started")

    monkeypatch.setattr(Run, "_begin", begin)
    (report,) = run([1])
    (finding,) = report.findings
    assert "the controller has not started" in finding


@pytest.mark.timeout(30)
def test_a_node_that_ends_for_no_known_reason_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Although it is started again at once, and all clients find what they look for."""

    async def end_later(_moves: PartitionMoves) -> None:
        await asyncio.sleep(2)
        raise EngineFailedError("uploading has failed")

    monkeypatch.setattr(PartitionMoves, "run", end_later)
    (report,) = run([1], seconds=4.0, nature=NATURES["kills"])
    assert report.findings
    ended = "has ended: EngineFailedError('uploading has failed')"
    assert {it.partition(" ")[2] for it in report.findings} == {ended}


@pytest.mark.timeout(60)
def test_a_reader_that_is_not_woken_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    """What moved while it was read is forgotten, and nothing else moves for a while."""
    begin = WaitingFetch.begin

    def forget(waiting: WaitingFetch) -> None:
        begin(waiting)
        waiting._session.moved.clear()

    quiet = replace(NATURES["readers"], short_turns=True, send_pause_s=0.2)
    (sound,) = run([2], seconds=6.0, nature=quiet)
    assert sound.findings == []
    monkeypatch.setattr(WaitingFetch, "begin", forget)
    (report,) = run([2], seconds=6.0, nature=quiet)
    assert report.findings
    assert all("though it has had records" in it for it in report.findings)


def told(*offsets: int) -> RecordHistory:
    """Records of a producer, acknowledged by broker 1 at 5 s."""
    history = RecordHistory()
    for offset in offsets:
        history.send((0, offset), PLACE)
        history.acknowledge((0, offset), offset, 5.0, 1)
    return history


@pytest.mark.parametrize(
    ("node_id", "end", "lost_s"), [(2, 1, 6.0), (1, 2, 6.0), (1, 1, 4.0)], ids=str
)
def test_only_what_was_given_up_may_be_missing(node_id: int, end: int, lost_s: float) -> None:
    """Another broker's records, those in the bucket, and those that were acknowledged later are there."""
    given_up, other = LostLogs(), LostLogs()
    given_up.lose_records(PLACE, 1, 1, 6.0)
    other.lose_records(PLACE, node_id, end, lost_s)
    found = {PLACE: [(0, (0, 0))]}
    assert told(0, 1).judge(found, {PLACE: 0}, may_miss=given_up.may_miss) == []
    (wrong,) = told(0, 1).judge(found, {PLACE: 0}, may_miss=other.may_miss)
    assert wrong.startswith("lost: (0, 1)")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_no_cut_in_one_direction_costs_a_broker_its_registration() -> None:
    """Between each two nodes, for longer than a session; acknowledgements go on all the while."""
    (report,) = run([1], seconds=125.0, nature=NATURES["each one-way cut"])
    assert report.findings == []
    judged = [it for it in report.counts if it.startswith("cut judged: ")]
    assert len(judged) == 28, judged
    assert report.silence_s < SESSION_S + 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "which", [it for it in NATURES if not it.startswith(("brokers lost", "each one-way cut"))]
)
def test_clusters_with_one_kind_of_fault(which: str) -> None:
    reports = list(run([SEED_OF_TODAY], seconds=8.0, nature=NATURES[which]))
    assert [(it.seed, it.findings[:3]) for it in reports if it.findings] == []
    assert all(it.acknowledged for it in reports)


@pytest.mark.slow
@pytest.mark.parametrize("which", [it for it in NATURES if it.startswith("brokers lost")])
def test_partitions_of_lost_brokers_are_served_by_others_in_time(which: str) -> None:
    """Within a session and three seconds, or before its end where locks are seen; who is late is a finding."""
    reports = list(run([SEED_OF_TODAY], seconds=12.0, nature=NATURES[which]))
    assert [(it.seed, it.findings[:3]) for it in reports if it.findings] == []
    assert all(it.counts["partitions served by others"] for it in reports)


@pytest.mark.slow
def test_partitions_that_nobody_serves_are_found() -> None:
    """Nobody reaches the logs of others."""
    nobody = replace(nature("broker lost"), reach="")
    (report,) = run([1], seconds=8.0, nature=nobody)
    assert report.findings
    assert all(it.endswith("is served by nobody") for it in report.findings)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("part", range(PARTS))
def test_clusters_of_today(part: int) -> None:
    day, _ = turn_of_today(1)
    size = ROTATING // PARTS
    first = FIRST_ROTATING + day * ROTATING + part * size
    reports = list(run(range(first, first + size), seconds=ROTATING_S))
    assert [(it.seed, it.findings[:3]) for it in reports if it.findings] == []
    assert len(reports) == size
