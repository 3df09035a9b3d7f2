import asyncio
import errno
import os
import threading
from pathlib import Path

import pytest

from headrace.metadata.log.os_directory import OsDirectory


def synced_paths(synced):
    def sync(descriptor):
        synced.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))

    return sync


def test_each_directory_that_is_made_is_durable_in_the_one_above_it(tmp_path):
    """Else a power cut would take the whole directory, and every vote in it."""
    synced = []
    directory = OsDirectory(tmp_path / "of" / "data", synced_paths(synced))

    directory.make()
    assert synced == [str(tmp_path), str(tmp_path / "of")]
    directory.make()
    assert len(synced) == 2, "nothing was made"


def test_a_directory_that_exists_need_not_be_one_that_may_be_made(tmp_path, monkeypatch):
    """NFS tells of the directory above, which this user may not write to, before it tells that this one exists."""
    make = os.mkdir

    def refused(path, *arguments, **options):
        if Path(path).is_dir():
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        make(path, *arguments, **options)

    monkeypatch.setattr(os, "mkdir", refused)
    OsDirectory(tmp_path).make()
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        OsDirectory(tmp_path / "file").make()


def test_what_is_made_is_for_its_owner_only(tmp_path):
    directory = OsDirectory(tmp_path / "of" / "data")
    directory.make()

    assert directory.mode() == OsDirectory(tmp_path / "of").mode() == 0o700


def test_calls_are_made_in_a_thread_one_after_the_other(tmp_path):
    async def scenario():
        directory = OsDirectory(tmp_path)
        gate, done = threading.Event(), []
        calls = [directory.run(gate.wait), directory.run(lambda: done.append(1))]
        assert not done
        gate.set()
        await asyncio.gather(*calls)
        assert done == [1]
        directory.close()
        with pytest.raises(RuntimeError):
            directory.run(gate.wait)

    asyncio.run(scenario())
