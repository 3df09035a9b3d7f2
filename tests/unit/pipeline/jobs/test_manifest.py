"""The manifest of an export, and the arithmetic of offsets."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.pipeline.jobs.manifest import (
    FORMAT,
    NO_DATE,
    ExportedFile,
    Manifest,
    Position,
    UnreadableManifestError,
    data_key,
    data_run,
    date_text,
    decode_manifest,
    encode_manifest,
    extended,
    joined,
    manifest_key,
    manifest_version,
    missing,
    ranges_between,
)
from headrace.pipeline.source.catalog import TopicPartition
from headrace.pipeline.source.plan import WantedRange

EMPTY = Manifest(FORMAT, 0, "", "cluster", {})
ranges = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 30)).map(lambda it: (min(it), max(it))), max_size=6
)


def offsets(found: list[tuple[int, int]]) -> set[int]:
    return {offset for start, end in found for offset in range(start, end)}


def wanted(start: int, end: int, partition: int = 0) -> WantedRange:
    return WantedRange(TopicPartition("orders", partition), start, end)


def with_exported(done: list[tuple[int, int]]) -> Manifest:
    exported = [wanted(*it) for it in done]
    return extended(
        EMPTY, version=1, writer="w", topic_ids={"orders": "id"}, exported=exported, added=[]
    )


@given(ranges)
def test_joined_ranges_hold_the_same_offsets_once(found: list[tuple[int, int]]) -> None:
    result = joined(found)
    assert offsets(result) == offsets(found)
    assert all(a[1] < b[0] for a, b in pairwise(result))


@given(ranges, st.integers(0, 30), st.integers(0, 30))
def test_what_is_missing(done: list[tuple[int, int]], start: int, end: int) -> None:
    found = missing(with_exported(done), [wanted(start, end)])
    assert offsets([(it.start_offset, it.end_offset) for it in found]) == (
        set(range(start, end)) - offsets(done)
    )


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9), st.integers(1, 5)), max_size=5),
    st.data(),
)
def test_ranges_between_places_make_up_the_whole(
    drawn: list[tuple[int, int, int]], data: st.DataObject
) -> None:
    whole = [(partition, start, start + length) for partition, start, length in drawn]
    places = [Position()]
    for ordinal, (_, start, end) in enumerate(whole):
        steps = data.draw(st.lists(st.integers(start + 1, end), max_size=2))
        places += [Position(ordinal, it) for it in sorted(steps)]
    places.append(Position(len(whole)))
    pieces = [
        (partition, offset)
        for low, high in pairwise(places)
        for partition, start, end in ranges_between(whole, low, high)
        for offset in range(start, end)
    ]
    assert pieces == [(it[0], offset) for it in whole for offset in range(it[1], it[2])]


def test_a_manifest_is_read_as_it_was_written() -> None:
    file = ExportedFile(
        "topic=orders/date=2026-01-31/x.parquet", "2026-01-31", 5, 100, ((0, 0, 5),)
    )
    made = extended(
        EMPTY,
        version=1,
        writer="w",
        topic_ids={"orders": "id"},
        exported=[wanted(0, 5), wanted(5, 7, 11), wanted(0, 2, 2)],
        added=[("orders", file)],
    )
    assert list(made.topics["orders"].offsets) == ["0", "2", "11"]
    assert decode_manifest(encode_manifest(made)) == made
    replaced = extended(
        made, version=2, writer="w", topic_ids={}, exported=[], added=[], removed=[file.path]
    )
    assert replaced.topics["orders"].files == []
    assert made.paths == {file.path: file}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{", "cannot be read"),
        (b"{}", "cannot be read"),
        (encode_manifest(EMPTY).replace(b'"format":1', b'"format":2'), "format 2"),
    ],
)
def test_a_manifest_that_cannot_be_read(data: bytes, message: str) -> None:
    with pytest.raises(UnreadableManifestError, match=message):
        decode_manifest(data)


def test_keys() -> None:
    assert manifest_version(manifest_key(12)) == 12
    assert manifest_version("_headrace/manifest/.12.json") is None
    key = data_key("or.ders_-1", "2026-01-31", 3, 1_234_567, 0)
    assert data_run(key) == 3
    assert data_run(data_key("orders", NO_DATE, 4, 0, 0)) == 4
    assert data_run("topic=orders/date=2026-01-31/mine.parquet") is None


def test_dates() -> None:
    assert (date_text(0), date_text(-1), date_text(20_484)) == (
        "1970-01-01",
        "1969-12-31",
        "2026-01-31",
    )
    assert date_text(1 << 40) == NO_DATE
    assert date_text(-(1 << 40)) == NO_DATE
