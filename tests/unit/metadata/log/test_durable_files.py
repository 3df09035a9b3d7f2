import os

import pytest

from headrace.metadata.log.durable_files import create_whole
from headrace.metadata.log.os_directory import OsDirectory


def test_a_file_is_whole_or_not_there(tmp_path):
    """A failure of the first sync leaves no file under its name, of the second a whole one."""
    path = tmp_path / "file"
    for failing, expected in ((1, None), (2, b"data")):
        calls = 0

        def sync(descriptor, failing=failing):
            nonlocal calls
            calls += 1
            if calls == failing:
                raise OSError("injected")
            os.fsync(descriptor)

        with pytest.raises(OSError, match="injected"):
            create_whole(OsDirectory(tmp_path, sync), "file", b"data")
        assert (path.read_bytes() if path.exists() else None) == expected


def test_content_is_synced_before_it_gets_its_name(tmp_path):
    path = tmp_path / "file"
    seen = []

    def sync(descriptor):
        seen.append((path.exists(), os.fstat(descriptor).st_size if not path.exists() else None))

    create_whole(OsDirectory(tmp_path, sync), "file", b"data")

    assert seen == [(False, 4), (True, None)]
