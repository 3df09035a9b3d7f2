"""Whole clusters whose machines are paused together with their clocks: a fence of devices keeps what was acknowledged.

Leases cannot tell in that case, so some findings of the simulation are expected: that two brokers believe in their
leases at one moment, and serve for too long. What is looked at is the records.
"""

from functools import partial

import pytest

from tests.simulation.cluster import inspection
from tests.simulation.cluster import run as simulation
from tests.simulation.cluster.natures import nature
from tests.simulation.cluster.paused_machines import PAUSED, REFUSED, PausableCluster, PausingStory
from tests.simulation.cluster.run import Report
from tests.simulation.cluster.swarm import run

NATURE = nature(PAUSED)


def reports(patch: pytest.MonkeyPatch, seeds: range, *, is_fenced: bool) -> list[Report]:
    patch.setattr(simulation, "Cluster", partial(PausableCluster, is_fenced=is_fenced))
    patch.setattr(simulation, "Story", PausingStory)
    patch.setattr(inspection, "MAX_FAILURES", 1_000_000)  # what leases cannot tell ends no run
    return list(run(seeds, seconds=12.0, jobs=2, nature=NATURE))


def of_records(report: Report) -> list[str]:
    """Return what was found but that somebody believes in a lease that has ended."""
    believed = ("is led by", "has a lease in epoch")
    return [it for it in report.findings if not any(text in it for text in believed)]


@pytest.mark.slow
def test_with_a_fence_nothing_is_acknowledged_that_others_have_not_drained(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = reports(monkeypatch, range(1, 5), is_fenced=True)
    assert [(it.seed, of_records(it)[:3]) for it in found if of_records(it)] == []
    assert all(it.acknowledged and it.counts[PAUSED] for it in found)
    assert sum(it.counts[REFUSED] for it in found) > 0
    assert any(len(it.findings) > len(of_records(it)) for it in found)  # leases did not help


@pytest.mark.slow
def test_without_one_the_checks_of_records_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """So the test above can fail."""
    assert any(of_records(it) for it in reports(monkeypatch, range(1, 3), is_fenced=False))
