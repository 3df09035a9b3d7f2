"""Why a table is stopped, kept in the table: `status` asks the table and not the job."""

import logging
from typing import Final

from pyiceberg.table import Table

from headrace.pipeline.tables.errors import told
from headrace.pipeline.tables.table_state import STOPPED, stopped_text

LOGGER: Final = logging.getLogger("headrace.tables")


def note_stopped(table: Table, reason: str, now_ms: int) -> None:
    """Keep why the table stopped; the next start and the next commit take it away.

    It is of no use to anything but `status`, so a catalog that does not take it stops nothing.
    """
    try:
        with table.transaction() as transaction:
            transaction.set_properties({STOPPED: stopped_text(reason, now_ms)})
    except Exception as error:  # noqa: BLE001 - see above
        LOGGER.warning("table %s: why it stopped is not kept: %s", table.name()[-1], told(error))


def note_running(table: Table) -> None:
    """Take the reason away; if that fails, the next commit does it."""
    if STOPPED not in table.properties:
        return
    try:
        with table.transaction() as transaction:
            transaction.remove_properties(STOPPED)
    except Exception as error:  # noqa: BLE001 - see above
        LOGGER.warning("table %s: why it stopped is still kept: %s", table.name()[-1], told(error))
