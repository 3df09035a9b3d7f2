"""When an event was, and what its copies have in common."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple, cast

from pyiceberg.types import TimestamptzType

from headrace.pipeline.tables.configuration import TableConfig
from headrace.pipeline.tables.errors import BadRecordError
from headrace.pipeline.tables.values import Surplus, fit_of

_FIT_TIME: Final = fit_of(TimestamptzType(), Surplus())


class Event(NamedTuple):
    """The event of a document."""

    time: datetime
    identity: str  # begins with `[`


def event_of(document: Mapping[str, Any], table: TableConfig) -> Event:
    """Return the event.

    Raises:
        BadRecordError: the document lacks its time, or what identifies it.
    """
    for name in (table.event_time, *table.deduplicate_by):
        if document.get(name) is None:
            raise BadRecordError(f"{name} is missing, by which copies are left out")
    try:
        time = cast("datetime", _FIT_TIME(document[table.event_time]))
    except BadRecordError as error:
        raise BadRecordError(f"{table.event_time}: {error}") from error
    return Event(time, json.dumps([document[it] for it in table.deduplicate_by], default=str))
