"""BudgetCollector: how long requests of each class wait for room of their own."""

import asyncio

from prometheus_client import CollectorRegistry, generate_latest

from headrace.broker.collectors.budget_metrics import BudgetCollector
from headrace.storage.request_budget import RequestBudget
from tests.simulation.virtual_time import run


def shown(budgets):
    registry = CollectorRegistry()
    registry.register(BudgetCollector(budgets))
    lines = generate_latest(registry).decode().splitlines()
    pairs = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    return {name.removeprefix("headrace_request_budget_"): float(value) for name, value in pairs}


def test_waiting_is_told_by_class():
    async def main():
        budgets = {"upload": RequestBudget(2, 100), "read_ahead": RequestBudget(1, 100)}
        upload = budgets["upload"]
        assert budgets["read_ahead"].try_acquire(10)
        assert not budgets["read_ahead"].try_acquire(10)

        async def hold(seconds):
            async with upload.reserved(60):
                await asyncio.sleep(seconds)

        tasks = [asyncio.create_task(hold(seconds)) for seconds in (3, 5, 1)]
        await asyncio.sleep(1)
        found = shown(budgets)
        assert found['requests{class="upload"}'] == 1
        assert found['bytes{class="upload"}'] == 60
        assert found['waiting{class="upload"}'] == 2
        assert found['waited_total{class="upload"}'] == 0
        assert found['put_off_total{class="read_ahead"}'] == 1
        assert found['waiting{class="read_ahead"}'] == 0
        await asyncio.sleep(3)  # the second began after 3 s
        tasks[2].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        found = shown(budgets)
        assert found['waiting{class="upload"}'] == 0
        assert found['requests{class="upload"}'] == 0
        assert found['waited_total{class="upload"}'] == 2
        assert found['waited_seconds_total{class="upload"}'] == 3 + 4

    run(main())
