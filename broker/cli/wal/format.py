"""`headrace wal format`: makes a file or device blank."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.options import output_option
from headrace.broker.cli.output import emit_for_programs, talk
from headrace.broker.cli.progress import progress
from headrace.broker.cli.sizes import SizeType, size_text
from headrace.broker.cli.wal.log_argument import (
    EXIT_USAGE,
    explained,
    is_bucket,
    location_options,
    wal_path,
)

if TYPE_CHECKING:
    from headrace.wal.tools.formatting import Formatter, Plan


@click.command("format")
@location_options
@click.option(
    "--capacity",
    type=SizeType(),
    metavar="SIZE",
    help="Capacity of the log, such as 2GiB; needed for a new file. Default: the whole file or "
    "device.",
)
@click.option("--force", is_flag=True, help="Erase what is there, whatever it is.")
@output_option
def format_(
    path: str | None, file: Path | None, capacity: int | None, force: bool, output: str
) -> None:
    """Erase a file or device, and fill it with zeros.

    The next start of a node creates its log there. A device that is mounted or has a writer is
    always refused. Without --force, so is one that has anything on it but a WAL whose records are
    no longer needed. If the command is interrupted, no node starts on the device until it is run
    again.
    """
    from headrace.wal.tools.formatting import Formatter

    path = wal_path(path, file)
    if is_bucket(path):
        raise CommandFailedError(
            "a WAL in a bucket needs no formatting",
            hint="A node creates its log there at its start.",
            exit_code=EXIT_USAGE,
        )
    if capacity is None and not Path(path).exists():
        raise CommandFailedError(
            f"there is no {path}",
            hint="Give the size of the new file: --capacity SIZE.",
            exit_code=EXIT_USAGE,
        )
    with explained(path), _removed_if_new(path), closing(Formatter(path)) as formatter:
        with progress("reading", total=0 if force else formatter.present_bytes) as advance:
            plan = formatter.plan(capacity, force=force, on_read=advance)
        _run(formatter, plan)
    result = {"path": path, "result": "blank", "capacity_bytes": plan.capacity_bytes}
    emit_for_programs(result, output=output)
    talk(f"{path} is blank: a WAL of up to {size_text(plan.capacity_bytes)} fits")


@contextmanager
def _removed_if_new(path: str) -> Iterator[None]:
    """Remove a file that was not there before, when formatting it fails."""
    is_new = not Path(path).exists()
    try:
        yield
    except BaseException:
        if is_new:
            Path(path).unlink(missing_ok=True)
        raise


def _run(formatter: "Formatter", plan: "Plan") -> None:
    with progress("zeroing", total=plan.total_bytes) as advance:
        formatter.run(plan, advance)
