"""The sources of the last release, to be run beside those of this tree.

They are kept as an archive, since a checkout may lack the history. At a release, put the next one in its place:
`git archive COMMIT broker config headrace metadata protocol storage wal pyproject.toml | xz -9e`.
"""

import tarfile
from pathlib import Path
from typing import Final

from tests.environment.paths import ROOT, build_once

ARCHIVES: Final = ROOT / "tests" / "release"


def last_release() -> Path:
    """Return the directory of the sources, which takes the place of the repository's."""
    (archive,) = ARCHIVES.glob("headrace-*.tar.xz")

    def unpack(target: Path) -> None:
        with tarfile.open(archive) as packed:
            packed.extractall(target, filter="data")

    return build_once(f"release-{archive.name.removesuffix('.tar.xz')}", unpack)
