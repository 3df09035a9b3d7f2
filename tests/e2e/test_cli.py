"""The command line against a broker: what users type, what they see, what scripts get."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from kafka.protocol.consumer import OffsetCommitRequest, OffsetCommitResponse
from kafka.protocol.producer import ProduceResponse

from tests.e2e.bad_batches import batch, record
from tests.e2e.wire import PRODUCE_VERSION, WireConnection, produce_request
from tests.environment.paths import ROOT


class Outcome(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def headrace(bootstrap: str) -> Callable[..., Outcome]:
    """Run one command line against the broker."""

    def run(*arguments: str, stdin: str = "") -> Outcome:
        done = subprocess.run(
            [sys.executable, "-m", "headrace.broker", *arguments],
            cwd=ROOT,
            env=os.environ | {"HEADRACE_BOOTSTRAP_SERVER": bootstrap},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def succeed(headrace: Callable[..., Outcome]) -> Callable[..., str]:
    """Run one command line that must succeed, and return its output."""

    def run(*arguments: str, stdin: str = "") -> str:
        outcome = headrace(*arguments, stdin=stdin)
        assert outcome.code == 0, outcome
        return outcome.out

    return run


def test_the_life_of_a_topic(headrace, succeed):
    created = headrace("topic", "create", "cli-life", "-p", "2", "-c", "retention.ms=100000")
    assert created == (0, "", "topic cli-life: created\n")
    assert "cli-life" in succeed("topic", "list")
    (described,) = json.loads(succeed("topic", "describe", "cli-life", "-o", "json"))
    assert described["configs"] == {"retention.ms": "100000"}
    assert [row["partition"] for row in described["partitions"]] == [0, 1]
    succeed(
        "topic",
        "alter",
        "cli-life",
        "-p",
        "3",
        "-c",
        "segment.ms=7",
        "--delete-config",
        "retention.ms",
    )
    (described,) = json.loads(succeed("topic", "describe", "cli-life", "-o", "json"))
    assert described["configs"] == {"segment.ms": "7"}
    assert len(described["partitions"]) == 3
    succeed("topic", "delete", "cli-life", "--yes")
    assert "cli-life" not in succeed("topic", "list").split()


def test_a_topic_that_is_there_already(headrace, topic):
    again = headrace("topic", "create", topic)
    assert (again.code, again.out) == (1, "")
    assert "exists already" in again.err
    assert headrace("topic", "create", topic, "--if-not-exists").code == 0


def test_one_bad_topic_does_not_hide_a_good_one(headrace, succeed):
    mixed = headrace("topic", "create", "cli-good", "bad@name")
    assert mixed.code == 1
    assert "topic cli-good: created" in mixed.err
    assert "topic bad@name: the topic's name is not valid" in mixed.err
    succeed("topic", "delete", "cli-good", "-y")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["topic", "describe", "cli-nowhere"], "See `headrace topic list`"),
        (["topic", "delete", "cli-nowhere", "-y"], "no such topic"),
        (["topic", "create", "cli-x", "-c", "no.such.key=1"], "no.such.key"),
        (["topic", "create", "cli-x", "-c", "segment.bytes=1"], "segment.bytes"),
        (["topic", "alter", "cli-nowhere", "-p", "3"], "no such topic"),
        (["topic", "delete-records", "cli-nowhere", "--before", "end", "-y"], "no such topic"),
        (["consume", "cli-nowhere", "--from-beginning"], "there is no topic cli-nowhere"),
        (["group", "describe", "cli-nobody"], "there is no group cli-nobody"),
        (["group", "delete", "cli-nobody", "-y"], "no such group"),
    ],
)
def test_what_cannot_be_done_is_explained(headrace, arguments, part):
    outcome = headrace(*arguments)
    assert (outcome.code, outcome.out) == (1, "")
    assert part in outcome.err
    assert "Traceback" not in outcome.err


def test_a_dry_run_creates_nothing(headrace, succeed):
    assert headrace("topic", "create", "cli-dry", "--dry-run").code == 0
    assert "cli-dry" not in succeed("topic", "list").split()


def test_lines_go_in_and_come_out(succeed, topic):
    succeed("produce", topic, stdin="one\ntwo\nthree")
    assert succeed("consume", topic, "--from-beginning", "--until-end") == "one\ntwo\nthree\n"
    assert succeed("consume", topic, "--from-beginning", "-n", "2") == "one\ntwo\n"
    assert succeed("consume", topic, "--offset", "-1", "--until-end") == "three\n"
    assert succeed("consume", topic, "--offset", "1", "--until-end") == "two\nthree\n"
    assert succeed("consume", topic, "--until-end") == ""


@pytest.mark.parametrize("form", [["--json"], ["-o", "json"]])
def test_programs_are_told_what_was_done(succeed, form):
    topic = "cli-programs"
    (created,) = json.loads(succeed("topic", "create", topic, *form))
    assert (created["topic"], created["result"]) == (topic, "created")
    sent = json.loads(succeed("produce", topic, *form, stdin="one\ntwo\n"))
    assert sent == {"topic": topic, "records": 2, "failed": 0}
    group = ("consume", topic, "--from-beginning", "-n", "2", "-g", "cli-programs")
    read = [json.loads(line) for line in succeed(*group, *form).splitlines()]
    assert [(record["offset"], record["value"]) for record in read] == [(0, "one"), (1, "two")]
    altered = json.loads(succeed("topic", "alter", topic, "-p", "3", *form))
    assert altered == {"topic": topic, "changed": [], "partitions": 3}
    assert json.loads(succeed("group", "delete", "cli-programs", "-y", *form)) == [
        {"group": "cli-programs", "result": "deleted"}
    ]
    assert json.loads(succeed("topic", "delete", topic, "-y", *form)) == [
        {"topic": topic, "result": "deleted"}
    ]


def test_the_oldest_records_are_deleted(headrace, succeed, create_topic):
    topic = create_topic("cli delete records", partitions=2)
    succeed("produce", topic, "-P", "0", stdin="one\ntwo\nthree\n")
    succeed("produce", topic, "-P", "1", stdin="uno\n")
    command = ("topic", "delete-records", topic)
    shown = succeed(*command, "--before", "1", "--yes", "-o", "json")
    assert [(r["partition"], r["start_offset"]) for r in json.loads(shown)] == [(0, 1), (1, 1)]
    assert succeed("consume", topic, "--from-beginning", "--until-end") == "two\nthree\n"
    beyond = headrace(*command, "--before", "2", "--yes")
    assert (beyond.code, beyond.out.split()) == (1, ["PARTITION", "START", "OFFSET", "0", "2"])
    assert f"topic {topic}, partition 1: there is no such offset" in beyond.err
    shown = succeed(*command, "--before", "end", "-P", "0", "--yes", "-o", "jsonl")
    assert json.loads(shown) == {"partition": 0, "start_offset": 3}
    assert succeed("consume", topic, "--from-beginning", "--until-end") == ""


def test_keys_headers_tombstones_and_partitions(succeed, create_topic):
    topic = create_topic("cli records", partitions=3)
    succeed(
        "produce",
        topic,
        "-K",
        ":",
        "-P",
        "2",
        "-H",
        "from=cli",
        "--tombstones",
        stdin="k:v\ngone:\n",
    )
    shown = succeed("consume", topic, "--from-beginning", "--until-end", "-o", "json")
    records = [json.loads(line) for line in shown.splitlines()]
    assert [(r["partition"], r["offset"], r["key"], r["value"]) for r in records] == [
        (2, 0, "k", "v"),
        (2, 1, "gone", None),
    ]
    assert records[0]["headers"] == [["from", "cli"]]
    formatted = succeed("consume", topic, "--from-beginning", "--until-end", "-o", "%p/%o %k=%v")
    assert formatted == "2/0 k=v\n2/1 gone=\n"


@pytest.mark.parametrize("compression", ["gzip", "snappy", "lz4", "zstd"])
def test_a_file_goes_through_every_compression(succeed, topic, tmp_path: Path, compression):
    lines = "".join(f"line {number}\n" for number in range(5000))
    (tmp_path / "lines").write_text(lines)
    succeed("produce", topic, "--file", str(tmp_path / "lines"), "-z", compression)
    assert succeed("consume", topic, "--from-beginning", "-n", "5000") == lines


def test_reading_from_a_time_on(succeed, topic):
    succeed("produce", topic, stdin="early\n")
    shown = succeed("consume", topic, "--from-beginning", "-n", "1", "-o", "%T")
    succeed("produce", topic, stdin="late\n")
    later = str(int(shown) + 1)
    assert succeed("consume", topic, "--from-timestamp", "1h", "--until-end") == "early\nlate\n"
    assert succeed("consume", topic, "--from-timestamp", later, "--until-end") == "late\n"


def test_a_record_that_is_too_large_is_explained(headrace, create_topic):
    topic = create_topic("cli small", config={"max.message.bytes": "1000"})
    outcome = headrace("produce", topic, stdin="x" * 2000 + "\n")
    assert outcome.code == 1
    assert "0 records to" in outcome.err
    assert "larger than the topic accepts" in outcome.err


def test_a_partition_that_is_not_there_is_explained(headrace, topic):
    assert "has partitions 0 to 0" in headrace("produce", topic, "-P", "7", stdin="x\n").err
    assert "has partitions 0 to 0" in headrace("consume", topic, "-P", "7").err


def test_a_group_goes_on_where_it_committed(headrace, succeed, topic, group):
    succeed("produce", topic, stdin="1\n2\n3\n4\n")
    assert succeed("consume", topic, "-g", group, "--from-beginning", "-n", "2") == "1\n2\n"
    assert succeed("consume", topic, "-g", group, "--until-end") == "3\n4\n"
    assert group in succeed("group", "list")
    (described,) = json.loads(succeed("group", "describe", group, "-o", "json"))
    assert described["state"] == "Empty"
    (row,) = described["offsets"]
    assert (row["topic"], row["offset"], row["end_offset"], row["lag"]) == (topic, 4, 4, 0)
    dry = headrace("group", "reset-offsets", group, "--to-offset", "3", "--dry-run")
    assert "Nothing was changed" in dry.err
    succeed("group", "reset-offsets", group, "--to-offset", "3")
    assert succeed("consume", topic, "-g", group, "--until-end") == "4\n"
    succeed("group", "reset-offsets", group, "--to-beginning", "-t", topic)
    assert succeed("consume", topic, "-g", group, "-n", "1") == "1\n"
    succeed("group", "delete", group, "-y")
    assert headrace("group", "describe", group).code == 1


def test_a_group_with_members_shows_them_and_cannot_be_deleted(bootstrap, headrace, topic, group):
    consumer = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "headrace.broker",
            "consume",
            topic,
            "-g",
            group,
            "--from-beginning",
        ],
        cwd=ROOT,
        env=os.environ | {"HEADRACE_BOOTSTRAP_SERVER": bootstrap, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    headrace("produce", topic, stdin="hello\n")
    assert consumer.stdout is not None
    assert consumer.stdout.readline() == "hello\n"
    (described,) = json.loads(headrace("group", "describe", group, "-o", "json").out)
    assert described["state"] == "Stable"
    assert [member["client"] for member in described["members"]] == ["headrace-cli"]
    refused = headrace("group", "delete", group, "-y")
    assert refused.code == 1
    assert "the group has members" in refused.err
    consumer.send_signal(signal.SIGINT)
    out, err = consumer.communicate(timeout=30)
    assert (consumer.returncode, out) == (130, "")
    assert "1 record from" in err
    assert "Traceback" not in err


def test_a_reader_that_goes_away_ends_a_consumer_quietly(bootstrap, succeed, topic):
    succeed("produce", topic, stdin="".join(f"{number}\n" for number in range(20_000)))
    consumer = subprocess.Popen(
        [sys.executable, "-m", "headrace.broker", "consume", topic, "--from-beginning"],
        cwd=ROOT,
        env=os.environ | {"HEADRACE_BOOTSTRAP_SERVER": bootstrap},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert consumer.stdout is not None
    assert consumer.stderr is not None
    assert consumer.stdout.readline() == "0\n"
    consumer.stdout.close()
    assert consumer.wait(30) == 0
    assert "Traceback" not in consumer.stderr.read()
    consumer.stderr.close()


def test_the_cluster_is_described(succeed, bootstrap):
    described = json.loads(succeed("cluster", "describe", "-o", "json"))
    assert described["brokers"] == 1
    assert described["cluster_id"]
    (node,) = json.loads(succeed("cluster", "nodes", "-o", "json"))
    assert node["address"] == bootstrap
    assert node["controller"]
    assert not node["fenced"]
    quorum = json.loads(succeed("cluster", "quorum", "-o", "json"))
    (leader,) = quorum["members"]
    assert (quorum["leader"], leader["role"], leader["lag"]) == (
        described["controller"],
        "leader",
        0,
    )
    (setting,) = json.loads(succeed("cluster", "configs", "num.partitions", "-o", "json"))
    assert (setting["key"], setting["value"]) == ("num.partitions", "1")
    listed = json.loads(succeed("cluster", "configs", "-o", "json"))
    assert "static broker" in {row["source"] for row in listed}


def test_bytes_that_are_no_utf_8_pass(succeed, bootstrap):
    """In a header's key they are kept; names are text to Kafka, which marks what is none."""
    succeed("topic", "create", "cli-bytes")
    odd = b"\x02\x04\xff\xfe\x02b"
    rows = record(0) + record(1, key=b"\x02\xff", value=b"\x02\xfe", headers=odd) + record(2)
    commit = OffsetCommitRequest.OffsetCommitRequestTopic
    request = OffsetCommitRequest(
        group_id="cli-bytesX",
        member_id="",
        topics=[
            commit(
                name="cli-bytes",
                partitions=[
                    commit.OffsetCommitRequestPartition(
                        partition_index=0, committed_offset=1, committed_metadata="metadataX"
                    )
                ],
            )
        ],
    )
    with WireConnection(bootstrap) as connection:
        produced = produce_request("cli-bytes", batch(rows, 3))
        connection.ask(produced, ProduceResponse, PRODUCE_VERSION)
        connection.find_coordinator("cli-bytesX")
        request.API_VERSION = 2
        request.with_header(correlation_id=9, client_id="clientX")
        connection.send_bytes(request.encode(header=True, framed=True).replace(b"X", b"\xff"))
        (topic,) = connection.receive(OffsetCommitResponse, 2).topics
        assert [it.error_code for it in topic.partitions] == [0]
    arguments = ("consume", "cli-bytes", "--from-beginning", "-n", "3", "-o")
    lines = [json.loads(line) for line in succeed(*arguments, "json").splitlines()]
    assert [line["key"] for line in lines] == ["k", {"base64": "/w=="}, "k"]
    assert lines[1]["value"] == {"base64": "/g=="}
    assert [line["headers"] for line in lines] == [[], [[{"base64": "//4="}, "b"]], []]
    groups = json.loads(succeed("group", "list", "-o", "json"))
    assert "cli-bytes\ufffd" in {row["group"] for row in groups}
    (described,) = json.loads(succeed("group", "describe", "cli-bytes\ufffd", "-o", "json"))
    assert [row["offset"] for row in described["offsets"]] == [1]
