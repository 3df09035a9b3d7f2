"""Metadata of a directory, as the tools read it."""

from pathlib import Path

from headrace.broker.cli.failures import CommandFailedError
from headrace.metadata.errors import MetadataError, MetadataIdentityError
from headrace.metadata.offline.directory import OfflineMetadata, find_directory, read_offline


def load_metadata(path: str) -> OfflineMetadata:
    """Read a metadata directory, beside its node if that runs.

    Raises:
        CommandFailedError: it is none, or it cannot be read.
    """
    try:
        return read_offline(find_directory(Path(path)))
    except MetadataIdentityError as error:
        raise CommandFailedError(
            str(error),
            hint="It is the directory called metadata below log.dirs of the node.",
            exit_code=2,
        ) from error
    except (MetadataError, AssertionError) as error:
        raise CommandFailedError(
            f"the metadata in {path} cannot be read: {error}",
            hint="Copy the directory before you try anything else.",
        ) from error
    except OSError as error:
        raise CommandFailedError(f"the metadata in {path} cannot be read: {error}") from error
