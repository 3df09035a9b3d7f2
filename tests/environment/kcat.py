"""kcat as Debian ships it."""

from pathlib import Path

from tests.environment import debian
from tests.environment.paths import MissingComponentError, find_program


def kcat_program() -> Path:
    """Return the path of kcat, installing it if we may.

    Raises:
        MissingComponentError: it cannot be installed from here.
    """
    found = find_program("kcat")
    if found is None:
        debian.install("kcat")
        found = find_program("kcat")
    if found is None:
        msg = "Debian's kcat was installed, and there is still no kcat on the PATH"
        raise MissingComponentError(msg)
    return found
