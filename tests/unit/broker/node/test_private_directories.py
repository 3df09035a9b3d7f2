import asyncio
import logging
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from headrace.broker.node.private_directories import prepare_directories
from headrace.config.node import (
    Endpoint,
    MetadataConfig,
    NetworkConfig,
    NodeConfig,
    StorageConfig,
)
from headrace.metadata.log.os_directory import OsDirectory
from tests.simulation.directory import SimulatedDirectoryDisk


def prepare(config: NodeConfig) -> None:
    asyncio.run(prepare_directories(config, OsDirectory))


def node(directory: Path) -> NodeConfig:
    return NodeConfig(
        storage=StorageConfig(bucket_uri=f"file://{directory / 'bucket'}"),
        metadata=MetadataConfig(log_dir=str(directory / "metadata")),
    )


def test_new_directories_are_for_their_owner_only(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    prepare(node(tmp_path / "of" / "data"))
    for name in ("of", "of/data", "of/data/bucket", "of/data/metadata"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o700, name
    assert not caplog.records


def test_so_is_the_bucket_that_a_controller_alone_has_for_its_snapshots(tmp_path: Path) -> None:
    bucket = f"file://{tmp_path / 'bucket'}"
    controller = NodeConfig(
        process_roles=("controller",),
        network=NetworkConfig(listeners=()),
        metadata=MetadataConfig(
            log_dir=str(tmp_path / "metadata"),
            controller_listeners=(Endpoint("CONTROLLER", "127.0.0.1", 9093),),
        ),
        storage=StorageConfig(bucket_uri=bucket),
    )
    prepare(controller)
    assert [it.name for it in tmp_path.iterdir()] == ["metadata"]
    prepare(replace(controller, static={"s3.data.buckets": f"0@{bucket}"}))
    assert (tmp_path / "bucket").stat().st_mode & 0o777 == 0o700


def test_those_that_exist_keep_their_rights_and_are_warned_about(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name, mode in (("bucket", 0o755), ("metadata", 0o700)):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(mode)
    with caplog.at_level(logging.WARNING):
        prepare(node(tmp_path))
    (warned,) = caplog.records
    assert vars(warned)["directory"] == str(tmp_path / "bucket")
    assert vars(warned)["mode"] == "0755"
    assert (tmp_path / "bucket").stat().st_mode & 0o777 == 0o755


def test_those_in_memory_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with TemporaryDirectory(dir="/dev/shm") as memory, caplog.at_level(logging.WARNING):
        node_in_memory = node(Path(memory) / "data")
        prepare(node_in_memory)
        prepare(node(tmp_path / "data"))
    assert [it.message for it in caplog.records] == [
        "a directory with data is in memory: what is acknowledged is lost with the machine"
    ] * 2
    assert {vars(it)["directory"] for it in caplog.records} == {
        node_in_memory.metadata.log_dir,
        node_in_memory.storage.bucket_uri.removeprefix("file://"),
    }


def test_what_cannot_be_made_is_left_to_who_needs_it(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    prepare(node(tmp_path / "data"))


def test_the_metadata_directory_is_made_by_who_opens_it(tmp_path: Path) -> None:
    disk = SimulatedDirectoryDisk()
    asyncio.run(prepare_directories(node(tmp_path), disk.open))
    assert disk.exists
    assert [it.name for it in tmp_path.iterdir()] == ["bucket"]
