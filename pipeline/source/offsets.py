"""Which offsets a read begins and ends at, by the metadata and by a look for times. Pure."""

from collections.abc import Callable, Mapping, Sequence

from headrace.pipeline.source.catalog import Catalog, StoredPartition, TopicPartition
from headrace.pipeline.source.errors import DataLossError, OptionError, SourceError
from headrace.pipeline.source.options import EARLIEST, LATEST, Bound, SourceOptions
from headrace.pipeline.source.plan import WantedRange

# The offset of the first record of a partition that is not older than a time; None when none is.
FindTime = Callable[[StoredPartition, int], int | None]


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


def batch_ranges(
    catalog: Catalog, options: SourceOptions, find_time: FindTime
) -> list[WantedRange]:
    """What a batch reads of each partition, empty ranges left out.

    Raises:
        OptionError: a bound does not fit the partitions.
        DataLossError: offsets that were asked for are gone, and that is to be told.
        SourceError: a partition has no record at or after a time, and that is to be told.
    """
    names = chosen_partitions(catalog, options)
    starts = starting_offsets(catalog, options, names, find_time)
    ends = _resolved("endingOffsets", catalog, options.ending, names, find_time)
    found: list[WantedRange] = []
    for name in names:
        stored = stored_partition(catalog, name)
        start = starts[name]
        known = ends[name]
        end = stored.end_offset if known is None else known
        if max(start, end) > stored.end_offset and options.fails_on_loss:
            raise DataLossError(
                f"{name.topic}-{name.partition} is in the bucket up to offset {stored.end_offset} only, by metadata "
                f"up to entry {catalog.index}; asked for is {max(start, end)}. A later run finds more; the option "
                f"failOnDataLoss=false reads what is there"
            )
        if start < min(end, stored.end_offset):
            found.append(WantedRange(name, start, min(end, stored.end_offset)))
    return found


def starting_offsets(
    catalog: Catalog, options: SourceOptions, names: Sequence[TopicPartition], find_time: FindTime
) -> dict[TopicPartition, int]:
    """Where each partition begins; errors as of `batch_ranges`."""
    found = _resolved("startingOffsets", catalog, options.starting, names, find_time)
    offsets: dict[TopicPartition, int] = {}
    for name, known in found.items():
        stored = stored_partition(catalog, name)
        if known is None and not options.latest_without_match:
            raise SourceError(
                f"{name.topic}-{name.partition} has no record as new as the time to begin at, as far as the bucket "
                f"knows; startingOffsetsByTimestampStrategy=latest begins at its end"
            )
        offset = stored.end_offset if known is None else known
        offsets[name] = at_least(name, offset, stored, fails_on_loss=options.fails_on_loss)
    return offsets


def at_least(
    name: TopicPartition, offset: int, stored: StoredPartition, *, fails_on_loss: bool
) -> int:
    """Return an offset at or behind the start of a partition.

    Raises:
        DataLossError: what was asked for is gone, and that is to be told.
    """
    if offset < stored.start_offset and fails_on_loss:
        raise DataLossError(
            f"{name.topic}-{name.partition} begins at offset {stored.start_offset}; {offset} to "
            f"{stored.start_offset - 1} are deleted. The option failOnDataLoss=false goes on without them"
        )
    return max(offset, stored.start_offset)


def _resolved(
    option: str,
    catalog: Catalog,
    bound: Bound,
    names: Sequence[TopicPartition],
    find_time: FindTime,
) -> dict[TopicPartition, int | None]:
    """The offset for each partition; None: it has no record that is new enough."""
    given: Mapping[TopicPartition, int] | None = bound.offsets or bound.timestamps_ms
    if given is not None and set(given) != set(names):
        wrong = sorted(set(given) ^ set(names))
        listed = ", ".join(f"{it.topic}-{it.partition}" for it in wrong[:5])
        raise OptionError(
            f"option {option} must name each partition that is read, and no other: {listed}"
        )
    found: dict[TopicPartition, int | None] = {}
    for name in names:
        stored = stored_partition(catalog, name)
        if bound.timestamp_ms is not None:
            found[name] = find_time(stored, bound.timestamp_ms)
        elif bound.timestamps_ms is not None:
            found[name] = find_time(stored, bound.timestamps_ms[name])
        else:
            offset = bound.offsets[name] if bound.offsets is not None else bound.offset
            known = {EARLIEST: stored.start_offset, LATEST: stored.end_offset}
            found[name] = known.get(offset, offset) if offset is not None else None
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
