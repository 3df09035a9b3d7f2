"""Checks of what must be true for state to be right, in every run of the interpreter. Pure.

`assert` is left out by `python -O`, so it only narrows types here. State that is wrong must not be written, replayed or
acknowledged: who finds that stops with an error.

This module stands below all packages: each of them uses it.
"""


class InvariantError(AssertionError):
    """Something is not as the rules of the state make it: a mistake in this program, or damage."""


def require(condition: object, message: str = "an invariant is broken") -> None:
    """Go on only if the condition is true.

    Raises:
        InvariantError: it is not.
    """
    if not condition:
        raise InvariantError(message)
