"""Sources of settings and their order."""

from pathlib import Path

import pytest

from headrace.config.load import MAX_FILE_BYTES, load
from headrace.config.problems import ConfigError
from headrace.config.quorum import founds_quorum


@pytest.fixture
def properties(tmp_path):
    def write(text: str) -> Path:
        path = tmp_path / "server.properties"
        path.write_text(text)
        return path

    return write


def problems_of(**arguments):
    with pytest.raises(ConfigError) as caught:
        load(**{"environment": {}} | arguments)
    return caught.value.problems


def test_without_any_source_there_is_a_configuration():
    loaded = load(environment={})
    assert loaded.config.node_id == 1
    assert loaded.warnings == ()
    assert loaded.sources == {}


def test_each_source_beats_the_one_before(properties):
    arguments = {"base": {"num.partitions": "2"}, "environment": {}}
    assert load(**arguments).config.log.partitions_default == 2
    arguments["file"] = properties("num.partitions=3")
    assert load(**arguments).config.log.partitions_default == 3
    arguments["environment"] = {"KAFKA_NUM_PARTITIONS": "4"}
    assert load(**arguments).config.log.partitions_default == 4
    arguments["environment"]["HEADRACE_NUM_PARTITIONS"] = "5"
    assert load(**arguments).config.log.partitions_default == 5
    arguments["overrides"] = ["num.partitions=6", "num.partitions=7"]
    assert load(**arguments).config.log.partitions_default == 7


def test_one_variable_does_not_throw_the_file_away(properties):
    file = properties("node.id=7\nnum.partitions=3\n")
    config = load(file=file, environment={"KAFKA_NUM_PARTITIONS": "4"}).config
    assert (config.node_id, config.log.partitions_default) == (7, 4)


def test_the_place_of_each_value_is_known(properties):
    file = properties("# first\nnode.id=7\nbroker.rack=a\n")
    loaded = load(
        file=file,
        base={"cluster.id": "c"},
        base_source="presets",
        environment={"KAFKA_BROKER_RACK": "b"},
        overrides=["num.partitions=2"],
    )
    assert loaded.sources == {
        "node.id": f"{file}:2",
        "broker.rack": "KAFKA_BROKER_RACK",
        "cluster.id": "presets",
        "num.partitions": "--override",
    }


def test_the_process_environment_is_what_counts_by_default(monkeypatch):
    monkeypatch.setenv("HEADRACE_NODE_ID", "12")
    assert load().config.node_id == 12


def test_every_mistake_of_every_source_is_reported_at_once(properties):
    file = properties("num.partitions=0\nlisteners=9092\nnode.id=1\n")
    problems = problems_of(
        file=file,
        environment={"KAFKA_MESSAGE_MAX_BYTES": "1MB"},
        overrides=["broker.heartbeat.interval.ms=8000", "nonsense"],
    )
    assert {(p.key, p.source) for p in problems} == {
        ("num.partitions", f"{file}:1"),
        ("listeners", f"{file}:2"),
        ("message.max.bytes", "KAFKA_MESSAGE_MAX_BYTES"),
        ("", "--override"),
        ("", ""),
    }
    text = "\n".join(map(str, problems))
    assert "broker.heartbeat.interval.ms is set by --override" in text
    assert "'nonsense' is not key=value" in text


def test_an_unknown_key_costs_a_warning_with_the_nearest_name(properties):
    file = properties("num.partition=3\nmy.own.key=hush\n")
    warnings = load(file=file, environment={}).warnings
    assert f"{file}:1: num.partition is not a known key" in warnings[0]
    assert "did you mean num.partitions?" in warnings[0]
    assert "did you mean" not in warnings[1]
    assert "hush" not in warnings[1]


def test_a_known_key_without_effect_costs_one_warning_that_says_why(properties):
    loaded = load(file=properties("num.io.threads=8\n"), environment={})
    assert len(loaded.warnings) == 1
    assert "num.io.threads is accepted but has no effect: one event loop" in loaded.warnings[0]
    assert loaded.config.static == {}


@pytest.mark.parametrize(
    ("text", "uri"),
    [
        ("s3.bucket=data\n", "0@s3://data"),
        (
            "s3.endpoint=http://minio:9000\ns3.region=eu\ns3.bucket=data\ns3.path.style=true\n",
            "0@s3://data?region=eu&endpoint=http://minio:9000&pathStyle=true",
        ),
        ("s3.endpoint=http://minio:9000\n", "0@s3://BUCKET?endpoint=http://minio:9000"),
    ],
)
def test_a_bucket_that_is_named_by_other_keys_only_is_refused(properties, text, uri):
    """Such a node would write to the default, a directory of its own."""
    preset = {"s3.data.buckets": "0@file://bucket"}
    for base in (None, preset):
        with pytest.raises(ConfigError) as refused:
            load(file=properties(text), environment={}, base=base)
        assert f"s3.data.buckets={uri}" in str(refused.value)
    loaded = load(file=properties(f"{text}s3.data.buckets={uri}\n"), environment={})
    assert loaded.config.storage.bucket_uri == uri.removeprefix("0@")
    assert load(file=properties("s3.bucket=\n"), environment={}).config


def test_a_key_set_twice_costs_a_warning(properties):
    file = properties("node.id=1\nnode.id=2\n")
    loaded = load(file=file, environment={})
    assert loaded.config.node_id == 2
    assert loaded.warnings == (f"{file}:2: node.id was already set in line 1; this line is used",)


def test_the_main_name_wins_over_another_one(properties):
    for text in ("node.id=2\nbroker.id=3\n", "broker.id=3\nnode.id=2\n"):
        assert load(file=properties(text), environment={}).config.node_id == 2
    assert load(file=properties("broker.id=3\n"), environment={}).config.node_id == 3


def test_another_name_of_kafkas_costs_no_warning(properties):
    assert load(file=properties("broker.id=3\n"), environment={}).warnings == ()


def test_a_key_that_asks_for_protection_stops_the_start(properties):
    problem = problems_of(file=properties("authorizer.class.name=a.B\n"))[0]
    assert problem.key == "authorizer.class.name"
    assert "access control lists" in problem.message


def test_a_file_that_cannot_be_read_is_a_problem(tmp_path):
    assert "No such file" in problems_of(file=tmp_path / "none")[0].message
    assert "directory" in problems_of(file=tmp_path)[0].message.lower()
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe")
    assert "UTF-8" in problems_of(file=binary)[0].message
    huge = tmp_path / "huge"
    huge.write_bytes(b"#" * (MAX_FILE_BYTES + 1))
    assert "larger than" in problems_of(file=huge)[0].message


def test_a_malformed_line_is_a_problem_with_its_number(properties):
    file = properties("node.id=1\nbroker.rack=\\uzzzz\n")
    assert problems_of(file=file)[0].source == f"{file}:2"


def test_a_kraft_file_of_apache_kafka_starts_this_broker(properties):
    """The keys of Apache Kafka's own combined-mode example."""
    loaded = load(
        file=properties(
            """
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=localhost:9093
listeners=PLAINTEXT://:9092,CONTROLLER://:9093
inter.broker.listener.name=PLAINTEXT
advertised.listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_SSL:SASL_SSL
num.network.threads=3
num.io.threads=8
socket.send.buffer.bytes=102400
socket.receive.buffer.bytes=102400
socket.request.max.bytes=104857600
log.dirs=/tmp/kraft-combined-logs
num.partitions=1
num.recovery.threads.per.data.dir=1
offsets.topic.replication.factor=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
log.retention.hours=168
log.segment.bytes=1073741824
log.retention.check.interval.ms=300000
"""
        ),
        environment={},
    )
    assert loaded.config.network.advertised_listeners[0].host == "localhost"
    assert founds_quorum(loaded.config)
    assert loaded.config.log.topic_defaults["retention.ms"] == "604800000"
    assert all("has no effect" in warning for warning in loaded.warnings)


@pytest.mark.parametrize("key", ["log.dirs", "log.dir", "metadata.log.dir"])
@pytest.mark.parametrize(
    ("value", "part"),
    [
        ("s3://bucket/data", "is a URI"),
        ("file:///var/lib/headrace", "is a URI"),
        ("~/data", "'~'"),
        ("${HOME}/data", "neither is replaced"),
        ("/srv/${NODE}", "neither is replaced"),
    ],
)
def test_a_directory_that_would_get_another_name_is_refused(key, value, part):
    (problem,) = problems_of(overrides=[f"{key}={value}"])
    assert problem.key == key
    assert part in problem.message


@pytest.mark.parametrize(
    "setting",
    [
        "s3.data.buckets=0@file://~/bucket",
        "s3.data.buckets=0@file:///srv/${NODE}",
        "s3.wal.path=0@file://${HOME}/wal?capacity=33554432",
        "s3.wal.path=~/wal",
    ],
)
def test_so_is_such_a_place_of_bucket_or_wal(setting):
    (problem,) = problems_of(overrides=[setting])
    assert "neither is replaced" in problem.message


@pytest.mark.parametrize("path", ["/srv/a:b", "/srv/~old", "data~", "C:data", "$/x", "a{b}"])
def test_a_path_with_unusual_characters_is_one(path):
    assert load(environment={}, overrides=[f"log.dirs={path}"]).config.data_dir == path


@pytest.mark.parametrize(
    "name", ["KAFKA_LOG_DIR", "KAFKA_CFG_LOG_DIR", "KAFKA_LOG_DIRS", "HEADRACE_LOG_DIR"]
)
def test_a_directory_that_a_variable_names_is_used_in_every_spelling(name):
    assert load(environment={name: "/var/lib/named"}).config.data_dir == "/var/lib/named"
