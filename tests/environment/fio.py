"""fio, which the benchmark of the WAL measures devices with beside ours."""

import shutil

from tests.environment import debian


def fio_program() -> str:
    """Return the path of fio, installed from Debian if need be.

    Raises:
        MissingComponentError: it cannot be installed.
    """
    found = shutil.which("fio")
    if found is None:
        debian.install("fio")
        found = shutil.which("fio")
    assert found is not None
    return found
