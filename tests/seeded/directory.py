"""Mistakes with what a power cut, or a sync that failed, leaves of the metadata log's directory."""

from tests.seeded.bug import SeededBug

_CRASH = "tests/property/test_metadata_log_crash.py"
_LIVES = "tests/property/test_metadata_log_lives.py"
_ANY = f"{_LIVES}::test_whatever_ends_its_processes_the_log_tells_what_it_has_acknowledged"

BUGS = (
    SeededBug(
        "directory-01",
        "entries are acknowledged before they are synced",
        "metadata/log/files.py",
        "LogFiles.append",
        """
            write_all(file, group, self._position)
            file.sync()
        """,
        "write_all(file, group, self._position)",
        _ANY,
    ),
    SeededBug(
        "directory-02",
        "a file gets its name before its content is durable",
        "metadata/log/durable_files.py",
        "create_whole",
        """
            write_all(file, data, 0)
            file.sync()
        """,
        "write_all(file, data, 0)",
        _ANY,
    ),
    SeededBug(
        "directory-03",
        "the directory is not synced after a file was renamed to its name",
        "metadata/log/durable_files.py",
        "create_whole",
        """
            try:
                try:
                    write_all(file, data, 0)
                    file.sync()
                finally:
                    file.close()
                directory.replace(temporary, name)
            except OSError:
                with suppress(OSError):
                    directory.unlink(temporary)
                raise
            directory.sync()
        """,
        """
            try:
                try:
                    write_all(file, data, 0)
                    file.sync()
                finally:
                    file.close()
                directory.replace(temporary, name)
            except OSError:
                with suppress(OSError):
                    directory.unlink(temporary)
                raise
        """,
        _ANY,
    ),
    SeededBug(
        "directory-04",
        "the log before a snapshot is deleted while the snapshot's name may still be lost",
        "metadata/log/files.py",
        "LogFiles.adopt_snapshot",
        """
            self._directory.replace(temporary, name)
            self._directory.sync()
            self._served.replaced(self.snapshot_id.index)
        """,
        """
            self._directory.replace(temporary, name)
            self._served.replaced(self.snapshot_id.index)
        """,
        _ANY,
    ),
    SeededBug(
        "directory-05",
        "the old log is deleted while the name of the snapshot that replaces it may still be lost",
        "metadata/log/files.py",
        "LogFiles.install_snapshot",
        """
            self._directory.sync()
            for segment in self._segments:
                self._directory.unlink(segment.name)
        """,
        """
            for segment in self._segments:
                self._directory.unlink(segment.name)
        """,
        f"{_CRASH}::test_a_power_cut_at_every_change_of_a_long_life",
    ),
    SeededBug(
        "directory-06",
        "after a sync that failed the log goes on, and trusts the next one",
        "metadata/log/files.py",
        "LogFiles.failing_for_good",
        "self.failed = True",
        "pass",
        _ANY,
    ),
    SeededBug(
        "directory-07",
        "a start trusts what it reads at the end of the log, which a failed sync has not written",
        "metadata/log/files.py",
        "LogFiles.open",
        "write_all(self._file, contents.unproven, self._position - len(contents.unproven))",
        "pass",
        f"{_LIVES}::test_what_a_start_tells_after_a_sync_that_failed_outlives_a_power_cut",
    ),
    SeededBug(
        "directory-08",
        "both copies of the vote are written before one of them is durable",
        "metadata/log/hard_state.py",
        "HardStateFile._write_slots",
        "self._file.sync()",
        "position == positions[-1] and self._file.sync()",
        f"{_CRASH}::test_a_power_cut_at_every_change_of_a_long_life",
    ),
    SeededBug(
        "directory-09",
        "names that a start has read are not made durable before they are trusted",
        "metadata/log/files.py",
        "LogFiles.open",
        """
            for name in listing.useless:
                self._directory.unlink(name)
            self._directory.sync()
        """,
        """
            for name in listing.useless:
                self._directory.unlink(name)
        """,
        f"{_CRASH}::test_a_kill_at_any_change_and_a_power_cut_after_the_next_start",
    ),
    SeededBug(
        "directory-10",
        "a new directory is not durable in the one above it: a power cut takes it with every vote",
        "metadata/log/os_directory.py",
        "OsDirectory._make",
        """
            try:
                try:
                    path.mkdir(OWNER_ONLY)
                except FileNotFoundError:
                    self._make(path.parent)
                    path.mkdir(OWNER_ONLY)
            except OSError:
                if not path.is_dir():
                    raise
            else:
                self._sync_directory(path.parent)
        """,
        """
            try:
                try:
                    path.mkdir(OWNER_ONLY)
                except FileNotFoundError:
                    self._make(path.parent)
                    path.mkdir(OWNER_ONLY)
            except OSError:
                if not path.is_dir():
                    raise
        """,
        "tests/unit/metadata/log/test_os_directory.py"
        "::test_each_directory_that_is_made_is_durable_in_the_one_above_it",
    ),
)
