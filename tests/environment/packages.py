"""Python packages in directories of their own, beside those of the environment that runs the tests."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.environment.downloads import run_download


def install_packages(wanted: Sequence[str], directory: Path) -> None:
    """Install into a directory what options and requirements of `uv pip install` ask for.

    Raises:
        MissingComponentError: they cannot be fetched from here.
    """
    command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--target", directory]
    run_download([*command, *wanted], environment={**os.environ, "UV_SYSTEM_CERTS": "1"})
