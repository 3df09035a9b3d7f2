"""`headrace wal info`: what a device says about itself."""

from pathlib import Path

import click

from headrace.broker.cli.output import emit_object
from headrace.broker.cli.wal.log_argument import (
    explained,
    is_bucket,
    json_option,
    location_options,
    wal_path,
)


@click.command()
@location_options
@json_option
def info(path: str | None, file: Path | None, as_json: bool) -> None:
    """Show what a file or device holds, whose it is, and who writes to it.

    Reads the superblocks, not the ring. A device that holds something else is no failure. The writer
    is looked up where the kernel lists locks, which shows no process outside of this container.
    """
    from headrace.broker.cli.wal.report import inspection_report  # noqa: PLC0415 - not for help
    from headrace.wal.tools.inspection import inspect  # noqa: PLC0415 - not for help

    path = wal_path(path, file)
    if is_bucket(path):
        from headrace.broker.cli.wal.object_logs import show_info  # noqa: PLC0415 - not for help

        show_info(path, as_json=as_json)
        return
    with explained(path):
        report = inspection_report(inspect(path))
    if not as_json:
        slots = report.pop("slots")
        assert isinstance(slots, list)
        for number, slot in enumerate(slots):
            report[f"superblock_{number}"] = " ".join(
                f"{key} {value}" if key != "state" else str(value) for key, value in slot.items()
            )
    emit_object(report, output="json" if as_json else "table")
