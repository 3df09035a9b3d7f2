"""Whether the topics of a table are those that its records came from, and not later ones of the same names."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from headrace.pipeline.tables.commits import recreated
from headrace.pipeline.tables.end_offsets import NoEndsError
from headrace.pipeline.tables.errors import TableError
from headrace.pipeline.tables.table_state import TableState, other_topic

LOGGER: Final = logging.getLogger("headrace.tables")
MAX_ASKED: Final = 10  # for one micro-batch; an answer that does not come takes up to half a minute
_WAIT_S: Final = 15.0
Ask = Callable[[Sequence[str]], Mapping[str, str]]


class TopicIdentities:
    """Asks for ids of topics before records are read and after it: then what was read in between is theirs.

    A job whose first question has no answer goes on without: the settings of its client may not suit the brokers, and
    the table was filled before the id was asked for. One that has been answered once relies on it.
    """

    def __init__(
        self,
        name: str,
        topics: Sequence[str],
        ask: Ask,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._name = name
        self._topics = topics
        self._ask = ask
        self._sleep = sleep
        self._known: dict[str, str] | None = None

    def begin(self, state: TableState) -> None:
        """Look before the first record is read.

        Raises:
            TableError: a topic is another one than the table's.
        """
        try:
            told = self._ask(self._topics)
        except NoEndsError as error:
            LOGGER.warning(
                "table %s: the ids of its topics are not known, so one that is deleted and created again is not "
                "noticed: %s. Are settings of `client` missing?", self._name, error
            )  # fmt: skip
            return
        self._known = dict(told)
        self._check(state, told)

    def confirm(self, state: TableState, told: Mapping[str, str]) -> Mapping[str, str]:
        """Look once records have been read; return the ids that they are of.

        Args:
            state: of the table.
            told: by the source, for just these records; then no broker is asked.

        Raises:
            TableError: a topic is another one than the table's or than it was, or there is no answer for some minutes.
        """
        if told:
            self._check(state, told)
            return told
        if self._known is None:
            return {}
        now = self._asked_with_patience()
        self._check(state, now)
        other = other_topic(self._known, now)
        if other:
            raise TableError(f"table {self._name}: {recreated(other)}")
        # One that was not there when the job began: who asks the next time knows that it is the same.
        sure = {it: id_ for it, id_ in now.items() if it in self._known}
        self._known = dict(now)
        return sure

    def why(self, state: TableState) -> str:
        """The reason if a query has failed since a topic is another one; empty if it is not that."""
        try:
            self._check(state, self._ask(self._topics) if self._known is not None else {})
        except TableError as error:
            return str(error)
        except NoEndsError:
            return ""
        return ""

    def _asked_with_patience(self) -> Mapping[str, str]:
        """Ids of the topics, from brokers that may be away for some minutes."""
        for left in reversed(range(MAX_ASKED)):
            try:
                return self._ask(self._topics)
            except NoEndsError as error:
                why = f"table {self._name}: whether its topics are the same is not known: {error}"
                if not left:
                    raise TableError(f"{why}; the next run goes on here") from error
                LOGGER.warning("%s; asked again in %.0f s, %d times at most", why, _WAIT_S, left)
                self._sleep(_WAIT_S)
        raise AssertionError("asked at least once")

    def _check(self, state: TableState, told: Mapping[str, str]) -> None:
        other = other_topic(state.topic_ids, told)
        if other:
            raise TableError(f"table {self._name}: {recreated(other)}")
