"""A short run over every target, the same inputs each time; `tests.fuzz.run` goes on for longer."""

import random
import resource

import pytest

from tests.fuzz.run import Outcome, fuzz, main
from tests.fuzz.targets import TARGETS

INPUTS = 10_000
MAX_GROWTH_KIB = 256 * 1024
# Far above what any input takes, and far below what quadratic work would.
MAX_SECONDS = 2.0


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_damaged_input_is_refused_cleanly(name: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcome = Outcome()
    seeds = random.Random(name)
    for _ in range(INPUTS):
        fuzz(TARGETS[name], seeds.getrandbits(48), outcome)
    assert outcome.findings == []
    assert 0 < outcome.accepted < outcome.inputs, "the mutations are too weak or too strong"
    assert outcome.slowest_seconds < MAX_SECONDS, f"seed {outcome.slowest_seed}"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MAX_GROWTH_KIB


def test_finding_is_reported_with_its_seed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(rng: random.Random) -> bool:
        raise IndexError(rng.random())

    monkeypatch.setitem(TARGETS, "broken", broken)
    monkeypatch.setattr(resource, "setrlimit", lambda *_: None)
    assert main(["--target", "broken", "--repeat", "42"]) == 1
    assert "--target broken --repeat 42" in capsys.readouterr().out
