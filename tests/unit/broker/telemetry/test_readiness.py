"""Readiness: every condition is asked at every look, and says why."""

from headrace.broker.telemetry.readiness import CheckResult, Readiness


def test_a_node_is_ready_when_every_condition_holds() -> None:
    readiness = Readiness()
    assert readiness.look() == (True, [])
    state = {"a": True, "b": True}
    readiness.add(lambda: CheckResult("a", state["a"], f"a {state['a']}"))
    readiness.add(lambda: CheckResult("b", state["b"], f"b {state['b']}"))
    assert readiness.look() == (
        True,
        [CheckResult("a", ok=True, reason="a True"), CheckResult("b", ok=True, reason="b True")],
    )
    state["b"] = False
    ready, results = readiness.look()
    assert not ready
    assert [(it.name, it.ok, it.reason) for it in results] == [
        ("a", True, "a True"),
        ("b", False, "b False"),
    ]
