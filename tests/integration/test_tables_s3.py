"""Tables in an S3 bucket, by an SQL catalog and by a REST catalog."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitStateUnknownException

from headrace.pipeline.tables.maintenance import expire_snapshots, remove_orphans
from headrace.pipeline.tables.table_files import metadata_files, named_files, stored_files
from tests.environment.minio import ACCESS_KEY, SECRET_KEY, MinioServer
from tests.integration.iceberg_rest_server import IcebergRestServer
from tests.unit.pipeline.tables.table_scene import TableScene, records

pytestmark = pytest.mark.s3

COLUMNS = 'columns = { id = "long", region = "string" }\npartition_by = ["region"]\n'
FOR_EVER_MS = 1 << 52


@pytest.fixture
def options(minio: MinioServer, request: pytest.FixtureRequest) -> dict[str, str]:
    """Properties of a catalog whose tables are in a bucket of the test."""
    name = request.node.name.replace("_", "-").partition("[")[0]
    keys = {"aws_access_key_id": ACCESS_KEY, "aws_secret_access_key": SECRET_KEY}
    client: Any = boto3.client("s3", endpoint_url=minio.endpoint, region_name="us-east-1", **keys)
    client.create_bucket(Bucket=name)
    return {
        "warehouse": f"s3://{name}/lake",
        "s3.endpoint": minio.endpoint,
        "s3.region": "us-east-1",
        "s3.access-key-id": ACCESS_KEY,
        "s3.secret-access-key": SECRET_KEY,
        "s3.force-virtual-addressing": "false",
    }


@pytest.fixture
def rest(options: dict[str, str], tmp_path: Path) -> Iterator[IcebergRestServer]:
    catalog = SqlCatalog("behind", uri=f"sqlite:///{tmp_path}/behind.db", **options)
    catalog.create_tables()
    with IcebergRestServer(catalog) as server:
        yield server


def catalog_text(options: dict[str, str], **own: str) -> str:
    """The section of a configuration."""
    given = {name: value for name, value in options.items() if name != "warehouse"}
    listed = ", ".join(f'"{name}" = "{value}"' for name, value in given.items())
    lines = [f'{name} = "{value}"' for name, value in own.items()]
    return "\n".join(["[catalog]", *lines, f"options = {{ {listed} }}"])


def check(scene: TableScene) -> None:
    """Write, replace, expire, and look at what is there."""
    for number in range(3):
        told = scene.told(records([{"id": number, "region": f"r{number % 2}"}], start=number))
        assert scene.commit(told, number + 1)
        assert not scene.commit(told, number + 1)
    scene.told(records([{"id": 99, "region": "left"}], start=9))  # by a task whose driver died
    assert [it["id"] for it in scene.rows()] == [0, 1, 2]
    table = scene.catalog.load_table("shop.orders")
    assert any("region=left" in it.path for it in stored_files(table))
    assert expire_snapshots(table, FOR_EVER_MS, 1) == 2
    assert remove_orphans(table, FOR_EVER_MS) >= 1
    named = named_files(table, table.metadata.snapshots) | metadata_files(table)
    assert {it.path for it in stored_files(table)} <= named
    assert not [it for it in stored_files(table) if "region=left" in it.path]
    assert [it["id"] for it in scene.rows()] == [0, 1, 2]


def test_an_sql_catalog(options: dict[str, str], tmp_path: Path) -> None:
    uri, warehouse = f"sqlite:///{tmp_path}/catalog.db", options["warehouse"]
    check(TableScene(tmp_path, COLUMNS, catalog_text(options, uri=uri, warehouse=warehouse)))


def test_a_rest_catalog(options: dict[str, str], rest: IcebergRestServer, tmp_path: Path) -> None:
    check(TableScene(tmp_path, COLUMNS, catalog_text(options, type="rest", uri=rest.url)))


def test_a_reply_that_is_lost(
    options: dict[str, str], rest: IcebergRestServer, tmp_path: Path
) -> None:
    scene = TableScene(tmp_path, COLUMNS, catalog_text(options, type="rest", uri=rest.url))
    told = scene.told(records([{"id": 1, "region": "r"}]))
    rest.lost_replies = 1
    with pytest.raises(CommitStateUnknownException):
        scene.commit(told, 1)
    again = TableScene(tmp_path, COLUMNS, catalog_text(options, type="rest", uri=rest.url))
    assert not again.commit(again.told(records([{"id": 1, "region": "r"}])), 1)
    assert [it["id"] for it in again.rows()] == [1]
