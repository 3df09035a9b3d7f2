"""A pipeline's configuration: all mistakes at once, each with its place."""

import pytest

from headrace.config.problems import ConfigError
from headrace.pipeline.tables.configuration import PipelineConfig
from headrace.pipeline.tables.configuration_docs import HEADING, keys_text
from headrace.pipeline.tables.quantities import duration_ms, size_bytes
from headrace.pipeline.tables.reading_configuration import read_configuration
from tests.documentation.pages import page
from tests.environment.paths import ROOT

GOOD = """
checkpoint = "s3a://lake/checkpoints"
[source]
bootstrap_servers = "127.0.0.1:9092"
[catalog]
uri = "sqlite:////tmp/catalog.db"
warehouse = "file:///tmp/warehouse"
[[tables]]
name = "shop.orders"
topics = ["orders", "returns"]
"""


def read(text: str) -> PipelineConfig:
    return read_configuration(text, source="shop.toml", stem="shop")


def problems(text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        read(text)
    return str(caught.value).splitlines()


def test_what_is_left_out_has_a_default() -> None:
    config = read(GOOD)
    (table,) = config.tables
    assert (config.name, config.source.format, config.trigger.interval) == (
        "shop",
        "kafka",
        "60000 milliseconds",
    )
    assert (table.topics, table.format, table.mode, table.new_fields) == (
        ("orders", "returns"),
        "json",
        "append",
        "add",
    )
    assert config.checkpoint_of(table) == "s3a://lake/checkpoints/shop.orders"
    assert read(GOOD + 'mode = "upsert"').tables[0].key == "kafka_key"


def test_all_mistakes_are_told_at_once() -> None:
    text = """
chekpoint = "x"
[source]
format = "kafka"
max_offsets_per_trigger = 0
[trigger]
interval = "soon"
[[tables]]
name = "orders"
topics = []
colums = {}
deduplicate_by = "id"
[[table]]
"""
    found = problems(text)
    assert [line.split(": ")[1] for line in found] == [
        "chekpoint",
        "table",
        "checkpoint",
        "source.max_offsets_per_trigger=0",
        "trigger.interval=soon",
        "catalog.uri",
        "tables[1].colums",
        "tables[1].name=orders",
        "tables[1].topics=[]",
        "tables[1].deduplicate_by=id",
    ]
    assert "is checkpoint meant?" in found[0]
    assert "is tables meant?" in found[1]
    assert "is columns meant?" in found[6]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ('format = "avro"', "tables[1].registry: format avro needs the URL of a registry"),
        ('registry = "http://r"', "tables[1].registry: format json has no registry"),
        ('columns = { id = "long" }\nsamples = "x"', "tables[1].samples: columns are given"),
        ('subjects = ["orders"]', "tables[1].subjects: subjects are those of a registry"),
        (
            'columns = { kafka_offset = "long" }',
            "tables[1].columns.kafka_offset: the pipeline fills",
        ),
        ('columns = { _file = "long" }', "tables[1].columns._file: Iceberg has this name"),
        ('event_time = "at"', "tables[1].deduplicate_by: it goes together with event_time"),
        ('[[tables]]\nname = "shop.orders"\ntopics = ["x"]', "tables: two tables have the name"),
        ('[dead_letters]\ntopic = "orders"', "tables[1].topics: the topic of dead letters"),
    ],
)
def test_what_does_not_go_together(more: str, told: str) -> None:
    (only,) = problems(f"{GOOD}\n{more}\n")
    assert only.startswith(f"shop.toml: {told}")


def test_a_bucket_needs_no_broker() -> None:
    text = GOOD.replace('bootstrap_servers = "127.0.0.1:9092"', 'format = "headrace"')
    (only,) = problems(text)
    assert only == "shop.toml: source.bucket: format `headrace` needs it, as the brokers have it"


def test_what_is_no_toml() -> None:
    (only,) = problems("[source\n")
    assert only.startswith("shop.toml: it is no TOML: ")
    assert "line 1" in only


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("250 ms", 250),
        ("1s", 1_000),
        ("10 minutes", 600_000),
        ("2 h", 7_200_000),
        ("1 day", 86_400_000),
    ],
)
def test_durations(text: str, ms: int) -> None:
    assert duration_ms(text) == ms


@pytest.mark.parametrize("text", ["", "10", "minutes", "-1 s", "1 fortnight", "1" * 20 + " s"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="10 minutes"):
        duration_ms(text)


def test_sizes() -> None:
    assert [size_bytes(it) for it in ("5 B", "1KiB", "64 MiB", "2 GiB")] == [
        5,
        1024,
        1 << 26,
        1 << 31,
    ]
    with pytest.raises(ValueError, match="64 MiB"):
        size_bytes("64 MB")


def test_the_page_has_all_keys() -> None:
    assert (ROOT / "docs/tables.md").read_text().endswith(f"{HEADING}{keys_text()}")


def test_the_example_of_the_page_is_right() -> None:
    (block,) = [it for it in page("docs/tables.md").blocks if it.language == "toml"]
    (table,) = read(block.text).tables
    assert table.columns["price"] == "decimal(9, 2)"
