import ast
from pathlib import Path

import msgspec
import pytest

import headrace.metadata
from headrace.metadata.errors import MetadataVersionError, RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.levels import (
    LEVELS,
    METADATA_FEATURE,
    NEWEST,
    OLDEST,
    READ_HERE,
    UNTOLD,
    LevelRange,
    cannot_read,
    encode_at_level,
    level_of,
    require_read,
)
from headrace.metadata.records.cluster import ClusterIdRecord, FeatureRecord
from headrace.metadata.records.codec import KINDS, decode_records
from headrace.metadata.records.record import MetadataRecord
from headrace.metadata.replay import replay
from headrace.protocol.errors import ErrorCode

# What is written at the oldest level, by tag; a node of the last release reads nothing else. Tags 4 and 5 are never
# used again: level 1 had them.
OLDEST_TAGS = [
    *(1, 2, 3, 6, 7, 8),
    *range(10, 14),
    *range(20, 25),
    *range(30, 35),
    *range(40, 45),
    *range(50, 60),
]


class Grown(MetadataRecord, frozen=True, tag=90):
    """A record with two fields that were added later."""

    LATER_FIELDS = {"second": 3, "third": 4}  # noqa: RUF012
    name: str
    second: int = 0
    third: tuple[int, ...] = ()


def test_every_record_has_a_level():
    assert {kind.LEVEL for kind in KINDS} <= set(LEVELS)


def test_no_kind_of_record_is_left_out():
    defined = MetadataRecord.__subclasses__()
    assert {it for it in defined if it.__module__.startswith("headrace.")} == set(KINDS)


def test_every_later_field_exists_at_the_end_and_has_a_default():
    for kind in KINDS:
        later = kind.LATER_FIELDS
        if not later:
            continue
        fields = msgspec.structs.fields(kind)
        assert [it.name for it in fields][-len(later) :] == list(later)
        assert list(later.values()) == sorted(later.values())
        assert min(later.values()) > kind.LEVEL
        assert all(not it.required for it in fields[-len(later) :])


def test_the_records_of_the_oldest_level_are_those_of_the_last_release():
    first = [it for it in KINDS if it.LEVEL == OLDEST]

    assert sorted(it.__struct_config__.tag for it in first) == OLDEST_TAGS


def test_levels_have_no_gap():
    assert list(LEVELS) == list(range(OLDEST, NEWEST + 1))


def test_only_this_table_encodes_what_is_written():
    """`canonical_bytes` only compares images."""
    root = Path(headrace.metadata.__file__).parent
    using = {
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and "encode_records" in {it.name for it in node.names}
    }

    assert using == {"levels.py", "snapshot.py"}


def test_a_record_is_refused_below_its_level(monkeypatch):
    monkeypatch.setattr(ClusterIdRecord, "LEVEL", 3)
    records = (FeatureRecord("f", 1), ClusterIdRecord("c"))

    assert decode_records(encode_at_level(records, 3)) == records
    with pytest.raises(RefusedError, match="ClusterIdRecord needs") as refusal:
        encode_at_level(records, 2)
    assert refusal.value.code == ErrorCode.UNSUPPORTED_VERSION
    assert "headrace cluster upgrade" in refusal.value.message


def test_a_later_field_is_not_written_below_its_level():
    as_first_written = bytes.fromhex("01 91 92 5a a161")

    assert encode_at_level((Grown("a"),), 2) == as_first_written
    assert encode_at_level((Grown("a", 7),), 3) == bytes.fromhex("01 91 93 5a a161 07")
    assert encode_at_level((Grown("a", 7, (1,)),), 4) == bytes.fromhex("01 91 94 5a a161 07 9101")
    with pytest.raises(RefusedError, match=r"Grown\.second needs headrace\.metadata\.version 3"):
        encode_at_level((Grown("a", 7),), 2)
    with pytest.raises(RefusedError, match=r"Grown\.third needs headrace\.metadata\.version 4"):
        encode_at_level((Grown("a", 7, (1,)),), 3)


def test_a_node_reads_what_lies_in_its_range():
    reads = LevelRange(2, 3)

    assert [level for level in range(6) if level in reads] == [2, 3]
    assert str(reads) == "2..3"
    assert LevelRange(1, 1) == UNTOLD


def test_what_a_node_is_told_that_cannot_read_the_level():
    assert cannot_read(LevelRange(1, 2), 3) == (
        "this node reads headrace.metadata.version 1..2, the cluster is at 3: upgrade this node"
    )


def test_what_the_owner_of_an_old_directory_is_told():
    """Level 1 was never released; such a directory is not read half."""
    assert cannot_read(READ_HERE, 1) == (
        f"this node reads headrace.metadata.version {READ_HERE}, the cluster is at 1: start it with an earlier "
        "version, run `headrace cluster upgrade` there, and let it write a snapshot; or begin with an empty directory "
        "and an empty bucket"
    )


@pytest.mark.parametrize("level", [0, OLDEST - 1, NEWEST + 1])
def test_a_level_that_is_not_read_here_ends_the_replay(level):
    with pytest.raises(
        MetadataVersionError, match=rf"reads headrace\.metadata\.version {READ_HERE}"
    ):
        replay(MetadataImage(), (FeatureRecord(METADATA_FEATURE, level),), index=1, term=1)
    require_read(NEWEST)


def test_an_image_without_a_level_is_at_the_oldest():
    assert level_of({}) == OLDEST
    assert level_of({METADATA_FEATURE: 3}) == 3
