"""What clients asked of metadata and were answered, kept by register, and judged when it is over."""

import json
from collections import Counter, defaultdict
from pathlib import Path
from threading import Lock

from tests.cluster.linearizability import Model, Operation, Verdict, check

_MAX_SHOWN = 25


class History:
    """Operations by the register that they are about. Thread-safe."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._registers: dict[str, list[Operation]] = defaultdict(list)
        self._lock = Lock()

    def add(self, register: str, operation: Operation) -> None:
        """Note an operation that is over, or whose outcome will never be known."""
        with self._lock:
            self._registers[register].append(operation)

    def counts(self) -> Counter[str]:
        """Return how many operations of which kind there are, by call and outcome."""
        with self._lock:
            operations = [it for kept in self._registers.values() for it in kept]
        return Counter(
            f"{it.call} {'unknown' if it.ended_ns is None else 'answered'}" for it in operations
        )

    def check(self) -> int:
        """Judge each register, and return how many operations were judged.

        Raises:
            AssertionError: a register's history has no explanation.
        """
        with self._lock:
            registers = {name: list(kept) for name, kept in self._registers.items()}
        for name, operations in registers.items():
            verdict = check(operations, self._model, None)
            assert verdict.explained, _refusal(name, operations, verdict)
        return sum(map(len, registers.values()))

    def save(self, path: Path) -> None:
        """Write all operations as lines of JSON."""
        with self._lock, path.open("w") as lines:
            for name, operations in self._registers.items():
                for it in operations:
                    times = [it.begun_ns, it.ended_ns]
                    row = [name, *times, it.call, str(it.argument), str(it.answer), str(it.node)]
                    lines.write(f"{json.dumps(row)}\n")


def _refusal(name: str, operations: list[Operation], verdict: Verdict) -> str:
    lines = [f"no order of the {len(operations)} operations explains {name}."]
    lines += ["An order goes so far:", *map(_line, verdict.longest[-_MAX_SHOWN:])]
    lines += ["Then none of these fits:", *map(_line, verdict.stuck[:_MAX_SHOWN])]
    last_ns = max((it.begun_ns for it in verdict.stuck), default=0)
    placed = set(map(id, verdict.longest))
    waiting = [it for it in operations if id(it) not in placed and it.begun_ns <= last_ns]
    unknown = [it for it in waiting if it.ended_ns is None]
    lines += ["Unknown outcomes that could still happen:", *map(_line, unknown[:_MAX_SHOWN])]
    return "\n".join(lines)


def _line(it: Operation) -> str:
    ended = "unknown" if it.ended_ns is None else f"{it.ended_ns / 1e9:.4f}"
    return (
        f"  {it.begun_ns / 1e9:.4f} - {ended}  at {it.node}: {it.call} {it.argument} -> {it.answer}"
    )
