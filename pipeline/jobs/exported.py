"""Reads what `headrace spark export` has written, by its manifest: each record once, also while an export runs."""

from pyspark.sql import DataFrame, SparkSession

from headrace.config.bucket_uris import FileLocation, S3Location
from headrace.pipeline.jobs.exporting import newest_manifest
from headrace.pipeline.jobs.target import open_target
from headrace.pipeline.source.errors import OptionError, SourceError
from headrace.storage.object_store.uri import parse_bucket_uri


def exported_paths(uri: str, topic: str | None = None) -> list[str]:
    """Return the files of an export, as Spark names them: `file:///...` or `s3a://...`.

    Args:
        uri: as of `--to`.
        topic: None: all.

    Raises:
        SourceError: there is no export, or it cannot be read.
    """
    manifest = newest_manifest(open_target(uri))
    if manifest is None:
        raise SourceError("there is no export: no manifest is below _headrace/manifest")
    root = _root(uri)
    return [
        f"{root}/{file.path}"
        for name, found in manifest.topics.items()
        if topic in (None, name)
        for file in found.files
    ]


def read_export(session: SparkSession, uri: str, topic: str | None = None) -> DataFrame:
    """Return the records of an export, with the columns topic and date; errors as of `exported_paths`."""
    paths = exported_paths(uri, topic)
    if not paths:
        raise SourceError("the export has no files yet")
    return session.read.option("basePath", _root(uri)).parquet(*paths)


def _root(uri: str) -> str:
    location = parse_bucket_uri(uri)
    match location:
        case S3Location(bucket=bucket, prefix=prefix):
            return f"s3a://{bucket}/{prefix}".rstrip("/")
        case FileLocation(path):
            return f"file://{path}".rstrip("/")
        case _:
            raise OptionError("an export is in a directory or an S3 bucket")
