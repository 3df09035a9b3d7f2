"""Metadata as the tools compare them with a bucket: a directory's, or the newest snapshot in the bucket."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeVar

import click

from headrace.broker.cli.bucket_argument import only_cluster
from headrace.broker.cli.failures import CommandFailedError
from headrace.metadata.image import MetadataImage
from headrace.storage.audit.fsck_report import Examined

if TYPE_CHECKING:
    from headrace.metadata.records.entry import SnapshotId
    from headrace.storage.audit.audited_bucket import AuditedBucket
    from headrace.storage.audit.inventory import ListedObject

IN_BUCKET: Final = "bucket"
MAX_ATTEMPTS: Final = 5  # a snapshot that was listed may be deleted before it is read
MAX_SNAPSHOT_BYTES: Final = 4 << 30  # a larger one is taken for damaged

Command = TypeVar("Command", bound=Callable[..., object])


class ReadMetadata(NamedTuple):
    """An image, and where it is from."""

    image: MetadataImage
    cluster_id: str
    examined: Examined


class MetadataSource(Protocol):
    """Where metadata are read, anew each time."""

    async def read(self) -> ReadMetadata:
        """Read them.

        Raises:
            CommandFailedError: they cannot be read.
            ObjectStoreError: the bucket does not answer.
        """
        ...


class DirectoryMetadata:
    """A metadata directory, beside its node if that runs."""

    def __init__(self, path: str) -> None:
        self._path = path

    async def read(self) -> ReadMetadata:
        """See `MetadataSource.read`."""
        from headrace.broker.cli.metadata_directory import load_metadata

        found = load_metadata(self._path)
        examined = Examined(found.node_id, found.image.index, found.in_use, None)
        return ReadMetadata(found.image, found.cluster_id, examined)


class PublishedMetadata:
    """The newest snapshot in the bucket."""

    def __init__(self, place: "AuditedBucket", cluster_id: str | None) -> None:
        self._place = place
        self._cluster_id = cluster_id

    async def read(self) -> ReadMetadata:
        """See `MetadataSource.read`."""
        from headrace.metadata.errors import MetadataError
        from headrace.metadata.log.snapshot_format import decode_snapshot
        from headrace.storage.errors import CorruptObjectError, ObjectNotFoundError

        for _ in range(MAX_ATTEMPTS):
            cluster_id, newest = await self._newest()
            try:
                end = min(newest.size_bytes, MAX_SNAPSHOT_BYTES)
                data = await self._place.reader.get_range(newest.key, 0, end) if end else b""
                image = decode_snapshot(bytes(data))
            except ObjectNotFoundError:
                continue
            except (MetadataError, CorruptObjectError) as error:
                raise CommandFailedError(
                    f"{newest.key} cannot be read: {error}",
                    hint="Give the metadata directory of a controller by --metadata DIR.",
                ) from error
            examined = Examined(None, image.index, in_use=False, time_ms=newest.modified_ms)
            return ReadMetadata(image, cluster_id, examined)
        raise CommandFailedError("each metadata snapshot was deleted before it could be read")

    async def _newest(self) -> tuple[str, "ListedObject"]:
        from headrace.metadata.published import FOLDER, parse_published_key

        found: dict[str, dict[SnapshotId, ListedObject]] = {}
        async for page in self._place.lister.pages(f"{FOLDER}/"):
            for one in page:
                published = parse_published_key(one.key)
                if published is not None:
                    found.setdefault(published[0], {})[published[1]] = one
        if not found:
            raise CommandFailedError(
                "the bucket has no snapshot of metadata",
                hint="The leading controller puts one there every headrace.metadata.snapshot.publish.interval.ms; "
                "--metadata DIR takes those of a directory.",
            )
        cluster_id = only_cluster(sorted(found), self._cluster_id)
        return cluster_id, found[cluster_id][max(found[cluster_id])]


class _Place(click.Path):
    """A directory, or the word `bucket`."""

    def __init__(self) -> None:
        super().__init__(exists=True, file_okay=False)

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str | bytes | os.PathLike[str]:
        """See `click.Path`."""
        return value if value == IN_BUCKET else super().convert(value, param, ctx)


def metadata_option(*, required: bool) -> Callable[[Command], Command]:
    """Add --metadata, as `metadata`."""
    return click.option(
        "--metadata",
        metavar="DIR|bucket",
        required=required,
        type=_Place(),
        help="Metadata directory of the node, or its log.dirs; or `bucket`: the newest snapshot in the bucket. "
        "Nothing in it is changed.",
    )


def metadata_source(
    metadata: str, place: "AuditedBucket", cluster_id: str | None
) -> MetadataSource:
    """Return where --metadata says that they are."""
    if metadata == IN_BUCKET:
        return PublishedMetadata(place, cluster_id)
    return DirectoryMetadata(metadata)
