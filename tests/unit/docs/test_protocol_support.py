"""docs/protocol-support.md says what the modules say, and the modules say what is served."""

import re

import pytest

from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import VERSIONS
from tests.documentation.protocol_support import (
    NOT_SERVED,
    PATH,
    RUN,
    SERVED,
    deviations,
    header,
    name_of,
    render,
)
from tests.environment.paths import ROOT


def test_the_committed_page_is_up_to_date() -> None:
    command = "python -m tests.documentation.protocol_support"
    assert PATH.read_text() == render(), f"run `{command}`"


@pytest.mark.parametrize("key", SERVED, ids=lambda it: it.name)
def test_a_module_begins_with_its_api_its_key_and_its_versions(key: ApiKey) -> None:
    low, high, _ = VERSIONS[key]
    low = {ApiKey.PRODUCE: 3}.get(key, low)
    versions = f"version {low}" if low == high else f"versions {low} (to|and) {high}"
    camel = "".join(part.capitalize() for part in key.name.split("_"))
    first = header(key).splitlines()[0]
    assert re.fullmatch(rf"{camel} \(API key {int(key)}\), {versions}.*\.", first), first


def test_deviations_are_read_as_they_are_written() -> None:
    text = "A (API key 1).\n\nBehaviour:\n  * x\nDeviations from Apache Kafka:\n  * One\n    more.\n  * Two.\nSource: y"
    assert deviations(text) == ["One more.", "Two."]
    assert deviations("A (API key 1).\n") == []
    assert name_of(text) == "A"


def test_what_is_not_served_is_named_once_and_not_served() -> None:
    keys = [key for some, _ in NOT_SERVED for key in some]
    assert len(set(keys)) == len(keys)
    assert not set(keys) & {int(it) for it in SERVED}


def test_tools_that_are_said_to_work_are_run() -> None:
    tests = "".join(it.read_text() for it in sorted((ROOT / "tests" / "e2e").glob("test_*.py")))
    assert [it.script for it in RUN if it.main_class not in tests] == []
