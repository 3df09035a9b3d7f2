"""What a table knows of the topics that went into it: properties, set by the commit that adds the rows.

Rows and offsets change in one commit of the catalog, so what a table says is what it has, wherever a job died and
whatever became of its checkpoint.

    | property                          | value                                                          |
    |-----------------------------------|----------------------------------------------------------------|
    | headrace.offsets.TOPIC            | JSON: offset of the next record, by partition                  |
    | headrace.dead-letters.TOPIC       | JSON: number of bad records so far, by partition               |
    | headrace.committed-at-ms.TOPIC    | time of the last commit, in milliseconds since 1970            |
    | headrace.query-id.TOPIC           | id of the query that made it                                   |
    | headrace.batch-id.TOPIC           | its number of the micro-batch                                  |
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

OFFSETS: Final = "headrace.offsets."
DEAD_LETTERS: Final = "headrace.dead-letters."
COMMITTED_AT: Final = "headrace.committed-at-ms."
QUERY_ID: Final = "headrace.query-id."
BATCH_ID: Final = "headrace.batch-id."

Counts = Mapping[str, Mapping[int, int]]  # of topics and partitions


@dataclass(frozen=True, slots=True)
class TableState:
    """The state of some topics."""

    offsets: Counts = field(default_factory=dict)
    dead_letters: Counts = field(default_factory=dict)
    committed_at_ms: Mapping[str, int] = field(default_factory=dict)

    def includes(self, ends: Counts) -> bool:
        """Whether the table has all that lies below these offsets."""
        return all(
            self.offsets.get(topic, {}).get(partition, 0) >= end
            for topic, partitions in ends.items()
            for partition, end in partitions.items()
        )


def table_state(properties: Mapping[str, str], topics: Sequence[str]) -> TableState:
    """Read the state of some topics from the properties of a table."""
    return TableState(
        offsets={it: _counts(properties.get(OFFSETS + it)) for it in topics},
        dead_letters={it: _counts(properties.get(DEAD_LETTERS + it)) for it in topics},
        committed_at_ms={
            it: int(properties[COMMITTED_AT + it])
            for it in topics
            if COMMITTED_AT + it in properties
        },
    )


def changed_properties(
    state: TableState, ends: Counts, bad: Counts, *, query_id: str, batch_id: int, now_ms: int
) -> dict[str, str]:
    """The properties after a micro-batch.

    Args:
        state: as it is.
        ends: where the micro-batch ends, by topic and partition; offsets never go back.
        bad: how many bad records it had.
        query_id: of the query.
        batch_id: of the micro-batch.
        now_ms: the time.
    """
    found: dict[str, str] = {}
    for topic, partitions in ends.items():
        known = state.offsets.get(topic, {})
        reached = {it: max(end, known.get(it, 0)) for it, end in partitions.items()}
        counted = dict(state.dead_letters.get(topic, {}))
        for partition, count in bad.get(topic, {}).items():
            counted[partition] = counted.get(partition, 0) + count
        found[OFFSETS + topic] = _text({**known, **reached})
        if counted:
            found[DEAD_LETTERS + topic] = _text(counted)
        found[COMMITTED_AT + topic] = str(now_ms)
        found[QUERY_ID + topic] = query_id
        found[BATCH_ID + topic] = str(batch_id)
    return found


def offsets_text(ends: Counts) -> str:
    """Offsets as Spark's sources write them."""
    return json.dumps(
        {topic: {str(it): end for it, end in sorted(many.items())} for topic, many in ends.items()},
        sort_keys=True,
        separators=(",", ":"),
    )


def offsets_of_source(text: str) -> dict[str, dict[int, int]]:
    """Read the offsets of a source as Spark's checkpoint has them; what begins with `#` is no topic."""
    return {
        topic: {int(it): int(end) for it, end in partitions.items()}
        for topic, partitions in json.loads(text).items()
        if not topic.startswith("#")
    }


def _counts(text: str | None) -> dict[int, int]:
    return {} if not text else {int(it): int(count) for it, count in json.loads(text).items()}


def _text(counts: Mapping[int, int]) -> str:
    return json.dumps(
        {str(it): count for it, count in sorted(counts.items())}, separators=(",", ":")
    )
