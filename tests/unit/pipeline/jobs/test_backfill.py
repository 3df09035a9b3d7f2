"""A backfill into a topic starts as many tasks as have something to send."""

import pytest

from headrace.pipeline.jobs.backfill import MAX_SENDING_TASKS, sending_tasks


@pytest.mark.parametrize(
    ("partitions", "configured", "tasks"),
    [
        (3, "200", 3),
        (10_000, "200", 200),
        (10_000, "2000", 2_000),
        (3, "auto", 3),
        (10_000, "auto", MAX_SENDING_TASKS),
        (0, "200", 1),
    ],
)
def test_tasks_that_send(partitions: int, configured: str, tasks: int) -> None:
    assert sending_tasks(partitions, configured) == tasks
