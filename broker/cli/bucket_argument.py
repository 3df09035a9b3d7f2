"""What the commands about buckets share: arguments, opening, progress, and failures with a next step."""

import os
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, TypeVar

import click

from headrace.broker.cli.failures import CommandFailedError

if TYPE_CHECKING:
    from headrace.storage.audit.audited_bucket import AuditedBucket

_T = TypeVar("_T")
Command = TypeVar("Command", bound=Callable[..., object])  # those that find something return a code

EXIT_FOUND = 1  # the command worked, and found something wrong
EXIT_USAGE = 2


def url_argument(command: Command) -> Command:
    """Add the bucket's URL, as `url`."""
    return click.argument("url", metavar="URL")(command)


def cluster_option(command: Command) -> Command:
    """Add --cluster, as `cluster`."""
    return click.option("--cluster", metavar="ID", help="Cluster id, if the bucket has several.")(
        command
    )


def run_async(main: Awaitable[_T], *, url: str) -> _T:
    """Run a command's coroutine to its end.

    Raises:
        CommandFailedError: the bucket cannot be used.
    """
    import asyncio

    async def guarded() -> _T:
        with explained_bucket(url):
            return await main

    return asyncio.run(guarded())


@contextmanager
def explained_bucket(url: str) -> Iterator[None]:
    """Turn the failures of a bucket into ones with a next step.

    Raises:
        CommandFailedError: instead of ours.
    """
    from headrace.config.uris import redacted
    from headrace.storage.errors import ObjectNotFoundError, ObjectStoreError
    from headrace.storage.object_store.retrying import RequestRefusedError

    shown = redacted(url)
    try:
        yield
    except RequestRefusedError as error:
        raise CommandFailedError(
            f"{shown}: {error}",
            hint=f"`headrace bucket verify '{shown}'` shows which permission is missing.",
        ) from error
    except ObjectNotFoundError as error:
        raise CommandFailedError(
            f"{shown}: there is no object {error}",
            hint="`headrace bucket ls --long` lists the objects.",
        ) from error
    except ObjectStoreError as error:
        raise CommandFailedError(
            f"{shown}: {error}", hint="Is the URL right, and the bucket reachable from here?"
        ) from error


@asynccontextmanager
async def opened(url: str) -> AsyncIterator["AuditedBucket"]:
    """Lend a bucket to list and to read.

    Raises:
        CommandFailedError: the URL is none, or there are no credentials.
        ObjectStoreError: there is no such directory.
    """
    from headrace.config.uris import redacted
    from headrace.storage.audit.audited_bucket import open_audited_bucket

    try:
        place = open_audited_bucket(url, rng=random.SystemRandom(), environment=os.environ)
    except ValueError as error:
        raise CommandFailedError(
            f"{redacted(url)}: {error}",
            hint="Write a bucket as s3://name?region=...&endpoint=..., or file:///directory.",
            exit_code=EXIT_USAGE,
        ) from error
    try:
        yield place
    finally:
        await place.close()


def only_cluster(found: list[str], wanted: str | None) -> str:
    """Choose the cluster that a command is about.

    Raises:
        CommandFailedError: there is none, or it is not clear which.
    """
    if wanted is not None:
        require_cluster(found, wanted)
        return wanted
    if len(found) == 1:
        return found[0]
    if not found:
        raise CommandFailedError(
            "the bucket has no objects of any cluster",
            hint="`headrace bucket ls` shows what is in it.",
        )
    raise CommandFailedError(
        f"the bucket has {len(found)} clusters: {', '.join(found)}",
        hint="Name one with --cluster.",
        exit_code=EXIT_USAGE,
    )


def require_cluster(found: Collection[str], wanted: str | None) -> None:
    """Refuse a cluster that a listing has not shown, a mistyped one for instance.

    Args:
        found: clusters that have anything in the bucket.
        wanted: the one that was named, if any was.

    Raises:
        CommandFailedError: it is not among them.
    """
    if wanted is None or wanted in found:
        return
    held = ", ".join(sorted(found))
    raise CommandFailedError(
        f"the bucket has nothing of a cluster {wanted}",
        hint=f"It has {held}." if held else "It has nothing of any cluster.",
    )
