import typing

from headrace.metadata.controller.dispatch import _DECISIONS
from headrace.metadata.rpc.requests import Mutation


def test_every_mutation_has_a_decision():
    assert set(_DECISIONS) == set(typing.get_args(Mutation))
