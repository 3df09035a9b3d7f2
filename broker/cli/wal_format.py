"""`headrace wal format`: makes a file or device blank."""

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from broker.cli.failures import CommandFailedError
from broker.cli.output import talk
from broker.cli.progress import progress
from broker.cli.wal_place import EXIT_USAGE, explained, place_options, wal_path

if TYPE_CHECKING:
    from wal.formatting import Formatter, Plan


@click.command("format")
@place_options
@click.option(
    "--capacity",
    metavar="SIZE",
    help="Of the log, such as 2g; needed for a new file. Default: all there is.",
)
@click.option("--force", is_flag=True, help="Erase what is there, whatever it is.")
def format_(path: str | None, file: Path | None, capacity: str | None, force: bool) -> None:
    """Erase a file or device, and fill it with zeros.

    The next start of a node begins its log there. Refused for a device that is mounted or has a
    writer, always; and without --force for one that holds anything but a WAL without records that
    are still needed. If it is interrupted, nothing starts on the device until it is run again.
    """
    from wal.formatting import Formatter  # noqa: PLC0415 - not for help

    capacity_bytes = None if capacity is None else _size(capacity)
    path = wal_path(path, file)
    if capacity_bytes is None and not Path(path).exists():
        raise CommandFailedError(
            f"there is no {path}",
            hint="Say how large a new file is to be: --capacity SIZE.",
            exit_code=EXIT_USAGE,
        )
    with explained(path), closing(Formatter(path)) as formatter:
        plan = formatter.plan(capacity_bytes, force=force)
        _run(formatter, plan)
    talk(f"{path} is blank: a WAL of up to {plan.capacity_bytes} bytes fits")


def _run(formatter: "Formatter", plan: "Plan") -> None:
    with progress("zeroing", total=plan.total_bytes) as advance:
        formatter.run(plan, advance)


def _size(text: str) -> int:
    """Read a number of bytes, with k, m, g or t for powers of 1024."""
    number, unit = text[:-1], text[-1:].lower()
    power = "kmgt".find(unit) + 1 if unit else 0
    if not power:
        number = text
    if not number.isascii() or not number.isdigit() or len(number) > 18:
        raise click.BadParameter(f"{text!r} is not a size, such as 512m or 2g.")
    return int(number) * (1 << (10 * power))
