"""The balance as an operator sees it. Pure."""

from collections import Counter

from headrace.metadata.balance.cluster import BalancePlan, BalanceView, PlannedMove
from headrace.metadata.balance.state import BalanceState
from headrace.metadata.rpc.responses import BalanceDescribed, BalanceMove, BrokerShare


def described(
    state: BalanceState,
    view: BalanceView,
    waits_for: str | None,
    planned: BalancePlan | None,
    boot_to_wall_ms: int,
) -> BalanceDescribed:
    """Describe the state; `planned` is what a dry run would do, None if there is none."""
    cost: Counter[int] = Counter()
    number: Counter[int] = Counter()
    for it in view.partitions:
        cost[it.broker] += it.cost
        number[it.broker] += 1
    last = planned or state.last_plan
    return BalanceDescribed(
        waits_for,
        tuple(sorted(it.value for it in last.evening)) if last else (),
        () if last is None else last.unreached,
        len(view.moving),
        tuple(
            BrokerShare(it.node_id, it.rack, it.takes_part, number[it.node_id], cost[it.node_id])
            for it in view.nodes
        ),
        tuple(_move(it.move, it.at_ms + boot_to_wall_ms, it.outcome) for it in state.decisions),
        None
        if planned is None
        else tuple(_move(it, view.now_ms + boot_to_wall_ms, "planned") for it in planned.moves),
    )


def _move(move: PlannedMove, at_ms: int, outcome: str) -> BalanceMove:
    return BalanceMove(
        at_ms,
        move.topic,
        move.partition,
        move.source,
        move.target,
        move.goal.value,
        move.reason,
        outcome,
    )
