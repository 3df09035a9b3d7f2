"""What a table knows of the topics that went into it: properties, set by the commit that adds the rows.

Rows and offsets change in one commit of the catalog, so what a table says is what it has, wherever a job died and
even if its checkpoint is lost.

    | property                          | value                                                          |
    |-----------------------------------|----------------------------------------------------------------|
    | headrace.offsets.TOPIC            | JSON: offset of the next record, by partition                  |
    | headrace.dead-letters.TOPIC       | JSON: number of bad records so far, by partition               |
    | headrace.committed-at-ms.TOPIC    | time of the last commit, in milliseconds since 1970            |
    | headrace.query-id.TOPIC           | id of the query that made it                                   |
    | headrace.batch-id.TOPIC           | its number of the micro-batch                                  |
    | headrace.topic-id.TOPIC           | id of the topic that the offsets are of                        |
    | headrace.checkpoint               | number of the checkpoint; another one each time a topic is begun again |
    | headrace.stopped                  | JSON: when and why the job stopped this table; none while it runs |
    | headrace.ignored-fields           | JSON: paths of fields that have no column and will have none, and why |
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

OFFSETS: Final = "headrace.offsets."
DEAD_LETTERS: Final = "headrace.dead-letters."
COMMITTED_AT: Final = "headrace.committed-at-ms."
QUERY_ID: Final = "headrace.query-id."
BATCH_ID: Final = "headrace.batch-id."
TOPIC_ID: Final = "headrace.topic-id."
CHECKPOINT: Final = "headrace.checkpoint"
STOPPED: Final = "headrace.stopped"
IGNORED_FIELDS: Final = "headrace.ignored-fields"
SOURCE_METADATA: Final = "#metadata"
MAX_IGNORED_FIELDS: Final = 100
MAX_REASON: Final = 2_000  # characters

Counts = Mapping[str, Mapping[int, int]]  # of topics and partitions


@dataclass(frozen=True, slots=True)
class TableState:
    """The state of some topics."""

    offsets: Counts = field(default_factory=dict)
    dead_letters: Counts = field(default_factory=dict)
    committed_at_ms: Mapping[str, int] = field(default_factory=dict)
    topic_ids: Mapping[str, str] = field(default_factory=dict)
    checkpoint: int = 0
    stopped: Mapping[str, Any] = field(default_factory=dict)  # at_ms and reason
    ignored_fields: Mapping[str, str] = field(default_factory=dict)

    def count_until(self, ends: Counts, starts: Counts | None) -> int:
        """How many records there are from some offsets, and from what the table has, to others, at most."""
        return sum(
            max(0, end - max(self._reached(topic, it), (starts or {}).get(topic, {}).get(it, 0)))
            for topic, partitions in ends.items()
            for it, end in partitions.items()
        )

    def _reached(self, topic: str, partition: int) -> int:
        return self.offsets.get(topic, {}).get(partition, 0)

    def includes(self, ends: Counts) -> bool:
        """Whether the table has all that lies below these offsets."""
        return all(
            self._reached(topic, partition) >= end
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
        topic_ids={it: properties[TOPIC_ID + it] for it in topics if TOPIC_ID + it in properties},
        checkpoint=int(properties.get(CHECKPOINT, "0")),
        stopped=json.loads(properties.get(STOPPED, "{}")),
        ignored_fields=json.loads(properties.get(IGNORED_FIELDS, "{}")),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a micro-batch comes from."""

    query_id: str
    batch_id: int
    topic_ids: Mapping[str, str] = field(default_factory=dict)  # as far as they are known


def changed_properties(
    state: TableState,
    ends: Counts,
    bad: Counts,
    origin: Origin,
    ignored_fields: Mapping[str, str],
    now_ms: int,
) -> dict[str, str]:
    """The properties after a micro-batch.

    Args:
        state: as it is.
        ends: where the micro-batch ends, by topic and partition; offsets never go back.
        bad: how many bad records it had.
        origin: of the micro-batch.
        ignored_fields: what it had; the table keeps the first ones.
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
        found[QUERY_ID + topic] = origin.query_id
        found[BATCH_ID + topic] = str(origin.batch_id)
        if topic in origin.topic_ids:
            found[TOPIC_ID + topic] = origin.topic_ids[topic]
    new = sorted(ignored_fields.keys() - state.ignored_fields.keys())
    if new and len(state.ignored_fields) < MAX_IGNORED_FIELDS:
        ignored = {**state.ignored_fields, **{it: ignored_fields[it] for it in new}}
        found[IGNORED_FIELDS] = json.dumps(dict(list(ignored.items())[:MAX_IGNORED_FIELDS]))
    return found


def begun_again(state: TableState, topic: str, topic_id: str) -> tuple[dict[str, str], list[str]]:
    """The properties that change, and those that go, when a topic is read from its first record."""
    changed = {CHECKPOINT: str(state.checkpoint + 1)}
    names = [OFFSETS, DEAD_LETTERS, COMMITTED_AT, QUERY_ID, BATCH_ID]
    if topic_id:
        changed[TOPIC_ID + topic] = topic_id
    else:
        names.append(TOPIC_ID)
    return changed, [STOPPED, *(it + topic for it in names)]


def stopped_text(reason: str, now_ms: int) -> str:
    """Why a table stopped, as its property has it."""
    return json.dumps({"at_ms": now_ms, "reason": reason[:MAX_REASON]})


def other_topic(known: Mapping[str, str], told: Mapping[str, str]) -> str:
    """The first topic whose id is not what it was; empty if there is none."""
    return next((it for it, id_ in told.items() if known.get(it, id_) != id_), "")


def offsets_missing(state: TableState, starts: Counts) -> tuple[str, int, int] | None:
    """Topic, partition and offset from which on a table lacks records that its checkpoint has behind it.

    Topics that the table no longer has are still in a checkpoint.
    """
    for topic in starts.keys() & state.offsets.keys():
        for partition, start in starts[topic].items():
            reached = state.offsets[topic].get(partition, 0)
            if reached < start:
                return topic, partition, reached
    return None


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


def topic_ids_of_source(text: str) -> dict[str, str]:
    """Read the ids of topics that the project's own source keeps beside its offsets; Spark's for Kafka keeps none."""
    told = json.loads(text).get(SOURCE_METADATA, {}).get("topicIds", {})
    return {str(topic): str(it) for topic, it in told.items()}


def _counts(text: str | None) -> dict[int, int]:
    return {} if not text else {int(it): int(count) for it, count in json.loads(text).items()}


def _text(counts: Mapping[int, int]) -> str:
    return json.dumps(
        {str(it): count for it, count in sorted(counts.items())}, separators=(",", ":")
    )
