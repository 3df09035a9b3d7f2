"""The checker that judges the cluster: it accepts what can be explained, and nothing else."""

import itertools
import random
from collections.abc import Callable

import pytest

from tests.cluster.linearizability import (
    TOPIC,
    VALUE,
    Model,
    Operation,
    UndecidedError,
    check,
)


def write(begun: int, ended: int | None, value: object, node: int = 0) -> Operation:
    return Operation(begun, ended, "write", value, node=node)


def read(begun: int, ended: int, value: object, *, node: int = 0, lags: bool = False) -> Operation:
    return Operation(begun, ended, "read", answer=value, node=node, lags=lags)


def topic(begun: int, ended: int | None, call: str, answer: object = None) -> Operation:
    return Operation(begun, ended, call, answer=answer)


GOOD = {
    "nothing": [],
    "a read of what was written": [write(0, 1, "a"), read(2, 3, "a")],
    "a read beside a write sees either": [write(0, 9, "a"), read(1, 2, None), read(3, 4, "a")],
    "writes side by side, in either order": [write(0, 9, "a"), write(0, 9, "b"), read(10, 11, "a")],
    "the same value written twice, and another between": [
        write(0, 9, "a"),
        write(0, 9, "a"),
        write(0, 9, "b"),
        read(1, 2, "a"),
        read(3, 4, "b"),
        read(5, 6, "a"),
    ],
    "an unknown write that happened": [write(0, None, "a"), read(5, 6, "a")],
    "an unknown write that did not": [write(0, None, "a"), read(5, 6, None), read(7, 8, None)],
    "an unknown write that happened late": [write(0, None, "a"), read(5, 6, None), read(7, 8, "a")],
    "a copy that lags": [write(0, 1, "a", node=1), read(2, 3, None, node=2, lags=True)],
    "two copies that lag differently": [
        write(0, 1, "a", node=1),
        write(2, 3, "b", node=1),
        read(4, 5, "a", node=2, lags=True),
        read(4, 5, None, node=3, lags=True),
        read(6, 7, "b", node=2, lags=True),
    ],
}
BAD = {
    "a read of what nobody wrote": [write(0, 1, "a"), read(2, 3, "b")],
    "a read of what was overwritten": [write(0, 1, "a"), write(2, 3, "b"), read(4, 5, "a")],
    "a lost write": [write(0, 1, "a"), read(2, 3, None)],
    "a read before the write began": [read(0, 1, "a"), write(2, 3, "a")],
    "a write that is seen and then gone": [write(0, 9, "a"), read(1, 2, "a"), read(3, 4, None)],
    "an unknown write that happened twice": [
        write(0, None, "a"),
        read(1, 2, "a"),
        write(3, 4, "b"),
        read(5, 6, "b"),
        read(7, 8, "a"),
    ],
    "an unknown write before it was asked": [read(0, 1, "a"), write(2, None, "a")],
    "a copy that goes back": [
        write(0, 1, "a", node=1),
        read(2, 3, "a", node=2, lags=True),
        read(4, 5, None, node=2, lags=True),
    ],
    "a copy that does not know its own node's write": [
        write(0, 1, "a", node=2),
        read(2, 3, None, node=2, lags=True),
    ],
    "a copy that is ahead of the truth": [
        read(0, 1, "a", node=2, lags=True),
        write(2, 3, "a", node=1),
    ],
}
GOOD_TOPICS = {
    "created, described, deleted, created": [
        topic(0, 1, "create", "id-1"),
        topic(2, 3, "describe", "id-1"),
        topic(4, 5, "create", "exists"),
        topic(6, 7, "delete", "deleted"),
        topic(8, 9, "delete", "absent"),
        topic(10, 11, "create", "id-2"),
    ],
    "an unknown creation whose id is seen": [
        topic(0, None, "create"),
        topic(2, 3, "create", "exists"),
        topic(4, 5, "describe", "id-1"),
        topic(6, 7, "describe", "id-1"),
    ],
    "created anew by calls of unknown outcome": [
        topic(0, 1, "create", "id-1"),
        topic(2, None, "delete"),
        topic(2, None, "create"),
        topic(3, 4, "describe", "id-1"),
        topic(5, 6, "describe", "id-2"),
        topic(7, 8, "create", "exists"),
    ],
    "an unknown deletion": [
        topic(0, 1, "create", "id-1"),
        topic(2, None, "delete"),
        topic(4, 5, "describe", "id-1"),
        topic(6, 7, "create", "id-2"),
    ],
}
BAD_TOPICS = {
    "created twice": [topic(0, 1, "create", "id-1"), topic(2, 3, "create", "id-2")],
    "its own creation, repeated, refused": [topic(0, 1, "create", "exists")],
    "deleted twice": [
        topic(0, 1, "create", "id-1"),
        topic(2, 9, "delete", "deleted"),
        topic(3, 9, "delete", "deleted"),
    ],
    "one topic with two ids": [
        topic(0, None, "create"),
        topic(2, 3, "describe", "id-1"),
        topic(4, 5, "describe", "id-2"),
    ],
    "deleted without a trace": [topic(0, 1, "create", "id-1"), topic(2, 3, "delete", "absent")],
}


@pytest.mark.parametrize("name", GOOD)
def test_what_can_be_explained_is_accepted(name: str) -> None:
    assert check(GOOD[name], VALUE, None).explained


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_explained_is_refused(name: str) -> None:
    assert not check(BAD[name], VALUE, None).explained


@pytest.mark.parametrize("name", GOOD_TOPICS)
def test_a_topic_s_life_is_accepted(name: str) -> None:
    assert check(GOOD_TOPICS[name], TOPIC, None).explained


@pytest.mark.parametrize("name", BAD_TOPICS)
def test_what_no_topic_can_do_is_refused(name: str) -> None:
    assert not check(BAD_TOPICS[name], TOPIC, None).explained


def test_a_refusal_says_how_far_an_order_goes_and_what_does_not_fit() -> None:
    lost = read(4, 5, None)
    verdict = check([write(0, 1, "a"), read(2, 3, "a"), lost], VALUE, None)
    assert [it.call for it in verdict.longest] == ["write", "read"]
    assert verdict.stuck == (lost,)


def random_topic_history(rng: random.Random) -> list[Operation]:
    answers = {
        "create": ["id-1", "id-2", "exists"],
        "delete": ["deleted", "absent"],
        "describe": ["id-1", "id-2", None],
    }
    operations = []
    for _ in range(rng.randrange(1, 7)):
        begun = rng.randrange(10)
        call = rng.choice(list(answers))
        answer = rng.choice(answers[call])
        if call != "describe" and rng.random() < 0.35:
            operations.append(topic(begun, None, call))
        else:
            operations.append(topic(begun, begun + rng.randrange(5), call, answer))
    return operations


def random_history(rng: random.Random) -> list[Operation]:
    operations = []
    for _ in range(rng.randrange(1, 7)):
        begun = rng.randrange(10)
        ended = begun + rng.randrange(5)
        node, lags = rng.randrange(2), rng.random() < 0.5
        if rng.random() < 0.5:
            unknown = rng.random() < 0.3
            operations.append(write(begun, None if unknown else ended, rng.choice("ab"), node))
        else:
            value = rng.choice(["a", "b", None])
            operations.append(read(begun, ended, value, node=node, lags=lags))
    return operations


def explained_by_some_permutation(operations: list[Operation], model: Model) -> bool:
    """The definition itself: try each order of each choice of the unknown operations."""

    def precedes(first: Operation, second: Operation) -> bool:
        if first.ended_ns is None or first.ended_ns >= second.begun_ns:
            return False
        return not second.lags or first.node == second.node

    def fits(order: tuple[Operation, ...]) -> bool:
        pairs = itertools.combinations(order, 2)
        if any(precedes(later, earlier) for earlier, later in pairs):
            return False
        state = None
        for operation in order:
            following = list(model.follow(state, operation))
            if not following:
                return False
            state = following[0]
        return True

    certain = [it for it in operations if it.ended_ns is not None]
    unknown = [it for it in operations if it.ended_ns is None]
    return any(
        fits(order)
        for count in range(len(unknown) + 1)
        for chosen in itertools.combinations(unknown, count)
        for order in itertools.permutations([*certain, *chosen])
    )


@pytest.mark.parametrize(
    ("make", "model"),
    [(random_history, VALUE), (random_topic_history, TOPIC)],
    ids=["value", "topic"],
)
def test_it_agrees_with_the_definition(
    make: Callable[[random.Random], list[Operation]], model: Model
) -> None:
    rng = random.Random(20261121)
    verdicts = []
    for _ in range(600):
        history = make(rng)
        found = check(history, model, None).explained
        assert found == explained_by_some_permutation(history, model), history
        verdicts.append(found)
    assert 60 < sum(verdicts) < 540, "both kinds were tried"


def test_a_long_history_is_decided_at_once() -> None:
    operations = [write(10 * i, 10 * i + 1, i) for i in range(300)]
    operations += [read(10 * i + 2, 10 * i + 3, i) for i in range(300)]
    assert check(operations, VALUE, None, max_steps=1000).explained
    assert not check([*operations, read(5000, 5001, 3)], VALUE, None, max_steps=1000).explained


def test_unknown_outcomes_do_not_make_a_search_long() -> None:
    operations = []
    for i in range(0, 4000, 10):
        unknown = i % 50 == 0
        operations.append(write(i, None if unknown else i + 5, i))
        operations.append(read(i + 6, i + 7, i if not unknown or i % 100 else max(0, i - 10)))
    assert operations[0].ended_ns is None
    assert check(operations, VALUE, None, max_steps=2000).explained
    assert not check([*operations, read(5000, 5001, 15)], VALUE, None, max_steps=5000).explained


def test_a_search_that_is_too_long_says_so() -> None:
    operations = [write(0, 1, i) for i in range(30)] + [read(2, 3, "never")]
    with pytest.raises(UndecidedError):
        check(operations, VALUE, None, max_steps=1000)
