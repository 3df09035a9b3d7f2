"""What the leading controller remembers, and what it does not do because of that."""

import pytest

from headrace.metadata.balance.cluster import Goal
from headrace.metadata.balance.state import (
    CALMS_PER_WINDOW,
    MAX_DECISIONS,
    MAX_TAKEN_BACK,
    PLAN_MS,
)
from headrace.metadata.records.topics import ConfigRecord
from headrace.metadata.rpc.requests import AlterReassignments, Reassignment
from tests.unit.metadata.balance.balanced_cluster import (
    REST_MS,
    WINDOW_MS,
    BalancedCluster,
)


@pytest.fixture
def cluster():
    """A window after a controller has begun to lead."""
    cluster = BalancedCluster()
    cluster.pass_window()
    return cluster


def test_a_new_leader_waits_for_a_whole_window():
    cluster = BalancedCluster()
    cluster.now_ms += WINDOW_MS - 1
    cluster.tell()
    assert "1 s are left" in cluster.waits_for()
    assert cluster.go_on() == []
    cluster.now_ms += 1
    assert cluster.waits_for() is None
    assert cluster.go_on()


def test_it_can_be_switched_off():
    cluster = BalancedCluster(enabled=False)
    cluster.pass_window()
    assert "headrace.balance.enable is false" in cluster.waits_for()
    assert cluster.plan().moves  # a dry run shows what it would do


def test_a_broker_that_tells_nothing_is_waited_for(cluster):
    cluster.now_ms += WINDOW_MS // 5 + 1
    cluster.tell(1)
    assert "brokers [2] have not reported their loads lately" in cluster.waits_for()
    cluster.tell(2)
    assert cluster.waits_for() is None


def test_a_broker_that_has_registered_again_is_waited_for(cluster):
    cluster.do(cluster.controller.fence, 2)
    cluster.do(cluster.controller.register, 2)
    cluster.controller.begin_log(2)
    assert cluster.waits_for() == "a broker has come or gone: 30 s are left"
    cluster.now_ms += WINDOW_MS // CALMS_PER_WINDOW
    assert "brokers [2] have not reported their loads lately" in cluster.waits_for()


def test_below_the_level_of_moves_nothing_is_planned(cluster):
    low = BalancedCluster()
    low.pass_window()
    low.controller.image = type(low.image)(
        **{it: getattr(low.image, it) for it in low.image.__struct_fields__ if it != "features"}
    )
    assert "headrace cluster upgrade" in low.waits_for()


def test_moves_begin_five_at_a_time_and_the_next_as_they_end(cluster):
    taken = cluster.go_on()
    assert len(taken) == len(cluster.image.moves) == 5
    assert {it.outcome for it in taken} == {"begun"}
    assert cluster.go_on() == []
    cluster.finish(taken[0].move.partition)
    assert taken[0].outcome == "moved"
    assert len(cluster.go_on()) == 1
    cluster.finish_all()
    assert len(cluster.led(2)) == 6
    assert cluster.go_on() == []
    assert cluster.plan().moves == ()
    assert cluster.state.moves_total == {Goal.TRAFFIC: 6}


def test_what_a_client_moves_counts_among_the_five(cluster):
    for index in range(3):
        cluster.move(index, 2)
    cluster.now_ms += REST_MS + 1
    cluster.tell()
    assert len(cluster.go_on()) == 2


def test_a_partition_rests_after_its_move_and_so_does_one_that_was_taken_back(cluster):
    first = cluster.go_on()
    cluster.take_back_all()
    assert {it.outcome for it in first} == {"taken back"}
    assert cluster.state.taken_back_total == 5
    cluster.state.drop_plan()
    again = {it.partition for it in cluster.plan().moves}
    assert again
    assert not again & {it.move.partition for it in first}
    cluster.now_ms += REST_MS
    assert {it.partition for it in cluster.plan().moves} & {it.move.partition for it in first}


def test_a_partition_that_had_another_leader_before_the_term_rests_since_its_begin():
    cluster = BalancedCluster()
    cluster.do(cluster.controller.fence, 1)
    cluster.do(cluster.controller.register, 1)  # its partitions get the next leader epoch
    cluster.controller.begin_log(1)
    cluster.pass_window()
    assert cluster.plan().moves == ()
    cluster.now_ms += REST_MS - WINDOW_MS
    assert cluster.plan().moves


def test_the_load_of_a_moved_partition_is_what_its_former_leader_told(cluster):
    taken = cluster.go_on()
    cluster.finish_all()
    cluster.cost = 0  # the new leader has hardly seen any of it
    cluster.tell(2)
    assert cluster.state.waits_for(cluster.image, cluster.now_ms) is None
    cluster.state.drop_plan()
    # 7 stay and 5 have moved: one more is enough.
    assert len(cluster.plan().moves) <= 1
    assert len(taken) == 5


def test_a_broker_whose_partitions_somebody_has_moved_away_does_not_take_part(cluster):
    for index in range(12):
        cluster.move(index, 2)
        cluster.finish(index)
    assert cluster.led(1) == []
    assert cluster.waits_for() == "fewer than two brokers take part"
    cluster.now_ms += REST_MS
    cluster.tell()
    assert cluster.waits_for() is None


def test_it_takes_part_again_once_it_has_registered_again(cluster):
    cluster.move(0, 2)
    assert cluster.waits_for() == "fewer than two brokers take part"
    cluster.do(cluster.controller.fence, 1)
    cluster.do(cluster.controller.register, 1)
    cluster.controller.begin_log(1)
    cluster.now_ms += WINDOW_MS // CALMS_PER_WINDOW
    cluster.tell()
    assert cluster.waits_for() is None


def test_after_five_moves_in_a_row_that_were_taken_back_nothing_moves_for_a_while(cluster):
    assert len(cluster.go_on()) == MAX_TAKEN_BACK
    cluster.take_back_all()
    assert "5 moves one after the other were taken back" in cluster.waits_for()
    cluster.now_ms += REST_MS
    cluster.tell()
    assert cluster.waits_for() is None


def test_a_broker_that_is_about_to_end_does_not_take_part(cluster):
    cluster.controller.begin_log(2, generation=cluster.controller.log(2).generation, reach=())
    assert cluster.waits_for() == "fewer than two brokers take part"


def test_a_topic_is_switched_off(cluster):
    cluster.controller.apply(ConfigRecord(2, "orders", "headrace.balance.enable", "FALSE"))
    assert cluster.plan().moves == ()
    cluster.controller.apply(ConfigRecord(2, "orders", "headrace.balance.enable", "true"))
    assert cluster.plan().moves


def test_what_has_changed_since_the_plan_is_left_alone(cluster):
    """Somebody moves a partition elsewhere between plan and proposal."""
    cluster = BalancedCluster(nodes=3)
    cluster.pass_window()
    cluster.state.adopt(cluster.plan(), cluster.now_ms)
    first = cluster.state.last_plan.moves[0]
    other = 5 - first.target  # brokers 2 and 3
    cluster.controller.do(AlterReassignments((Reassignment("orders", first.partition, (other,)),)))
    taken = cluster.go_on()
    topic_id = cluster.image.topic("orders").topic_id
    assert cluster.image.moves[topic_id, first.partition].target == other
    assert [it.outcome for it in taken] == ["not begun", "begun", "begun", "begun"]


def test_a_plan_grows_old(cluster):
    cluster.state.adopt(cluster.plan(), cluster.now_ms)
    assert cluster.state.take(cluster.image, cluster.now_ms + PLAN_MS + 1) == []
    assert not cluster.state.has_plan


def test_partitions_of_a_topic_that_is_deleted_are_forgotten(cluster):
    taken = cluster.go_on()
    cluster.do(cluster.controller.delete, "orders")
    assert taken
    assert cluster.plan().moves == ()


def test_decisions_are_remembered_up_to_a_bound():
    cluster = BalancedCluster(partitions=40)
    cluster.pass_window()
    for _ in range(MAX_DECISIONS):
        cluster.go_on()
        cluster.take_back_all()
        cluster.now_ms += REST_MS
        cluster.tell()
        cluster.state.drop_plan()
    assert len(cluster.state.decisions) == MAX_DECISIONS
