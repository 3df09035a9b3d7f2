"""Mistakes that move partitions for nothing, too often or to the wrong place to even out brokers."""

from tests.seeded.bug import SeededBug, Simulated

_PLANNER = "tests/unit/metadata/balance/test_planner.py"
_STATE = "tests/unit/metadata/balance/test_state.py"
_IN_CLUSTERS = Simulated("balance", seconds=12.0)
_BALANCING = "tests/unit/metadata/controller/test_balancing.py"

BUGS = (
    SeededBug(
        "balance-01",
        "a partition moves again before it has rested",
        "metadata/balance/planner.py",
        "_shares",
        "view.moved_ms.get(key, rested_ms) <= rested_ms",
        "True",
        f"{_PLANNER}::test_a_partition_rests_after_a_move",
        simulated=_IN_CLUSTERS,
    ),
    SeededBug(
        "balance-02",
        "what has begun ends at the band at which it begins: a little more load begins it again",
        "metadata/balance/planner.py",
        "_Band.is_due",
        "self._stop if begun else self._start",
        "self._start",
        f"{_PLANNER}::test_a_goal_begins_above_its_band_and_goes_on_to_the_smaller_one",
    ),
    SeededBug(
        "balance-03",
        "a partition that moves is planned once more",
        "metadata/balance/planner.py",
        "_shares",
        "key not in moving",
        "True",
        f"{_PLANNER}::test_partitions_that_move_are_not_moved_again",
    ),
    SeededBug(
        "balance-04",
        "a move for traffic makes the numbers of partitions worse by more than it helps",
        "metadata/balance/shares.py",
        "Shares._gain",
        "traffic * all_number + number * all_traffic",
        "traffic * all_number",
        f"{_PLANNER}::test_traffic_is_not_evened_out_at_the_cost_of_more_uneven_numbers",
    ),
    SeededBug(
        "balance-05",
        "a rack with less than another gives to it",
        "metadata/balance/shares.py",
        "Shares._rack_room",
        "2 * apart // (brokers[here] + brokers[there])",
        "2 * abs(apart) // (brokers[here] + brokers[there])",
        f"{_PLANNER}::test_no_move_makes_racks_differ_more",
    ),
    SeededBug(
        "balance-06",
        "a new leading controller moves partitions before it has heard of their load",
        "metadata/balance/state.py",
        "BalanceState.waits_for",
        "left_ms > 0",
        "left_ms > now_ms",
        f"{_STATE}::test_a_new_leader_waits_for_a_whole_window",
    ),
    SeededBug(
        "balance-07",
        "the load of a partition that has moved is taken for none, and more follow it",
        "metadata/balance/told_loads.py",
        "ToldLoads.cost",
        "moved is not None and now_ms < moved[1]",
        "moved is not None and now_ms > moved[1]",
        f"{_STATE}::test_the_load_of_a_moved_partition_is_what_its_former_leader_told",
    ),
    SeededBug(
        "balance-08",
        "moves that others have begun are not counted among those that may be under way",
        "metadata/controller/balancing.py",
        "begin_wanted",
        "max(0, max_moves - len(image.moves))",
        "max_moves",
        f"{_BALANCING}::test_moves_of_others_are_under_way_as_well",
    ),
    SeededBug(
        "balance-09",
        "a broker that joins gets none of the partitions without traffic",
        "metadata/balance/planner.py",
        "plan",
        "{goal for goal, band in bands.items() if band.is_due(begun=goal in evening)}",
        "{goal for goal, band in bands.items() if goal is Goal.TRAFFIC and band.is_due(begun=goal in evening)}",
        f"{_PLANNER}::test_a_broker_that_joins_gets_partitions_without_traffic_too",
        simulated=_IN_CLUSTERS,
    ),
)
