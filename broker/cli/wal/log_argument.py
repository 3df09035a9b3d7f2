"""What the commands about write-ahead logs share: which one, and failures with a next step."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import click

from headrace.broker.cli.failures import CommandFailedError

Command = TypeVar("Command", bound=Callable[..., object])

EXIT_USAGE = 2


def location_options(command: Command) -> Command:
    """Add PATH, as `path`, and -c/--config, as `file`; `wal_path` chooses."""
    command = click.option(
        "-c",
        "--config",
        "file",
        type=click.Path(path_type=Path),
        help="Properties file of the node whose WAL is meant, instead of PATH.",
    )(command)
    return click.argument("path", metavar="[PATH]", required=False)(command)


def wal_path(path: str | None, file: Path | None) -> str:
    """Return the file or device that is meant, or the URI of a bucket.

    Raises:
        click.UsageError: none or two were named.
        CommandFailedError: the configuration is wrong.
    """
    if (path is None) == (file is None):
        raise click.UsageError("Name the WAL: PATH, or --config FILE.")
    return _configured(file) if path is None else _without_uri(path)


def is_bucket(path: str) -> bool:
    """Whether the log is made of objects."""
    return "://" in path


def _configured(file: Path | None) -> str:
    from headrace.broker.cli.node.serving import configuration_failure
    from headrace.config.load import load
    from headrace.config.problems import ConfigError

    try:
        return load(file=file).config.wal.path
    except ConfigError as error:
        raise configuration_failure(error) from error


def _without_uri(text: str) -> str:
    """Take what s3.wal.path takes."""
    from headrace.config.uris import parse_wal_location

    if "://" not in text:
        return text
    try:
        return parse_wal_location(text).path
    except ValueError as error:
        raise click.UsageError(f"{text} {error}") from error


@contextmanager
def explained(path: str, *, exit_code: int = 1) -> Iterator[None]:
    """Turn errors of the device into failures of the command.

    Raises:
        CommandFailedError: instead of them.
    """
    from headrace.wal.errors import WalError

    try:
        yield
    except WalError as error:
        raise CommandFailedError(str(error), exit_code=exit_code) from error
    except OSError as error:
        raise CommandFailedError(
            f"{path} cannot be read or written: {error}",
            hint="`dmesg` may say more about the device.",
            exit_code=exit_code,
        ) from error
