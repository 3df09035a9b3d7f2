"""Runs a function over tasks by Spark, with progress while they run."""

from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeVar

from headrace.pipeline.jobs.told import Told
from headrace.pipeline.session import create_session

Task = TypeVar("Task")
Result = TypeVar("Result")

MAX_TASKS: Final = 100_000  # of one Spark job; more are its next


class Runner(Protocol):
    """What runs the tasks of a job."""

    @property
    def parallelism(self) -> int:
        """How many run at once."""
        ...

    def run(
        self,
        act: Callable[[Task], Result],
        tasks: Sequence[tuple[Task, int]],
        told: Told,
        label: str,
    ) -> list[Result]:
        """Return the results in the order of the tasks, which come with the bytes that each reads.

        A task that failed may be run again: `act` leaves nothing that a second run of it would double.
        """
        ...


class SparkRunner:
    """Spark's workers; the session is that of spark-submit, or a local one that begins with the first task."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def parallelism(self) -> int:
        """See `Runner.parallelism`."""
        return max(1, create_session(self._name, connector=False).sparkContext.defaultParallelism)

    def run(
        self,
        act: Callable[[Task], Result],
        tasks: Sequence[tuple[Task, int]],
        told: Told,
        label: str,
    ) -> list[Result]:
        """See `Runner.run`."""
        if not tasks:
            return []
        context = create_session(self._name, connector=False).sparkContext
        done = context.accumulator(0)

        def counted(task: tuple[Task, int]) -> Result:
            result = act(task[0])
            done.add(task[1])
            return result

        found: list[Result] = []
        total = sum(size_bytes for _, size_bytes in tasks)
        with told.watching(label, lambda: done.value, total):
            for start in range(0, len(tasks), MAX_TASKS):
                some = tasks[start : start + MAX_TASKS]
                found.extend(context.parallelize(some, len(some)).map(counted).collect())
        return found
