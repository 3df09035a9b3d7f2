"""Tables in an S3 bucket by a REST catalog: written by a pipeline, read by Spark under their names."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import boto3
import duckdb
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyspark.sql import SparkSession

from tests.e2e.tables_world import TablesWorld
from tests.environment.duckdb import provide_duckdb_extensions
from tests.environment.minio import ACCESS_KEY, SECRET_KEY, MinioServer
from tests.integration.iceberg_rest_server import IcebergRestServer

pytestmark = [pytest.mark.spark, pytest.mark.java, pytest.mark.s3, pytest.mark.timeout(300)]

BUCKET = "lake"
COLUMNS = {"id": "long", "region": "string"}


def spark_catalog(rest: str, minio: MinioServer) -> dict[str, str]:
    """Settings of Spark for the catalog `lake`, as the page has them."""
    return {
        "": "org.apache.iceberg.spark.SparkCatalog",
        ".type": "rest",
        ".uri": rest,
        ".io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        ".s3.endpoint": minio.endpoint,
        ".s3.path-style-access": "true",
        ".s3.access-key-id": ACCESS_KEY,
        ".s3.secret-access-key": SECRET_KEY,
        ".client.region": "us-east-1",
    }


def read_by_duckdb(rest: str, minio: MinioServer, totals: str, home: Path) -> list[tuple[Any, ...]]:
    """Run a query in DuckDB with the catalog `lake`, as the page has it."""
    provide_duckdb_extensions(home)
    connection = duckdb.connect(config={"home_directory": str(home)})
    with connection:
        connection.sql(
            f"create secret (type s3, key_id '{ACCESS_KEY}', secret '{SECRET_KEY}', region 'us-east-1', "
            f"endpoint '{minio.endpoint.removeprefix('http://')}', url_style 'path', use_ssl false)"
        )
        connection.sql(
            f"attach '' as lake (type iceberg, endpoint '{rest}', authorization_type 'none')"
        )
        return connection.sql(totals).fetchall()


def test_spark_and_duckdb_read_a_table_by_the_rest_catalog(
    spark: SparkSession,
    bootstrap: str,
    create_topic: Callable[..., str],
    minio: MinioServer,
    tmp_path: Path,
) -> None:
    keys = {"aws_access_key_id": ACCESS_KEY, "aws_secret_access_key": SECRET_KEY}
    client: Any = boto3.client("s3", endpoint_url=minio.endpoint, region_name="us-east-1", **keys)
    client.create_bucket(Bucket=BUCKET)
    options = {
        "s3.endpoint": minio.endpoint,
        "s3.region": "us-east-1",
        "s3.access-key-id": ACCESS_KEY,
        "s3.secret-access-key": SECRET_KEY,
        "s3.force-virtual-addressing": "false",
    }
    behind = SqlCatalog(
        "behind", uri=f"sqlite:///{tmp_path}/behind.db", warehouse=f"s3://{BUCKET}/lake", **options
    )
    behind.create_tables()
    world, topic = TablesWorld(bootstrap, tmp_path), create_topic("regions")
    table = {
        "name": "shop.regions",
        "topics": [topic],
        "columns": COLUMNS,
        "partition_by": ["region"],
    }
    with IcebergRestServer(behind) as rest:
        catalog = {"type": "rest", "uri": rest.url, "warehouse": "", "options": options}
        config = world.config(table, catalog=catalog)
        world.produce(topic, [{"id": it, "region": f"r{it % 2}"} for it in range(10)])
        assert world.run(spark, config) == {}
        world.produce(topic, [{"id": it, "region": "r2", "note": "x"} for it in range(10, 15)])
        assert world.run(spark, config) == {}
        for name, value in spark_catalog(rest.url, minio).items():
            spark.conf.set(f"spark.sql.catalog.lake{name}", value)
        totals = (
            "select region, count(*), sum(id), max(note) from lake.shop.regions group by region"
        )
        expected = [("r0", 5, 20, None), ("r1", 5, 25, None), ("r2", 5, 60, "x")]
        assert sorted(tuple(it) for it in spark.sql(totals).collect()) == expected
        assert sorted(read_by_duckdb(rest.url, minio, totals, tmp_path)) == expected
        one = spark.table("lake.shop.regions").where("region = 'r2' and id > 12")
        assert sorted(it.id for it in one.collect()) == [13, 14]
    stored = client.list_objects_v2(Bucket=BUCKET)["Contents"]
    assert any("/data/region=r2/" in it["Key"] for it in stored)
