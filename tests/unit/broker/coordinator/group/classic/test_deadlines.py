"""Deadlines: in their order, and cheap to push back."""

from headrace.broker.coordinator.group.classic.deadlines import DeadlineKey, DeadlineKind, Deadlines


def session(member_id: str) -> DeadlineKey:
    return DeadlineKey(DeadlineKind.SESSION, "g", member_id)


def due(deadlines: Deadlines, now_ms: int) -> list[str]:
    return [key.member_id for key in deadlines.pop_due(now_ms)]


def test_in_order_of_time() -> None:
    deadlines = Deadlines()
    assert deadlines.next_ms() is None
    for member_id, at_ms in (("b", 20), ("a", 10), ("c", 30)):
        deadlines.schedule(session(member_id), at_ms)
    assert deadlines.next_ms() == 10
    assert due(deadlines, 9) == []
    assert due(deadlines, 20) == ["a", "b"]
    assert deadlines.next_ms() == 30
    assert due(deadlines, 20) == []
    assert len(deadlines) == 1


def test_a_deadline_moves_back_and_forth() -> None:
    deadlines = Deadlines()
    deadlines.schedule(session("a"), 10)
    deadlines.schedule(session("a"), 50)
    assert deadlines.next_ms() == 50
    deadlines.schedule(session("a"), 20)
    assert deadlines.next_ms() == 20
    deadlines.schedule(session("a"), 30)
    assert due(deadlines, 29) == []
    assert due(deadlines, 30) == ["a"]
    assert due(deadlines, 100) == []


def test_a_cancelled_deadline_does_not_come_up() -> None:
    deadlines = Deadlines()
    deadlines.schedule(session("a"), 10)
    deadlines.cancel(session("a"))
    deadlines.cancel(session("unknown"))
    assert deadlines.next_ms() is None
    deadlines.schedule(session("a"), 40)
    assert due(deadlines, 39) == []
    assert due(deadlines, 40) == ["a"]


def test_what_is_set_meanwhile_comes_up_too_if_it_is_due() -> None:
    deadlines = Deadlines()
    deadlines.schedule(session("a"), 10)
    seen = []
    for key in deadlines.pop_due(15):
        seen.append(key.member_id)
        if key.member_id == "a":
            deadlines.schedule(session("b"), 15)
            deadlines.schedule(session("c"), 16)
    assert seen == ["a", "b"]
    assert deadlines.next_ms() == 16


def test_heartbeats_do_not_grow_the_heap() -> None:
    """Every join sets five minutes, every sync ten seconds: each such pair leaves an entry behind."""
    deadlines = Deadlines()
    for round_ms in range(0, 1_000_000, 100):
        deadlines.schedule(session("a"), round_ms + 300_000)
        deadlines.schedule(session("a"), round_ms + 10_000)
    assert len(deadlines._heap) < 200
    assert deadlines.next_ms() == 999_900 + 10_000
