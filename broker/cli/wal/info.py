"""`headrace wal info`: what a device says about itself."""

from pathlib import Path

import click

from headrace.broker.cli.options import output_option
from headrace.broker.cli.output import emit_object
from headrace.broker.cli.wal.log_argument import (
    explained,
    is_bucket,
    location_options,
    wal_path,
)


@click.command()
@location_options
@output_option
def info(path: str | None, file: Path | None, output: str) -> None:
    """Show what is on a file or device, its owner, and which process writes to it.

    Reads the superblocks, not the ring. A device with something else on it is no error. The writer
    is found in the kernel's list of locks, which has no processes outside of this container.
    """
    from headrace.broker.cli.wal.report import inspection_report
    from headrace.wal.tools.inspection import inspect

    path = wal_path(path, file)
    if is_bucket(path):
        from headrace.broker.cli.wal.object_logs import show_info

        show_info(path, output=output)
        return
    with explained(path):
        report = inspection_report(inspect(path))
    if output == "table":
        slots = report.pop("slots")
        assert isinstance(slots, list)
        for number, slot in enumerate(slots):
            report[f"superblock_{number}"] = " ".join(
                f"{key} {value}" if key != "state" else str(value) for key, value in slot.items()
            )
    emit_object(report, output=output)
