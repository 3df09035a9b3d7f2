"""What the generator makes: the committed package, and messages that read what they have written."""

import random
import sys
from types import ModuleType
from typing import Any

import pytest

from headrace.protocol import generated, messages
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import VERSIONS
from headrace.protocol.errors import ErrorCode
from headrace.protocol.generator.__main__ import PACKAGE_DIRECTORY, committed_tables
from headrace.protocol.generator.descriptions import Versions, parse_description, parse_versions
from headrace.protocol.generator.modules import module_text, modules
from headrace.protocol.generator.package import package
from headrace.protocol.generator.structs import MessageStructs, snake
from headrace.protocol.generator.tables import format_table, parse_table
from headrace.protocol.message_writing import MAX_ANSWER_BYTES, Output
from headrace.protocol.messages.registry import REQUESTS
from headrace.protocol.primitives import MAX_ARRAY_ELEMENTS, Reader
from headrace.steps import completed
from tests.fuzz.random_messages import MessageMaker, built

DESCRIPTION = """// A licence.
{
  "apiKey": 99, "type": "request", "listeners": ["broker"], "name": "ThingRequest",
  // What it is for.
  "validVersions": "1-3", "flexibleVersions": "2+",
  "fields": [
    { "name": "Names", "type": "[]string", "versions": "1+", "nullableVersions": "2+", "about": "Prose." },
    { "name": "Inner", "type": "Inner", "versions": "2+", "taggedVersions": "2+", "tag": 0,
      "nullableVersions": "2+", "default": "null", "fields": [
        { "name": "SizeBytes", "type": "int64", "versions": "2+", "default": "0x10" }]},
    { "name": "Flag", "type": "bool", "versions": "1-2", "default": true }
  ]
}"""
TABLE = """message ThingRequest request 99 1-3 flexible 2+
  Names []string 1+ null 2+
  Inner Inner 2+ null 2+ default "null" tag 0 2+
    SizeBytes int64 2+ default "0x10"
  Flag bool 1-2 default "true"
"""


def test_the_package_is_what_the_generator_makes_of_the_tables() -> None:
    committed = {it.name: it.read_text() for it in PACKAGE_DIRECTORY.glob("*.py")}
    assert committed == package(committed_tables())


def test_a_table_has_the_facts_of_a_description_and_no_prose() -> None:
    described = parse_description(DESCRIPTION)
    assert described is not None
    assert format_table([described]) == TABLE
    assert parse_table(TABLE) == [described]


def test_a_message_without_a_version_is_none() -> None:
    assert parse_description(DESCRIPTION.replace("1-3", "none")) is None


@pytest.mark.parametrize("text", ["none", "3", "0+", "2-5"])
def test_versions_are_written_as_they_were_read(text: str) -> None:
    assert str(parse_versions(text)) == text
    assert Versions(2, 5) == parse_versions("2-5")


@pytest.mark.parametrize(
    ("name", "python"),
    [
        ("topicId", "topic_id"),
        ("V3AndBelowTopics", "v3_and_below_topics"),
        ("IsKRaft", "is_k_raft"),
        ("ISRNodes", "isr_nodes"),
        ("from", "from_"),
    ],
)
def test_names_become_those_of_python(name: str, python: str) -> None:
    assert snake(name) == python


def made_in_memory(text: str) -> dict[str, Any]:
    """The classes of a table."""
    made: dict[str, Any] = {}
    for name, descriptions in modules(parse_table(text), "others").items():
        module = ModuleType(f"made_in_memory_{name}")
        sys.modules[module.__name__] = module  # where annotations are looked up
        exec(compile(module_text(descriptions), name, "exec"), module.__dict__)
        del sys.modules[module.__name__]
        made |= {it.name: getattr(module, it.name) for it in descriptions}
    return made


@pytest.mark.parametrize("table", sorted(committed_tables()))
def test_every_message_reads_what_it_has_written_at_once_or_in_steps(table: str) -> None:
    """Of all tables, also those messages that no module has."""
    text = committed_tables()[table]
    classes = made_in_memory(text)
    maker = MessageMaker(random.Random(table))
    for description in parse_table(text):
        structs = MessageStructs(description)
        made = classes[description.name]
        for version in description.all_versions():
            number = version - made.MIN_VERSION
            message = built(structs, made, maker.values(structs, version))
            out = bytearray()
            made.WRITE[number](out, message)
            assert read(made.READ[number], out) == message
            read_steps, write_steps = made.READ_STEPS[number], made.WRITE_STEPS[number]
            assert (read_steps is None) == (write_steps is None)
            if write_steps is not None:
                output = Output(MAX_ANSWER_BYTES)
                completed(write_steps(output, message))
                assert b"".join(output.end()) == out
                assert read(lambda r, steps=read_steps: completed(steps(r)), out) == message


def read(codec: Any, data: bytearray) -> Any:
    """Read all of it."""
    reader = Reader(memoryview(data), MAX_ARRAY_ELEMENTS)
    message = codec(reader)
    assert reader.position == len(data)
    return message


@pytest.mark.parametrize("counts", [(0, 1, 2), (16, 17, 126), (127, 128, 300), (20_000, 0, 1)])
def test_arrays_of_numbers_of_any_length_are_packed_with_the_fields_around_them(
    counts: tuple[int, int, int],
) -> None:
    replicas, isr, offline = (list(range(count)) for count in counts)
    partition = messages.MetadataResponse.MetadataResponseTopic.MetadataResponsePartition(
        1, 2, 3, 4, replicas, isr, offline
    )
    topic = messages.MetadataResponse.MetadataResponseTopic(name="t", partitions=[partition])
    for version in (0, 5, 8, 9, 13):
        encoded = messages.encode_response(messages.MetadataResponse(topics=[topic]), version, 7)
        _, decoded = messages.decode_response(ApiKey.METADATA, version, memoryview(encoded))
        (found,) = decoded.topics[0].partitions
        assert (found.replica_nodes, found.isr_nodes) == (replicas, isr)
        assert found.offline_replicas == (offline if version >= 5 else [])


def error_codes(value: Any) -> list[int]:
    """All error codes of an answer."""
    if isinstance(value, list):
        return [code for it in value for code in error_codes(it)]
    if not hasattr(value, "__struct_fields__"):
        return []
    found = []
    for name in value.__struct_fields__:
        inner = getattr(value, name)
        found += [inner] if name.endswith("error_code") else error_codes(inner)
    return found


# In some versions their answers have no code but in rows that do not name what was asked for.
WITHOUT_ROWS = {
    ApiKey.ALTER_REPLICA_LOG_DIRS,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
    ApiKey.DELETE_ACLS,
    ApiKey.DESCRIBE_LOG_DIRS,
}
REFUSED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED


@pytest.mark.parametrize("key", sorted(VERSIONS), ids=lambda key: key.name)
def test_a_request_has_an_answer_that_refuses_everything(key: ApiKey) -> None:
    request_class = REQUESTS[key]
    maker = MessageMaker(random.Random(key))
    for version in range(request_class.MIN_VERSION, VERSIONS[key].max_version + 1):
        codes = set()
        for _ in range(10):
            answer = messages.error_for(maker.make(request_class, version), REFUSED)
            messages.encode_response(answer, version, 7)
            codes |= set(error_codes(answer))
        assert codes <= {REFUSED, ErrorCode.NONE}
        assert REFUSED in codes or key in WITHOUT_ROWS


def test_what_a_request_names_is_refused_by_its_name() -> None:
    topic = messages.OffsetCommitRequest.OffsetCommitRequestTopic
    partition = topic.OffsetCommitRequestPartition
    request = messages.OffsetCommitRequest(
        topics=[topic(name="t", partitions=[partition(partition_index=3)])]
    )
    answer = messages.error_for(request, ErrorCode.GROUP_AUTHORIZATION_FAILED)
    (refused,) = answer.topics
    assert refused.name == "t"
    assert [(it.partition_index, it.error_code) for it in refused.partitions] == [(3, 30)]
    deleted = messages.DeleteTopicsRequest(topic_names=["a", "b"])
    answer = messages.error_for(deleted, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    assert [(it.name, it.error_code) for it in answer.responses] == [("a", 29), ("b", 29)]
    described = messages.DescribeConfigsRequest(
        resources=[messages.DescribeConfigsRequest.DescribeConfigsResource(2, "t")]
    )
    answer = messages.error_for(described, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    assert [(it.resource_type, it.resource_name) for it in answer.results] == [(2, "t")]
    heartbeat = messages.error_for(
        messages.HeartbeatRequest(), ErrorCode.GROUP_AUTHORIZATION_FAILED
    )
    assert heartbeat.error_code == 30


def test_every_class_is_found_by_its_name() -> None:
    for name in generated.MODULES:
        assert getattr(generated, name).__name__ == name
