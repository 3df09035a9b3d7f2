"""Arguments that jobs share."""

import argparse
from collections.abc import Sequence

from headrace.pipeline.source.bucket import Bucket
from headrace.pipeline.source.listeners import open_metadata
from headrace.pipeline.source.snapshots import Metadata


def job_parser(name: str, description: str) -> argparse.ArgumentParser:
    """Return a parser for a job that reads a bucket."""
    parser = argparse.ArgumentParser(
        prog=f"headrace spark {name}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "bucket", metavar="URL", help="the brokers' bucket: s3://NAME?... or file:///DIRECTORY"
    )
    parser.add_argument("--cluster", metavar="ID", default="", help="if the bucket has several")
    parser.add_argument(
        "--admin-listener",
        metavar="HOST:PORT,...",
        default="",
        help="take the metadata from a node that answers there, instead of the bucket's newest snapshot",
    )
    return parser


def add_topics(parser: argparse.ArgumentParser) -> None:
    """Options that name the topics of a job, in one of two ways."""
    topics = parser.add_mutually_exclusive_group(required=True)
    topics.add_argument("--topics", metavar="NAME,...", default="")
    topics.add_argument("--topics-pattern", metavar="REGEX", default="")


def source_options(arguments: argparse.Namespace, **more: str | None) -> dict[str, str]:
    """Return what `job_parser` and `add_topics` have read, and more, as options of the source.

    Those that are empty are left out.
    """
    given = {
        "bucket": arguments.bucket,
        "cluster": arguments.cluster,
        "subscribe": arguments.topics,
        "subscribePattern": arguments.topics_pattern,
        "startingOffsets": arguments.starting_offsets,
        "metadata": "broker" if arguments.admin_listener else "bucket",
        "adminListener": arguments.admin_listener,
        **more,
    }
    return {name: value for name, value in given.items() if value}


def metadata_of(bucket: Bucket, arguments: argparse.Namespace) -> Metadata:
    """Return where the metadata come from."""
    return open_metadata(bucket, listed(arguments.admin_listener), arguments.cluster)


def listed(text: str) -> Sequence[str]:
    """Split at commas."""
    return tuple(it.strip() for it in text.split(",") if it.strip())
