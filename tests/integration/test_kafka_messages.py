"""The messages that are spoken, against the descriptions in the jar of Apache Kafka's clients."""

import json
import re
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import VERSIONS, accepts
from headrace.protocol.messages.registry import REQUESTS, RESPONSES
from tests.environment.kafka import KAFKA_VERSION, kafka_jars

pytestmark = pytest.mark.java

# 93 and 94 are new in 4.4.
NEW_KEYS = {93: "StreamsGroupTopologyDescriptionUpdate", 94: "UnregisterController"}


@pytest.fixture(scope="module")
def described(
    component: Callable[[Callable[[], object]], None],
) -> dict[str, dict[str, Any]]:
    component(kafka_jars)
    found = {}
    with zipfile.ZipFile(kafka_jars() / f"kafka-clients-{KAFKA_VERSION}.jar") as jar:
        for name in jar.namelist():
            if name.startswith("common/message/") and name.endswith(".json"):
                text = re.sub(r"(?m)(^|\s)//.*$", "", jar.read(name).decode())
                message = json.loads(text)
                found[message["name"]] = message
    return found


def bounds(versions: str) -> tuple[int, int]:
    """First and last version of a range such as `0-5`, `3+` or `7`; none gives an empty one."""
    if versions == "none":
        return 1, 0
    first, separator, last = versions.partition("-")
    if first.endswith("+"):
        return int(first[:-1]), 1 << 15
    return int(first), int(last) if separator else int(first)


def holds(versions: str | None, version: int) -> bool:
    first, last = bounds(versions or "none")
    return first <= version <= last


def shape(
    fields: list[dict[str, Any]], version: int, structs: dict[str, list[dict[str, Any]]]
) -> list[tuple[Any, ...]]:
    """What is on the wire in a version: names, types, whether it may be null, tags; structs by what they hold."""
    return list(_shapes(fields, version, structs))


def _shapes(
    fields: list[dict[str, Any]], version: int, structs: dict[str, list[dict[str, Any]]]
) -> Iterator[tuple[Any, ...]]:
    for field in fields:
        if not holds(field["versions"], version):
            continue
        kind = field["type"].removeprefix("[]")
        inner = field.get("fields") or structs.get(kind)
        tagged = holds(field.get("taggedVersions"), version)
        yield (
            # As kafka-python calls it in each message.
            re.sub("(Topic|Cluster)AuthorizedOperations", "authorized_operations", field["name"]),
            "[]" if field["type"].startswith("[]") else "",
            # Sets of operations, as kafka-python reads them.
            shape(inner, version, structs) if inner else kind.replace("bitfield", "int32"),
            holds(field.get("nullableVersions"), version),
            field.get("tag") if tagged else None,
        )


@pytest.mark.parametrize("key", sorted(VERSIONS), ids=lambda key: key.name)
def test_versions_and_fields_are_those_of_kafka(
    key: ApiKey, described: dict[str, dict[str, Any]]
) -> None:
    row = VERSIONS[key]
    for spoken in (REQUESTS[key], RESPONSES[key]):
        theirs = described[spoken.name]
        first, last = bounds(theirs["validVersions"])
        unstable = theirs.get("latestVersionUnstable", False)
        if key is ApiKey.INIT_PRODUCER_ID:
            assert row.max_version == 5
            assert last == 6
        else:
            assert not unstable
            assert row.max_version == last
        assert row.min_version == (0 if key is ApiKey.PRODUCE else first)
        assert row.flexible_since == (
            1 << 15
            if theirs["flexibleVersions"] == "none"
            else bounds(theirs["flexibleVersions"])[0]
        )
        ours = spoken.json
        for version in range(row.min_version, row.max_version + 1):
            if accepts(key, version):
                shapes = [
                    shape(
                        it["fields"],
                        version,
                        {
                            common["name"]: common["fields"]
                            for common in it.get("commonStructs", [])
                        },
                    )
                    for it in (ours, theirs)
                ]
                assert shapes[0] == shapes[1], (spoken.name, version)


def test_every_key_of_brokers_is_known(described: dict[str, dict[str, Any]]) -> None:
    keys = {
        it["apiKey"]: it["name"].removesuffix("Request")
        for it in described.values()
        if it["type"] == "request" and "broker" in it.get("listeners", ())
    }
    assert NEW_KEYS.items() <= keys.items()
    assert not NEW_KEYS.keys() & VERSIONS.keys()
    assert set(VERSIONS) <= keys.keys()
