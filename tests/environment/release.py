"""The last release with the packages that it requires, to be run beside this tree.

The sources are kept as an archive, since a checkout may lack the history. At a release, put the next one in its place:
`git archive COMMIT broker config headrace metadata protocol storage wal pyproject.toml | xz -9e`. Nothing was released
yet: today's is a test release, the last commit before level 3 of the metadata. So a cluster of it is at level 2, and
nodes of two releases and a raise of the level can be tried.
"""

import sys
import tarfile
import tomllib
from pathlib import Path
from typing import Final

from tests.environment.packages import install_packages
from tests.environment.paths import ROOT, build_once

ARCHIVES: Final = ROOT / "tests" / "release"


def last_release() -> Path:
    """Return the directory of the sources, which takes the place of the repository's.

    It has the packages, too: this tree may require others.

    Raises:
        MissingComponentError: they cannot be fetched from here.
    """
    (archive,) = ARCHIVES.glob("headrace-*.tar.xz")

    def unpack(target: Path) -> None:
        with tarfile.open(archive) as packed:
            packed.extractall(target, filter="data")
        project = tomllib.loads((target / "pyproject.toml").read_text())["project"]
        install_packages(project["dependencies"], target)

    # Some packages are built for one interpreter.
    name = f"released-{archive.name.removesuffix('.tar.xz')}-{sys.implementation.cache_tag}"
    return build_once(name, unpack)
