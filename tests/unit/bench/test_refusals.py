"""Benchmarks that cannot measure anything say so before they begin, and what would do."""

import argparse
import sys
from types import SimpleNamespace

import pytest

from bench import storage_compaction, storage_isolation
from bench.storage_compaction import MIN_BYTES, volume

GIB = 1 << 30


@pytest.mark.parametrize("text", ["0.4", "1", "1.07"])
def test_too_little_to_compact_is_refused_with_the_least_that_is_enough(text, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["storage_compaction", "--gb", text])
    monkeypatch.setattr(storage_compaction, "run", lambda _: pytest.fail("it has begun"))
    with pytest.raises(SystemExit) as ended:
        storage_compaction.main()
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert "argument --gb" in told
    assert "at least 1.08" in told


def test_the_least_that_is_told_is_enough():
    assert volume("1.08") >= MIN_BYTES
    with pytest.raises(argparse.ArgumentTypeError):
        volume("1.07")


@pytest.mark.parametrize(
    ("disk_gib", "memory_gib", "text"),
    [(100, 7, "7.0 GiB of memory are free"), (5, 100, "5.0 GiB in /dev/shm are free")],
)
def test_a_bucket_that_does_not_fit_into_memory_is_refused(
    monkeypatch, capsys, disk_gib, memory_gib, text
):
    usage = SimpleNamespace(free=disk_gib * GIB)
    monkeypatch.setattr(storage_isolation.shutil, "disk_usage", lambda _: usage)
    monkeypatch.setattr(storage_isolation, "available_memory", lambda: memory_gib * GIB)
    monkeypatch.setattr(sys, "argv", ["storage_isolation"])
    with pytest.raises(SystemExit) as ended:
        storage_isolation.main()
    assert ended.value.code == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "needs up to 18 GiB" in told
    assert text in told
    assert "--bucket-directory DIR" in told


def test_a_bucket_elsewhere_needs_room_there_and_no_memory(monkeypatch, tmp_path):
    monkeypatch.setattr(
        storage_isolation.shutil, "disk_usage", lambda _: SimpleNamespace(free=18 * GIB)
    )
    assert storage_isolation.refusal(tmp_path, 0) == ""
    monkeypatch.setattr(
        storage_isolation.shutil, "disk_usage", lambda _: SimpleNamespace(free=17 * GIB)
    )
    assert f"17.0 GiB in {tmp_path} are free" in storage_isolation.refusal(tmp_path, 0)
