"""Which offsets a read begins and ends at, by the metadata and by a look for times. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from headrace.pipeline.source.catalog import Catalog, StoredPartition, TopicPartition
from headrace.pipeline.source.errors import DataLossError, OptionError, SourceError
from headrace.pipeline.source.options import EARLIEST, LATEST, Bound, SourceOptions
from headrace.pipeline.source.plan import WantedRange

Offsets = Mapping[TopicPartition, int]


class Lookup(Protocol):
    """What is known of partitions from records or brokers only: `headrace.pipeline.source.ends` finds it."""

    def by_timestamp(self, name: TopicPartition, timestamp_ms: int) -> int | None:
        """Offset of the first record that is not older than a time; None when none is."""
        ...

    def ends(self, names: Iterable[TopicPartition]) -> Offsets:
        """Offsets behind the last records."""
        ...

    def decided(self, begins: Offsets, ends: Offsets) -> Offsets:
        """Ends, cut where a transaction is open that has records in what is read; under read_committed only."""
        ...


def chosen_partitions(catalog: Catalog, options: SourceOptions) -> list[TopicPartition]:
    """The partitions that are read.

    Raises:
        OptionError: one that is named is not in the metadata.
    """
    if options.subscribe_pattern:
        return catalog.matching(options.subscribe_pattern)
    if options.assign:
        return catalog.assigned(options.assign)
    return catalog.subscribed(options.subscribe)


def present_partitions(catalog: Catalog, options: SourceOptions) -> list[TopicPartition]:
    """Those of the chosen partitions that are in the metadata."""
    if options.subscribe_pattern:
        return catalog.matching(options.subscribe_pattern)
    if options.assign:
        return catalog.assigned([it for it in options.assign if catalog.stored(it) is not None])
    return catalog.subscribed([it for it in options.subscribe if catalog.has_topic(it)])


def batch_ranges(catalog: Catalog, options: SourceOptions, lookup: Lookup) -> list[WantedRange]:
    """What a batch reads of each partition, empty ranges left out.

    Raises:
        OptionError: a bound does not fit the partitions.
        DataLossError: offsets that were asked for are gone, and failOnDataLoss is true.
        SourceError: a partition has no record at or after a time, and that is to be an error.
    """
    names = chosen_partitions(catalog, options)
    starts = starting_offsets(catalog, options, names, lookup)
    last = lookup.ends(names)
    asked = {
        name: known
        for name, known in _resolved(
            "endingOffsets", catalog, options.ending, names, lookup
        ).items()
        if known is not None and known != LATEST
    }
    ends = lookup.decided(starts, {it: min(asked.get(it, last[it]), last[it]) for it in names})
    found: list[WantedRange] = []
    for name in names:
        start, end = starts[name], ends[name]
        # Where records are gone, a start that was raised to the first one may be behind the end.
        is_raised = start == stored_partition(catalog, name).start_offset
        if asked.get(name, start) < start and (options.fails_on_loss or not is_raised):
            raise OptionError(
                f"{name.topic}-{name.partition} would be read from offset {start} to {asked[name]}: startingOffsets "
                f"must not be behind endingOffsets"
            )
        missing = max(start if start > last[name] else 0, asked.get(name, 0))
        if missing > end and options.fails_on_loss:
            raise DataLossError(
                f"{ends_early(name, end, catalog, options)}; asked for is {missing}. A later run finds more; the "
                f"option failOnDataLoss=false reads what is there"
            )
        if start < end:
            found.append(WantedRange(name, start, end))
    return found


def starting_offsets(
    catalog: Catalog, options: SourceOptions, names: Sequence[TopicPartition], lookup: Lookup
) -> dict[TopicPartition, int]:
    """Where each partition begins; errors as of `batch_ranges`."""
    found = _resolved("startingOffsets", catalog, options.starting, names, lookup)
    unmatched = [it for it in names if found[it] is None]
    if unmatched and not options.latest_without_match:
        name = unmatched[0]
        raise SourceError(
            f"{name.topic}-{name.partition} has no record as new as the time to begin at, as far as "
            f"{'the brokers know' if options.tail_brokers else 'the bucket knows'}; "
            f"startingOffsetsByTimestampStrategy=latest begins at its end"
        )
    firsts = {
        it: stored_partition(catalog, it).start_offset
        for it in names
        if found[it] in (None, LATEST)
    }
    ends = lookup.decided(firsts, lookup.ends(firsts))
    offsets: dict[TopicPartition, int] = {}
    for name, known in found.items():
        offset = ends[name] if known is None or known == LATEST else known
        stored = stored_partition(catalog, name)
        offsets[name] = at_least(name, offset, stored, fails_on_loss=options.fails_on_loss)
    return offsets


def at_least(
    name: TopicPartition, offset: int, stored: StoredPartition, *, fails_on_loss: bool
) -> int:
    """Return an offset at or behind the start of a partition.

    Raises:
        DataLossError: what was asked for is gone, and failOnDataLoss is true.
    """
    if offset < stored.start_offset and fails_on_loss:
        raise DataLossError(
            f"{name.topic}-{name.partition} begins at offset {stored.start_offset}; {offset} to "
            f"{stored.start_offset - 1} are deleted. The option failOnDataLoss=false goes on without them"
        )
    return max(offset, stored.start_offset)


def ends_early(name: TopicPartition, end: int, catalog: Catalog, options: SourceOptions) -> str:
    """Say where a partition ends for a read: for messages."""
    place = f"{name.topic}-{name.partition}"
    if options.tail_brokers:
        place += " is with the brokers"
    else:
        place += " is in the bucket"
    if options.is_read_committed:
        place += ", and its transactions are decided,"
    return f"{place} up to offset {end} only, by metadata up to entry {catalog.index}"


def _resolved(
    option: str,
    catalog: Catalog,
    bound: Bound,
    names: Sequence[TopicPartition],
    lookup: Lookup,
) -> dict[TopicPartition, int | None]:
    """The offset for each partition; LATEST: its end; None: it has no record that is new enough."""
    given: Mapping[TopicPartition, int] | None = bound.offsets or bound.timestamps_ms
    if given is not None and set(given) != set(names):
        wrong = sorted(set(given) ^ set(names))
        listed = ", ".join(f"{it.topic}-{it.partition}" for it in wrong[:5])
        raise OptionError(
            f"option {option} must name each partition that is read, and no other: {listed}"
        )
    found: dict[TopicPartition, int | None] = {}
    for name in names:
        if bound.timestamp_ms is not None:
            found[name] = lookup.by_timestamp(name, bound.timestamp_ms)
        elif bound.timestamps_ms is not None:
            found[name] = lookup.by_timestamp(name, bound.timestamps_ms[name])
        else:
            offset = bound.offsets[name] if bound.offsets is not None else bound.offset
            is_first = offset == EARLIEST
            found[name] = stored_partition(catalog, name).start_offset if is_first else offset
    return found


def stored_partition(catalog: Catalog, name: TopicPartition) -> StoredPartition:
    """What is committed of a partition.

    Raises:
        OptionError: it is not in the metadata.
    """
    found = catalog.stored(name)
    if found is None:
        raise OptionError(
            f"{name.topic}-{name.partition} is not in the metadata up to entry {catalog.index}"
        )
    return found
