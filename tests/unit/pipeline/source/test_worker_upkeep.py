"""A worker of Spark after a task: what it has loaded costs nothing between tasks, and imports go on."""

import gc
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile
from zipimport import zipimporter

import pyspark
import pytest
from pyspark import TaskContext

from headrace.pipeline.columns import loops
from headrace.pipeline.source import worker_upkeep
from headrace.pipeline.source.worker_upkeep import shorten_upkeep


@pytest.fixture(autouse=True)
def thawed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(worker_upkeep, "_frozen", [])
    gc.unfreeze()
    yield
    gc.unfreeze()


@pytest.fixture
def in_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TaskContext, "get", object)
    monkeypatch.setenv("SPARK_REUSE_WORKER", "1")


def archive_of(path: Path, module: str) -> str:
    with ZipFile(path, "w") as archive:
        archive.writestr(f"{module}.py", "")
    return str(path)


@pytest.mark.usefixtures("in_a_task")
def test_what_is_loaded_is_frozen_once() -> None:
    shorten_upkeep()
    frozen = gc.get_freeze_count()
    assert frozen > 10_000
    kept = [[] for _ in range(1_000)]
    shorten_upkeep()
    assert gc.get_freeze_count() <= frozen
    assert len(kept) == 1_000


@pytest.mark.usefixtures("in_a_task")
@pytest.mark.parametrize("why", ["not reused", "nothing decoded", "a broadcast"])
def test_nothing_is_frozen_that_is_not_ours_or_serves_no_further_task(
    why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if why == "not reused":
        monkeypatch.delenv("SPARK_REUSE_WORKER")
    elif why == "nothing decoded":
        monkeypatch.delitem(sys.modules, loops.__name__)
    else:
        monkeypatch.setitem(worker_upkeep._broadcastRegistry, 1, object())
    shorten_upkeep()
    assert gc.get_freeze_count() == 0


def test_nothing_is_done_outside_of_a_task() -> None:
    shorten_upkeep()
    assert gc.get_freeze_count() == 0


@pytest.mark.usefixtures("in_a_task")
def test_importers_of_sparks_archives_are_forgotten_and_imports_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sparks = archive_of(tmp_path / "pyspark.zip", "upkeep_of_spark")
    users = archive_of(tmp_path / "users.zip", "upkeep_of_a_user")
    monkeypatch.setattr(pyspark, "__loader__", zipimporter(sparks))
    monkeypatch.setattr(sys, "path", [*sys.path, sparks, users])
    assert importlib.util.find_spec("upkeep_of_spark")
    assert importlib.util.find_spec("upkeep_of_a_user")
    assert {sparks, users} <= set(sys.path_importer_cache)
    shorten_upkeep()
    assert users in sys.path_importer_cache
    assert sparks not in sys.path_importer_cache
    assert importlib.util.find_spec("upkeep_of_spark")
