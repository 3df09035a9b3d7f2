"""Which capacity a running WAL may be given, and what to write down to keep it."""

from dataclasses import replace

import pytest

from headrace.config.node import LogConfig, NodeConfig, StorageConfig, WalConfig
from headrace.config.relations import RelationError
from headrace.config.uris import parse_wal_location, with_wal_capacity
from headrace.config.wal_capacity import check_wal_capacity, wal_location_text

MIB = 1024 * 1024
CONFIG = NodeConfig(
    wal=WalConfig(path="/data/wal", capacity_bytes=512 * MIB),
    storage=StorageConfig(upload_threshold_bytes=128 * MIB),
    log=LogConfig(max_message_bytes=8 * MIB),
)


@pytest.mark.parametrize("capacity_bytes", [32 * MIB, 512 * MIB, 4096 * MIB])
def test_what_the_node_would_start_with_is_allowed(capacity_bytes: int) -> None:
    check_wal_capacity(CONFIG, capacity_bytes)


def test_too_small_for_any_wal() -> None:
    with pytest.raises(ValueError, match="at least 16777216"):
        check_wal_capacity(CONFIG, 16 * MIB - 1)


def test_a_record_must_not_fill_it() -> None:
    with pytest.raises(RelationError, match=r"message\.max\.bytes .* must be at most 1/4"):
        check_wal_capacity(CONFIG, 32 * MIB - 1)


def test_an_upload_threshold_that_was_chosen_must_fit() -> None:
    """One that was not is fitted at the start, so it refuses nothing."""
    chosen = replace(CONFIG, static={"s3.wal.upload.threshold": str(128 * MIB)})
    check_wal_capacity(chosen, 256 * MIB)
    with pytest.raises(RelationError, match=r"s3\.wal\.upload\.threshold .* must be at most 1/2"):
        check_wal_capacity(chosen, 256 * MIB - 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/data/wal", "file:///data/wal?capacity=67108864"),
        ("0@wal", "0@file://wal?capacity=67108864"),
        ("/odd@place/w l", "file:///odd%40place/w%20l?capacity=67108864"),
        ("0@file:///dev/nvme1n1", "0@file:///dev/nvme1n1?capacity=67108864"),
        ("file://wal?capacity=16777216", "file://wal?capacity=67108864"),
        (
            "0@file:///dev/x?iops=3000&capacity=16777216&iodepth=8",
            "0@file:///dev/x?capacity=67108864&iops=3000&iodepth=8",
        ),
    ],
)
def test_the_place_keeps_all_but_the_capacity(text: str, expected: str) -> None:
    changed = with_wal_capacity(text, 64 * MIB)
    assert changed == expected
    assert parse_wal_location(changed) == replace(parse_wal_location(text), capacity_bytes=64 * MIB)


def test_the_text_is_the_one_that_was_given() -> None:
    given = replace(CONFIG, static={"s3.wal.path": "0@file:///dev/x?capacity=5&iodepth=2"})
    assert wal_location_text(given, 7) == "0@file:///dev/x?capacity=7&iodepth=2"
    assert wal_location_text(CONFIG, 7) == "0@file:///data/wal?capacity=7"
