"""How soon simulated clusters of drawn natures notice each seeded bug: `python -m tests.seeded --rate`.

Every bug of some families is seeded, and clusters are simulated as the seeds draw them
(`tests.simulation.cluster.drawn`), seed after seed, until one finds something. `rate.txt` keeps how many seeds were
tried, and what was found. It begins with the version of the simulation: another one begins it anew. A run goes on
where the last one has ended, some seeds of each bug at a time.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Final

from tests.seeded.bug import SeededBug, tables
from tests.seeded.runner import Copies, mistake, run_drawn
from tests.simulation.cluster import swarm

TABLE: Final = Path(__file__).with_name("rate.txt")
FAMILIES: Final = ("moves", "fetch", "failover", "logs", "streams", "lease")
FIRST_SEED: Final = 3_000_000
MAX_SEEDS: Final = 50
SECONDS: Final = 6.0  # virtual ones, of each
SEEDS_AT_ONCE: Final = 5  # of each bug, until the others have had as many
MAX_FINDING: Final = 120  # characters that are kept
# Bugs that no such cluster can notice, and why.
COSTS_TIME: Final = "costs time or memory only"
NO_REBUILD: Final = "no metadata are rebuilt"
NOT_ASKED: Final = "no client or operator asks for that"
NOT_NOTICED: Final[Mapping[str, str]] = {
    **dict.fromkeys(("moves-12", "fetch-03", "fetch-08", "fetch-09", "fetch-10"), COSTS_TIME),
    **dict.fromkeys(("fetch-11", "fetch-12", "fetch-20", "fetch-22", "fetch-23"), COSTS_TIME),
    **dict.fromkeys(("fetch-28", "streams-06", "streams-08"), COSTS_TIME),
    **dict.fromkeys(("logs-14", "logs-16", "logs-17", "logs-18", "logs-19"), NO_REBUILD),
    **dict.fromkeys(("logs-06", "logs-12", "logs-23"), NOT_ASKED),
}
# Which judge has spoken, by what its findings say.
JUDGES: Final = (
    ("without a lease", "leases"),
    ("was answered", "answers to clients"),
    ("has ended", "nodes that end"),
    ("reader", "readers with sessions"),
    ("session", "readers with sessions"),
    ("a fetch ", "readers with sessions"),
    ("lost:", "records"),
    ("twice:", "records"),
    ("order:", "records"),
    ("was read as", "records"),
    ("never acknowledged", "records"),
    ("is led by", "entries of the metadata"),
    ("leaves", "entries of the metadata"),
    ("gets the leader", "entries of the metadata"),
    ("stream", "entries of the metadata"),
    ("drain", "entries of the metadata"),
    ("log ", "entries of the metadata"),
    ("has a lease", "leases"),
    ("takes no records", "partitions that take records"),
    ("is still moving", "partitions that take records"),
    ("no partition has moved", "partitions that take records"),
    ("is served by nobody", "time to serve again"),
    ("is left behind", "time to serve again"),
    ("stuck", "time to serve again"),
    ("no end after", "time to serve again"),
    ("Task", "callbacks of nodes"),
    ("xception", "callbacks of nodes"),
)


@dataclass(frozen=True, slots=True)
class Rate:
    """One bug's."""

    bug_id: str
    tried: int = 0  # seeds
    finding: str = ""  # of the last of them; empty: none has found anything

    def __str__(self) -> str:
        return f"{self.bug_id} {self.tried} {self.finding or '-'}"


def judge_of(finding: str) -> str:
    """Return which judge has spoken."""
    return next((judge for text, judge in JUDGES if text in finding), "others")


def tried_bugs() -> list[SeededBug]:
    """Return the bugs of the families that clusters can notice, one of each family after the other."""
    found = tables()
    rows = zip_longest(*(found[name] for name in FAMILIES))
    return [bug for row in rows for bug in row if bug is not None and bug.id not in NOT_NOTICED]


def read(table: Path = TABLE) -> tuple[str, dict[str, Rate]]:
    """Return the version of the simulation, and the rates by bug; nothing yet without a table."""
    if not table.exists():
        return "", {}
    head, *lines = table.read_text().splitlines()
    rates = {}
    for bug_id, tried, finding in (it.split(" ", 2) for it in lines):
        rates[bug_id] = Rate(bug_id, int(tried), "" if finding == "-" else finding)
    return head.split()[-1], rates


def measure(bugs: Sequence[SeededBug], version: str, table: Path = TABLE) -> Iterator[Rate]:
    """Go on with what a table tells, and keep it; yield what each bug has come to.

    Raises:
        RuntimeError: clusters find something without a mistake, or a bug does not run.
    """
    known, rates = read(table)
    if known != version:
        rates = {}
    with Copies() as copies:
        for end in range(SEEDS_AT_ONCE, MAX_SEEDS + 1, SEEDS_AT_ONCE):
            rates_now = [rates.get(it.id, Rate(it.id)) for it in bugs]
            due = [
                (bug, rate)
                for bug, rate in zip(bugs, rates_now, strict=True)
                if not rate.finding and rate.tried < end
            ]
            if not due:
                continue
            sound = copies.submit(
                run_drawn, range(FIRST_SEED + end - SEEDS_AT_ONCE, FIRST_SEED + end), SECONDS
            )
            trying = [copies.submit(_try, bug, rate, end) for bug, rate in due]
            code, output = sound.result()
            if code:
                msg = f"clusters find something without a mistake: {output[:1000]}"
                raise RuntimeError(msg)
            for tried in as_completed(trying):
                rate = tried.result()
                rates[rate.bug_id] = rate
                _write(version, rates, table)
                yield rate


def _try(copy: Path, bug: SeededBug, rate: Rate, end: int) -> Rate:
    with mistake(copy, bug):
        seeds = range(FIRST_SEED + rate.tried, FIRST_SEED + end)
        code, output = run_drawn(copy, seeds, SECONDS)
    found = [it for it in output.splitlines() if it.startswith("seed ")]
    if code == 0:
        return Rate(bug.id, end)
    if not found:
        msg = f"{bug.id} does not run: {output[-1000:]}"
        raise RuntimeError(msg)
    seed, _, finding = found[0].removeprefix("seed ").partition(": ")
    finding = finding.partition(", defined at")[0]  # a path of this machine
    return Rate(bug.id, int(seed) - FIRST_SEED + 1, " ".join(finding.split())[:MAX_FINDING])


def summary() -> str:
    """Return what the table says, for docs/reliability.md."""
    version, rates = read()
    names = {name: [bug.id for bug in tables()[name]] for name in FAMILIES}
    bugs = {it for ids in names.values() for it in ids}
    known = {bug_id: it for bug_id, it in rates.items() if bug_id in bugs}
    found = {bug_id: it for bug_id, it in known.items() if it.finding}
    judges = Counter(judge_of(it.finding) for it in found.values())
    lines = [
        f"Measured with version {version} of the simulation: of {len(known)} mistakes that were tried so far, "
        f"{len(found)} were found within {max((it.tried for it in known.values()), default=0)} seeds. Of the "
        f"others none of as many seeds as are told has found anything. The number of the first seed that did:",
        "",
    ]
    for name, ids in names.items():
        first = [f"{it} {known[it].tried}" for it in ids if it in found]
        missed = [f"{it} {known[it].tried}" for it in ids if it in known and it not in found]
        untried = [it for it in ids if it not in known and it not in NOT_NOTICED]
        lines.append(f"- **{name}**")
        told = {"found": first, "not found, by seeds": missed, "not tried yet": untried}
        lines += [f"  - {what}: {', '.join(those)}" for what, those in told.items() if those]
    whose = ", ".join(f"{judge} {it}" for judge, it in judges.most_common())
    lines += ["", f"Who found them: {whose}.", ""]
    lines += ["No such cluster can notice:", ""]
    for why in dict.fromkeys(NOT_NOTICED.values()):
        lines.append(f"- {why}: {', '.join(it for it, its in NOT_NOTICED.items() if its == why)}")
    return "".join(f"{it}\n" for it in lines)


def _write(version: str, rates: Mapping[str, Rate], table: Path) -> None:
    lines = [f"# bug, seeds tried, what the last of them has found; version {version}"]
    lines += [str(rates[it]) for it in sorted(rates)]
    table.write_text("".join(f"{it}\n" for it in lines))


def version() -> str:
    """Return the version of the simulation."""
    return swarm.simulation()
