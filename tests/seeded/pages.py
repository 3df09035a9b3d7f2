"""Lists the seeded bugs (`python -m tests.seeded --list`), and writes how soon clusters notice them (`--docs`)."""

import textwrap
from collections.abc import Sequence

from tests.seeded import rate
from tests.seeded.bug import ROOT, SeededBug

RATE_PAGE = "docs/reliability.md"
RATE_MARKS = ("<!-- rate -->\n", "<!-- end of rate -->\n")
WIDTH = 120
# What a table's mistakes are seeded in; the heading of its section.
TITLES = {
    "wal": "The WAL on a device",
    "object_wal": "The WAL in a bucket",
    "storage": "Storage: upload, caches, objects, compaction",
    "stores": "What is written once, tried again, deleted late, and told when it fails",
    "raft": "The Raft core",
    "quorum": "The quorum around the core",
    "upgrade": "Levels of the cluster, and raising them",
    "fencing": "Leases, sessions, epochs and proposals",
    "metadata_log": "The metadata log and the disks of the quorum",
    "directory": "What a power cut or a failed sync leaves of the metadata log's directory",
    "partition": "Opening partitions",
    "streams": "Opening and closing the streams of many partitions",
    "lease": "What is answered while a lease is not valid",
    "ports": "At the ports: what one connection may hold, and who may take whose place",
    "clients": "Who a client is, and clients that are told to wait",
    "reach": "How brokers reach the leading controller, and who may speak for one",
    "records": "Produced batches: what is validated and what is stored",
    "turns": "Turns of the event loop and sizes of answers",
    "turns_apis": "Turns of the event loop, where the cluster has very much",
    "offsets": "The log of a coordinator partition",
    "fetch": "Fetch sessions",
    "transactions": "Transactions: what a leader knows of them, and what readers are shown",
    "cleaning": "Cleaning of compacted topics",
    "cluster": "Whole clusters, caught by their simulation",
    "failover": "Failover: what is lost, doubled or withheld when a broker dies",
    "moves": "Moves of partitions between brokers that live",
    "balance": "Balance of brokers: which partitions move",
    "logs": "Logs, their owners, and who drains them",
    "device_fence": "Fences of WAL devices",
}


def listed(table: str, bugs: Sequence[SeededBug]) -> str:
    """Return a table as a list: one entry each for mistake, file and test."""
    return f"## {TITLES[table]}\n\n" + "".join(_entry(bug) for bug in bugs)


def _entry(bug: SeededBug) -> str:
    lines = [f"- **{bug.id}**: {bug.title}", f"  - in `{bug.file}`"]
    if bug.test is not None:
        file, _, name = bug.test.partition("::")
        lines += [f"  - `{file}`", f"    `{name}`"]
    if bug.simulated is not None:
        also = "" if bug.test is None else "and "
        lines.append(f'  - {also}simulated clusters, nature "{bug.simulated.nature}"')
    return "".join(f"{it}\n" for it in lines)


def with_rate(text: str) -> str:
    """Return the page of reliability with its section on how soon clusters notice renewed."""
    before, after = RATE_MARKS
    head, _, rest = text.partition(before)
    _, _, tail = rest.partition(after)
    filled = "\n\n".join(_wrapped(it) for it in rate.summary().strip().split("\n\n"))
    return f"{head}{before}\n{filled}\n\n{after}{tail}"


def _wrapped(paragraph: str) -> str:
    """Return lines of at most so many characters; entries of a list are indented."""
    lines = []
    for line in paragraph.splitlines():
        depth = len(line) - len(line.lstrip())
        indent = " " * (depth + 2 if line.lstrip().startswith("- ") else depth)
        lines.append(
            textwrap.fill(
                line,
                WIDTH,
                subsequent_indent=indent,
                break_long_words=False,
                break_on_hyphens=False,
            )
        )
    return "\n".join(lines)


def write() -> None:
    """Renew the page of reliability."""
    path = ROOT / RATE_PAGE
    path.write_text(with_rate(path.read_text()))
