"""The tables and the package are made from the pinned jars, and Java writes every message as we do."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headrace.protocol.generator.__main__ import committed_tables, tables_of
from headrace.protocol.generator.package import package
from headrace.protocol.generator.structs import MessageStructs
from headrace.protocol.generator.tables import parse_table
from tests.environment.message_jars import message_jars
from tests.environment.message_judge import MessageJudge
from tests.fuzz.random_messages import MessageMaker, as_json, built
from tests.unit.protocol.test_generated import made_in_memory, read

pytestmark = pytest.mark.java
ROUNDS = 3  # of each version


@pytest.fixture(scope="module")
def jars(component: Callable[[Callable[[], object]], None]) -> Path:
    component(message_jars)
    return message_jars()


@pytest.fixture(scope="module")
def judge(jars: Path) -> Iterator[MessageJudge]:
    with MessageJudge() as started:
        yield started


def test_the_tables_are_what_the_jars_say(jars: Path) -> None:
    made = tables_of(jars)
    assert made == committed_tables()
    assert package(made) == package(committed_tables())


@pytest.mark.parametrize("table", sorted(committed_tables()))
def test_java_writes_every_message_in_every_version_as_we_do(
    judge: MessageJudge, table: str
) -> None:
    text = committed_tables()[table]
    classes = made_in_memory(text)
    maker = MessageMaker(random.Random(table))
    for description in parse_table(text):
        structs = MessageStructs(description)
        made = classes[description.name]
        for version in description.all_versions():
            number = version - made.MIN_VERSION
            for _ in range(ROUNDS):
                values = maker.values(structs, version)
                message = built(structs, made, values)
                out = bytearray()
                made.WRITE[number](out, message)
                theirs = judge.encode(table, description.name, version, as_json(structs, values))
                assert out == theirs, (description.name, version, values)
                assert read(made.READ[number], bytearray(theirs)) == message
