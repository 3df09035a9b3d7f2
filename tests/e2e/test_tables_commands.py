"""`headrace pipeline check`, `run` and `status` as a stranger's commands, with a broker and two workers of Spark."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.stranger import MASTER, SETTINGS, Stranger
from tests.e2e.tables_world import TablesWorld
from tests.environment.java import java_home
from tests.environment.spark import connector_jars
from tests.environment.wheels import build_wheels, install
from tests.unit.pipeline.tables.registry_server import RegistryServer

pytestmark = [pytest.mark.spark, pytest.mark.java, pytest.mark.timeout(300)]

EXTRAS = frozenset({"tables", "registry"})
AVRO = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}


@pytest.fixture(scope="module")
def python(
    component: Callable[[Callable[[], object]], None], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    component(java_home)
    component(connector_jars)
    wheel, _ = build_wheels(tmp_path_factory.mktemp("wheels"))
    return install(wheel, tmp_path_factory.mktemp("environment"), extras=EXTRAS)


class Shop(Stranger):
    """Somebody with a pipeline in shop.toml."""

    def pipeline(self, *arguments: str) -> Any:
        """Run `headrace pipeline ...`, and return its exit code, the rows that it prints and what it says."""
        done = self.run([self.python, "-m", "headrace.broker", "pipeline", *arguments])
        if done.stdout.startswith("["):
            return done.returncode, json.loads(done.stdout), done.stderr
        return (
            done.returncode,
            [],
            done.stdout + done.stderr,
        )  # Spark writes a job's log to the former


@pytest.fixture
def shop(python: Path, tmp_path: Path) -> Shop:
    return Shop(python, tmp_path / "job")


def test_a_pipeline_on_two_workers_and_a_table_that_stops(
    shop: Shop, bootstrap: str, create_topic: Callable[..., str], tmp_path: Path
) -> None:
    world = TablesWorld(bootstrap, tmp_path)
    orders, others = create_topic("orders", partitions=2), create_topic("others")
    tables = [
        {"name": "shop.orders", "topics": [orders], "columns": {"id": "long"}},
        {"name": "shop.others", "topics": [others], "columns": {"id": "long"}},
    ]
    (shop.directory / "shop.toml").write_text(world.text(tables))
    world.produce(orders, [{"id": it} for it in range(20)], partition=0)
    world.produce(orders, [{"id": it} for it in range(20, 50)], partition=1)
    world.produce(others, [{"id": 1}])
    code, rows, said = shop.pipeline("check", "shop.toml", "--json")
    assert (code, [it["exists"] for it in rows]) == (0, [False, False]), said
    assert said == "The configuration is valid.\n"

    jars = ("--jars", str(connector_jars()))
    code, _, said = shop.pipeline("run", "shop.toml", "--master", MASTER, *jars, "--", *SETTINGS)
    assert code == 0, said[-8_000:]
    assert len(shop.executors()) == 2, "it was not run by the workers"
    config = world.config(tables)
    assert sorted(it["id"] for it in world.rows(config, "shop.orders")) == [*range(50)]
    code, rows, said = shop.pipeline("status", "shop.toml", "--json")
    assert [(it["table"], it["committed_offset"], it["lag"]) for it in rows] == [
        ("shop.orders", 20, 0),
        ("shop.orders", 30, 0),
        ("shop.others", 1, 0),
    ], said

    world.produce(orders, [{"id": 50}], partition=0)
    world.produce(others, [b"bad", {"id": 2}])
    code, _, said = shop.pipeline(
        "run", "shop.toml", "--master", "local[2]", *jars, "--", *SETTINGS
    )
    assert code == 1
    assert f"table shop.others stopped: record {others}-0, offset 1: it is no JSON" in said
    assert sorted(it["id"] for it in world.rows(config, "shop.orders")) == [*range(51)]
    code, rows, said = shop.pipeline("status", "shop.toml", "--json")
    assert (code, [it["lag"] for it in rows]) == (0, [0, 0, 2])


def test_check_tells_all_mistakes_around_a_pipeline(
    shop: Shop, bootstrap: str, create_topic: Callable[..., str], tmp_path: Path
) -> None:
    world = TablesWorld(bootstrap, tmp_path)
    topic, dead = create_topic("avro"), create_topic("dead")
    with RegistryServer() as registry, RegistryServer() as gone:
        pass
    with RegistryServer() as registry:
        registry.register(f"{topic}-value", json.dumps(AVRO))
        registry.register("wrong", "{}", "JSON")
        by_avro = {"topics": [topic], "format": "avro", "registry": registry.url}
        tables = [
            {**by_avro, "name": "shop.right"},
            {**by_avro, "name": "shop.subject", "subjects": ["nobody"]},
            {**by_avro, "name": "shop.kind", "subjects": ["wrong"]},
            {**by_avro, "name": "shop.fields", "new_fields": "reject"},
            {**by_avro, "name": "shop.gone", "registry": gone.url},
            {"name": "shop.topics", "topics": ["no-such-topic"]},
            {"name": "shop.days", "topics": [topic], "columns": {"id": "int"}}
            | {"partition_by": ["day(id)"]},
        ]
        file = shop.directory / "shop.toml"
        file.write_text(world.text(tables[:1], dead_letters={"topic": dead}))
        code, (row,), _ = shop.pipeline("check", "shop.toml", "--json")
        assert (code, row["columns"]) == (0, 5)  # id, and where the record was
        file.write_text(world.text(tables, dead_letters={"topic": "no-dead-letters"}))
        code, _, said = shop.pipeline("check", "shop.toml")
    assert code == 2
    for told in (
        f"{bootstrap} has no topic no-such-topic",
        f"{bootstrap} has no topic no-dead-letters",
        f"table shop.subject: the registry {registry.url} has no subject nobody: register",
        "table shop.kind: subject wrong: its newest schema is of the format JSON, not AVRO",
        "table shop.fields: its schemas have fields without a column: id",
        "table shop.days: day(id): a column of type int cannot be partitioned so",
        f"table shop.gone: the registry {gone.url} does not answer /subjects/{topic}-value/versions/latest",
    ):
        assert told in said
    assert "table shop.right" not in said
